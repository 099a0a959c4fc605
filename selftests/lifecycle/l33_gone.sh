#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# L33: a device goes while a process holds everything open on it, QPs under traffic
# and rings mapped: by link del, by netdev del, by namespace del, by namespace del when
# the netdev has just moved away. Nothing may hang, the process hears of it, and port 4791
# is free at once.
# timeout: 320

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

ways=(link_del_a netdev_del_a netns_del_a netdev_moves_a)
plan $((${#ways[@]} * 7 + 1))

link_del_a()
{
	link_del "$NS_A" "$SK_A"
}

netdev_del_a()
{
	ip -n "$NS_A" link del "$DEV_A"
}

netns_del_a()
{
	ip netns del "$NS_A"
}

# nothing waits for what is left of a netdev that only moves
netdev_moves_a()
{
	ip -n "$NS_A" link set "$DEV_A" netns "$NS_B" && ip netns del "$NS_A"
}

no_link()
{
	! rdma link show "$SK_A/1"
}

vanish()
{
	local way=$1 mark holder

	mark=$(deferred)
	hosts_switched # so that B's netdev stays
	links_up
	"$PROG/holder" --a "$SK_A" --b "$SK_B" > "$TMP/holder" 2>&1 &
	holder=$!
	defer kill -9 $holder
	if ! check "$way: a process holds it, under traffic" wait_until 20 grep -q ready "$TMP/holder"; then
		note_file "$TMP/holder"
	fi
	check "$way returns at once" in_time 10 "$way"
	check "$way: the link is gone" wait_until 10 no_link
	if ! ip netns list | grep -q "^$NS_A\b"; then
		ok "$way: port 4791 went with the namespace"
	else
		check "$way: port 4791 is free" wait_until 5 port_free "$NS_A"
	fi
	check "$way: fatal event, then EIO" reap 40 $holder || note_file "$TMP/holder"
	check "$way: the other link is still there" link_exists "$NS_B" "$SK_B"
	undo_to "$mark"
	check "$way: all can be taken down" wait_until 10 no_namespaces
}

no_namespaces()
{
	[ -z "$(ip netns list)" ] && ! rdma link show "$SK_B/1"
}

for way in "${ways[@]}"; do
	vanish "$way"
done
check "the module can be unloaded" module_unload
