#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# C23: what GID index 0 and 1 are worth. They belong to the MAC address; a host
# whose link-local address is of another kind, or that has no address at all,
# does not answer for the RoCEv2 one: that must be said at once.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 11
# the programs find each other by another cable
ns_add "$NS_A" "$NS_B"
join_hosts "$NS_A" cA "$NS_B" cB 1500
address "$NS_A" cA 02:00:00:77:02:01 $IP4_A $IP6_A $LL_A
address "$NS_B" cB 02:00:00:77:02:02 $IP4_B $IP6_B $LL_B
join_hosts "$NS_A" $DEV_A "$NS_B" $DEV_B $HOST_MTU

# on_index N - ping-pong by the GIDs at that index
on_index()
{
	pair 20 18515 ibv_rc_pingpong -d $SK_A -g "$1" -n 20 -c -- \
		ibv_rc_pingpong -d $SK_B -g "$1" -n 20 -c $IP4_A
}

# index_of KIND - the same on both sides, or nothing
index_of()
{
	local a b

	a=$(gid_index "$NS_A" $SK_A "$1" $DEV_A)
	b=$(gid_index "$NS_B" $SK_B "$1" $DEV_B)
	[ -z "$a" ] || [ "$a" != "$b" ] || echo "$a"
}

# refused N - by the verb that connects, on one side at least, and soon
refused()
{
	local start=$SECONDS

	on_index "$1" > "$TMP/refused" && return 1
	cat "$TMP/refused"
	[ $((SECONDS - start)) -lt 15 ] && grep -q 'modify QP to RTR' "$TMP/refused"
}

# types - each GID of A with its type, as ibv_devinfo says it
types()
{
	on "$NS_A" ibv_devinfo -v -d $SK_A | sed -n 's/^.*GID\[ *\([0-9]*\)\]:.*, \(.*\)/\1 \2/p'
}

# in_turn - RoCEv1 at even indices, RoCEv2 at odd ones
in_turn()
{
	types
	types | awk '{ want = $1 % 2 ? "RoCE v2" : "RoCE v1" }
		$2 " " $3 != want { bad = 1 } END { exit bad || NR < 4 }'
}

default_gids()
{
	[ "$(types | wc -l)" = 2 ]
}

links()
{
	must link_add "$NS_A" $SK_A $DEV_A
	must link_add "$NS_B" $SK_B $DEV_B
	must wait_until 10 active "$NS_A" $SK_A
	must wait_until 10 active "$NS_B" $SK_B
	must wait_until 10 node $SK_A
	must wait_until 10 node $SK_B
}

# no address at all
for host in "$NS_A" "$NS_B"; do
	dev=$DEV_A
	[ "$host" = "$NS_A" ] || dev=$DEV_B
	must on "$host" sh -c "echo 1 > /proc/sys/net/ipv6/conf/$dev/disable_ipv6"
	must ip -n "$host" link set $dev up
done
before=$(deferred)
links
check "no address: the default GIDs are there" wait_until 5 default_gids
check "no address: RoCEv1 works" on_index 0
check "no address: RoCEv2 is refused at once" refused 1
undo_to "$before"

# link-local addresses that have nothing to do with the MAC address
for host in "$NS_A" "$NS_B"; do
	dev=$DEV_A ip=10.77.3.1
	[ "$host" = "$NS_A" ] || dev=$DEV_B ip=10.77.3.2
	must ip -n "$host" link set $dev addrgenmode random
	must on "$host" sh -c "echo 0 > /proc/sys/net/ipv6/conf/$dev/disable_ipv6"
	must ip -n "$host" addr add $ip/24 dev $dev
done
links
must wait_until 10 gid_index "$NS_A" $SK_A v4 $DEV_A
must wait_until 10 gid_index "$NS_B" $SK_B v4 $DEV_B
check "the types take turns, and ibv_devinfo says so" in_turn
check "another link-local address: the default RoCEv1 GID works" on_index 0
check "another link-local address: the default RoCEv2 GID is refused at once" refused 1
check "IPv4 works over RoCEv1" on_index "$(index_of v1-v4)"
check "IPv4 works over RoCEv2" on_index "$(index_of v4)"

# has WORD - a GID of A
has()
{
	on "$NS_A" grep -q "$1" /sys/class/infiniband/$SK_A/ports/1/gids/* 2> /dev/null
}

must ip -n "$NS_A" addr add 10.77.3.9/24 dev $DEV_A
check "an address is in the table soon" wait_until 5 has ffff:0a4d:0309
must ip -n "$NS_A" addr del 10.77.3.9/24 dev $DEV_A
check "and out of it" wait_until 5 negate has ffff:0a4d:0309
check "the default GIDs do not move" test "$(types | head -n 1)" = "0 RoCE v1"
