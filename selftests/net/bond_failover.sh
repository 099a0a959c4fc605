#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A bond loses its active netdev and gets it back while 8 QPs write verified data
# over it: nothing is lost, no QP fails, and the pause stays under 2 seconds.
# only: on demand
# timeout: 240

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"

plan 8
kind_available bond bonding || skip_all "no bonding in this kernel"

# each host: a bond of two netdevs; all four lead to one switch
ns_add "$NS_A" "$NS_B" "$NS_M"
must ip -n "$NS_M" link add br0 mtu "$HOST_MTU" type bridge
must ip -n "$NS_M" link set br0 up
for host in A B; do
	ns=NS_$host dev=DEV_$host
	must ip -n "${!ns}" link add "${!dev}" type bond mode active-backup miimon 20
	for i in 1 2; do
		join_hosts "${!ns}" p$i "$NS_M" m$host$i "$HOST_MTU"
		must ip -n "$NS_M" link set m$host$i master br0 up
		must ip -n "${!ns}" link set p$i master "${!dev}"
	done
	must ip -n "${!ns}" link set "${!dev}" mtu "$HOST_MTU"
done
address "$NS_A" $DEV_A $MAC_A $IP4_A $IP6_A $LL_A
address "$NS_B" $DEV_B $MAC_B $IP4_B $IP6_B $LL_B
must wait_until 10 on "$NS_B" ping -c 1 -W 1 $IP4_A
links_up

# rx_bytes - of A's device
rx_bytes()
{
	counter "$NS_A" $SK_A rx_bytes
}

# longest_pause PID - the longest time in ms for which nothing came to A while
# the process lived, seen every 100 ms
longest_pause()
{
	local last=0 now since=${EPOCHREALTIME/./} pause longest=0

	while ! gone "$1"; do
		now=$(rx_bytes)
		if [ "$now" != "$last" ]; then
			last=$now since=${EPOCHREALTIME/./}
		fi
		pause=$(((${EPOCHREALTIME/./} - since) / 1000))
		[ $pause -le $longest ] || longest=$pause
		sleep 0.1
	done
	echo $longest
}

# failover KIND - traffic while the active netdevs lose their carrier in turn
failover()
{
	local pid traffic status

	(
		for i in 1 2 1 2; do
			sleep 2
			ip -n "$NS_M" link set mA$i down
			ip -n "$NS_M" link set mB$i down
			sleep 1
			ip -n "$NS_M" link set mA$i up
			ip -n "$NS_M" link set mB$i up
		done
		echo yes > "$TMP/failed-over"
	) &
	pid=$!
	rm -f "$TMP/failed-over"
	(
		# again and again until all has happened
		while [ ! -f "$TMP/failed-over" ]; do
			traffic "$1" --mtu=1024 --count=300 --min=4096 --max=65536 --qps=8 \
				--ops=write,write_imm > "$TMP/traffic" 2>&1 || exit 1
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

# short_pause - less than 2 seconds, start and end of each run included
short_pause()
{
	cat "$TMP/pause"
	[ "$(< "$TMP/pause")" -lt 2000 ]
}

active_slave()
{
	on "$NS_A" cat /sys/class/net/$DEV_A/bonding/active_slave
}

note "active: $(active_slave)"
for kind in v4 v1-v6; do
	check "$kind: 8 QPs write on through four failovers" failover $kind
	check "$kind: the longest pause is under 2 s" short_pause
	note "pause $(< "$TMP/pause") ms; active: $(active_slave)"
	check "$kind: no QP ran out of retries" counters_zero "$NS_A" $SK_A \
		req_transport_retries_exceeded
done
check "nor on the other host" counters_zero "$NS_B" $SK_B req_transport_retries_exceeded
check "the port is up" active "$NS_A" $SK_A
