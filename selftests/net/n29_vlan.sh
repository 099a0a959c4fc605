#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# N29: a link on the parent of a VLAN device has its addresses: tag and priority
# on the wire, the connection manager, a link on the VLAN device itself, and a
# VLAN that is deleted while somebody listens on its address.
# timeout: 240

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/cm.sh
. "$(dirname "$0")/../lib/cm.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"

plan 11

# tagged KIND SL PCP - ping-pong with that service level has that tag on the wire
tagged()
{
	local dump

	in_host "$NS_A"
	"${_in[@]}" timeout 60 tcpdump -i pA -Q out -e -nn -l -c 200 > "$TMP/dump" 2> "$TMP/dump.err" &
	dump=$!
	wait_until 10 grep -q listening "$TMP/dump.err"
	pingpong "$1" -n 50 -l "$2" || return
	sleep 1
	kill $dump 2> /dev/null
	wait $dump 2> /dev/null
	case $1 in
	v1-*) grep 0x8915 ;;
	*) grep '\.4791:\|8100.*4791' ;;
	esac < "$TMP/dump" > "$TMP/roce"
	if [ ! -s "$TMP/roce" ] || grep -v "vlan 55, p $3," "$TMP/roce" > "$TMP/wrong"; then
		head -n 3 "$TMP/wrong" "$TMP/dump"
		return 1
	fi
}

# gone_in_time HOST DEV - a netdev can be deleted while it is in use
gone_in_time()
{
	in_time 5 ip -n "$1" link del "$2"
}

stacked_up vlan
stacked_links
check "RoCEv1, service level 5: tag 55, priority 5" tagged v1-v4 5 5
check "RoCEv1, service level 0: priority 0" tagged v1-v6 0 0
check "RoCEv2, no map: priority 0" tagged v4 5 0
for host in "$NS_A:uA" "$NS_B:uB"; do
	must ip -n "${host%:*}" link set "${host#*:}" type vlan egress-qos-map 2:5 6:6
done
check "RoCEv1, service level 5: still priority 5" tagged v1-v4 5 5
check "RoCEv2, service level 5, map 2:5: priority 5" tagged v4 5 5
check "RoCEv2, service level 6, map 6:6: priority 6" tagged v6 6 6
check "connection manager" cm_pair 40 rping -s -a $IP4_A -C 5 -V -- rping -c -a $IP4_A -C 5 -V

# refused - no link on the VLAN device, and the log says where to put it
refused()
{
	on "$NS_B" rdma link add sk9 type "$LINK" netdev uB && return 1
	dmesg | tail -n 3 | grep "sk9: .*link on pB"
}

check "a link on the VLAN device is refused, with a word about its parent" refused
in_host "$NS_A"
"${_in[@]}" rping -s -a $IP4_A > "$TMP/rping" 2>&1 &
listener=$!
sleep 1
check "the VLAN can be deleted while somebody listens" gone_in_time "$NS_A" uA
kill $listener 2> /dev/null
wait $listener 2> /dev/null
check "the link stays" link_exists "$NS_A" $SK_A
check "without the VLAN's GIDs" wait_until 5 negate gid_index "$NS_A" $SK_A v4
