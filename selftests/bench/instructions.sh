#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Benchmark: instructions for a KiB and for a message. It needs a guest whose clock
# counts them, one nanosecond each (QEMU's -icount shift=0, ICOUNT=1 for boot.sh): what
# its CPU has worked is what was executed, and nothing that the host does besides
# changes it.
# only: on demand
# timeout: 3000

# shellcheck source-path=SCRIPTDIR source=figures.sh
. "$(dirname "$0")/figures.sh"

# instructions NAME UNIT SCALE MESSAGES BYTES PROGRAM ARGS... - executed for one more
# message, times SCALE
instructions()
{
	local before a b few=$(($4 / 10))

	before=$(busy)
	perftest "$6" v4 -e -s "$5" -n $few "${@:7}" || return
	a=$(since "$before")
	before=$(busy)
	perftest "$6" v4 -e -s "$5" -n "$4" "${@:7}" || return
	b=$(since "$before")
	figure "$1" "$(awk -v a="$a" -v b="$b" -v n=$(($4 - few)) -v scale="$3" \
		'BEGIN { printf "%.1f", (b - a) * 1e9 / n * scale }')" "$2"
}

counts()
{
	local mtu verb

	for mtu in 4096 1024; do
		for verb in send read; do
			instructions "$verb 64 KiB MTU $mtu" insn/KiB 0.015625 4000 65536 \
				ib_${verb}_bw -m $mtu || return
		done
	done
	instructions "send 8 B" insn/msg 1 40000 8 ib_send_bw
}

who=(skerry)
! rxe_in_namespaces || who=(skerry rxe)
plan $((${#who[@]} + 1))
long_backlog
for link in "${who[@]}"; do
	say "$link" one "$link" counts
done
say "the limit" limits
