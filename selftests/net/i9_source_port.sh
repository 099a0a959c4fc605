#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# I9: one UDP source port for all that a QP sends, different ones for different QPs;
# the peer's is never matched.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=../lib/prober.sh
. "$SELFTESTS/lib/prober.sh"

plan 2
prober_up
check "IPv4" probe i9 v4
check "IPv6" probe i9 v6
