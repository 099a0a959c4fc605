#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Congestion marks: a switch marks packets instead of dropping them. Each mark is
# counted by who receives it, CNPs go to who sent the marked data, and slow it
# down. Without congestion control nothing can be
# marked, and the same switch drops.
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

[ "$LINK" = skerry ] || skip_all "ECN is skerry's"

plan 20
hosts_switched
links_up

# cc HOST DEV FILE [VALUE] - read or write what debugfs has of a device
cc()
{
	local file=/sys/kernel/debug/skerry/$2/$3

	if [ $# -gt 3 ]; then echo "$4" > "$file"; else cat "$file"; fi
}

cc_super()
{
	echo "$1" > /sys/kernel/debug/skerry/super_tx
}

# since HOST DEV COUNTER BEFORE
since()
{
	echo $(($(number "$1" "$2" "$3") - $4))
}

# remember - the counters of both, to be compared with later
remember()
{
	marked_a=$(number "$NS_A" "$SK_A" np_ecn_marked_roce_packets)
	marked_b=$(number "$NS_B" "$SK_B" np_ecn_marked_roce_packets)
	sent_a=$(number "$NS_A" "$SK_A" np_cnp_sent)
	sent_b=$(number "$NS_B" "$SK_B" np_cnp_sent)
	handled_a=$(number "$NS_A" "$SK_A" rp_cnp_handled)
	handled_b=$(number "$NS_B" "$SK_B" rp_cnp_handled)
}

# at_least COUNT MINIMUM / as_many A B
at_least()
{
	[ "$1" -ge "$2" ] || { echo "$1, not at least $2"; return 1; }
}

as_many()
{
	[ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }
}

no_strangers()
{
	counters_zero "$NS_A" "$SK_A" rp_cnp_ignored &&
		counters_zero "$NS_B" "$SK_B" rp_cnp_ignored
}

# marking DEV PERCENT - what is UDP; the rest, which cannot be marked, gets through
marking()
{
	must on "$NS_M" tc qdisc add dev "$1" root handle 1: prio
	must on "$NS_M" tc qdisc add dev "$1" parent 1:3 netem loss "$2" ecn
	must on "$NS_M" tc filter add dev "$1" parent 1: protocol ip prio 1 \
		u32 match ip protocol 17 0xff flowid 1:3
	must on "$NS_M" tc filter add dev "$1" parent 1: protocol ipv6 prio 2 \
		u32 match ip6 protocol 17 0xff flowid 1:3
}

# a super-packet is marked as a whole, and there are few of them: one by one
super=$(cat /sys/kernel/debug/skerry/super_tx)
defer cc_super "$super"
cc_super N

check "algorithm is dcqcn" as_many "$(cc "$NS_A" "$SK_A" cc)" dcqcn
check "a parameter under mlx5's name" as_many \
	"$(cc "$NS_A" "$SK_A" cc_params/np_min_time_between_cnps)" 50
check_not "a value out of bounds" cc "$NS_A" "$SK_A" cc_params/rp_min_dec_fac 1000
check_not "an algorithm that does not exist" cc "$NS_A" "$SK_A" cc nonsense

remember
marking mA 10%
check "WRITEs through a switch that marks" perftest ib_write_bw v4 -s 65536 -n 200
check "the receiver counts the marks" at_least \
	"$(since "$NS_A" "$SK_A" np_ecn_marked_roce_packets "$marked_a")" 5
check "and sends CNPs" at_least "$(since "$NS_A" "$SK_A" np_cnp_sent "$sent_a")" 1
check "which reach the sender, all of them" as_many \
	"$(since "$NS_B" "$SK_B" rp_cnp_handled "$handled_b")" \
	"$(since "$NS_A" "$SK_A" np_cnp_sent "$sent_a")"

must on "$NS_M" tc qdisc del dev mA root
# counters that count from now on
optional()
{
	on "$1" rdma statistic set link "$2/1" optional-counters \
		cc_rx_ce_pkts,cc_rx_cnp_pkts,cc_tx_cnp_pkts
}

remember
check "optional counters" optional "$NS_A" "$SK_A"
must optional "$NS_B" "$SK_B"
marking mB 10%
check "READs whose responses are marked" perftest ib_read_bw v6 -s 65536 -n 200
check "the reader counts the marks" at_least \
	"$(since "$NS_B" "$SK_B" np_ecn_marked_roce_packets "$marked_b")" 5
check "and its CNPs reach the responder, all of them" as_many \
	"$(since "$NS_A" "$SK_A" rp_cnp_handled "$handled_a")" \
	"$(since "$NS_B" "$SK_B" np_cnp_sent "$sent_b")"
check "an optional counter has the marks since then" as_many \
	"$(number "$NS_B" "$SK_B" cc_rx_ce_pkts)" \
	"$(since "$NS_B" "$SK_B" np_ecn_marked_roce_packets "$marked_b")"
check "another the CNPs sent" as_many "$(number "$NS_B" "$SK_B" cc_tx_cnp_pkts)" \
	"$(since "$NS_B" "$SK_B" np_cnp_sent "$sent_b")"
check "and the peer's those that came" as_many "$(number "$NS_A" "$SK_A" cc_rx_cnp_pkts)" \
	"$(since "$NS_A" "$SK_A" rp_cnp_handled "$handled_a")"
check "there were some" at_least "$(since "$NS_B" "$SK_B" np_cnp_sent "$sent_b")" 1
check "no CNP was a stranger's" no_strangers
must on "$NS_M" tc qdisc del dev mB root

check "congestion control can be switched off" cc "$NS_A" "$SK_A" cc none
cc "$NS_B" "$SK_B" cc none
remember
marking mA 1%
check "traffic without it, through the same switch" traffic v4 --count=200 --max=65536 --stall=60
check "nothing is marked" as_many \
	"$(since "$NS_A" "$SK_A" np_ecn_marked_roce_packets "$marked_a")" 0
