#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Everything that can vanish does, in random order, under 32 busy QPs and, where the
# kernel has them, NVMe and NFS over RDMA: processes, carriers, netdevs, namespaces,
# links, targets, servers, the module, memory, CPUs; and qdiscs hold packets back.
# Nothing may hang or be left. SEED and DURATION say which order and how long;
# storm_long.sh is ten minutes of it.
# only: on demand
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/storm.sh
. "$(dirname "$0")/../lib/storm.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/ulp.sh
. "$(dirname "$0")/../lib/ulp.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/storm_first.sh
. "$(dirname "$0")/../lib/storm_first.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/nvme.sh
. "$(dirname "$0")/../lib/nvme.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/storm_nvme.sh
. "$(dirname "$0")/../lib/storm_nvme.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/nfs.sh
. "$(dirname "$0")/../lib/nfs.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/storm_nfs.sh
. "$(dirname "$0")/../lib/storm_nfs.sh"

DURATION=${DURATION:-20}
SEED=${SEED:-1}
# seconds that any one event may take
LIMIT=60

plan 14
note "seed $SEED, $DURATION s"
RANDOM=$SEED
nvme_prepare
nfs_prepare
storm_prepare "$DURATION"
first_up
nvme_up
nfs_begin
world_up
end=$((EPOCHSECONDS + DURATION))
events=0 busy=0 nvme_busy=0 nfs_busy=0 late=()
declare -A happened
while [ "$EPOCHSECONDS" -lt $end ]; do
	traffic_up
	nvme_traffic
	nfs_traffic
	wait_until 30 is_busy && busy=$((busy + 1))
	nvme_busy && nvme_busy=$((nvme_busy + 1))
	nfs_busy && nfs_busy=$((nfs_busy + 1))
	event=${EVENTS[RANDOM % ${#EVENTS[@]}]}
	# what an event chooses by itself comes from here, too
	choice=$RANDOM
	start=$EPOCHSECONDS
	note "$((start + DURATION - end)) s: $event $choice"
	"$event" "$choice" > "$TMP/event" 2>&1
	[ $((EPOCHSECONDS - start)) -le $((LIMIT * SLOW)) ] || late+=("$event")
	happened[$event]=$((${happened[$event]:-0} + 1))
	events=$((events + 1))
	world_whole
	first_whole
	nvme_whole
	nfs_whole
done
for event in "${!happened[@]}"; do
	note "$event: ${happened[$event]}"
done
note "$events events, $busy of them under traffic, $nvme_busy with NVMe at work," \
	"$nfs_busy with NFS"
check "no event took longer than $LIMIT s" test ${#late[@]} = 0 || note "late: ${late[*]}"
check "there was traffic" test $busy -gt $((events / 3))
check "processes end when they are killed" traffic_down
if [ -n "$NVME" ]; then
	check "NVMe was at work" test $nvme_busy -gt 0
	check "what NVMe read is what it had written" fio_right nvme
else
	skip "NVMe was at work" "not in this kernel"
	skip "what NVMe read is what it had written" "not in this kernel"
fi
if [ -n "$NFS" ]; then
	check "NFS was at work" nfs_worked $nfs_busy
	check "what NFS read is what it had written" fio_right nfs
else
	skip "NFS was at work" "not in this kernel"
	skip "what NFS read is what it had written" "not in this kernel"
fi
world_down
nfs_finish
nvme_down
first_down
check_not "no NFS mount or server is left" nfs_left
check "no device is left" wait_until 20 no_devices
check "no object is left" no_objects
check "port 4791 is free in the first namespace" wait_until 5 port_free ''
check "no task is blocked" no_blocked_task
world_up
check "a new world works" pingpong v4 -n 50
world_down
check "the module can be unloaded" wait_until 20 module_unload
