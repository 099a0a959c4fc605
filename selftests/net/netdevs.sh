#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Links on every kind of Ethernet netdev that has another one below, with verified
# traffic of both types over it and each ICRC recomputed. What programs of others do on
# them is netdevs_tools'; dummy and loopback device are same_host's, virtio-net and
# e1000e two_guests', and what is refused link_errors'.
# timeout: 1200

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"

plan $((KINDS * 7))

# works KIND
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

each_kind 7 works
