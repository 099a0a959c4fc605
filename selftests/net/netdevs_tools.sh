#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# perftest, RC, UC and UD, and rping over RoCEv1 and RoCEv2: on every kind of Ethernet
# netdev that has another one below, each ICRC recomputed, and on a dummy and the
# loopback device, each with itself.
# only: on demand
# timeout: 900

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/cm.sh
. "$(dirname "$0")/../lib/cm.sh"

plan $((KINDS * 9 + 8 + 6))

# rping_v1 ADDRESS - by RoCEv1 GIDs
rping_v1()
{
	local mark status

	mark=$(deferred)
	cm_type "IB/RoCE v1" || return
	cm_pair 40 rping -s -a "$1" -C 5 -V -- rping -c -a "$1" -C 5 -V
	status=$?
	undo_to "$mark"
	return $status
}

# tests KIND V6 - V6: of GIDs, "v6" or what is there in its place
tests()
{
	check "$1: RoCEv2, ib_write_bw" perftest ib_write_bw v4 -s 65536 -n 50
	check "$1: RoCEv2, ib_send_bw, UC" perftest ib_send_bw "$2" -c UC -s 4096 -n 50
	check "$1: RoCEv2, ib_send_lat, UD" perftest ib_send_lat v4 -c UD -s 512 -n 50
	check "$1: RoCEv1, ib_read_bw" perftest ib_read_bw "v1-$2" -s 65536 -n 20
	check "$1: RoCEv1, ib_write_lat, UC" perftest ib_write_lat v1-v4 -c UC -s 512 -n 50
	check "$1: RoCEv1, ib_send_bw, UD" perftest ib_send_bw "v1-$2" -c UD -s 512 -n 50
}

# connects KIND ADDRESS
connects()
{
	check "$1: RoCEv2, rping" cm_pair 40 rping -s -a "$2" -C 5 -V -- rping -c -a "$2" -C 5 -V
	check "$1: RoCEv1, rping" rping_v1 "$2"
}

# works KIND
works()
{
	watch_icrc
	tests "$1" v6
	connects "$1" $IP4_A
	check "$1: every ICRC on the wire is right" icrc_right
}

each_kind 9 works

# what has no other end, in a namespace of its own
ns_add "$NS_A"
NS_B=$NS_A SK_B=$SK_A
if on "$NS_A" ip link add dum0 mtu "$HOST_MTU" type dummy 2> /dev/null; then
	address "$NS_A" dum0 $MAC_A $IP4_A $IP6_A $LL_A
	must link_add "$NS_A" $SK_A dum0
	must ready "$NS_A" $SK_A
	tests dummy v6
	connects dummy $IP4_A
	must link_del "$NS_A" $SK_A
else
	for i in 1 2 3 4 5 6 7 8; do skip "dummy: $i" "not in this kernel"; done
fi
IP4_A=127.0.0.1 SK_A=sk2 SK_B=sk2
must link_add "$NS_A" $SK_A lo
must wait_until 10 gid_index "$NS_A" $SK_A v4
# rdma_cm finds no route by the loopback device, whoever drives it
tests loopback v4
