#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A bond, active-backup or 802.3ad, or a team loses the netdev in use and gets it back
# while 8 QPs write verified data over it: nothing is lost, no QP fails, and the pause
# stays under 2 seconds.
# only: on demand
# timeout: 400

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"

plan 24

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

# rx_bytes - of A's device
rx_bytes()
{
	counter "$NS_A" $SK_A rx_bytes
}

# longest_pause PID - the longest time in ms for which nothing came to A while the
# process lived, seen every 100 ms; from the first byte of a run of traffic to its end
longest_pause()
{
	local last=0 now run seen=0 since=0 pause longest=0

	while ! gone "$1"; do
		run=$(< "$TMP/run")
		now=$(rx_bytes)
		if [ "$now" != "$last" ]; then
			last=$now since=${EPOCHREALTIME/./} seen=$run
		elif [ "$run" = "$seen" ] && [ "$run" = "$(< "$TMP/run")" ]; then
			pause=$(((${EPOCHREALTIME/./} - since) / 1000))
			[ $pause -le $longest ] || longest=$pause
		fi
		sleep 0.1
	done
	echo $longest
}

# failover AGGREGATE KIND - traffic while the netdevs lose their carrier in turn
failover()
{
	local pid traffic status

	(
		for i in 1 2 1 2; do
			sleep 2
			path "$1" down $i
			sleep 1
			path "$1" up $i
		done
		echo yes > "$TMP/failed-over"
	) &
	pid=$!
	rm -f "$TMP/failed-over"
	echo 0 > "$TMP/run"
	(
		n=0
		# again and again until all has happened; even numbers are between runs
		while [ ! -f "$TMP/failed-over" ]; do
			echo $((++n)) > "$TMP/run"
			traffic "$2" --mtu=1024 --count=300 --min=4096 --max=65536 --qps=8 \
				--ops=write,write_imm > "$TMP/traffic" 2>&1 || exit 1
			echo $((++n)) > "$TMP/run"
		done
	) &
	traffic=$!
	longest_pause $traffic > "$TMP/pause"
	wait $traffic
	status=$?
	wait $pid
	cat "$TMP/traffic"
	return $status
}

# short_pause - less than 2 seconds
short_pause()
{
	cat "$TMP/pause"
	[ "$(< "$TMP/pause")" -lt 2000 ]
}

for aggregate in active-backup 802.3ad team; do
	if ! kind_available $aggregate; then
		for i in 1 2 3 4 5 6 7 8; do
			skip "$aggregate: $i" "not in this kernel"
		done
		continue
	fi
	mark=$(deferred)
	failover_hosts $aggregate
	links_up
	for kind in v4 v1-v6; do
		check "$aggregate, $kind: 8 QPs write on through four failovers" \
			failover $aggregate $kind
		check "$aggregate, $kind: the longest pause is under 2 s" short_pause
		note "pause $(< "$TMP/pause") ms"
		check "$aggregate, $kind: no QP ran out of retries" counters_zero "$NS_A" $SK_A \
			req_transport_retries_exceeded
	done
	check "$aggregate: nor on the other host" counters_zero "$NS_B" $SK_B \
		req_transport_retries_exceeded
	check "$aggregate: the port is up" active "$NS_A" $SK_A
	undo_to "$mark"
done
