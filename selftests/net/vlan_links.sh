#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A VLAN's own link: on the VLAN device itself, and on a macvlan on it. Only that VLAN's
# addresses, the tag once and with the right priority, the connection manager; port and
# MTU are the VLAN device's, the link goes with it, and the log says nothing of the
# addresses that others have. The link on the parent is n29_vlan's.
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/cm.sh
. "$(dirname "$0")/../lib/cm.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"

plan 43

# others_gids NETDEV [HOST DEV] - GIDs of a link, A's if none is given, that another
# netdev has
others_gids()
{
	on "${2-$NS_A}" sh -c "cat /sys/class/infiniband/${3:-$SK_A}/ports/1/gid_attrs/ndevs/*" \
		2> /dev/null | grep -vx "$1"
}

# rpings WHAT
rpings()
{
	local ip

	for ip in $IP4_A $IP6_A; do
		check "$1: connection manager, $ip" cm_pair 40 rping -s -a "$ip" -C 5 -V -- \
			rping -c -a "$ip" -C 5 -V
	done
}

# maps NETDEV... - the VLAN devices in A and B
maps()
{
	must ip -n "$NS_A" link set "$1" type vlan egress-qos-map 2:5 6:6
	must ip -n "$NS_B" link set "$2" type vlan egress-qos-map 2:5 6:6
}

# mtu_is NAME - what the port says
mtu_is()
{
	on "$NS_A" ibv_devinfo -d $SK_A | grep -q "active_mtu:.*($1)"
}

# quiet - ib_core has had nothing to say of GIDs
quiet()
{
	! dmesg | tail -n "+$((quiet + 1))" | grep -i 'GID add\|add gid'
}

# refused NETDEV WORDS - no link there, and the log has a line with these words
refused()
{
	local before

	before=$(log_lines)
	if on "$NS_A" rdma link add sk9 type "$LINK" netdev "$1"; then
		link_del "$NS_A" sk9
		return 1
	fi
	dmesg | tail -n "+$((before + 1))" | grep "sk9: .*$2"
}

# no_device_for ADDRESS - rdma_cm has none; 124 would be a program that listens
no_device_for()
{
	local status

	on "$NS_A" timeout 30 rping -s -a "$1"
	status=$?
	[ $status != 0 ] && [ $status != 124 ]
}

# said WORDS - by A's device
said()
{
	grep -qi "$1" "$TMP/events"
}

# goes_in_traffic - the VLAN device is deleted while the QPs of its link are busy
goes_in_traffic()
{
	local before pid status=0

	before=$(number "$NS_A" $SK_A rx_packets)
	traffic v1-v4 --mtu=1024 --count=1000000 --max=65536 --qps=4 > "$TMP/lost" 2>&1 &
	pid=$!
	wait_until 60 moved $((before + 200)) || { echo "no traffic"; status=1; }
	in_time 30 ip -n "$NS_A" link del uA || { echo "the VLAN device did not go"; status=1; }
	wait $pid && { echo "traffic without a link"; status=1; }
	return $status
}

# moved COUNT - A's device has received more packets than that, ever
moved()
{
	[ "$(number "$NS_A" $SK_A rx_packets)" -gt "$1" ]
}

# guid MAC VLAN - what is made of them: an EUI-64 with the VLAN's number in its middle
guid()
{
	local mac

	IFS=: read -ra mac <<< "$1"
	printf '%02x%s:%s%02x:%02x%s:%s%s\n' $((0x${mac[0]} ^ 2)) "${mac[1]}" "${mac[2]}" \
		$(($2 >> 8)) $(($2 & 255)) "${mac[3]}" "${mac[4]}" "${mac[5]}"
}

# guid_is DEV GUID
guid_is()
{
	local is

	is=$(on "$NS_A" cat "/sys/class/infiniband/$1/node_guid")
	echo "$1 has $is, not $2"
	[ "$is" = "$2" ]
}

quiet=$(log_lines)
mark=$(deferred)
stacked_up vlan
# addresses that the link is not to have, from the beginning and later
must ip -n "$NS_A" addr add 10.78.1.1/24 dev pA
must ip -n "$NS_A" link add link pA name uA2 type vlan id 56
must ip -n "$NS_A" addr add 10.78.2.1/24 dev uA2
must ip -n "$NS_A" link set uA2 up
LOWER_A=uA LOWER_B=uB
must link_add "$NS_A" $SK_A uA
check "no GID is another netdev's" wait_until 20 negate others_gids uA
must link_add "$NS_B" $SK_B uB
must ready "$NS_A" $SK_A
must ready "$NS_B" $SK_B
check "RoCEv2, ping-pong" pingpong v4 -n 50
check "RoCEv1, ping-pong" pingpong v1-v6 -n 50
check "RoCEv2, datagrams" pingpong_over ud v6 -n 50 -s 1024
check "RoCEv1, datagrams" pingpong_over ud v1-v4 -n 50 -s 1024
check "RoCEv2, traffic" traffic v6 --mtu=4096 --count=50 --max=100000
check "RoCEv1, traffic" traffic v1-v4 --mtu=4096 --count=50 --max=100000
rpings "the VLAN's link"
check "RoCEv1, service level 5, no map: priority 5" tagged v1-v4 5 5
maps uA uB
check "RoCEv1, service level 5, map 2:5: priority 5" tagged v1-v4 5 5
check "RoCEv1, service level 3, not in the map: priority 3" tagged v1-v6 3 3
check "RoCEv2, service level 6, map 6:6: priority 6" tagged v6 6 6

must ip -n "$NS_A" addr add 10.78.1.2/24 dev pA
must ip -n "$NS_A" link set uA2 down
must ip -n "$NS_A" link set uA2 up
must ip -n "$NS_A" addr add 10.77.0.77/24 dev uA
check "an address of its own makes a GID" wait_until 10 eval \
	"on '$NS_A' grep -q ffff:0a4d:004d /sys/class/infiniband/$SK_A/ports/1/gids/*"
check "one of others does not stay" wait_until 20 negate others_gids uA
check "nobody can listen on the parent's address" no_device_for 10.78.1.1
check "no link on the parent beside it" refused pA "link on a VLAN of this device"
must ip -n "$NS_A" link set uA2 address $MAC_A
must link_add "$NS_A" sk8 uA2
check "one on another VLAN" wait_until 20 active "$NS_A" sk8
check "its GUID is of MAC address and VLAN" guid_is sk8 "$(guid $MAC_A 56)"
check "and so is the first one's" guid_is $SK_A "$(guid $MAC_A 55)"
must link_del "$NS_A" sk8

check "the MTU is the VLAN device's" mtu_is 5
must ip -n "$NS_A" link set uA mtu 1500
check "when that changes, too" mtu_is 3
must ip -n "$NS_A" link set uA mtu "$HOST_MTU"
in_host "$NS_A"
"${_in[@]}" stdbuf -oL ibv_asyncwatch -d $SK_A > "$TMP/events" 2>&1 &
defer kill $!
must wait_until 20 grep -q FD "$TMP/events"
must ip -n "$NS_B" link set pB down
check "carrier lost: the port is down" wait_until 20 negate active "$NS_A" $SK_A
check "carrier lost: event" wait_until 20 said "event_type.*(10)\|port error"
must ip -n "$NS_B" link set pB up
check "carrier back: the port is active" wait_until 20 active "$NS_A" $SK_A
check "carrier back: event" wait_until 20 said "event_type.*(9)\|port active"
must wait_until 60 active "$NS_B" $SK_B

check "the VLAN device can be deleted under traffic" goes_in_traffic
check "the link goes with it" wait_until 10 negate link_exists "$NS_A" $SK_A
must wait_until 20 link_add "$NS_A" $SK_A pA
check "then the parent has one" wait_until 20 gid_index "$NS_A" $SK_A v4
check "whose GUID has no VLAN" guid_is $SK_A \
	"$(guid "$(on "$NS_A" cat /sys/class/net/pA/address)" 0xfffe)"
on_top "$NS_A" pA vlan uA
check "and no VLAN beside it" refused uA "the device below has"
undo_to "$mark"

# the parent and its link stay where they are
mark=$(deferred)
stacked_up vlan
must link_add "$NS_A" sk8 pA
ns_add "$NS_M"
must ip -n "$NS_A" link set uA netns "$NS_M"
parent=$NS_A
NS_A=$NS_M
address "$NS_A" uA $MAC_A $IP4_A $IP6_A $LL_A
must link_add "$NS_A" $SK_A uA
must link_add "$NS_B" $SK_B uB
must ready "$NS_A" $SK_A
must ready "$NS_B" $SK_B
check "another namespace: no GID is the parent's" wait_until 20 negate others_gids uA
check "another namespace: nor does the parent's link have the VLAN's" \
	wait_until 20 negate others_gids pA "$parent" sk8
rpings "another namespace"
check "another namespace: RoCEv1, traffic" traffic v1-v4 --mtu=1024 --count=50 --max=100000
undo_to "$mark"
NS_A=$parent

mark=$(deferred)
stacked_up vlan-macvlan
stacked_links
check "macvlan: no GID is another netdev's" negate others_gids uA
rpings "macvlan"
maps uAv uBv
check "macvlan: RoCEv1, service level 5, map 2:5: priority 5" tagged v1-v6 5 5
check "macvlan: RoCEv2, service level 6, map 6:6: priority 6" tagged v4 6 6
# A's idea of B may be so: the netdev below answers questions for the address, too
must ip -n "$NS_A" neigh replace $IP4_B dev uA \
	lladdr "$(on "$NS_B" cat /sys/class/net/uBv/address)"
check "macvlan: RoCEv1, datagrams to the MAC address of the netdev below" \
	pingpong_over ud v1-v4 -n 50
undo_to "$mark"
check "nothing in the log about GIDs" quiet
