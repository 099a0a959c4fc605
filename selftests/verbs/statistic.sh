#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# rdma statistic qp: counters of one QP, bound by hand and by rule; what they count
# stays in the port's counters, and in those that sysfs has under counters/.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 16
[ "$LINK" = skerry ] || skip_all "$LINK has none"
hosts_up
links_up

PMA=/sys/class/infiniband/$SK_A/ports/1/counters

stat_qp()
{
	on "$NS_A" rdma statistic qp "$@"
}

# bound FIELD [CNTN] - value of a counter that QPs are bound to
bound()
{
	stat_qp show link $SK_A/1 ${2:+cntn $2} | awk -v name="$1" '$1 == name { print $2; exit }'
}

# bound_to - number of the first counter that QPs are bound to
bound_to()
{
	stat_qp show link $SK_A/1 | sed -n 's/.*cntn \([0-9]*\).*/\1/p' | head -n 1
}

# talk - two processes that never end, A's is $talker
talk()
{
	in_host "$NS_A"
	"${_in[@]}" ibv_rc_pingpong -d $SK_A -g "$(gid_index "$NS_A" $SK_A v4)" -n 100000000 \
		> "$TMP/talk" 2>&1 &
	talker=$!
	defer kill $talker
	must wait_until 20 listening "$NS_A" 18515
	in_host "$NS_B"
	"${_in[@]}" ibv_rc_pingpong -d $SK_B -g "$(gid_index "$NS_B" $SK_B v4)" -n 100000000 \
		$IP4_A > "$TMP/talk.b" 2>&1 &
	answerer=$!
	defer kill $answerer
	must wait_until 20 moves port_sent
}

quiet()
{
	kill $talker $answerer
	wait $talker $answerer 2> /dev/null
	must wait_until 10 no_qp
}

no_qp()
{
	! rdma res show qp link $SK_A/1 | grep -q ibv_rc_pingpong
}

lqpn()
{
	rdma res show qp link $SK_A/1 | sed -n 's/.*lqpn \([0-9]*\) .*comm ibv_rc_pingpong.*/\1/p'
}

port_sent()
{
	counter "$NS_A" $SK_A tx_packets
}

# moves COMMAND... - what it prints grows
moves()
{
	local before after

	before=$("$@")
	sleep 0.5
	after=$("$@")
	echo "from ${before:-nothing} to ${after:-nothing}"
	[ -n "$before" ] && [ "$after" -gt "$before" ]
}

# not_less BEFORE - the port's counter is no smaller than it was
not_less()
{
	local now

	now=$(port_sent)
	echo "from $1 to $now"
	[ "$now" -ge "$1" ]
}

pma()
{
	cat "$PMA/$1" 2> /dev/null || on "$NS_A" cat "$PMA/$1"
}

# drops HOST DEV - packets that no QP took
drops()
{
	echo $(($(counter "$1" "$2" rx_drop_qpn) + $(counter "$1" "$2" rx_drop_state)))
}

# pma_agrees - counters/ of sysfs has what hw_counters has, in its own units, and
# none that nobody counts
pma_agrees()
{
	local sent received errors dropped

	sent=$(counter "$NS_A" $SK_A tx_bytes)
	received=$(counter "$NS_A" $SK_A rx_bytes)
	errors=$(pma port_rcv_errors)
	dropped=$(drops "$NS_A" $SK_A)
	echo "port_xmit_data $(pma port_xmit_data) of $sent bytes," \
		"port_rcv_data $(pma port_rcv_data) of $received, port_rcv_errors $errors" \
		"of $dropped"
	[ "$(pma port_xmit_data)" = $((sent / 4)) ] &&
		[ "$(pma port_rcv_data)" = $((received / 4)) ] && [ "$errors" = "$dropped" ] &&
		! pma unicast_xmit_packets
}

# sums_agree - A has sent what B received, whoever counted it, and sysfs says the same
sums_agree()
{
	local sent received pma

	# what was on its way
	sleep 1
	sent=$(port_sent)
	# one program may go before what the other still sends arrives
	received=$(($(counter "$NS_B" $SK_B rx_packets) + $(drops "$NS_B" $SK_B)))
	pma=$(pma port_xmit_packets)
	echo "sent $sent, received $received, port_xmit_packets $pma"
	[ "$sent" -gt 0 ] && [ "$sent" = "$received" ] && [ "$sent" = "$pma" ]
}

talk
qpn=$(lqpn)
check "a counter for a QP" stat_qp bind link $SK_A/1 lqpn "$qpn"
first=$(bound_to)
check "it names the QP" sh -c "ip netns exec $NS_A rdma statistic qp show link $SK_A/1 |
	grep 'LQPN.*<$qpn>'"
check "it counts" moves bound tx_packets "$first"
check "bytes as well" moves bound rx_bytes "$first"
check "the port's counter goes on" moves port_sent
check_not "no second one for the same QP" stat_qp bind link $SK_A/1 lqpn "$qpn"
before=$(port_sent)
check "unbinding" stat_qp unbind link $SK_A/1 cntn "$first" lqpn "$qpn"
check "nothing is lost with it" not_less "$before"
check "the QP counts for the port again" moves port_sent
check "binding again" stat_qp bind link $SK_A/1 lqpn "$qpn"
quiet
check "sums agree when a bound QP is gone" sums_agree
check "counters/ agrees" pma_agrees

check "counters by rule" stat_qp set link $SK_A/1 auto type on
talk
check "a new QP has one, which counts" moves bound tx_packets
quiet
check "sums agree" sums_agree
check "the rule goes" stat_qp set link $SK_A/1 auto off
