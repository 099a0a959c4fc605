#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Benchmark: who waits for a lock on the way of a packet. A probe counts how often a
# CPU found a spinlock taken and had to wait, by who called: for a thousand messages,
# with one QP and with sixteen, skerry and rxe in turn. Where the most of it was is said
# as well. A kernel of the distribution's counts no locks, but it has kprobes.
# only: on demand
# timeout: 1800

# shellcheck source-path=SCRIPTDIR source=figures.sh
. "$(dirname "$0")/figures.sh"

ROUNDS=${ROUNDS:-3}
TRACING=/sys/kernel/tracing
WAIT=$TRACING/events/kprobes/lock_wait
# callers that are told of each load
MOST=3

# sites - lines "COUNT MODULE CALLERS" of what the probe has counted, the most first; the
# module is the driver's if it is anywhere in the stack
sites()
{
	awk '/^{/ { stack = ""; module = "-"; depth = 0 }
		/hitcount:/ { print $NF, module, stack }
		/\[(skerry|rdma_rxe)\]/ { module = $NF }
		/^ +[a-zA-Z_]/ && !/lock|kprobe/ && ++depth <= 3 { stack = stack " < " $1 }' \
		$WAIT/hist | sort -rn
}

# waits NAME MESSAGES PROGRAM ARGS... - for a thousand messages
waits()
{
	local status module

	echo 'hist:keys=common_stacktrace:size=4096' > $WAIT/trigger || return
	perftest "$3" v4 -n "$2" "${@:4}"
	status=$?
	sites > "$TMP/sites"
	echo '!hist:keys=common_stacktrace' > $WAIT/trigger
	[ $status = 0 ] || return
	for module in all driver; do
		figure "waits $1 $module" "$(awk -v n="$(($2 * QPS))" -v module=$module \
			'module == "all" || $2 != "-" { sum += $1 }
			END { printf "%.1f", 1000 * sum / n }' "$TMP/sites")" waits/kmsg
	done
	head -n $MOST "$TMP/sites" | while read -r count module where; do
		note "$LINK, $1: $count $module $where" >&4
	done
}

lock_figures()
{
	local QPS bad=0

	for QPS in 1 16; do
		waits "64 KiB $QPS QPs" $((2000 / QPS)) \
			ib_write_bw -s 65536 -m 4096 -q $QPS -t 16 || bad=1
		waits "8 B $QPS QPs" $((32000 / QPS)) ib_write_bw -s 8 -q $QPS || bad=1
	done
	return $bad
}

who=(skerry)
! rxe_in_namespaces || who+=(rxe)
mountpoint -q $TRACING || mount -t tracefs tracefs $TRACING
if ! echo 'p:lock_wait native_queued_spin_lock_slowpath' >> $TRACING/kprobe_events; then
	skip_all "this kernel does not let itself be probed there"
fi
defer sh -c "echo '-:lock_wait' >> $TRACING/kprobe_events"
plan $((ROUNDS * ${#who[@]}))
long_backlog
for ((round = 1; round <= ROUNDS; round++)); do
	for link in "${who[@]}"; do
		say "round $round $link" one "$link" lock_figures
	done
done
