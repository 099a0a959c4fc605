#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# CNPs, judged by the prober: which marked packets are answered by one, its layout,
# how often there is one, and which of those that come in count.
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=../lib/prober.sh
. "$SELFTESTS/lib/prober.sh"

[ "$LINK" = skerry ] || skip_all "CNPs are skerry's"

plan 3
prober_up
# the peer can be another host, too
must ip -n "$NS_B" addr add 10.77.1.3/24 dev "$DEV_B"
must ip -n "$NS_B" addr add fd77:1::3/64 dev "$DEV_B" nodad
check "RoCEv2/IPv4" probe cnp v4
check "RoCEv2/IPv6" probe cnp v6
check "RoCEv1 has none" probe cnp v1-v4
