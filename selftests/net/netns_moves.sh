#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Moves between network namespaces, in exclusive mode: an RDMA device without its
# netdev, idle and under traffic; the namespace it went to is deleted; a netdev under
# traffic. Nothing hangs, who used the device hears of it, and all works again.
# timeout: 240

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 24

# moved DEV FROM TO - the RDMA device, in time
moved()
{
	in_time 20 on "$2" rdma dev set "$1" netns "$3"
}

# is_in HOST DEV / is_not_in HOST DEV
is_in()
{
	on "$1" rdma link show "$2/1"
}

is_not_in()
{
	! is_in "$@"
}

received()
{
	[ "$(counter "$NS_B" $SK_B rx_packets)" -gt "$1" ]
}

# begin - traffic between the hosts, until something happens to it
begin()
{
	local before

	before=$(counter "$NS_B" $SK_B rx_packets)
	in_host "$NS_A"
	"${_in[@]}" "$PROG/traffic" --dev $SK_A --listen --stall=10 > "$TMP/server" 2>&1 &
	server_pid=$!
	wait_until 10 listening "$NS_A" 7471 || return
	in_host "$NS_B"
	"${_in[@]}" "$PROG/traffic" --dev $SK_B --connect $IP4_A --count=1000000 --qps=4 \
		--max=65536 --stall=10 > "$TMP/client" 2>&1 &
	client_pid=$!
	wait_until 20 received $((before + 500)) && return
	cat "$TMP/server" "$TMP/client"
	return 1
}

# ended - both sides have, with an error
ended()
{
	local a b

	reap 60 "$server_pid"
	a=$?
	reap 60 "$client_pid"
	b=$?
	echo "server: $a, client: $b"
	cat "$TMP/server" "$TMP/client"
	[ $a != 0 ] && [ $b != 0 ] && [ $a != 124 ] && [ $b != 124 ]
}

must netns_mode exclusive
mark=$(deferred)
hosts_up
# TCP connections whose way has gone must not keep the namespaces for long
for host in "$NS_A" "$NS_B"; do
	must on "$host" sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_orphan_retries'
done
ns_add "$NS_M"
must link_add "$NS_A" $SK_A $DEV_A
must link_add "$NS_B" $SK_B $DEV_B
for host in "$NS_A:$SK_A" "$NS_B:$SK_B"; do
	is_in "${host%:*}" "${host#*:}" > /dev/null 2>&1 || must moved "${host#*:}" '' "${host%:*}"
done
must ready "$NS_A" $SK_A
must ready "$NS_B" $SK_B

check "the device goes to a namespace without its netdev" moved $SK_A "$NS_A" "$NS_M"
check "it is there" is_in "$NS_M" $SK_A
check "and not where it was" is_not_in "$NS_A" $SK_A
check "port 4791 stays with the netdev" negate port_free "$NS_A"
check "and is free over there" port_free "$NS_M"
check "the device comes back" moved $SK_A "$NS_M" "$NS_A"
check "its GIDs are there again" ready "$NS_A" $SK_A
check "it works" pingpong v4 -n 50

check "traffic" begin
check "the device goes under traffic" moved $SK_A "$NS_A" "$NS_M"
check "both sides end" ended
check "it comes back" moved $SK_A "$NS_M" "$NS_A"
check "its GIDs are there again" ready "$NS_A" $SK_A
check "it works, RoCEv2" traffic v6 --count=50 --max=20000
check "it works, RoCEv1" traffic v1-v4 --count=50 --max=20000

must moved $SK_A "$NS_A" "$NS_M"
check "the namespace that the device went to is deleted" in_time 10 ip netns del "$NS_M"
check "the device is in the first one then" wait_until 20 is_in '' $SK_A
check "and comes back from there" moved $SK_A '' "$NS_A"
must ready "$NS_A" $SK_A
ns_add "$NS_M"

check "traffic" begin
check "the netdev moves under traffic" in_time 60 ip -n "$NS_A" link set $DEV_A netns "$NS_M"
check "both sides end" ended
check "port 4791 is free where it was" wait_until 5 port_free "$NS_A"
NS_A=$NS_M
address "$NS_A" $DEV_A $MAC_A $IP4_A $IP6_A $LL_A
must link_add "$NS_A" $SK_A $DEV_A
is_in "$NS_A" $SK_A > /dev/null 2>&1 || must moved $SK_A '' "$NS_A"
must ready "$NS_A" $SK_A
check "a new link on it works over there" pingpong v6 -n 50
undo_to "$mark"
# the mode can be changed when the last one has gone
check "nothing keeps the namespaces" wait_until 60 rdma system set netns shared
