# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A world of two hosts that comes and goes, traffic in it, and what may befall it.
# Sourced after lib.sh and netdevs.sh. A's netdev is a bond of two where the kernel
# has bonds.

QPS=16 # of each of two pairs of processes
PORTS=(7471 7472)
BONDED=
EVENTS=(kill_one kill_all carrier_lost netdev_gone namespace_gone link_gone module_asked
	plugged_up)

# storm_prepare SECONDS - what this kernel can do of it in that time
storm_prepare()
{
	modprobe -q sch_plug
	if kind_available active-backup; then
		BONDED=1
		EVENTS+=(bond_changed)
	fi
	[ ! -w /sys/devices/system/cpu/cpu1/online ] || EVENTS+=(cpu_gone)
	# a long one has time for these
	if [ "$1" -ge 120 ]; then
		EVENTS+=(memory_short)
		blocked_after 30
	fi
	note "events: ${EVENTS[*]}"
}

# blocked_after SECONDS - that long is too long for a task to wait
blocked_after()
{
	local file=/proc/sys/kernel/hung_task_timeout_secs now

	[ -w $file ] || return 0
	now=$(< $file)
	echo $(($1 * SLOW)) > $file
	defer sh -c "echo $now > $file"
}

#
# the world
#

# world_up - hosts, netdevs and links, ready
world_up()
{
	_world=$(deferred)
	ns_add "$NS_A" "$NS_B" "$NS_M"
	must ip -n "$NS_M" link add br0 mtu "$HOST_MTU" type bridge
	must ip -n "$NS_M" link set br0 up
	netdev_up
	join_hosts "$NS_B" "$DEV_B" "$NS_M" mB "$HOST_MTU"
	must ip -n "$NS_M" link set mB master br0 up
	address "$NS_B" "$DEV_B" "$MAC_B" "$IP4_B" "$IP6_B" "$LL_B"
	links_up
}

# netdev_up - A's
netdev_up()
{
	local i

	if [ -z "$BONDED" ]; then
		join_hosts "$NS_A" "$DEV_A" "$NS_M" mA "$HOST_MTU"
		must ip -n "$NS_M" link set mA master br0 up
	else
		aggregate "$NS_A" active-backup "$DEV_A"
		for i in 1 2; do
			join_hosts "$NS_A" p$i "$NS_M" mA$i "$HOST_MTU"
			must ip -n "$NS_M" link set mA$i master br0 up
			must ip -n "$NS_A" link set p$i master "$DEV_A"
		done
		must ip -n "$NS_A" link set "$DEV_A" mtu "$HOST_MTU"
	fi
	address "$NS_A" "$DEV_A" "$MAC_A" "$IP4_A" "$IP6_A" "$LL_A"
}

world_down()
{
	undo_to "$_world"
}

# world_whole - what an event has taken is there again
world_whole()
{
	if [ ! -e "/run/netns/$NS_A" ]; then
		world_down
		must wait_until 30 no_links
		world_up
		return
	fi
	ip -n "$NS_A" link show "$DEV_A" > /dev/null 2>&1 || netdev_up
	link_exists "$NS_A" "$SK_A" > /dev/null 2>&1 || must link_again "$NS_A" "$SK_A" "$DEV_A"
	link_exists "$NS_B" "$SK_B" > /dev/null 2>&1 || must link_again "$NS_B" "$SK_B" "$DEV_B"
	must ready "$NS_A" "$SK_A"
	must ready "$NS_B" "$SK_B"
}

# link_again HOST NAME NETDEV - the old one of that name may be on its way out
link_again()
{
	wait_until 20 on "$1" rdma link add "$2" type "$LINK" netdev "$3"
}

# no_links - neither of the world's
no_links()
{
	! rdma dev | grep -E ": ($SK_A|$SK_B): "
}

no_devices()
{
	[ -z "$(rdma dev)" ]
}

# no_objects - of user space, of any device
no_objects()
{
	local kind

	for kind in qp cq mr pd; do
		! rdma resource show "$kind" 2> /dev/null | grep 'pid [0-9]' || return
	done
}

no_blocked_task()
{
	! dmesg | grep 'blocked for more than'
}

#
# traffic: two pairs of processes
#

declare -A _proc

alive()
{
	[ -n "${_proc[$1]:-}" ] && ! gone "${_proc[$1]}"
}

# end NAME - kill -9, and see to it that it goes
end()
{
	[ -n "${_proc[$1]:-}" ] || return 0
	kill -9 "${_proc[$1]}" 2> /dev/null
	reap 30 "${_proc[$1]}"
	local status=$?

	unset "_proc[$1]"
	[ $status != 124 ]
}

# traffic_up - both pairs at work; a half that has lost its peer starts anew
traffic_up()
{
	local port _in=()

	for port in "${PORTS[@]}"; do
		if alive "a$port" && alive "b$port"; then continue; fi
		end "a$port"
		end "b$port"
		in_host "$NS_A"
		"${_in[@]}" "$PROG/traffic" --dev "$SK_A" --listen --port "$port" --stall=20 \
			> "$TMP/a$port" 2>&1 < /dev/null &
		_proc[a$port]=$!
		wait_until 10 listening "$NS_A" "$port" || continue
		in_host "$NS_B"
		"${_in[@]}" "$PROG/traffic" --dev "$SK_B" --connect "$IP4_A" --port "$port" --qps=$QPS \
			--count=1000000 --max=65536 --stall=20 > "$TMP/b$port" 2>&1 < /dev/null &
		_proc[b$port]=$!
	done
}

# is_busy - the QPs of both pairs are connected
is_busy()
{
	[ "$(on "$NS_B" rdma resource show qp link "$SK_B" 2> /dev/null | grep -c 'state RTS')" \
		-ge $((2 * QPS)) ]
}

traffic_down()
{
	local name rc=0

	for name in "${!_proc[@]}"; do
		end "$name" || rc=1
	done
	return $rc
}

#
# what happens; $1 is a random number for what is left open
#

kill_one()
{
	local names=("${!_proc[@]}")

	[ ${#names[@]} -gt 0 ] || return
	end "${names[$1 % ${#names[@]}]}"
}

kill_all()
{
	traffic_down
}

# for less or more than the QPs' patience
carrier_lost()
{
	local pause=0.$(($1 % 9 + 1))

	[ $(($1 % 3)) != 0 ] || pause=2
	if [ $(($1 % 2)) = 0 ]; then
		ip -n "$NS_M" link set mB down
		sleep "$pause"
		ip -n "$NS_M" link set mB up
	else
		ip -n "$NS_A" link set "$DEV_A" down
		sleep "$pause"
		ip -n "$NS_A" link set "$DEV_A" up
		# its IPv6 addresses have gone
		ip -n "$NS_A" addr replace "$IP6_A/64" dev "$DEV_A" nodad
		ip -n "$NS_A" addr replace "$LL_A/64" dev "$DEV_A" nodad
	fi
}

netdev_gone()
{
	ip -n "$NS_A" link del "$DEV_A"
	[ -z "$BONDED" ] || { ip -n "$NS_A" link del p1; ip -n "$NS_A" link del p2; }
}

# its name first; the rest when nobody is in it any more
namespace_gone()
{
	local port

	ip netns del "$NS_A"
	sleep 0.$(($1 % 9 + 1))
	for port in "${PORTS[@]}"; do
		end "a$port"
	done
}

link_gone()
{
	if [ $(($1 % 2)) = 0 ]; then
		on "$NS_A" rdma link del "$SK_A"
	else
		on "$NS_B" rdma link del "$SK_B"
	fi
}

# while it is in use: refused, or all goes
module_asked()
{
	modprobe -r "$LINK_MODULE"
}

# packets wait in a queue of ours, then leave at once or go with the queue
plugged_up()
{
	tc -n "$NS_B" qdisc replace dev "$DEV_B" root plug limit 10000000
	sleep 0.$(($1 % 9 + 1))
	case $(($1 % 3)) in
	0) tc -n "$NS_B" qdisc change dev "$DEV_B" root plug release_indefinite ;;
	1) on "$NS_B" rdma link del "$SK_B" ;;
	2) traffic_down ;;
	esac
	tc -n "$NS_B" qdisc del dev "$DEV_B" root
}

# for a moment there is little: huge pages take what they get within some seconds, and
# move what is in their way
memory_short()
{
	local free pages=/proc/sys/vm/nr_hugepages size n=0 end=$((EPOCHSECONDS + 5))

	free=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
	if [ -w $pages ]; then
		size=$(awk '$1 == "Hugepagesize:" { print $2 }' /proc/meminfo)
		while [ $((n * size)) -lt $((free * 8 / 10)) ] && [ "$EPOCHSECONDS" -lt $end ]; do
			n=$((n + 32))
			echo $n > $pages
		done
		sleep 0.$(($1 % 9 + 1))
		echo 0 > $pages
	else
		# tail keeps what it has not seen the end of
		head -c $((free * 6 / 10))K /dev/zero | tail | head -c 0
	fi
	echo 3 > /proc/sys/vm/drop_caches
}

bond_changed()
{
	case $(($1 % 4)) in
	0) ip -n "$NS_A" link set "$DEV_A" type bond active_slave p2 ;;
	1) ip -n "$NS_A" link set p1 nomaster ;;
	2) ip -n "$NS_A" link set p2 down ;;
	3) ip -n "$NS_M" link set mA1 down ;;
	esac
	sleep 0.$(($1 % 9 + 1))
	ip -n "$NS_M" link set mA1 up
	ip -n "$NS_A" link set p1 down
	ip -n "$NS_A" link set p1 master "$DEV_A"
	ip -n "$NS_A" link set p1 up
	ip -n "$NS_A" link set p2 up
	ip -n "$NS_A" link set "$DEV_A" type bond active_slave p1
}

cpu_gone()
{
	echo 0 > /sys/devices/system/cpu/cpu1/online
	sleep 0.$(($1 % 9 + 1))
	echo 1 > /sys/devices/system/cpu/cpu1/online
}
