#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Everything that can vanish does, in random order, under 32 busy QPs: processes,
# carriers, netdevs, namespaces, links, the module, memory, CPUs; and qdiscs hold
# packets back. Nothing may hang or be left. SEED and DURATION say which order and how
# long; storm_long.sh is ten minutes of it.
# only: on demand
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/storm.sh
. "$(dirname "$0")/../lib/storm.sh"

DURATION=${DURATION:-20}
SEED=${SEED:-1}
# seconds that any one event may take
LIMIT=60

plan 9
note "seed $SEED, $DURATION s"
RANDOM=$SEED
storm_prepare "$DURATION"
world_up
end=$((EPOCHSECONDS + DURATION))
events=0 busy=0 late=()
declare -A happened
while [ "$EPOCHSECONDS" -lt $end ]; do
	traffic_up
	wait_until 30 is_busy && busy=$((busy + 1))
	event=${EVENTS[RANDOM % ${#EVENTS[@]}]}
	# what an event chooses by itself comes from here, too
	choice=$RANDOM
	start=$EPOCHSECONDS
	"$event" "$choice" > "$TMP/event" 2>&1
	[ $((EPOCHSECONDS - start)) -le $((LIMIT * SLOW)) ] || late+=("$event")
	happened[$event]=$((${happened[$event]:-0} + 1))
	events=$((events + 1))
	world_whole
done
for event in "${!happened[@]}"; do
	note "$event: ${happened[$event]}"
done
note "$events events, $busy of them under traffic"
check "no event took longer than $LIMIT s" test ${#late[@]} = 0 || note "late: ${late[*]}"
check "there was traffic" test $busy -gt $((events / 3))
check "processes end when they are killed" traffic_down
world_down
check "no device is left" wait_until 20 no_devices
check "no object is left" no_objects
check "port 4791 is free in the first namespace" wait_until 5 port_free ''
check "no task is blocked" no_blocked_task
world_up
check "a new world works" pingpong v4 -n 50
world_down
check "the module can be unloaded" wait_until 20 module_unload
