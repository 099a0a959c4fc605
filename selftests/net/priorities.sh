#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The class of packets, by service level and traffic class: what prio, ets and mqprio
# count on a plain and on a VLAN device is what is on the wire, with the DSCP and the
# VLAN priority that were asked for; CNPs have a class of their own; and a class that
# is paused holds its QPs back without losing a packet.
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/classes.sh
. "$(dirname "$0")/../lib/classes.sh"

plan 38
[ "$LINK" = skerry ] || skip_all "the classes are skerry's"

mark=$(deferred)
queues_up
links_up
super_off
WIRE=$DEV_B
for qdisc in prio ets mqprio; do
	classes "$NS_B" $DEV_B $qdisc
	check "$qdisc: RoCEv2, IPv4, SL 3, DSCP 26" travels v4 3 104 3
	check "$qdisc: RoCEv2, IPv6, SL 5, DSCP 10; ECN bits are not the program's" \
		travels v6 5 43 5
	check "$qdisc: RoCEv1, SL 2, DSCP 46" travels v1-v4 2 184 2
	check "$qdisc: SL 0" travels v4 0 104 0
done
SERVICE=UD
check "UD, IPv4, SL 3, DSCP 26; the address handle's ECN bits neither" travels v4 3 107 3
check "UD, RoCEv1, SL 2, DSCP 46" travels v1-v6 2 187 2
SERVICE=RC

#
# Congestion: A's answers to what B's netdev marked
#

# cnps_travel KIND CLASS [PCP] - A's are in that class of WIRE's qdisc, all that were sent,
# and on the wire they have the DSCP that they are to have, and that priority
CNP_DSCP=48
cnps_travel()
{
	local before after counted sent first opcode all right

	mapfile -t before < <(counted "$NS_A" "$WIRE")
	first=$(number "$NS_A" $SK_A np_cnp_sent)
	capture "$NS_A" "$WIRE" || return
	perftest ib_write_bw "$1" -s 65536 -n 100 --sl=3 --tclass=104 || return
	captured || return
	mapfile -t after < <(counted "$NS_A" "$WIRE")
	counted=$((after[$2] - before[$2]))
	sent=$(($(number "$NS_A" $SK_A np_cnp_sent) - first))
	# behind Ethernet, tag, IP and UDP
	opcode=$([ "$1" = v4 ] && echo 42 || echo 62)
	[ -z "${3-}" ] || opcode=$((opcode + 4))
	filters "$1" $((CNP_DSCP << 2)) "${3-}"
	all=$(packets "$roce and ether[$opcode] = 0x81")
	right=$(packets "$asked and ether[$opcode] = 0x81")
	echo "CNPs sent: $sent; before and after: ${before[*]}, ${after[*]}"
	echo "on the wire: $all, as asked for: $right"
	# in class 3 there are A's ACKs, too
	[ "$sent" -ge 1 ] && [ $counted -ge "$sent" ] || return
	[ "$2" = 3 ] || [ $counted = "$sent" ] || return
	# the last ones may have missed the capture
	[ "$all" -ge 1 ] && [ "$all" -ge $((sent * 9 / 10)) ] && [ "$all" = "$right" ]
}

# marked_in_class_3 DEV - some of what B sends there
marked_in_class_3()
{
	must on "$NS_B" tc qdisc add dev "$1" parent 1:4 handle 40: netem loss 10% ecn
}

WIRE=$DEV_A
classes "$NS_A" $DEV_A prio
classes "$NS_B" $DEV_B prio
marked_in_class_3 $DEV_B
check "CNPs, IPv4: class 6, DSCP 48" cnps_travel v4 6
check "CNPs, IPv6: class 6, DSCP 48" cnps_travel v6 6

#
# A pause of class 3
#

plug()
{
	must on "$NS_B" tc qdisc change dev $DEV_B handle 41: plug "$1"
}

# plugged BYTES|PACKETS - what waits there
plugged()
{
	on "$NS_B" tc -s qdisc show dev $DEV_B | awk -v what="$1" '
		/^qdisc/ { here = $2 == "plug" }
		here && /backlog/ { print what == "PACKETS" ? $3 + 0 : $2; exit }'
}

some_plugged()
{
	[ "$(plugged PACKETS)" -gt 0 ]
}

plug_dropped()
{
	on "$NS_B" tc -s qdisc show dev $DEV_B | awk '
		/^qdisc/ { here = $2 == "plug" }
		here && /dropped/ { sub(/.*dropped /, ""); print $1 + 0; exit }'
}

# how long the pause is: many times the QPs' patience, 67 ms and one retry
PAUSE=2

# paused KIND [ARGS...] - WRITEs in class 3 begin, wait in a plug, and go on
paused()
{
	local kind=$1 pid waited

	shift
	plug block
	traffic "$kind" "$@" --reverse-count=0 --sl=3 --ops=write --retry=1 --stall=60 \
		> "$TMP/paused" 2>&1 &
	pid=$!
	if ! wait_until 20 some_plugged; then
		echo "nothing came into the plugged class"
		plug release_indefinite
		wait $pid
		cat "$TMP/paused"
		return 1
	fi
	sleep $PAUSE
	waited=$(plugged PACKETS)
	echo "packets in the plug: $waited"
	if gone $pid; then
		wait $pid
		cat "$TMP/paused"
		return 1
	fi
	plug release_indefinite
	wait $pid && return
	cat "$TMP/paused"
	return 1
}

# bounded - not more than 64 packets of each QP were waiting
bounded()
{
	cat "$TMP/check.paused"
	[ "$(sed -n 's/packets in the plug: //p' "$TMP/check.paused")" -le $((8 * 64)) ]
}

dropped_none()
{
	echo "dropped: $(plug_dropped)"
	[ "$(plug_dropped)" = 0 ]
}

must on "$NS_B" tc qdisc replace dev $DEV_B parent 1:4 handle 41: plug limit 100000000
plug release_indefinite
for kind in v4 v1-v6; do
	timeouts=$(number "$NS_B" $SK_B local_ack_timeout_err)
	check "$kind: a QP with little to send waits while its class is paused, and goes on" \
		paused $kind --qps=1 --count=200 --max=64 --depth=4
	check "$kind: so do 8 QPs with much" paused $kind --qps=8 --count=100 --max=65536
	cp "$TMP/check" "$TMP/check.paused"
	check "$kind: each QP had no more than its share in the queue" bounded
	check "$kind: the queue dropped nothing" dropped_none
	check "$kind: nobody lost patience" counters_zero "$NS_B" $SK_B \
		req_transport_retries_exceeded
	note "time-outs: $(($(number "$NS_B" $SK_B local_ack_timeout_err) - timeouts))"
done
plug block
check "another class is not paused" pingpong v4 -n 50 -l 2
plug release_indefinite
undo_to "$mark"

#
# VLAN: the tag's priority comes of the level, once
#

NS_A=skA NS_B=skB
stacked_up vlan
stacked_links
super_off
WIRE=pB
classes "$NS_B" pB prio
check "VLAN without a map: RoCEv2, SL 5: priority 0, class 5" travels v4 5 104 5 0
check "VLAN without a map: RoCEv1, SL 5: priority 5, class 5" travels v1-v6 5 104 5 5
for host in "$NS_A:uA" "$NS_B:uB"; do
	must ip -n "${host%:*}" link set "${host#*:}" type vlan egress-qos-map 2:5 3:3 6:6
done
check "VLAN, map 2:5: RoCEv2, IPv4, SL 5: priority 5, class 2" travels v4 5 104 2 5
check "VLAN, map 3:3: RoCEv2, IPv6, SL 3: priority 3, class 3" travels v6 3 40 3 3
check "VLAN, map 2:5: RoCEv1, SL 5: priority 5, class 2" travels v1-v4 5 184 2 5
SERVICE=UD
check "VLAN, map 2:5: UD, IPv4, SL 5: priority 5, class 2" travels v4 5 104 2 5
SERVICE=RC
check "VLAN: RoCEv2, SL 0: priority 0, class 0" travels v6 0 104 0 0

classes "$NS_A" pA prio
marked_in_class_3 pB
WIRE=pA
must ip -n "$NS_A" link set uA type vlan egress-qos-map 6:0
check "VLAN, none in the map: CNPs: priority 0, class 6, DSCP 48" cnps_travel v4 6 0
# not the class that is the same number: the one that the map makes priority 6 of
must ip -n "$NS_A" link set uA type vlan egress-qos-map 4:6
check "VLAN, map 4:6: CNPs, IPv4: priority 6, class 4, DSCP 48" cnps_travel v4 4 6
check "VLAN, map 4:6: CNPs, IPv6: priority 6, class 4, DSCP 48" cnps_travel v6 4 6
must ip -n "$NS_A" link set uA type vlan egress-qos-map 3:3
for param in np_cnp_prio_mode:1 np_cnp_dscp:46; do
	must sh -c "echo ${param#*:} > /sys/kernel/debug/skerry/$SK_A/cc_params/${param%:*}"
done
CNP_DSCP=46
check "CNPs in the QP's own class, if asked for: priority 3, class 3, DSCP 46" cnps_travel v4 3 3
