#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A bond or team loses the netdev in use and gets it back while 8 QPs write verified
# data over it: nothing is lost and no QP fails. The longest pause is told, in ms.
# Traffic that begins while ib_core renews a bond's GIDs finds none (ENODATA), which a
# busy machine makes likely.
# only: on demand
# timeout: 400

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"

# what is tried: a kind of aggregate, one of GIDs, and if it is not the usual one the
# QPs' time-out, 4 us times two to that power, which the pause is to stay below then; which
# netdev goes, in turn
[ -n "${FAILOVERS:-}" ] || FAILOVERS="active-backup:v4 802.3ad:v1-v6"
[ -n "${GOES:-}" ] || GOES="1 2"
RESULTS=5

# results EACH - how many it comes to
results()
{
	case $1 in
	*:*:*) echo $((RESULTS + 1)) ;;
	*) echo $RESULTS ;;
	esac
}

total=0
for each in $FAILOVERS; do
	total=$((total + $(results "$each")))
done
plan $total

# switched_hosts KIND - each host has two netdevs; all four lead to one switch
switched_hosts()
{
	local host ns dev i

	ns_add "$NS_A" "$NS_B" "$NS_M"
	must ip -n "$NS_M" link add br0 mtu "$HOST_MTU" type bridge
	must ip -n "$NS_M" link set br0 up
	for host in A B; do
		ns=NS_$host dev=DEV_$host
		aggregate "${!ns}" "$1" "${!dev}"
		for i in 1 2; do
			join_hosts "${!ns}" p$i "$NS_M" m$host$i "$HOST_MTU"
			must ip -n "$NS_M" link set m$host$i master br0 up
			must ip -n "${!ns}" link set p$i master "${!dev}"
		done
	done
}

# cabled_hosts KIND - each host has two netdevs that lead to the other's: a switch does
# not pass LACP on
cabled_hosts()
{
	local i

	ns_add "$NS_A" "$NS_B"
	aggregate "$NS_A" "$1" $DEV_A
	aggregate "$NS_B" "$1" $DEV_B
	for i in 1 2; do
		join_hosts "$NS_A" p$i "$NS_B" p$i "$HOST_MTU"
		must ip -n "$NS_A" link set p$i master $DEV_A
		must ip -n "$NS_B" link set p$i master $DEV_B
	done
}

# failover_hosts KIND
failover_hosts()
{
	case $1 in
	802.3ad) cabled_hosts "$1" ;;
	*) switched_hosts "$1" ;;
	esac
	must ip -n "$NS_A" link set $DEV_A mtu "$HOST_MTU"
	must ip -n "$NS_B" link set $DEV_B mtu "$HOST_MTU"
	address "$NS_A" $DEV_A $MAC_A $IP4_A $IP6_A $LL_A
	address "$NS_B" $DEV_B $MAC_B $IP4_B $IP6_B $LL_B
	must wait_until 20 on "$NS_B" ping -c 1 -W 1 $IP4_A
}

# path KIND up|down N - of the two ways; both hosts see the carrier change
path()
{
	case $1 in
	802.3ad) ip -n "$NS_B" link set "p$3" "$2" ;;
	*)
		ip -n "$NS_M" link set "mA$3" "$2"
		ip -n "$NS_M" link set "mB$3" "$2"
		;;
	esac
}

# carrying HOST AGGREGATE N - the aggregate takes and sends packets by its Nth netdev,
# or would if the other went
carrying()
{
	local dir=/sys/class/net/p$3/bonding_slave synchronized=56 state

	case $2 in
	802.3ad)
		for state in ad_actor_oper_port_state ad_partner_oper_port_state; do
			state=$(on "$1" cat "$dir/$state") || return
			[ $((state & synchronized)) = $synchronized ] || return
		done
		;;
	active-backup) on "$1" grep -qx up "$dir/mii_status" ;;
	*) carrier "$1" "p$3" ;;
	esac
}

# both_carry AGGREGATE - both ways of both hosts
both_carry()
{
	carrying "$NS_A" "$1" 1 && carrying "$NS_A" "$1" 2 &&
		carrying "$NS_B" "$1" 1 && carrying "$NS_B" "$1" 2
}

# neither_carries AGGREGATE N - both hosts know that the way is gone
neither_carries()
{
	! carrying "$NS_A" "$1" "$2" && ! carrying "$NS_B" "$1" "$2"
}

# break_paths AGGREGATE - one after the other; a path comes back for good before the
# other goes
break_paths()
{
	local i

	for i in $GOES; do
		sleep 1
		path "$1" down "$i" && wait_until 20 neither_carries "$1" "$i" || return
		sleep 1
		path "$1" up "$i" && wait_until 20 both_carry "$1" || return
	done
	sleep 1
}

# traffic_on KIND TIMEOUT - again and again while there is a file
traffic_on()
{
	while [ -e "$TMP/go-on" ]; do
		traffic "$1" --mtu=1024 --count=150 --min=4096 --max=65536 --qps=8 \
			--timeout="$2" --stall=60 --ops=write,write_imm > "$TMP/traffic" 2>&1 || return
		cat "$TMP/client" "$TMP/server" >> "$TMP/said"
	done
}

# failover AGGREGATE KIND TIMEOUT - traffic while the netdevs lose their carrier in turn
failover()
{
	local pid status=0

	touch "$TMP/go-on"
	: > "$TMP/said"
	traffic_on "$2" "$3" &
	pid=$!
	break_paths "$1" || { echo "a path did not go or come back"; status=1; }
	rm "$TMP/go-on"
	wait $pid || { cat "$TMP/traffic"; status=1; }
	return $status
}

# longest_pause - ms in which nothing moved on any QP, as the programs saw it
longest_pause()
{
	sed -n 's/.*, pause \([0-9]*\) ms,.*/\1/p' "$TMP/said" | sort -n | tail -n 1
}

# short_pause TIMEOUT - nobody had to wait for it
short_pause()
{
	[ "$(longest_pause)" -lt $(((4096 << $1) / 1000000)) ]
}

for each in $FAILOVERS; do
	IFS=: read -r aggregate kind timeout <<< "$each"
	if ! kind_available "$aggregate"; then
		for ((i = 1; i <= $(results "$each"); i++)); do
			skip "$each: $i" "not in this kernel"
		done
		continue
	fi
	mark=$(deferred)
	failover_hosts "$aggregate"
	links_up
	check "$each: two netdevs carry" wait_until 20 both_carry "$aggregate"
	check "$each: 8 QPs write on through failovers" failover "$aggregate" "$kind" "${timeout:-14}"
	note "$each: pause $(longest_pause) ms, in runs of traffic: $(grep -c pause "$TMP/said")"
	check "$each: no QP ran out of retries" counters_zero "$NS_A" $SK_A \
		req_transport_retries_exceeded
	check "$each: nor on the other host" counters_zero "$NS_B" $SK_B \
		req_transport_retries_exceeded
	[ -z "$timeout" ] || check "$each: the pause is short" short_pause "$timeout"
	check "$each: the port is up" active "$NS_A" $SK_A
	note_counters "$NS_A" $SK_A
	undo_to "$mark"
done
