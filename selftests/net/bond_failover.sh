#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A bond or team loses the netdev in use and gets it back while 8 QPs write verified
# data over it: nothing is lost, no QP fails, and nothing stands still for 2 s. Where it
# does, up to three times, and even undisturbed traffic has long pauses, it is the
# machine that is busy, and the length of the pause is skipped.
# only: on demand
# timeout: 400

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"

# what is tried: a kind of aggregate, one of GIDs, and if it is not the usual one the
# QPs' time-out, 4 us times two to that power; which netdev goes, in turn
[ -n "${FAILOVERS:-}" ] || FAILOVERS="active-backup:v4 802.3ad:v1-v6"
[ -n "${GOES:-}" ] || GOES="1 2"
# ms: what a failover may take, and what tells of a machine that is too busy
PAUSE=2000 BUSY=300
RESULTS=6

read -ra each <<< "$FAILOVERS"
plan $((${#each[@]} * RESULTS))

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

# settled HOST DEV NETDEV - ib_core has done what the netdev's events have asked of its
# GIDs: it does one thing after the other, and so this address comes after them
settled()
{
	local gid=ffff:0a4c:0001 found

	found="on '$1' grep -qs $gid /sys/class/infiniband/$2/ports/1/gids/*"
	ip -n "$1" addr add 10.76.0.1/32 dev "$3" && wait_until 20 eval "$found" &&
		ip -n "$1" addr del 10.76.0.1/32 dev "$3" && wait_until 20 eval "negate $found"
}

# run KIND TIMEOUT COUNT - traffic
run()
{
	TRAFFIC_LIMIT=240 traffic "$1" --mtu=1024 --count="$3" --min=4096 --max=65536 --qps=8 \
		--timeout="$2" --stall=60 --ops=write,write_imm > "$TMP/traffic" 2>&1 && return
	cat "$TMP/traffic"
	return 1
}

# pause - ms in which nothing moved on any QP, as the programs saw it
pause()
{
	cat "$TMP/client" "$TMP/server" | sed -n 's/.*, pause \([0-9]*\) ms,.*/\1/p' |
		sort -n | tail -n 1
}

# run_ms - how long the traffic took
run_ms()
{
	local ms

	ms=$(sed -n 's/.* QPs, \([0-9]*\)\.\([0-9]\) s,.*/\1\200/p' "$TMP/client")
	# less than a second begins with a 0
	echo $((10#${ms:-0}))
}

# undisturbed KIND TIMEOUT - how long a pause is without a failover, and how many
# messages it takes to be busy while there are some
undisturbed()
{
	settled "$NS_A" $SK_A $DEV_A && settled "$NS_B" $SK_B $DEV_B || return
	run "$1" "$2" 100 || return
	idle_pause=$(pause)
	count=$((100 * 10000 / ($(run_ms) + 1)))
	[ $count -gt 100 ] || count=100
}

# arrived - packets that A's device has received
arrived()
{
	number "$NS_A" $SK_A rx_packets
}

# arrived_more THAN
arrived_more()
{
	[ "$(arrived)" -gt "$1" ]
}

# break_paths AGGREGATE PID - one after the other, while that process runs; a path comes
# back for good before the other goes. 2 if the process ended too early.
break_paths()
{
	local i at early=0

	at=$(arrived)
	wait_until 20 arrived_more "$((at + 100))"
	for i in $GOES; do
		path "$1" down "$i" && wait_until 20 neither_carries "$1" "$i" || return
		at=$(arrived)
		wait_until 60 eval "gone $2 || arrived_more $((at + 100))" || return
		gone "$2" && early=2
		path "$1" up "$i" && wait_until 30 both_carry "$1" || return
		[ $early = 0 ] || break
	done
	return $early
}

# failover AGGREGATE KIND TIMEOUT - traffic while the netdevs lose their carrier in turn
failover()
{
	local pid broken

	settled "$NS_A" $SK_A $DEV_A && settled "$NS_B" $SK_B $DEV_B || return
	run "$2" "$3" "$count" > "$TMP/run" &
	pid=$!
	break_paths "$1" $pid
	broken=$?
	wait $pid || { cat "$TMP/run"; return 1; }
	[ $broken != 1 ] || echo "a path did not go or come back"
	return $broken
}

# long_enough AGGREGATE KIND TIMEOUT - failover, with as much traffic as it takes
long_enough()
{
	local status i

	for i in 1 2 3 4; do
		failover "$@"
		status=$?
		[ $status = 2 ] || return $status
		count=$((count * 2))
	done
	echo "the traffic ended before the failovers"
	return 1
}

# failovers AGGREGATE KIND TIMEOUT - up to three times, until the pause is short
failovers()
{
	local i now

	shortest=
	for i in 1 2 3; do
		undisturbed "$2" "$3" && long_enough "$@" || return
		now=$(pause)
		note "$1:$2: pause $now ms, undisturbed $idle_pause ms, $(run_ms) ms in all" >> "$TMP/notes"
		[ -n "$shortest" ] && [ "$shortest" -le "$now" ] || shortest=$now
		[ "$shortest" -ge $PAUSE ] || return 0
	done
}

for each in $FAILOVERS; do
	IFS=: read -r aggregate kind timeout <<< "$each"
	if ! kind_available "$aggregate"; then
		for ((i = 1; i <= RESULTS; i++)); do
			skip "$each: $i" "not in this kernel"
		done
		continue
	fi
	mark=$(deferred)
	failover_hosts "$aggregate"
	links_up
	check "$each: two netdevs carry" wait_until 20 both_carry "$aggregate"
	: > "$TMP/notes"
	check "$each: 8 QPs write on through failovers" failovers "$aggregate" "$kind" "${timeout:-14}"
	cat "$TMP/notes"
	if [ "${shortest:-$PAUSE}" -ge $PAUSE ] && [ "${idle_pause:-0}" -ge $BUSY ]; then
		skip "$each: the pause is short" "so is none on this machine"
	else
		check "$each: the pause is short" [ "${shortest:-$PAUSE}" -lt $PAUSE ]
	fi
	check "$each: no QP ran out of retries" counters_zero "$NS_A" $SK_A \
		req_transport_retries_exceeded
	check "$each: nor on the other host" counters_zero "$NS_B" $SK_B \
		req_transport_retries_exceeded
	check "$each: the port is up" active "$NS_A" $SK_A
	note_counters "$NS_A" $SK_A
	undo_to "$mark"
done
