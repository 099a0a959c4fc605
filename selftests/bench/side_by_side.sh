#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Benchmark: skerry, rxe and TCP in turn, A B A B, in one boot, over the same veth
# pair. It judges nothing but that all came to an end; scripts/run-bench makes a table.
# Before 7.x rxe knows one namespace only and cannot be both ends.
# only: on demand
# timeout: 5400

# shellcheck source-path=SCRIPTDIR source=figures.sh
. "$(dirname "$0")/figures.sh"

ROUNDS=${ROUNDS:-3}

# each figure that can be had; the status tells if one could not
rdma_figures()
{
	local mtu verb qps bad=0

	for verb in write send read; do
		latency "$verb latency" ib_${verb}_lat || bad=1
	done
	rate "write 8 B" 100000 ib_write_bw -s 8 || bad=1
	rate "write 8 B 16 QPs" 10000 ib_write_bw -s 8 -q 16 || bad=1
	calls_per_message "system calls 64 KiB" 65536 1000 || bad=1
	calls_per_message "system calls 8 B" 8 3000 || bad=1
	for mtu in 4096 1024; do
		for verb in write send read; do
			bandwidth "$verb 64 KiB MTU $mtu" 3000 ib_${verb}_bw -s 65536 -m $mtu || bad=1
		done
		cost "send 64 KiB MTU $mtu" 2000 65536 ib_send_bw -m $mtu || bad=1
	done
	steered bandwidth "write 64 KiB MTU 4096 steered" 3000 ib_write_bw -s 65536 -m 4096 || bad=1
	bandwidth "write 1 MiB MTU 4096" 60 ib_write_bw -s 1048576 -m 4096 || bad=1
	for mtu in 4096 1024; do
		for qps in 16 64 256; do
			bandwidth "write 64 KiB MTU $mtu $qps QPs" $((qps < 256 ? 4096 / qps : 32)) \
				ib_write_bw -s 65536 -m $mtu -q $qps -t 16 || bad=1
		done
	done
	return $bad
}

# all WHO - its figures
all()
{
	case $1 in
	tcp) one tcp tcp_figures ;;
	rxe)
		# what it cannot do is no fault of ours: the table has a gap there
		one rxe rdma_figures || note "not all figures could be had"
		;;
	*) one "$1" rdma_figures ;;
	esac
}

who=(skerry tcp)
! rxe_in_namespaces || who=(skerry rxe tcp)
plan $((ROUNDS * ${#who[@]} + 1))
long_backlog
for ((round = 1; round <= ROUNDS; round++)); do
	for link in "${who[@]}"; do
		say "round $round $link" all "$link"
	done
done
round=1
say "the limit" limits
