#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# RC in full with the kernel's rxe at the other end: all operations mixed, odd
# sizes, path MTU 1024 and 4096, PSNs that wrap, perftest's sizes and atomics,
# as server and as client; and then with packets lost.
#
# Where rxe is known to fail by itself, with itself at both ends:
# - a fenced atomic never starts, so there is no fence in the mix;
# - under loss, READs stall for ever or end in error; so there are none then,
#   only SENDs, WRITEs and immediate data;
# - a READ that comes twice is refused ("remote access error", PSN that of the
#   READ) if the request before it had no bytes: it looks at the length of the
#   last request, not of the READ. A slow machine must not bring that about, so
#   the ACK time-out is a second where nothing is lost;
# - an ACK with the PSN of a READ completes it, data or no data; and such ACKs
#   come when it sends something twice. So nothing may be lost by accident.
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

mix=send,send_imm,write,write_imm,read,cas,fadd,inline
# 2^18 x 4.096 us
slow=18
lossy=send,send_imm,write,write_imm,inline

plan $((2 * (3 + 6 + 2 + 2) + 4))
long_backlog
if rxe_in_namespaces; then
	hosts_up
else
	# this rxe keeps port 4791 of the first namespace until it is unloaded
	defer modprobe -r rdma_rxe
	host_a_first
fi
must link_add "$NS_A" "$SK_A" "$DEV_A" rxe
must link_add "$NS_B" "$SK_B" "$DEV_B"
must ready "$NS_A" "$SK_A"
must ready "$NS_B" "$SK_B"
watch_icrc

exchange()
{
	local way=$1 mtu verb type

	for mtu in 1024 4096; do
		check "$way: everything mixed, path MTU $mtu" traffic v4 --mtu=$mtu --count=1000 \
			--max=200000 --large=2 --qps=2 --ops=$mix --seed=$mtu --psn=0xffff00 \
			--timeout=$slow
	done
	check "$way: everything mixed, IPv6, events" traffic v6 --mtu=1024 --count=500 --max=50000 \
		--ops=$mix --psn=0x7fff00 --events --timeout=$slow
	for verb in send write read; do
		check "$way: ib_${verb}_bw -a" perftest ib_${verb}_bw v4 -a -n 5 -m 4096 -u $slow
		check "$way: ib_${verb}_lat, 1001 bytes" perftest ib_${verb}_lat v4 -s 1001 -n 50 -u $slow
	done
	for type in FETCH_AND_ADD CMP_AND_SWAP; do
		check "$way: ib_atomic_bw, $type" perftest ib_atomic_bw v4 -A $type -n 100 -u $slow
	done
}

# disturbed WAY - the same, a little is lost both ways
disturbed()
{
	netem "$NS_A" "$DEV_A" loss 1%
	netem "$NS_B" "$DEV_B" loss 1%
	for mtu in 1024 4096; do
		check "$1: 1 % lost, path MTU $mtu" traffic v4 --mtu=$mtu --count=500 --max=50000 \
			--ops=$lossy --seed=$mtu --stall=60
	done
	on "$NS_A" tc qdisc del dev "$DEV_A" root
	on "$NS_B" tc qdisc del dev "$DEV_B" root
}

exchange "rxe is the server"
disturbed "rxe is the server"
swap_hosts
exchange "rxe is the client"
disturbed "rxe is the client"

check "every ICRC on the wire is right" icrc_right
note_counters "$NS_A" "$SK_A"
note_counters "$NS_B" "$SK_B"
if [ "$LINK" = rxe ]; then
	skip "no packet dropped for its ICRC" "rxe does not count them"
else
	check "no packet dropped for its ICRC" counter_is "$NS_A" "$SK_A" rx_icrc_encapsulated 0
fi
check "ping-pong after all that, IPv4" pingpong v4 -n 100
check "ping-pong after all that, IPv6" pingpong v6 -n 100
