#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Processes killed in the middle of traffic leave nothing, and the device goes
# on working for others.
# timeout: 180

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

ROUNDS=5

plan $((ROUNDS + 3))
hosts_up
links_up

# res HOST DEV KIND - how many objects of a kind user space holds
res()
{
	on "$1" rdma res show "$3" link "$2" 2> /dev/null | grep -c 'pid [0-9]'
}

nothing_held()
{
	[ "$(res "$NS_A" "$SK_A" qp)$(res "$NS_B" "$SK_B" qp)" = 00 ]
}

under_traffic()
{
	[ "$(counter_sum)" -gt "$1" ]
}

# all that has been received or sent, whatever the counters are called
counter_sum()
{
	on "$NS_A" cat /proc/net/dev | awk -v dev="$DEV_A:" '$1 == dev { print $3 + $11 }'
}

kill_one()
{
	local signal_to=$1 server client before

	before=$(counter_sum)
	in_host "$NS_A"
	"${_in[@]}" "$PROG/traffic" --dev "$SK_A" --listen --stall=60 > "$TMP/server" 2>&1 &
	server=$!
	wait_until 10 listening "$NS_A" 7471 || return
	in_host "$NS_B"
	"${_in[@]}" "$PROG/traffic" --dev "$SK_B" --connect "$IP4_A" --count=1000000 --qps=4 \
		--max=65536 --ops=send,write,read --stall=60 > "$TMP/client" 2>&1 &
	client=$!
	wait_until 20 under_traffic $((before + 500)) || {
		echo "no traffic"
		cat "$TMP/server" "$TMP/client"
		kill -9 $server $client
		return 1
	}
	case $signal_to in
	server) kill -9 $server ;;
	client) kill -9 $client ;;
	both) kill -9 $server $client ;;
	esac
	# the other notices that its peer has gone, or runs out of retries
	reap 60 $server
	reap 60 $client
	[ "$signal_to" != both ] || return 0
	wait_until 5 nothing_held
}

for ((i = 0; i < ROUNDS; i++)); do
	which=$(echo server client both | cut -d' ' -f$((i % 3 + 1)))
	check "kill -9 of $which in full traffic" kill_one "$which"
done
check "no queue pair is left" wait_until 5 nothing_held
check "the devices still work" pingpong v4 -n 100
check "the devices still work, events" pingpong v6 -n 100 -e
