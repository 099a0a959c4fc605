#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# I6: a path MTU that the netdev cannot carry is refused when the QP is
# connected; the port's MTU follows the netdev's.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 7
HOST_MTU=1500
hosts_up
links_up

# active_mtu MTU
active_mtu()
{
	on "$NS_A" ibv_devinfo -d $SK_A | grep "active_mtu:.*$1 "
}

# refused MTU - ping-pong cannot connect with it, and says so
refused()
{
	pingpong v4 -n 5 -m "$1" && return 1
	# whoever comes first
	grep -q "Failed to modify QP to RTR" "$TMP/client" "$TMP/server"
}

check "an MTU of 1500 carries packets of 1024" active_mtu 1024
check "path MTU 4096 is refused" refused 4096
check "path MTU 2048 is refused" refused 2048
check "path MTU 1024 is not" pingpong v4 -n 5 -m 1024
must ip -n "$NS_A" link set $DEV_A mtu 4200
must ip -n "$NS_B" link set $DEV_B mtu 4200
check "an MTU of 4200 carries packets of 4096" active_mtu 4096
check "path MTU 4096 works" pingpong v4 -n 5 -m 4096
must ip -n "$NS_A" link set $DEV_A mtu 1500
must ip -n "$NS_B" link set $DEV_B mtu 1500
check "back at 1500 it is refused again" refused 4096
