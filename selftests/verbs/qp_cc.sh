#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Congestion control per QP, if the program asks: by the command that makes a QP, by the
# provider's SKERRY_CONGESTION_CONTROL, and what is to be seen of it.
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

[ "$LINK" = skerry ] || skip_all "congestion control is skerry's"

plan 3
hosts_up
links_up

# asked VALUE CC - what rdma says of the QPs of a program that is run with this
asked()
{
	local holder status

	: > "$TMP/holder"
	in_host "$NS_A"
	SKERRY_CONGESTION_CONTROL=$1 "${_in[@]}" "$PROG/holder" --a "$SK_A" --b "$SK_B" \
		--idle --wait 600 > "$TMP/holder" 2>&1 &
	holder=$!
	wait_until 60 grep -q ready "$TMP/holder"
	rdma -dd res show qp link "$SK_A/1" > "$TMP/res" 2>&1
	awk -v pid="pid $holder " '/^[a-z]/ { mine = index($0, pid) } mine' "$TMP/res" |
		grep "drv_cc $2 .*drv_cc_wish $1"
	status=$?
	kill -9 $holder
	wait $holder 2> /dev/null
	[ $status = 0 ] || cat "$TMP/holder" "$TMP/res"
	return $status
}

check "commands, environment, debugfs" "$PROG/qp_cc" --a "$SK_A" --b "$SK_B"
check "rdma shows a QP that wants it" asked on dcqcn
check "and one that does not" asked off none
