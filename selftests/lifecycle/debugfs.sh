#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A device's directory in debugfs has the device's name: after renaming, in another
# namespace, and when a namespace goes and another device takes the name at once.
# timeout: 400

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 10

DIR=/sys/kernel/debug/skerry

# dirs NAME... - these, and no other devices, have a directory that can be read
dirs()
{
	local have name

	have=$(cd $DIR && find . -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort | xargs)
	[ "$have" = "$*" ] || { echo "there: $have"; return 1; }
	for name in "$@"; do
		cat "$DIR/$name/cc_flows" "$DIR/$name"/cc_params/* > /dev/null || return
	done
}

complaints()
{
	dmesg | grep -c 'debugfs:'
}

before=$(complaints)
mark=$(deferred)
hosts_up
links_up
check "a directory for each device" dirs $SK_A $SK_B
must link_del "$NS_B" $SK_B
must link_add "$NS_B" batch $DEV_B
check "a device named like a switch" \
	dirs "batch@$(on "$NS_B" readlink /proc/self/ns/net | tr -dc 0-9)" $SK_A
must link_del "$NS_B" batch
must link_add "$NS_B" $SK_B $DEV_B
must rdma dev set $SK_A name sk7
check "renamed with the device" dirs $SK_B sk7
must rdma dev set sk7 name $SK_A
check "and back" dirs $SK_A $SK_B
undo_to "$mark"
check "gone with the devices" dirs

mark=$(deferred)
must netns_mode exclusive
hosts_up
must link_add "$NS_A" $SK_A $DEV_A
if on "$NS_A" rdma link show $SK_A/1 > /dev/null 2>&1; then at=$NS_A to=$NS_B; else at='' to=$NS_A; fi
check "the device moves to another namespace" on "$at" rdma dev set $SK_A netns "$to"
check "its directory is there" dirs $SK_A
undo_to "$mark"
check "and goes with it" wait_until 10 dirs

# again - the namespace goes, and its device by itself; the name is used at once
again()
{
	local i

	for i in $(seq 20); do
		ip netns add "$NS_M" && ip -n "$NS_M" link add dum0 type dummy || return
		wait_until 10 link_add "$NS_M" sk7 dum0 || return
		wait_until 10 dirs sk7 || return
		ip netns del "$NS_M" || return
	done
	wait_until 10 dirs
}
check "a name used again at once" again
check "nobody complained" [ "$(complaints)" = "$before" ]
