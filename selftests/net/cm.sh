#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Connections by rdma_cm between two hosts, IPv4 and IPv6: the programs that
# rdma-core brings, and connections one after the other that leave nothing.
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/cm.sh
. "$(dirname "$0")/../lib/cm.sh"

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

# copied NAME - a file by rcopy, the same at the other end
copied()
{
	local stop_server=1

	head -c 300000 /dev/urandom > "$TMP/file"
	cm_pair 40 rcopy -- rcopy "$TMP/file" "$1:$TMP/copy" || return
	cmp "$TMP/file" "$TMP/copy"
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
