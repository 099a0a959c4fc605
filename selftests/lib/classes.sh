# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The classes that packets travel in: qdiscs with one for each level, what they count,
# and what is on the wire. Sourced after lib.sh, which sets _in.
# shellcheck disable=SC2154

LEVELS="0 1 2 3 4 5 6 7"

# queues_up - as hosts_up, with a queue for each level on B's netdev
queues_up()
{
	ns_add "$NS_A" "$NS_B"
	must ip link add "$DEV_A" mtu "$HOST_MTU" netns "$NS_A" numtxqueues 8 numrxqueues 8 type veth \
		peer name "$DEV_B" mtu "$HOST_MTU" netns "$NS_B" numtxqueues 8 numrxqueues 8
	address "$NS_A" "$DEV_A" "$MAC_A" "$IP4_A" "$IP6_A" "$LL_A"
	address "$NS_B" "$DEV_B" "$MAC_B" "$IP4_B" "$IP6_B" "$LL_B"
	must wait_until 5 carrier "$NS_A" "$DEV_A"
	acquainted
}

# classes HOST DEV KIND - a class for each level
classes()
{
	local queues="1@0 1@1 1@2 1@3 1@4 1@5 1@6 1@7"

	on "$1" tc qdisc del dev "$2" root 2> /dev/null
	# shellcheck disable=SC2086 # lists
	case $3 in
	prio) must on "$1" tc qdisc add dev "$2" root handle 1: prio bands 8 priomap \
		$LEVELS 0 0 0 0 0 0 0 0 ;;
	ets) must on "$1" tc qdisc add dev "$2" root handle 1: ets bands 8 strict 8 priomap \
		$LEVELS ;;
	mqprio) must on "$1" tc qdisc add dev "$2" root handle 1: mqprio num_tc 8 map \
		$LEVELS 0 0 0 0 0 0 0 0 queues $queues hw 0 ;;
	esac
}

# counted HOST DEV - packets of each class, one line for each level
counted()
{
	on "$1" tc -s class show dev "$2" | awk '
		$1 == "class" {
			n = $3
			sub(/.*:/, "", n)
			level = -1
			if ($2 != "mqprio") level = n - 1
			else if (n ~ /^ffe/) level = substr(n, 4)
		}
		$1 == "Sent" && level >= 0 { packets[level] = $4; level = -1 }
		END { for (i = 0; i < 8; i++) print packets[i] + 0 }'
}

# capture HOST DEV / captured - what is sent through DEV while they are apart, but
# for most of the payload: there is room for few packets of full length
capture()
{
	in_host "$1"
	rm -f "$TMP/dump.err"
	"${_in[@]}" tcpdump -i "$2" -Q out --immediate-mode -s 256 -B 16384 -U -w "$TMP/dump" > /dev/null 2> "$TMP/dump.err" &
	dump=$!
	wait_until 10 grep -q listening "$TMP/dump.err"
}

captured()
{
	# what is still on its way to the file
	sleep 0.5
	kill "$dump"
	wait "$dump"
	grep -q "^0 packets dropped by kernel" "$TMP/dump.err"
}

# packets FILTER - how many of the captured ones
packets()
{
	tcpdump -r "$TMP/dump" --count "$1" 2> /dev/null | cut -d' ' -f1
}

# filters KIND TCLASS [PCP] - set roce to what finds RoCE's packets, and asked to
# what finds those among them with these bits
filters()
{
	local dscp=$(($2 >> 2)) shift=14 tag=

	if [ -n "${3-}" ]; then
		tag="ether[12:2] = 0x8100 and ether[14:2] >> 13 = $3 and "
		shift=18
	fi
	case $1 in
	v1-*)
		roce="ether[$((shift - 2)):2] = 0x8915"
		asked="$tag$roce and ether[$shift:2] & 0x0fc0 = $((dscp << 6))"
		;;
	v6)
		roce="ether[$((shift - 2)):2] = 0x86dd and ether[$((shift + 6))] = 17 and
			ether[$((shift + 42)):2] = 4791"
		asked="$tag$roce and ether[$shift:2] & 0x0fc0 = $((dscp << 6))"
		;;
	*)
		roce="ether[$((shift - 2)):2] = 0x0800 and ether[$((shift + 9))] = 17 and
			ether[$((shift + 22)):2] = 4791"
		asked="$tag$roce and ether[$((shift + 1))] & 0xfc = $((dscp << 2))"
		;;
	esac
}

# sends KIND SL TCLASS - B's messages, of the transport SERVICE, captured; before and after
# are what the classes of WIRE's qdisc counted. A datagram may be lost, and then perftest
# waits for it until its limit: not for long, and again
SERVICE=RC
sends()
{
	local limit=120 tries=1 status

	[ $SERVICE != UD ] || limit=40 tries=3
	for (( ; tries; tries--)); do
		mapfile -t before < <(counted "$NS_B" "$WIRE")
		capture "$NS_B" "$WIRE" || return
		PERFTEST_LIMIT=$limit perftest ib_send_bw "$1" -c $SERVICE -s 64 -n 100 -r 200 \
			--sl="$2" --tclass="$3"
		status=$?
		captured || return
		[ $status != 0 ] || break
	done
	mapfile -t after < <(counted "$NS_B" "$WIRE")
	return $status
}

# travels KIND SL TCLASS CLASS [PCP] - B's messages are in that class of WIRE's qdisc and in
# no other, and their bits on the wire are these
travels()
{
	local before after i all right

	sends "$1" "$2" "$3" || return
	filters "$1" "$3" "${5-}"
	all=$(packets "$roce")
	right=$(packets "$asked")
	echo "on the wire $all, of which as asked for $right; counted:"
	for i in $LEVELS; do
		echo "  $i: $((after[i] - before[i]))"
	done
	[ "$all" -ge 20 ] && [ "$all" = "$right" ] || return
	for i in $LEVELS; do
		# addresses are resolved in class 7, and programs meet over TCP in 0
		case $i in
		"$4") [ $((after[i] - before[i])) -ge "$all" ] || return ;;
		0 | 7) ;;
		*) [ $((after[i] - before[i])) = 0 ] || return ;;
		esac
	done
	[ "$4" = 0 ] || [ $((after[0] - before[0])) -lt "$all" ]
}

# one packet, one skb: what is counted and what is captured can be compared
super_off()
{
	local file=/sys/kernel/debug/skerry/super_tx now

	now=$(< $file)
	must sh -c "echo N > $file"
	defer sh -c "echo $now > $file"
}
