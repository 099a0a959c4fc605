# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# NVMe over RDMA: a target in A, and a host in B, which is the first namespace of this
# guest: the kernel's host and target know no other. Sourced after lib.sh and ulp.sh.
# shellcheck disable=SC2153,SC2154

NQN=nqn.2014-08.org.nvmexpress:skerry
HOSTNQN=nqn.2014-08.org.nvmexpress:uuid:0b0c0d0e-0000-4000-8000-000000000001
MIB=1048576

# nvme_there - both ends are in this kernel
nvme_there()
{
	modules_there null_blk nvmet_rdma nvme_rdma && modprobe -r null_blk
}

# target WHAT ARGUMENT... - see nvme_target.sh
target()
{
	on "$NS_A" "$SELFTESTS/lib/nvme_target.sh" "$1" $NQN "${@:2}"
}

# target_up - a disk, as long as the test goes on
target_up()
{
	defer modprobe -r nvme_rdma
	defer on "$NS_A" "$SELFTESTS/lib/nvme_target.sh" down $NQN
	target up
}

# connect TARGET HOST [ARGUMENT...] - addresses
connect()
{
	nvme connect -t rdma -n $NQN -q $HOSTNQN -I "${HOSTNQN##*:}" -a "$1" -s 4420 -w "$2" \
		--nr-io-queues=2 --queue-size=32 --keep-alive-tmo=5 --reconnect-delay=1 \
		--ctrl-loss-tmo=300 "${@:3}" && wait_until 20 disk
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

# io BYTES NAME ARGUMENT... - write and verify
io()
{
	disk && verify_io '' "$disk" "$@"
}

# over_a_break HOST DEV - this link goes down under I/O and comes back
over_a_break()
{
	local pid status

	disk || return
	# some ten seconds, and then what was written is read
	verify_io '' "$disk" $((16 * MIB)) break --rw=randwrite --bs=16k --iodepth=16 \
		--rate_iops=100 > "$TMP/break" 2>&1 &
	pid=$!
	sleep 2
	on "$1" ip link set "$2" down
	wait_until 60 state_is connecting || echo "the controller did not notice"
	on "$1" ip link set "$2" up
	wait_until 120 state_is live || { echo "it did not come back"; controller; }
	reap 200 $pid
	status=$?
	cat "$TMP/break"
	return $status
}
