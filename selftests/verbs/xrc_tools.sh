#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# XRC by other people's programs, ibv_xsrq_pingpong and perftest, between two hosts; and
# a burst for two SRQs.
# timeout: 420

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# xsrq KIND [ARGS...] - ibv_xsrq_pingpong, whose -c is the number of clients
xsrq()
{
	local _gid_a _gid_b

	gids "$1" || return
	shift
	pair 60 18515 ibv_xsrq_pingpong -d $SK_A -g "$_gid_a" "$@" -- \
		ibv_xsrq_pingpong -d $SK_B -g "$_gid_b" "$@" $IP4_A
}

plan 19
hosts_up
links_up

for kind in v4 v6 v1-v6; do
	check "ibv_xsrq_pingpong over $kind" xsrq $kind -n 100 -s 4096
	check "ibv_xsrq_pingpong over $kind, events" xsrq $kind -n 100 -s 4096 -e
done
check "ibv_xsrq_pingpong, 64 KB in packets of 256 bytes" xsrq v4 -n 20 -s 65536 -m 256
check "ibv_xsrq_pingpong, one byte" xsrq v4 -n 50 -s 1
check "a burst for two SRQs: two events" "$PROG/xrc_burst" --a $SK_A --b $SK_B
for verb in send write read; do
	check "ib_${verb}_bw, XRC, all sizes" perftest ib_${verb}_bw v4 -c XRC -a -n 5
	check "ib_${verb}_bw, XRC, 64 KB, two QPs, IPv6" \
		perftest ib_${verb}_bw v6 -c XRC -s 65536 -n 40 -q 2
	check "ib_${verb}_lat, XRC, 1001 bytes" perftest ib_${verb}_lat v4 -c XRC -s 1001 -n 50
done
check "ib_atomic_bw, XRC" perftest ib_atomic_bw v4 -c XRC -n 100
