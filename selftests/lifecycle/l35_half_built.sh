#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# L35: objects and links that cannot be made because the kernel has no memory
# or the user gave a bad pointer: a clean errno and nothing left. Only a kernel
# that injects faults can show it (LANE=kasan, LANE=lockdep).
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

DEBUG=/sys/kernel/debug

# inject KIND NAME=VALUE... - settings of one kind of fault, if this kernel has it
inject()
{
	local kind=$1 setting

	[ -d "$DEBUG/$1" ] || return 0
	shift
	for setting; do
		must sh -c "echo ${setting#*=} > $DEBUG/$kind/${setting%=*}"
	done
}

hosts_wired
# for the links that the program makes itself
must ip link add l35 type dummy
defer ip link del l35
must ip link set l35 up
links_up
inject failslab ignore-gfp-wait=0 verbose=0
inject fail_page_alloc ignore-gfp-wait=0 min-order=0 verbose=0
inject fail_usercopy verbose=0
resources "$NS_A" $SK_A > "$TMP/before"
run_program l35_half_built
resources "$NS_A" $SK_A > "$TMP/after"
diff "$TMP/before" "$TMP/after" | sed 's/^/# left: /'
cmp -s "$TMP/before" "$TMP/after" || _bad=1
