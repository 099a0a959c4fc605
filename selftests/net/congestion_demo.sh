#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Four senders and one receiver behind a bottleneck, with congestion control and
# without: what scripts/run-demo-congestion makes a picture and a table of. Lines
# "csv,RUN,KIND,MS,FLOW,..." have the rates that the QPs allow themselves, what
# arrived, and what waited in the bottleneck; "table,..." the figures.
# only: on demand
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/incast.sh
. "$(dirname "$0")/../lib/incast.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/classes.sh
. "$(dirname "$0")/../lib/classes.sh"

TIME=16000
FROM=8000

plan 4
[ "$LINK" = skerry ] || skip_all "congestion control is skerry's"

# sample_queue FILE - what waits in the bottleneck, again and again
sample_queue()
{
	while sleep 0.1; do
		echo "$(monotonic) $(on $NS_R tc -s qdisc show dev out | awk '
			/^qdisc/ { red = $2 == "red" }
			red && /backlog/ {
				sub(/b$/, "", $2)
				sub(/Kb?$/, "000", $2)
				print $2
				exit
			}')"
	done > "$1"
}

# run ALGORITHM
run()
{
	local sampler

	control "$1"
	remember
	sample_queue "$TMP/queue" &
	sampler=$!
	check "$1: every byte is right" watched incast $TIME
	kill $sampler
	wait $sampler 2> /dev/null
	note "table,$1,$(figures $FROM $((TIME - 1000)) 1000 | sed 's/^ *//; s/ /,/g'),$(($(
		dropped) - before[dropped])),$(on_wire 'ip[1] & 3 = 3'),$(on_wire 'udp[8] = 0x81')"
	series "$1" | sed 's/^/# csv,/'
}

# series RUN - rates no closer than 20 ms, to keep it short
series()
{
	rates | awk -v run="$1" '
		$1 - last[$2] >= 20 {
			last[$2] = $1
			printf "%s,rate,%d,%d,%s,%.3f\n", run, $1, $2, $3, $4
		}'
	bins | awk -v run="$1" '{ printf "%s,bin,%d,%d,%d\n", run, $1, $2, $3 }'
	awk -v run="$1" -v at="$at" '$1 >= at {
		printf "%s,queue,%d,0,%d\n", run, $1 - at, $2
	}' "$TMP/queue"
}

long_backlog
router_up 25
senders_up 4
super_off
note "rate,$MBPS"
run dcqcn
check "dcqcn: nothing was dropped" undropped
run none
check "none: much was dropped" some_dropped
