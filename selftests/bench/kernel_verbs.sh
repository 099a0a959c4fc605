#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Benchmark: kernel verbs of skerry, rxe and siw in turn, in one boot. It is for the lane
# native with one CPU (NCPUS=1), which has to do all that both ends do: there the time for
# a message is what it costs. It judges nothing but that all came to an end.
# siw's sockets live in the first namespace, so that both of its ends are there, and what
# it sends never leaves lo, whose MTU is 64 KiB: that favours it.
# only: on demand
# timeout: 3000

# shellcheck source-path=SCRIPTDIR source=figures.sh
. "$(dirname "$0")/figures.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/ulp.sh
. "$(dirname "$0")/../lib/ulp.sh"

ROUNDS=${ROUNDS:-3}
HOST_MTU=9000

# measured ARGS... - the line that one measurement prints, without what stands before it
measured()
{
	local line

	dmesg -C
	# it never stays loaded
	insmod "$PROG/kvbench.ko" "a=$SK_A" "b=$SK_B" "$@" 2> /dev/null
	line=$(dmesg | grep -o 'kvbench: .*total=.*') || { dmesg; return 1; }
	echo "${line#*: }"
}

# per NAME UNIT SCALE ARGS... - nanoseconds for a message, times SCALE
per()
{
	local line

	line=$(measured ms=1000 "${@:4}") || { echo "$line"; return 1; }
	line=${line#*ns/msg=}
	figure "$1" "$(awk -v ns="${line%% *}" -v scale="$3" 'BEGIN { print ns * scale }')" "$2"
}

# large messages by the byte, small ones by the message
kernel_figures()
{
	local mtu verb ps_a_byte=0.0152587890625

	limits || return
	for mtu in 4096 1024; do
		for verb in write send read; do
			per "$verb 64 KiB MTU $mtu" ps/B $ps_a_byte "op=$verb" bytes=65536 "mtu=$mtu" \
				depth=16 || return
		done
	done
	per "write 64 KiB MTU 4096 16 QPs" ps/B $ps_a_byte op=write bytes=65536 mtu=4096 depth=4 \
		qps=16 || return
	for verb in write send read; do
		per "$verb 8 B" ns/msg 1 "op=$verb" bytes=8 mtu=4096 depth=32 || return
	done
	per "write 8 B 16 QPs" ns/msg 1 op=write bytes=8 mtu=4096 depth=32 qps=16
}

# between_two LINK - as `one`, but for siw both ends are in the first namespace
between_two()
{
	local before status NS_A=$NS_A NS_B=$NS_B

	[ "$1" = siw ] || { one "$1" kernel_figures; return; }
	before=$(deferred)
	LINK=siw
	both_here
	# who looks for a neighbour here hears of it only when the time is over
	must ip neigh replace "$IP4_B" dev "$DEV_A" lladdr "$MAC_B"
	must ip neigh replace "$IP4_A" dev "$DEV_B" lladdr "$MAC_A"
	must link_add '' "$SK_A" "$DEV_A"
	must link_add '' "$SK_B" "$DEV_B"
	must wait_until 10 active '' "$SK_A"
	must wait_until 10 active '' "$SK_B"
	kernel_figures
	status=$?
	undo_to "$before"
	return $status
}

links=(skerry rxe siw)
plan $((ROUNDS * ${#links[@]}))
modprobe -a ib_uverbs rdma_cm rdma_rxe siw
long_backlog
for ((round = 1; round <= ROUNDS; round++)); do
	for link in "${links[@]}"; do
		say "round $round: $link" between_two "$link"
	done
done
