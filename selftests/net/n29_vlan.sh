#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# N29: a link on the parent of a VLAN device has its addresses: tag and priority
# on the wire, the connection manager, and a VLAN that is deleted while somebody listens
# on its address. A link on the VLAN device itself is vlan_links'.
# timeout: 480

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/cm.sh
. "$(dirname "$0")/../lib/cm.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"

plan 10

# gone_in_time HOST DEV - a netdev can be deleted while it is in use
gone_in_time()
{
	in_time 60 ip -n "$1" link del "$2"
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

in_host "$NS_A"
"${_in[@]}" rping -s -a $IP4_A > "$TMP/rping" 2>&1 &
listener=$!
sleep 1
check "the VLAN can be deleted while somebody listens" gone_in_time "$NS_A" uA
kill $listener 2> /dev/null
wait $listener 2> /dev/null
check "the link stays" link_exists "$NS_A" $SK_A
check "without the VLAN's GIDs" wait_until 20 negate gid_index "$NS_A" $SK_A v4
