#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# N28: links added and deleted, netdevs and namespaces that vanish meanwhile,
# additions that fail, all at once. In the end port 4791 is free and the module
# can go.
# timeout: 180

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

DURATION=25

plan 6

# until TIME COMMAND... - over and over; what it says does not matter
until_time()
{
	local end=$1

	shift
	while [ "$EPOCHSECONDS" -lt "$end" ]; do
		"$@"
	done > /dev/null 2>&1
}

add_and_del()
{
	on "$NS_A" rdma link add "r$1" type "$LINK" netdev "d$1"
	on "$NS_A" rdma link del "r$1"
}

netdev_goes()
{
	ip -n "$NS_A" link add "d$1" type dummy
	ip -n "$NS_A" link set "d$1" up
	sleep 0.1
	ip -n "$NS_A" link del "d$1"
}

# the same name twice: one of them must fail
name_taken()
{
	on "$NS_A" rdma link add r1 type "$LINK" netdev d2
	on "$NS_A" rdma link add r1 type "$LINK" netdev d3
}

namespace_goes()
{
	ip netns add skX
	ip -n skX link add dx type dummy
	ip -n skX link set dx up
	ip netns exec skX rdma link add rx type "$LINK" netdev dx
	ip netns del skX
}

ns_add "$NS_A"
end=$((EPOCHSECONDS + DURATION))
pids=()
for i in 1 2 3; do
	until_time "$end" netdev_goes $i &
	pids+=($!)
	until_time "$end" add_and_del $i &
	pids+=($!)
done
until_time $end name_taken &
pids+=($!)
until_time $end namespace_goes &
pids+=($!)

stuck=0
for pid in "${pids[@]}"; do
	reap $((DURATION + 30)) "$pid"
	[ $? != 124 ] || stuck=$((stuck + 1))
done
check "none of ${#pids[@]} loops hangs" test $stuck = 0

ip netns del skX 2> /dev/null
for i in 1 2 3 x; do
	on "$NS_A" rdma link del r$i 2> /dev/null
	ip -n "$NS_A" link del d$i 2> /dev/null
done

no_devices()
{
	[ -z "$(rdma dev)" ]
}

check "no device is left" wait_until 10 no_devices || note "$(rdma link)"
check "port 4791 is free" wait_until 5 port_free "$NS_A"
check "and in the first namespace" port_free ''
undo_to 0
hosts_up
links_up
check "a link works afterwards" pingpong v4 -n 50
undo_to 0
check "the module can be unloaded" wait_until 5 module_unload
