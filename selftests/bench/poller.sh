#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Benchmark: the poller of send rings off, and with what it may be set to: from where
# on it pays.
# only: on demand
# timeout: 3000

# shellcheck source-path=SCRIPTDIR source=figures.sh
. "$(dirname "$0")/figures.sh"

ROUNDS=${ROUNDS:-2}
DEBUG=/sys/kernel/debug/skerry
settings=(off auto:20 auto:100 auto:500 always:20 always:100)

figures()
{
	bandwidth "write 64 KiB MTU 4096" 1000 ib_write_bw -s 65536 -m 4096 || return
	rate "write 8 B" 20000 ib_write_bw -s 8 || return
	rate "write 8 B 16 QPs" 2000 ib_write_bw -s 8 -q 16 || return
	latency "write latency" ib_write_lat || return
	calls_per_message "system calls 64 KiB" 65536 1000 || return
	calls_per_message "system calls 8 B" 8 5000
}

# with SETTING - everything with it
with()
{
	local dev

	for dev in $SK_A $SK_B; do
		echo "${1%:*}" > "$DEBUG/$dev/sq_poll" || return
		[ "$1" = off ] || echo "${1#*:}" > "$DEBUG/$dev/sq_poll_usecs" || return
	done
	WHO=$1
	figures
}

[ "$LINK" = skerry ] || skip_all "the poller is skerry's"
plan $((ROUNDS * ${#settings[@]}))
long_backlog
hosts_up
links_up
for ((round = 1; round <= ROUNDS; round++)); do
	for setting in "${settings[@]}"; do
		say "round $round $setting" with "$setting"
	done
done
