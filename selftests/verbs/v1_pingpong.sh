#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# RoCEv1 between two hosts: the three ping-pongs and the traffic test over each
# kind of address, with every ICRC recomputed.
# timeout: 240

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 19
hosts_up
links_up
watch_icrc v1

for kind in v1-v4 v1-v6 v1-ll; do
	for transport in rc uc ud; do
		check "$transport over $kind" pingpong_over "$transport" "$kind" -n 100 -s 1024
	done
	check "ud over $kind, events" pingpong_over ud "$kind" -n 100 -s 1024 -e
done
check "rc, path MTU 4096" pingpong v1-v6 -n 10 -s 1048576 -m 4096
check "traffic over IPv6 addresses" traffic v1-v6 --mtu=4096 --count=400 --qps=2
check "traffic over IPv4 addresses" traffic v1-v4 --mtu=256 --count=200 --max=20000
check "traffic over link-local addresses" traffic v1-ll --mtu=1024 --count=200 --max=20000
check "all of it was RoCEv1, and every ICRC right" icrc_right
check "host A counts no drops" counters_zero "$NS_A" "$SK_A" rx_icrc_encapsulated rx_drop_l3 \
	rx_drop_addr rx_drop_qpn rx_drop_short tx_unreachable
check "host B neither" counters_zero "$NS_B" "$SK_B" rx_icrc_encapsulated rx_drop_l3 rx_drop_addr \
	rx_drop_qpn rx_drop_short tx_unreachable
