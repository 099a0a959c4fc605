#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# perftest, RC, UC and UD, and rping on every kind of Ethernet netdev that has another
# one below, over RoCEv1 and RoCEv2, each ICRC recomputed.
# only: on demand
# timeout: 900

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/cm.sh
. "$(dirname "$0")/../lib/cm.sh"

plan $((KINDS * 9))

# rping_v1 - by RoCEv1 GIDs
rping_v1()
{
	local mark status

	mark=$(deferred)
	cm_type "IB/RoCE v1" || return
	cm_pair 40 rping -s -a $IP6_A -C 5 -V -- rping -c -a $IP6_A -C 5 -V
	status=$?
	undo_to "$mark"
	return $status
}

# works KIND
works()
{
	watch_icrc
	check "$1: RoCEv2, ib_write_bw" perftest ib_write_bw v4 -s 65536 -n 50
	check "$1: RoCEv2, ib_send_bw, UC" perftest ib_send_bw v6 -c UC -s 4096 -n 50
	check "$1: RoCEv2, ib_send_lat, UD" perftest ib_send_lat v4 -c UD -s 512 -n 50
	check "$1: RoCEv1, ib_read_bw" perftest ib_read_bw v1-v6 -s 65536 -n 20
	check "$1: RoCEv1, ib_write_lat, UC" perftest ib_write_lat v1-v4 -c UC -s 512 -n 50
	check "$1: RoCEv1, ib_send_bw, UD" perftest ib_send_bw v1-v6 -c UD -s 512 -n 50
	check "$1: RoCEv2, rping" cm_pair 40 rping -s -a $IP4_A -C 5 -V -- \
		rping -c -a $IP4_A -C 5 -V
	check "$1: RoCEv1, rping" rping_v1
	check "$1: every ICRC on the wire is right" icrc_right
}

each_kind 9 works
