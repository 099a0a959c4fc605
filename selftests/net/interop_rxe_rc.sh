#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# timeout: 600
#
# RC in full with the kernel's rxe at the other end: all operations mixed, odd
# sizes, path MTU 1024 and 4096, PSNs that wrap, perftest's sizes and atomics,
# as server and as client; and SENDs and WRITEs mixed with packets lost.
#
# Where rxe fails by itself, with itself at both ends, and what that means here:
# - A fenced atomic never starts, so there is no fence in the mix.
# - A READ that comes twice is refused ("remote access error", with the PSN of
#   the READ and a kernel warning in rxe_mr_copy()) if the request before it had
#   no bytes: it looks at the length of the last request, not of the READ. So no
#   message is empty.
# - It answers a SEND or WRITE that comes twice with the PSN of the newest
#   request, and completes a READ or atomic by an ACK with its PSN, data or no
#   data. Both together return garbage for an atomic whose answer is lost; at
#   the responder:
#	-1047.227 ms in  CMP_SWAP    psn 12347c
#	-1046.454 ms out ATOMIC_ACK  psn 12347c syndrome 1f msn 26	(gets lost)
#	-1045.893 ms in  SEND_LAST   psn 12347b				(again)
#	-1045.851 ms in  CMP_SWAP    psn 12347c				(again)
#	-1045.581 ms out ACK         psn 12347c syndrome 1f msn 26
#	-1041.700 ms out ATOMIC_ACK  psn 12347c syndrome 1f msn 26	(too late)
#	"message 25 (cas, 8 bytes): returned 0xa5a5a5a5a5a5a5a5"
#   Our ACKs never name a READ or atomic (rc_responder), and no ACK completes one
#   (rc_requester): with one of ours at one end the mix must hold under loss.
# - It takes the answer to a READ that it asked for again from the middle on for wrong, at
#   times, and then warns (rxe_completer), which ends the guest. So rxe's READs and
#   atomics meet loss in interop_rxe_rc_all.sh only.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

mix=send,send_imm,write,write_imm,read,cas,fadd,inline
lossy=${LOSSY:-send,send_imm,write,write_imm,inline}
# 2^18 x 4.096 us
slow=18

plan $((2 * (3 + 6 + 2 + 2) + 4))
rxe_up
watch_icrc

mixed()
{
	traffic "$@" --ops=$mix --min=1 --timeout=$slow
}

exchange()
{
	local way=$1 mtu verb type

	for mtu in 1024 4096; do
		check "$way: everything mixed, path MTU $mtu" mixed v4 --mtu=$mtu --count=1000 \
			--max=200000 --large=2 --qps=2 --seed=$mtu --psn=0xffff00
	done
	check "$way: everything mixed, IPv6, events" mixed v6 --mtu=1024 --count=500 --max=50000 \
		--psn=0x7fff00 --events
	for verb in send write read; do
		check "$way: ib_${verb}_bw -a" perftest ib_${verb}_bw v4 -a -n 5 -m 4096 -u $slow
		check "$way: ib_${verb}_lat, 1001 bytes" perftest ib_${verb}_lat v4 -s 1001 -n 50 -u $slow
	done
	for type in FETCH_AND_ADD CMP_AND_SWAP; do
		check "$way: ib_atomic_bw, $type" perftest ib_atomic_bw v4 -A $type -n 100 -u $slow
	done
}

# disturbed WAY - everything mixed, a little is lost both ways
disturbed()
{
	netem "$NS_A" "$DEV_A" loss 1%
	netem "$NS_B" "$DEV_B" loss 1%
	for mtu in 1024 4096; do
		check "$1: 1 % lost, path MTU $mtu" traffic v4 --mtu=$mtu --count=500 --max=50000 \
			--min=1 --ops="$lossy" --seed=$mtu --psn=0xffff00 --stall=60
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
