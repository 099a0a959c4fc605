#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Connections by rdma_cm whose default type is RoCEv1: IPv4 and IPv6, to another
# host and to oneself; nothing else is on the wire.
# timeout: 240

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/cm.sh
. "$(dirname "$0")/../lib/cm.sh"

plan 12
hosts_up
links_up
[ -c /dev/infiniband/rdma_cm ] || skip_all "no rdma_cm for user space"
cm_type "IB/RoCE v1" || skip_all "rdma_cm cannot be told the type"
watch_icrc v1

for ip in $IP4_A $IP6_A; do
	check "rping, $ip" cm_pair 40 rping -s -a "$ip" -C 20 -V -- rping -c -a "$ip" -C 20 -V
	check "ucmatose, $ip" cm_pair 40 ucmatose -b "$ip" -c 5 -- ucmatose -s "$ip" -c 5
	check "udaddy, $ip" cm_pair 40 udaddy -b "$ip" -c 3 -- udaddy -s "$ip" -c 3
	check "100 times connect, WRITE, disconnect, $ip" \
		cm_pair 100 "$PROG/cm_cycles" --listen "$ip" --cycles 100 -- \
		"$PROG/cm_cycles" --connect "$ip" --cycles 100
done
check "all of it was RoCEv1, and every ICRC right" icrc_right

tx_before=$(on "$NS_B" cat /sys/class/net/$DEV_B/statistics/tx_packets)
NS_A=$NS_B
check "rping to oneself, IPv4" cm_pair 40 rping -s -a $IP4_B -C 5 -V -- rping -c -a $IP4_B -C 5 -V
check "rping to oneself, IPv6" cm_pair 40 rping -s -a $IP6_B -C 5 -V -- rping -c -a $IP6_B -C 5 -V
# neighbour discovery and the like may be there
tx=$(($(on "$NS_B" cat /sys/class/net/$DEV_B/statistics/tx_packets) - tx_before))
note "frames sent meanwhile: $tx"
check "which does not go by the wire" test $tx -lt 20
