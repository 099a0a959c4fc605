#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Congestion, live, the whole matrix: 2:1, 4:1 and 8:1 with congestion control, without,
# and with the kernel's own rxe, which knows none; READs, UC, and a flow that
# shares a host with an incast but not the bottleneck. Unlike congestion.sh this judges
# fairness and utilisation, and wants a machine that is not busy, or ICOUNT=1.
# only: on demand
# timeout: 1800

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/incast.sh
. "$(dirname "$0")/../lib/incast.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/classes.sh
. "$(dirname "$0")/../lib/classes.sh"

# what the slowest machine that this is emulated on can drive
RATE=25

plan 34
[ "$LINK" = skerry ] || skip_all "congestion control is skerry's"

# times N - how long, and from when on N flows have settled: 20 to 30 ms of 10 Gb/s
times()
{
	TIME=$((14000 + 1500 * $1))
	FROM=$((TIME - 9000))
}

# row WHAT - a line of the table
row()
{
	note "table,$1,$(figures $FROM $((TIME - 1000)) 1000 | sed 's/^ *//; s/ /,/g'),$2"
}

# fair - Jain's index of at least 0.95, the mean of windows of 10 ms of 10 Gb/s
fair()
{
	figures $FROM $((FROM + 20 * SHRINK)) $((10 * SHRINK)) | awk '{ print; exit !($2 >= 0.95) }'
}

# full - at least 85 % of what the bottleneck can carry
full()
{
	figures $FROM $((TIME - 1000)) 1000 | awk '{ print; exit !($1 >= 85) }'
}

# controlled WHAT [ARGS...] - with congestion control
controlled()
{
	control dcqcn
	remember
	check "$1: every byte is right" watched incast $TIME "${@:2}"
	row "$1" "$(($(dropped) - before[dropped])),$(on_wire 'ip[1] & 3 = 3'),$(on_wire 'udp[8] = 0x81')"
	check "$1: it is fair" fair
	check "$1: the bottleneck is used" full
	check "$1: nothing was dropped" both undropped nothing_lost
	check "$1: marks and CNPs on the wire are counted" both marks_counted cnps_counted
}

both()
{
	"$1" && "$2"
}

# loose WHAT - without
loose()
{
	local was

	was=$(dropped)
	check "$1: every byte is right" incast $TIME
	row "$1" "$(($(dropped) - was)),,"
}

long_backlog
for n in 2 4 8; do
	mark=$(deferred)
	times $n
	router_up "$RATE"
	senders_up $n
	ports_to_scale "$RATE"
	super_off
	controlled "$n:1, DCQCN"
	if [ $n = 4 ]; then
		controlled "$n:1, DCQCN, READ" --op read
		controlled "$n:1, DCQCN, UC" --type uc
	fi
	control none
	loose "$n:1, none"
	undo_to "$mark"
	if rxe_in_namespaces; then
		wait_until 20 port_free ''
		LINK=rxe
		router_up "$RATE"
		senders_up $n
		ports_to_scale "$RATE"
		loose "$n:1, rxe"
		undo_to "$mark"
		LINK=skerry
	else
		skip "$n:1, rxe" "this kernel's rxe knows one namespace"
	fi
done

# a flow that has nothing to do with it
times 4
mark=$(deferred)
router_up $((RATE / 2))
victim_up
senders_up 4
ports_to_scale "$RATE"
super_off
control dcqcn
alone=0 beside=0

kept()
{
	echo "bytes a second: alone $alone, beside an incast $beside"
	[ "$beside" -ge $((alone * 9 / 10)) ]
}

check "a flow alone" victim $TIME
alone=$(victim_rate $FROM $((TIME - 1000)))
VICTIM=1
check "and beside an incast of its host's and others" incast $TIME
VICTIM=
beside=$(victim_rate $FROM $((TIME - 1000)))
note "table,victim alone / beside (kb/s),$((alone / 125)),$((beside / 125)),,,,"
check "a flow with no congestion on its way keeps its rate" kept
undo_to "$mark"
