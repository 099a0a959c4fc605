#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What happens to a netdev, seen by its device: addresses come and go, the
# carrier is lost, the MTU changes under traffic, nobody knows the speed.
# timeout: 240

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 14
hosts_up
links_up

# gids HOST DEV WORD - how often it is in the table
gids()
{
	on "$1" grep -l "$3" "/sys/class/infiniband/$2"/ports/1/gids/* 2> /dev/null | wc -l
}

# gids_are COUNT WORD
gids_are()
{
	[ "$(gids "$NS_A" $SK_A "$2")" = "$1" ]
}

must ip -n "$NS_A" addr add 10.77.9.9/24 dev $DEV_A
check "an IPv4 address makes a GID of each type" \
	wait_until 20 gids_are 2 ffff:0a4d:0909
must ip -n "$NS_A" addr add fd77:9::9/64 dev $DEV_A nodad
check "an IPv6 address, too" wait_until 20 gids_are 2 'fd77:0009:.*:0009'
must ip -n "$NS_A" addr del 10.77.9.9/24 dev $DEV_A
must ip -n "$NS_A" addr del fd77:9::9/64 dev $DEV_A
check "they go with the IPv4 address" wait_until 20 gids_are 0 ffff:0a4d:0909
check "and with the IPv6 address" wait_until 20 gids_are 0 'fd77:0009:.*:0009'

in_host "$NS_A"
"${_in[@]}" stdbuf -oL ibv_asyncwatch -d $SK_A > "$TMP/events" 2>&1 &
defer kill $!
must wait_until 20 grep -q FD "$TMP/events"

# said WORDS
said()
{
	grep -qi "$1" "$TMP/events"
}

must ip -n "$NS_B" link set $DEV_B down
check "carrier lost: the port is down" wait_until 20 negate active "$NS_A" $SK_A
check "carrier lost: event" wait_until 20 said "event_type.*(10)\|port error"
must ip -n "$NS_B" link set $DEV_B up
check "carrier back: the port is active" wait_until 20 active "$NS_A" $SK_A
check "carrier back: event" wait_until 20 said "event_type.*(9)\|port active"
note_file "$TMP/events"
must ip -n "$NS_B" addr replace $IP6_B/64 dev $DEV_B nodad
must ip -n "$NS_B" addr replace $LL_B/64 dev $DEV_B nodad
must ready "$NS_B" $SK_B

# mtu_change KIND - up and down while there is traffic that fits both
mtu_change()
{
	local pid i

	(
		i=0
		while sleep 0.3; do
			i=$((1 - i))
			ip -n "$NS_A" link set $DEV_A mtu $((2200 + i * 2000))
			ip -n "$NS_B" link set $DEV_B mtu $((2200 + i * 2000))
		done
	) &
	pid=$!
	traffic "$1" --mtu=1024 --count=1500 --max=50000 --qps=2
	local status=$?
	kill $pid
	wait $pid 2> /dev/null
	ip -n "$NS_A" link set $DEV_A mtu "$HOST_MTU"
	ip -n "$NS_B" link set $DEV_B mtu "$HOST_MTU"
	return $status
}

check "RoCEv2 traffic while the MTU changes" mtu_change v4
check "RoCEv1 traffic while the MTU changes" mtu_change v1-v6

# small_mtu KIND - on a netdev as they usually are
small_mtu()
{
	local status

	ip -n "$NS_A" link set $DEV_A mtu 1500
	traffic "$1" --mtu=1024 --count=50 --max=20000
	status=$?
	ip -n "$NS_A" link set $DEV_A mtu "$HOST_MTU"
	return $status
}

check "RoCEv1 traffic at an MTU of 1500" small_mtu v1-v6

must ip -n "$NS_A" link add dum0 type dummy
must ip -n "$NS_A" link set dum0 up
must link_add "$NS_A" sk9 dum0
must wait_until 10 node sk9
check "a netdev without a speed has a small one" \
	sh -c "ip netns exec $NS_A ibv_devinfo -v -d sk9 | grep 'active_width:.*1X' &&
	ip netns exec $NS_A ibv_devinfo -v -d sk9 | grep 'active_speed:.*2.5'"
check "which is not logged" sh -c "! dmesg | grep 'dum0 speed is unknown'"
check "the traffic's QPs left no drops of bad packets" counters_zero "$NS_A" $SK_A \
	rx_icrc_encapsulated rx_drop_l3
