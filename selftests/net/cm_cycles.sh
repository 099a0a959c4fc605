#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Connect, WRITE, disconnect, 20,000 times by eight clients at once, two of which
# are killed again and again; a tenth of it on a slow machine. Nothing may be left.
# timeout: 400

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/cm.sh
. "$(dirname "$0")/../lib/cm.sh"

STEADY=6
KILLED=2
CYCLES=$((($(scaled 20000) + STEADY - 1) / STEADY))

plan 5
hosts_up
links_up
[ -c /dev/infiniband/rdma_cm ] || skip_all "no rdma_cm for user space"

all_resources()
{
	resources "$NS_A" $SK_A
	resources "$NS_B" $SK_B
}

# as_before - the same resources again
as_before()
{
	all_resources > "$TMP/after"
	diff "$TMP/before" "$TMP/after"
}

# slab_kb - memory of the kernel's objects that does not come back when asked for
slab_kb()
{
	echo 3 > /proc/sys/vm/drop_caches
	sleep 1
	awk '$1 == "SUnreclaim:" { print $2 }' /proc/meminfo
}

port()
{
	echo $((7480 + $1))
}

# start_servers - one for each client
start_servers()
{
	local n

	in_host "$NS_A"
	for ((n = 0; n < STEADY + KILLED; n++)); do
		"${_in[@]}" "$PROG/cm_cycles" --listen $IP4_A --port "$(port $n)" --for-ever \
			--cycles $CYCLES > "$TMP/server$n" 2>&1 < /dev/null &
		servers+=($!)
	done
	wait_until 20 at_least "$NS_A" $((STEADY + KILLED))
}

# stop_servers - and what they still hold of dead clients
stop_servers()
{
	kill "${servers[@]}"
	wait "${servers[@]}" 2> /dev/null
	servers=()
	wait_until 20 no_ids
}

no_ids()
{
	! at_least "$NS_A" 1 && ! at_least "$NS_B" 1
}

# client N CYCLES
client()
{
	on "$NS_B" "$PROG/cm_cycles" --connect $IP4_A --port "$(port "$1")" --cycles "$2"
}

# dying_client N - killed at any moment, until there is a file that ends it
dying_client()
{
	local kills=0

	in_host "$NS_B"
	until [ -e "$TMP/enough" ]; do
		timeout -s KILL "0.$((RANDOM % 900 + 100))" "${_in[@]}" "$PROG/cm_cycles" \
			--connect $IP4_A --port "$(port "$1")" --cycles $CYCLES
		kills=$((kills + 1))
	done > /dev/null 2>&1
	echo $kills > "$TMP/kills$1"
}

# all_clients - the steady ones end well
all_clients()
{
	local n pids=() bad=0

	for ((n = 0; n < KILLED; n++)); do
		dying_client $((STEADY + n)) &
		dying+=($!)
	done
	for ((n = 0; n < STEADY; n++)); do
		client $n $CYCLES &
		pids+=($!)
	done
	for n in "${pids[@]}"; do
		wait "$n" || bad=1
	done
	touch "$TMP/enough"
	wait "${dying[@]}"
	return $bad
}

# servers_alive - all of them
servers_alive()
{
	local n

	for n in "${!servers[@]}"; do
		kill -0 "${servers[n]}" || { cat "$TMP/server$n"; return 1; }
	done
}

killed_enough()
{
	[ "$(awk '{ n += $1 } END { print n }' "$TMP"/kills*)" -ge 4 ]
}

servers=() dying=()
must start_servers
# what comes with the first connections stays
client 0 100 > /dev/null 2>&1
client $STEADY 100 > /dev/null 2>&1
must stop_servers
all_resources > "$TMP/before"
slab=$(slab_kb)
must start_servers
check "$((STEADY * CYCLES)) connections by $STEADY clients" all_clients
note "clients killed: $(cat "$TMP"/kills* | tr '\n' ' ')"
check "some were killed" killed_enough
check "their servers live on, and nothing wrong was written" servers_alive
stop_servers
wait_until 60 as_before
check "no object is left" as_before
name="the kernel's memory has not grown by more than 4 MB"
grown=$(($(slab_kb) - slab))
note "kernel memory: $slab KB before, $grown KB more afterwards"
if grep -q 'User Mode Linux' /proc/cpuinfo; then
	skip "$name" "this kernel keeps what is freed, to find who still uses it"
else
	check "$name" test $grown -lt 4096
fi
