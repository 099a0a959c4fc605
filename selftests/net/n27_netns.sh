#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# N27: devices and network namespaces: full function in each mode of "rdma system",
# who sees what, and a netdev that moves to another namespace.
# timeout: 240

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 24

# visible HOST DEV
visible()
{
	on "$1" rdma link show "$2/1"
}

# a new device may be born in the first namespace: bring it to where its netdev is
bring()
{
	visible "$1" "$2" > /dev/null 2>&1 || rdma dev set "$2" netns "$1"
}

works()
{
	local mode=$1

	check "$mode: RC ping-pong, IPv4" pingpong v4 -n 100
	check "$mode: RC ping-pong, IPv6, events" pingpong v6 -n 100 -e
	check "$mode: ib_write_bw" perftest ib_write_bw v4 -s 65536 -n 20
}

mark=$(deferred)
check "shared mode" netns_mode shared
hosts_up
links_up
check "shared: host A sees B's device" visible "$NS_A" "$SK_B"
check "shared: the first namespace sees it" visible '' "$SK_A"
works shared
check "shared: port 4791 is bound in A" negate port_free "$NS_A"
check "shared: and not in the first namespace" port_free ''
undo_to "$mark"

mark=$(deferred)
if ! check "exclusive mode" netns_mode exclusive; then
	rdma system show | sed 's/^/# /'
fi
hosts_up
must link_add "$NS_A" "$SK_A" "$DEV_A"
must link_add "$NS_B" "$SK_B" "$DEV_B"
check "exclusive: A's device is in A" bring "$NS_A" "$SK_A"
check "exclusive: B's device is in B" bring "$NS_B" "$SK_B"
must ready "$NS_A" "$SK_A"
must ready "$NS_B" "$SK_B"
check "exclusive: A sees its own" visible "$NS_A" "$SK_A"
check_not "exclusive: A does not see B's" visible "$NS_A" "$SK_B"
check_not "exclusive: the first namespace does not see it" visible '' "$SK_A"
works exclusive
check "exclusive: link del in A" link_del "$NS_A" "$SK_A"
check "exclusive: port 4791 is free in A" port_free "$NS_A"
undo_to "$mark"

# the netdev leaves: its link goes with it, here or there it can get a new one
mark=$(deferred)
hosts_up
must link_add "$NS_A" "$SK_A" "$DEV_A"
must link_add "$NS_B" "$SK_B" "$DEV_B"
check "netdev moves to another namespace" ip -n "$NS_A" link set "$DEV_A" netns "$NS_B"
check "its link goes" wait_until 10 negate visible '' "$SK_A"
check "port 4791 is free where it was" wait_until 5 port_free "$NS_A"
undo_to "$mark"

# one socket for all links of a namespace, for as long as there is one
hosts_up
must ip -n "$NS_A" link add dum0 type dummy
must link_add "$NS_A" "$SK_A" "$DEV_A"
must link_add "$NS_A" sk8 dum0
must link_del "$NS_A" "$SK_A"
check "port 4791 stays while a link is left" negate port_free "$NS_A"
must link_del "$NS_A" sk8
check "and goes with the last one" port_free "$NS_A"
