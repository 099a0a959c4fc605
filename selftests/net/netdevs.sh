#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Links on every kind of Ethernet netdev, with verified traffic of both types
# over it and each ICRC recomputed.
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"

kinds="veth vlan bridge macvlan bond"
plan 35

works()
{
	watch_icrc
	check "$1: RoCEv2, ping-pong" pingpong v4 -n 50
	check "$1: RoCEv2, datagrams" pingpong_over ud v6 -n 50 -s 1024
	check "$1: RoCEv2, traffic" traffic v6 --mtu=4096 --count=100 --max=100000
	check "$1: RoCEv1, ping-pong" pingpong v1-v4 -n 50
	check "$1: RoCEv1, datagrams" pingpong_over ud v1-v6 -n 50 -s 1024
	check "$1: RoCEv1, traffic" traffic v1-v6 --mtu=4096 --count=100 --max=100000
	check "$1: every ICRC on the wire is right" icrc_right
}

for kind in $kinds; do
	mark=$(deferred)
	module=$kind
	[ "$kind" != bond ] || module=bonding
	if [ "$kind" != vlan ] && ! kind_available "$kind" "$module"; then
		for i in 1 2 3 4 5 6 7; do
			skip "$kind: $i" "not in this kernel"
		done
		continue
	fi
	stacked_up "$kind"
	stacked_links
	works "$kind"
	undo_to "$mark"
done
