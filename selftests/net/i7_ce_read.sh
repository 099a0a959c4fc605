#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# I7: READ responses have no ACK to carry news of congestion, so the requester
# answers marked ones with CNPs itself.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=../lib/prober.sh
. "$SELFTESTS/lib/prober.sh"

[ "$LINK" = skerry ] || skip_all "CNPs are skerry's"

plan 3
prober_up
check "RoCEv2/IPv4" probe i7 v4
check "RoCEv2/IPv6" probe i7 v6
check "RoCEv1 has no marks" probe i7 v1-v4
