#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Multicast by rdma_cm between two hosts with a snooping bridge between them:
# the receiver joins, the bridge learns of it and forwards, datagrams arrive.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 6
hosts_switched
must ip -n "$NS_M" link set br0 type bridge mcast_snooping 1 mcast_querier 1
links_up
[ -c /dev/infiniband/rdma_cm ] || skip_all "no rdma_cm for user space"

# snooped GROUP - the bridge knows that B is a member
snooped()
{
	on "$NS_M" bridge mdb show | grep -q "port mB grp $1 "
}

# tell GROUP FROM TO - ten datagrams from A to the group, which B is in; bound
# to these addresses
tell()
{
	local status=0 pid

	in_host "$NS_B"
	"${_in[@]}" timeout -k 5 60 mckey -m "$1" -b "$3" > "$TMP/receiver" 2>&1 < /dev/null &
	pid=$!
	wait_until 20 grep -q 'joined' "$TMP/receiver" || status=1
	if [ -n "${wait_for_bridge-}" ]; then
		wait_until 20 snooped "$1" || {
			echo "the bridge does not know the group:"
			on "$NS_M" bridge mdb show
			status=1
		}
	fi
	in_host "$NS_A"
	"${_in[@]}" timeout -k 5 60 mckey -m "$1" -b "$2" -s > "$TMP/sender" 2>&1 || status=1
	reap 20 $pid || status=1
	[ $status = 0 ] && return
	echo "sender:"
	cat "$TMP/sender"
	echo "receiver:"
	cat "$TMP/receiver"
	return 1
}

# a kernel without CONFIG_IP_MULTICAST sends no IGMP: the bridge floods then
wait_for_bridge=
[ ! -e /proc/sys/net/ipv4/igmp_qrv ] || wait_for_bridge=1
check "mckey, IPv4" tell 239.1.2.3 $IP4_A $IP4_B
check_not "the bridge has forgotten the IPv4 group" snooped 239.1.2.3
wait_for_bridge=1
check "mckey, IPv6" tell ff0e::1234 $IP6_A $IP6_B
