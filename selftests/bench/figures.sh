# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What the benchmarks share: a program of perftest between the hosts, and figures out
# of what it says. Each is a line "csv,ROUND,WHO,WHAT,VALUE,UNIT", which
# scripts/run-bench makes tables of; there is no comma in any of them.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

PERFTEST_LIMIT=180
export PERFTEST_LIMIT
# of the line at hand; WHO is the link's type if nothing else is said
round=1 WHO=''
# where figures go at once, whatever else is said and kept
exec 4>&1

# figure WHAT VALUE UNIT
figure()
{
	note "csv,$round,${WHO:-$LINK},$1,$2,$3" >&4
}

# busy - seconds that the guest's CPUs have worked: all but the idle ones, which the kernel
# knows to the microsecond, where it looks only now and then who is at work
busy()
{
	awk -v n="$(nproc)" '{ print n * $1 - $2 }' /proc/uptime
}

# since BUSY - seconds of work
since()
{
	awk -v before="$1" -v now="$(busy)" 'BEGIN { print now - before }'
}

# client_line - the line of figures in what the client said
client_line()
{
	awk '$1 ~ /^[0-9]+$/ && NF >= 5 { line = $0 } END { print line }' "$TMP/client"
}

# bandwidth NAME MESSAGES PROGRAM ARGS... - MiB/s
bandwidth()
{
	perftest "$3" v4 -n "$2" "${@:4}" || return
	figure "$1" "$(client_line | awk '{ print $4 }')" MiB/s
}

# steered COMMAND... - with the client on one CPU, and what comes to A on the other: the
# work of both ends overlaps
steered()
(
	file=/sys/class/net/$DEV_A/queues/rx-0/rps_cpus

	[ "$(nproc)" -gt 1 ] || return 0
	# shellcheck disable=SC2016 # the shell over there expands it
	on "$NS_A" sh -c 'echo 2 > "$1"' sh "$file" && taskset -cp 0 "$BASHPID" && "$@" || return
	# shellcheck disable=SC2016
	on "$NS_A" sh -c 'echo 0 > "$1"' sh "$file"
)

# rate NAME MESSAGES PROGRAM ARGS... - messages a second
rate()
{
	perftest "$3" v4 -n "$2" "${@:4}" || return
	figure "$1" "$(client_line | awk '{ print $5 * 1000 }')" kmsg/s
}

# cost NAME MESSAGES BYTES PROGRAM ARGS... - CPU seconds for a GB, of both ends and
# whatever is between them; both sleep when they wait, which perftest can do with SEND
# and READ. What comes before and after the traffic is taken off by a run of fewer
# messages.
cost()
{
	local few=$(($2 / 10)) before a b

	before=$(busy)
	perftest "$4" v4 -e -s "$3" -n $few "${@:5}" || return
	a=$(since "$before")
	before=$(busy)
	perftest "$4" v4 -e -s "$3" -n "$2" "${@:5}" || return
	b=$(since "$before")
	figure "$1" "$(awk -v a="$a" -v b="$b" -v n="$((($2 - few) * $3))" \
		'BEGIN { printf "%.2f", (b - a) / (n / 1e9) }')" CPU-s/GB
}

# latency NAME PROGRAM - typical and 99 %, microseconds
latency()
{
	local line

	perftest "$2" v4 -s 2 -n 10000 || return
	line=$(client_line)
	figure "$1" "$(awk '{ print $5 }' <<< "$line")" us
	figure "$1 99 %" "$(awk '{ print $8 }' <<< "$line")" us
}

# calls MESSAGES BYTES - system calls of both ends for so many: write (1) and ioctl (16),
# since where the clock is slow to read perftest asks for the time now and then. Counted
# where they come in: a debugger would slow each down, and so change what is counted.
calls()
{
	local point=/sys/kernel/tracing/events/raw_syscalls/sys_enter status

	mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
	echo 'hist:keys=common_pid if comm == "ib_write_bw" && (id == 1 || id == 16)' \
		> $point/trigger || return
	perftest ib_write_bw v4 -s "$2" -n "$1" >&2
	status=$?
	awk '/Hits:/ { print $2 }' $point/hist
	echo '!hist:keys=common_pid' > $point/trigger
	return $status
}

# calls_per_message NAME BYTES MESSAGES - what set-up takes is taken off
calls_per_message()
{
	local few many

	few=$(calls 200 "$2") && many=$(calls $(($3 + 200)) "$2") || return
	figure "$1" "$(awk -v d=$((many - few)) -v n="$3" 'BEGIN { print d / n }')" calls/WR
}

# limits - what the work that nobody can do without takes alone: nanoseconds for a byte,
# and the bandwidth if two CPUs do it, one the sender's, one the receiver's
limits()
{
	local line mtu icrc copy WHO=alone

	modprobe -a ib_uverbs rdma_cm
	# the last one is what bandwidth is compared with
	for mtu in 1024 4096; do
		insmod "$PROG/kvbench.ko" op=crc bytes=65536 "mtu=$mtu" ms=500 2> /dev/null
		line=$(dmesg | grep 'kvbench: op=crc' | tail -n 1)
		icrc=${line#*crc_ps/B=} icrc=${icrc%% *}
		copy=${line#*copy_ps/B=} copy=${copy%% *}
		[ -n "$icrc" ] && [ -n "$copy" ] || return
		figure "ICRC MTU $mtu" "$icrc" ps/B
	done
	figure copy "$copy" ps/B
	figure "ICRC and copy" "$(awk -v ps=$((icrc + copy)) \
		'BEGIN { print 1e12 / ps / 1048576 }')" MiB/s
}

# stream NAME - MiB/s of TCP
stream()
{
	local port=5201

	pair 60 $port iperf3 -s -1 -p $port -- iperf3 -c $IP4_A -p $port -t 4 -f m || return
	figure "$1" "$(awk '/receiver/ { print $7 * 1e6 / 8 / 1048576 }' "$TMP/client")" MiB/s
}

# tcp_figures - one stream, and the latency
tcp_figures()
{
	local port=19765

	stream stream && steered stream "stream steered" || return
	in_host "$NS_A"
	"${_in[@]}" qperf > /dev/null 2>&1 &
	defer kill $!
	wait_until 10 listening "$NS_A" $port || return
	on "$NS_B" qperf -u -t 3 $IP4_A tcp_lat > "$TMP/client" || return
	figure latency "$(awk '$1 == "latency" {
			print $3 * ($4 == "ms" ? 1000 : $4 == "ns" ? 0.001 : 1)
		}' "$TMP/client")" us
}

# one WHO FIGURES - between two fresh hosts: `tcp`, or a type of link
one()
{
	local before status

	before=$(deferred)
	LINK=$1
	hosts_up
	[ "$LINK" = tcp ] || links_up
	"$2"
	status=$?
	undo_to "$before"
	sleep 1
	return $status
}

# say NAME COMMAND... - a result; what it said, other than figures, if it failed
say()
{
	if "${@:2}" > "$TMP/one" 2>&1; then
		ok "$1"
	else
		not_ok "$1"
		note_file "$TMP/one"
	fi
}
