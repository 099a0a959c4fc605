#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Congestion, live: senders that together are faster than the way to a receiver. What
# they are told is what was marked, they slow down, nothing is lost, every byte is
# right. How fair and how fast that is depends on the machine: it is in the notes here,
# and congestion_all has the whole table.
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/incast.sh
. "$(dirname "$0")/../lib/incast.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/classes.sh
. "$(dirname "$0")/../lib/classes.sh"

plan 24
[ "$LINK" = skerry ] || skip_all "congestion control is skerry's"

long_backlog
router_up 20
senders_up 2
super_off
control dcqcn

# unless_slow PERCENT FIGURES NAME COMMAND - check it, unless a kernel that is made to look
# for faults used less of the bottleneck than that
unless_slow()
{
	if [ "$SLOW" -gt 1 ] && awk -v least="$1" '{ exit $1 >= least }' <<< "$2"; then
		skip "$3" "this kernel cannot fill the bottleneck"
	else
		check "${@:3}"
	fi
}

# one KIND [ARGS...] - an incast, and all that must hold of it whatever the speed
one()
{
	local kind=$1 came

	remember
	check "$kind: every byte is right" watched incast 1500 "${@:2}"
	came=$(figures 500 1500 1000)
	note "$kind: utilisation, Jain, worst: $came"
	check "$kind: the bottleneck dropped nothing" undropped
	check "$kind: nor did a host" nothing_lost
	unless_slow 60 "$came" "$kind: marks on the wire are counted, all of them" marks_counted
	unless_slow 60 "$came" "$kind: so are CNPs, where they begin and where they end" \
		cnps_counted
	check "$kind: no CNP was a stranger's" no_strangers
	unless_slow 60 "$came" "$kind: each sender has slowed down" all_slowed
}

one "RC SEND"
one "RC READ" --op read
one "UC SEND" --type uc
control none
remember
check "without congestion control: every byte is right all the same" watched incast 1000 --depth 8
check "nothing is marked" no_marks
came=$(figures 0 1000 1000)
unless_slow 90 "$came" "but dropped" some_dropped
note "without: utilisation, Jain, worst: $came"
