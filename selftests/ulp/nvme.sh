#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# NVMe over RDMA, both ends in this kernel: a target with a disk in memory, a host
# that writes and verifies, loses its link and gets it back, and devices that go
# while they are in use. Both ends know the first namespace only; IPv4 only, since
# the connection manager takes no IPv6 request from an address of its own host.
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/ulp.sh
. "$(dirname "$0")/../lib/ulp.sh"

CONFIG=/sys/kernel/config
NQN=nqn.2014-08.org.nvmexpress:skerry
HOSTNQN=nqn.2014-08.org.nvmexpress:uuid:0b0c0d0e-0000-4000-8000-000000000001
MIB=1048576

plan 17
defer modprobe -r nvme_rdma nvmet_rdma null_blk
modules_there null_blk nvmet_rdma nvme_rdma || skip_all "no NVMe over RDMA in this kernel"
modprobe -r null_blk
must modprobe null_blk nr_devices=1 gb=1 memory_backed=1
mountpoint -q $CONFIG || must mount -t configfs configfs $CONFIG

both_here
links_up

target_up()
{
	local sub=$CONFIG/nvmet/subsystems/$NQN

	mkdir "$sub" && echo 1 > "$sub/attr_allow_any_host" &&
		mkdir "$sub/namespaces/1" &&
		echo -n /dev/nullb0 > "$sub/namespaces/1/device_path" &&
		echo 1 > "$sub/namespaces/1/enable"
}

target_down()
{
	local sub=$CONFIG/nvmet/subsystems/$NQN

	echo 0 > "$sub/namespaces/1/enable"
	rmdir "$sub/namespaces/1" "$sub"
}

port_up()
{
	local port=$CONFIG/nvmet/ports/1

	mkdir "$port" && echo rdma > "$port/addr_trtype" && echo ipv4 > "$port/addr_adrfam" &&
		echo $IP4_A > "$port/addr_traddr" && echo 4420 > "$port/addr_trsvcid" &&
		ln -s "$CONFIG/nvmet/subsystems/$NQN" "$port/subsystems/$NQN"
}

port_down()
{
	rm -f "$CONFIG/nvmet/ports/1/subsystems/$NQN"
	rmdir $CONFIG/nvmet/ports/1
}

connect()
{
	nvme connect -t rdma -n $NQN -q $HOSTNQN -I "${HOSTNQN##*:}" -a $IP4_A -s 4420 -w $IP4_B \
		--nr-io-queues=2 --queue-size=32 --keep-alive-tmo=5 --reconnect-delay=1 \
		--ctrl-loss-tmo=300 && wait_until 20 disk
}

# controller - where sysfs has the one that is connected
controller()
{
	local c

	for c in /sys/class/nvme/nvme*; do
		[ "$(cat "$c/subsysnqn" 2> /dev/null)" != $NQN ] || { echo "$c"; return; }
	done
	return 1
}

state_is()
{
	local c

	c=$(controller) && grep -qx "$1" "$c/state"
}

no_controller()
{
	! controller
}

# disk - set to its device file
disk()
{
	local d

	for d in /dev/nvme*n1; do
		[ -b "$d" ] && [ "$(blockdev --getsize64 "$d")" = $((1024 * MIB)) ] && disk=$d &&
			return
	done
	return 1
}

disconnect()
{
	nvme disconnect -n $NQN && wait_until 20 no_controller
}

io()
{
	disk && verify_io '' "$disk" "$@"
}

# over_a_break - the link goes down under I/O and comes back
over_a_break()
{
	local pid

	disk || return
	# some ten seconds, and then what was written is read
	verify_io '' "$disk" $((16 * MIB)) break --rw=randwrite --bs=16k --iodepth=16 \
		--rate_iops=100 > "$TMP/break" 2>&1 &
	pid=$!
	sleep 2
	ip link set $DEV_B down
	wait_until 60 state_is connecting || echo "the controller did not notice"
	ip link set $DEV_B up
	wait_until 120 state_is live || { echo "it did not come back"; controller; }
	reap 200 $pid
	local status=$?
	cat "$TMP/break"
	return $status
}

defer target_down
must target_up
check "a target" port_up
defer port_down
check "a host connects" connect
check "its disk has the target's size" disk
check "small writes, verified" io $((4 * MIB)) small --rw=randwrite --bs=512 --iodepth=32 \
	--number_ios=2000
check "all sizes, verified" io $((32 * MIB)) sizes --rw=randwrite --bsrange=512-256k \
	--blocksize_unaligned=0 --iodepth=16
check "large writes, verified" io $((64 * MIB)) large --rw=write --bs=1M --iodepth=8
check "the data went through the devices" carried '' $SK_A $((90 * MIB))
check "I/O goes on when the link was down" over_a_break
check "verified again" io $((8 * MIB)) after --rw=randwrite --bs=16k --iodepth=8
check "nothing was refused" counters_zero '' $SK_A resp_remote_access_errors \
	resp_remote_invalid_request resp_local_length_error
check "disconnecting" disconnect

# devices that go while they are in use take their users with them
check "connecting again" connect
check "verified over the new connection" io $((8 * MIB)) again --rw=randrw --bs=8k --iodepth=8
check "the host's link goes while it is connected" link_del '' $SK_B
check "so does its controller" wait_until 60 no_controller
must link_add '' $SK_B $DEV_B
# the IPv6 ones went with the link
must wait_until 20 gid_index '' $SK_B v4
check "a new link, a new connection" connect
check "the target's link goes while somebody is connected" link_del '' $SK_A
nvme disconnect -n $NQN > /dev/null
