#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Benchmark: skerry, rxe and TCP in turn, A B A B, in one boot, over the same veth
# pair. It judges nothing: each figure is a line "csv,ROUND,WHO,WHAT,VALUE,UNIT",
# which scripts/run-bench makes tables of. Before 7.x rxe knows one namespace only
# and cannot be both ends.
# only: on demand
# timeout: 3000

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

ROUNDS=3
PERFTEST_LIMIT=120

# figure WHAT VALUE UNIT
figure()
{
	note "csv,$round,$LINK,$1,$2,$3"
}

# busy - clock ticks that the guest's CPUs have worked
busy()
{
	awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8 }' /proc/stat
}

# client_line - the line of figures in what the client said
client_line()
{
	awk '$1 ~ /^[0-9]+$/ && NF >= 5 { line = $0 } END { print line }' "$TMP/client"
}

# bandwidth NAME MESSAGES BYTES PROGRAM ARGS... - MiB/s, messages a second, CPU
# seconds for a GB
bandwidth()
{
	local name=$1 n=$2 bytes=$3 program=$4 before ticks line

	shift 4
	before=$(busy)
	perftest "$program" v4 -s "$bytes" -n "$n" "$@" || return
	ticks=$(($(busy) - before))
	line=$(client_line)
	figure "$name" "$(awk '{ print $4 }' <<< "$line")" MiB/s
	figure "$name" "$(awk '{ print $5 * 1000 }' <<< "$line")" kmsg/s
	[ "$bytes" -lt 4096 ] ||
		figure "$name" "$(awk -v t=$ticks -v b=$((n * bytes)) \
			'BEGIN { printf "%.2f", t / 100 / (b / 1e9) }')" CPU-s/GB
}

# latency NAME PROGRAM - typical and 99 %, microseconds
latency()
{
	local line

	perftest "$2" v4 -s 2 -n 2000 || return
	line=$(client_line)
	figure "$1" "$(awk '{ print $5 }' <<< "$line")" us
	figure "$1, 99 %" "$(awk '{ print $8 }' <<< "$line")" us
}

# calls MESSAGES BYTES - system calls of a client that sends so many
calls()
{
	local a b

	a=$(gid_index "$NS_A" $SK_A v4)
	b=$(gid_index "$NS_B" $SK_B v4)
	pair 120 18515 ib_write_bw -d $SK_A -x "$a" -F -s "$2" -n "$1" -- \
		strace -f -c -o "$TMP/strace" ib_write_bw -d $SK_B -x "$b" -F -s "$2" -n "$1" \
		$IP4_A > /dev/null || return
	awk '$NF == "total" { print $4 }' "$TMP/strace"
}

# calls_per_message NAME BYTES
calls_per_message()
{
	local few many

	few=$(calls 200 "$2") && many=$(calls 1200 "$2") || return
	figure "$1" "$(awk -v d=$((many - few)) 'BEGIN { print d / 1000 }')" calls/msg
}

rdma_figures()
{
	local mtu verb

	for mtu in 4096 1024; do
		for verb in write send read; do
			bandwidth "$verb 64 KiB, MTU $mtu" 1000 65536 ib_${verb}_bw -m $mtu || return
		done
	done
	bandwidth "write 1 MiB, MTU 4096" 60 1048576 ib_write_bw -m 4096 || return
	bandwidth "write 64 KiB, 16 QPs" 60 65536 ib_write_bw -m 4096 -q 16 || return
	bandwidth "write 8 B" 5000 8 ib_write_bw || return
	bandwidth "write 8 B, 16 QPs" 1000 8 ib_write_bw -q 16 || return
	for verb in write send read; do
		latency "$verb latency" ib_${verb}_lat || return
	done
	calls_per_message "system calls, 64 KiB" 65536 || return
	calls_per_message "system calls, 8 B" 8
}

tcp_figures()
{
	local port=5201

	pair 60 $port iperf3 -s -1 -p $port -- iperf3 -c $IP4_A -p $port -t 4 -f m || return
	figure "stream" "$(awk '/receiver/ { print $7 * 1e6 / 8 / 1048576 }' "$TMP/client")" MiB/s
	port=19765
	in_host "$NS_A"
	"${_in[@]}" qperf > /dev/null 2>&1 &
	defer kill $!
	wait_until 10 listening "$NS_A" $port || return
	on "$NS_B" qperf -u -t 3 $IP4_A tcp_lat > "$TMP/client" || return
	figure "latency" "$(awk '$1 == "latency" { print ($4 == "ms") ? $3 * 1000 : $3 }' \
		"$TMP/client")" us
}

# one WHO - all figures of one, from nothing to nothing
one()
{
	local before

	before=$(deferred)
	LINK=$1
	if [ "$LINK" = tcp ]; then
		hosts_up
		tcp_figures
	else
		hosts_up
		links_up
		rdma_figures
	fi
	local status=$?
	undo_to "$before"
	sleep 1
	return $status
}

who=(skerry tcp)
! rxe_in_namespaces || who=(skerry rxe tcp)
plan $((ROUNDS * ${#who[@]}))
long_backlog
for ((round = 1; round <= ROUNDS; round++)); do
	for link in "${who[@]}"; do
		if one "$link" > "$TMP/one" 2>&1; then
			ok "round $round, $link"
		else
			not_ok "round $round, $link"
		fi
		grep '^# csv' "$TMP/one"
		grep -v '^# csv' "$TMP/one" | tail -n 20 | sed 's/^/# /'
	done
done
