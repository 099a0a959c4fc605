#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# L32: loading and unloading: idle, with links in several namespaces, and while
# somebody has a device open.
# timeout: 180

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

ROUNDS=20

plan 9
modprobe "$LINK_MODULE" 2> /dev/null
[ -d "/sys/module/$LINK_MODULE" ] || skip_all "$LINK is not a module of this kernel"

rounds()
{
	local i

	for ((i = 0; i < ROUNDS; i++)); do
		modprobe "$LINK_MODULE" && modprobe -r "$LINK_MODULE" || return
	done
}

loaded()
{
	[ -d "/sys/module/$LINK_MODULE" ]
}

check "$ROUNDS times in and out" rounds
check "it is gone" negate loaded

hosts_up
check "link add loads it by itself" link_add "$NS_A" "$SK_A" "$DEV_A"
check "a link in another namespace" link_add "$NS_B" "$SK_B" "$DEV_B"
must ready "$NS_A" "$SK_A"
must ready "$NS_B" "$SK_B"

"$PROG/holder" --a "$SK_A" --b "$SK_B" --idle > "$TMP/holder" 2>&1 &
holder=$!
must wait_until 10 grep -q ready "$TMP/holder"
# a device that can be taken from its user does not hold the module
check "unloading while a process has a device open" in_time 10 modprobe -r "$LINK_MODULE"
check "the process hears of it" reap 20 $holder || note_file "$TMP/holder"
check "the links are gone" negate link_exists "$NS_A" "$SK_A"
check "port 4791 is free in the first namespace" port_free "$NS_A"
check "port 4791 is free in the other" port_free "$NS_B"
