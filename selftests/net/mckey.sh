#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Multicast by rdma_cm between two hosts with a snooping bridge between them:
# the receiver joins, the bridge learns of it and forwards, datagrams arrive.
# timeout: 180

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 6
hosts_switched
# Where IGMPv2 and MLDv1 are spoken, a member that heard another one's report, here
# the sender's, leaves without a word, and the bridge remembers it for minutes. The
# versions come first: a querier asks at once, and in one command it is made before them.
must ip -n "$NS_M" link set br0 type bridge mcast_igmp_version 3 mcast_mld_version 2
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
	"${_in[@]}" timeout -k 5 60 stdbuf -oL mckey -m "$1" -b "$3" > "$TMP/receiver" 2>&1 < /dev/null &
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

# joined GROUP KIND - a QP of B attached to it by the verbs alone, for as long as
# it takes the bridge to learn of it
joined()
{
	local status=0 pid

	in_host "$NS_B"
	"${_in[@]}" "$PROG/mcast_join" --dev $SK_B --gid "$2" --group "$1" \
		> "$TMP/join" 2>&1 < /dev/null &
	pid=$!
	wait_until 20 grep -q joined "$TMP/join" && wait_until 20 snooped "${1#::ffff:}" ||
		status=1
	kill $pid
	wait $pid
	[ $status = 0 ] && return
	cat "$TMP/join"
	on "$NS_M" bridge mdb show
	return 1
}

# a kernel without CONFIG_IP_MULTICAST sends no IGMP: the bridge floods then
wait_for_bridge=
[ ! -e /proc/sys/net/ipv4/igmp_qrv ] || wait_for_bridge=1
check "mckey, IPv4" tell 239.1.2.3 $IP4_A $IP4_B
if [ -n "$wait_for_bridge" ]; then
	check "the bridge has forgotten the IPv4 group" wait_until 20 negate snooped 239.1.2.3
	check "a QP attached to an IPv4 group" joined ::ffff:239.1.2.4 v4
	check "the bridge has forgotten that group" wait_until 20 negate snooped 239.1.2.4
else
	for name in "the bridge has forgotten the IPv4 group" "a QP attached to an IPv4 group" \
		"the bridge has forgotten that group"; do
		skip "$name" "the kernel has no IGMP"
	done
fi
# rdma_cm joins no IPv6 groups on RoCEv2: the verbs alone
check "a QP attached to an IPv6 group" joined ff0e::1234 v6
check "the bridge has forgotten the IPv6 group" wait_until 20 negate snooped ff0e::1234
