#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Connections by rdma_cm between two hosts, IPv4 and IPv6: the programs that
# rdma-core brings, and connections one after the other that leave nothing.
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 15
hosts_up
links_up
[ -c /dev/infiniband/rdma_cm ] || skip_all "no rdma_cm for user space"

# cmtime meets the other side over IPv4 first, by the same name
for host in "$NS_A" "$NS_B"; do
	must mkdir -p "/etc/netns/$host"
	defer rm -r "/etc/netns/$host"
	printf '%s host4\n%s host6\n%s host6\n' $IP4_A $IP6_A $IP4_A > "/etc/netns/$host/hosts"
done

# cm_ids HOST - connections and listeners that processes of a host have
cm_ids()
{
	on "$1" rdma resource show cm_id | grep -c "pid"
}

# at_least HOST COUNT - so many listeners
at_least()
{
	[ "$(cm_ids "$1")" -ge "$2" ]
}

# cm_pair SECONDS SERVER... -- CLIENT... - the server in A, the client in B once
# the server listens; both end well in time. A server that would go on for ever
# has $stop_server set.
cm_pair()
{
	local limit=$1 server=() pid status=0 client

	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	in_host "$NS_A"
	"${_in[@]}" timeout -k 5 "$limit" "${server[@]}" > "$TMP/server" 2>&1 < /dev/null &
	pid=$!
	if ! wait_until 20 at_least "$NS_A" 1; then
		echo "server does not listen:"
		kill $pid
		cat "$TMP/server"
		return 1
	fi
	in_host "$NS_B"
	"${_in[@]}" timeout -k 5 "$limit" "$@" > "$TMP/client" 2>&1 < /dev/null
	client=$?
	if [ "$client" != 0 ] || [ -n "${stop_server-}" ]; then
		sleep 0.2
		kill $pid 2> /dev/null
	fi
	wait $pid || [ -n "${stop_server-}" ] || status=1
	wait_until 10 negate at_least "$NS_A" 1
	[ $client = 0 ] && [ $status = 0 ] && return 0
	echo "client (status $client):"
	tail -n 15 "$TMP/client"
	echo "server (status $status):"
	tail -n 15 "$TMP/server"
	return 1
}

# copied NAME - a file by rcopy, the same at the other end
copied()
{
	local stop_server=1

	head -c 300000 /dev/urandom > "$TMP/file"
	cm_pair 40 rcopy -- rcopy "$TMP/file" "$1:$TMP/copy" || return
	cmp "$TMP/file" "$TMP/copy"
}

# resources HOST DEV - what there is of each kind, but for the kernel's memory
resources()
{
	on "$1" rdma resource show "$2" | sed 's/^[0-9]*: //'
}

# cycles ADDRESS
cycles()
{
	local before after

	before=$(resources "$NS_A" $SK_A; resources "$NS_B" $SK_B)
	cm_pair 100 "$PROG/cm_cycles" --listen "$1" --cycles 200 -- \
		"$PROG/cm_cycles" --connect "$1" --cycles 200 || return
	after=$(resources "$NS_A" $SK_A; resources "$NS_B" $SK_B)
	[ "$before" = "$after" ] && return
	printf 'before:\n%s\nafter:\n%s\n' "$before" "$after"
	return 1
}

# each with the -f that makes it take an address
for family in 4 6; do
	ip=IP${family}_A
	ip=${!ip}
	format=ip
	[ $family = 4 ] || format=ipv6
	check "rping, IPv$family" cm_pair 40 rping -s -a "$ip" -C 20 -V -- \
		rping -c -a "$ip" -C 20 -V
	check "ucmatose, IPv$family" cm_pair 40 ucmatose -b "$ip" -c 5 -- \
		ucmatose -s "$ip" -c 5
	check "udaddy, IPv$family" cm_pair 40 udaddy -b "$ip" -c 3 -- udaddy -s "$ip" -c 3
	check "cmtime, IPv$family" cm_pair 60 cmtime -b host$family -c 20 -- \
		cmtime -s host$family -c 20
	check "riostream, IPv$family" cm_pair 60 riostream -b "$ip" -f $format -S 4000 -C 100 \
		-T v -- riostream -s "$ip" -f $format -S 4000 -C 100 -T v
	check "200 times connect, WRITE, disconnect, IPv$family" cycles "$ip"
done

# its server listens on IPv4 only
check "rcopy" copied $IP4_A

# to a host itself, where packets never see the netdev
NS_A=$NS_B
check "rping to oneself, IPv4" cm_pair 40 rping -s -a $IP4_B -C 5 -V -- rping -c -a $IP4_B -C 5 -V
check "rping to oneself, IPv6" cm_pair 40 rping -s -a $IP6_B -C 5 -V -- rping -c -a $IP6_B -C 5 -V
