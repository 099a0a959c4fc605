#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# PID 1 of the guest, once its disk is mounted and the payload unpacked: sets
# the machine up, runs the phase that the host asked for and switches it off.
# What it has to say to the host goes through a virtio port of its own (in
# User-mode Linux a serial line), open as descriptor 3, so that the console can
# say what it likes.

export PATH=/skerry/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C.UTF-8
HERE=/skerry/selftests/qemu

off()
{
	sync
	busybox poweroff -f
	sleep 60
}
trap off EXIT

mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mkdir -p /dev/pts /dev/shm /run/netns
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
modprobe -q configfs
mount -t configfs configfs /sys/kernel/config
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ln -sfn /proc/self/fd /dev/fd
ln -sfn /proc/self/fd/0 /dev/stdin
ln -sfn /proc/self/fd/1 /dev/stdout
ln -sfn /proc/self/fd/2 /dev/stderr

for port in /sys/class/virtio-ports/*; do
	if [ "$(cat "$port/name" 2> /dev/null)" = skerry.verdict ]; then
		exec 3> "/dev/${port##*/}"
	fi
done
if grep -q '^vendor_id.*User Mode Linux' /proc/cpuinfo; then
	stty -F /dev/ttyS0 raw
	exec 3> /dev/ttyS0
fi
: >&3 || { echo "skerry: no verdict port"; exit 1; }

# A warning or an oops panics already (command line); so does what hangs.
for setting in kernel.hung_task_timeout_secs=90 kernel.hung_task_panic=1 \
	kernel.watchdog_thresh=30 kernel.softlockup_panic=1 \
	kernel.panic_on_rcu_stall=1; do
	sysctl -q -w "$setting" 2> /dev/null ||
		echo "# no sysctl $setting on this kernel" >&3
done

hostname skerry
ip link set lo up
ulimit -l unlimited
ulimit -c 0
/usr/lib/systemd/systemd-udevd --daemon
udevadm trigger --action=add --subsystem-match=infiniband \
	--subsystem-match=infiniband_verbs --subsystem-match=misc
udevadm settle --timeout=30
# as rdma-core's service does where systemd runs, when the first device appears
modprobe -a ib_uverbs ib_umad rdma_ucm

# What this boot is for: PHASE, LINK, SLOW
. /skerry/run.env
export LINK SLOW

# cable_up ADDRESS - the way between two guests: the first of their cables
cable_up()
{
	modprobe -a virtio_net e1000e
	udevadm settle --timeout=30
	ip link set eth0 up
	ip addr add "$1/24" dev eth0
}

read -r up _ < /proc/uptime
echo "@boot $(uname -r) $up" >&3
case $PHASE in
test)
	if grep -qw guests=2 /proc/cmdline; then
		cable_up 10.99.0.1
	fi
	bash "$HERE/guest-run.sh"
	;;
peer)
	cable_up 10.99.0.2
	dmesg -C
	SELFTESTS=/skerry/selftests socat TCP-LISTEN:7999,bind=10.99.0.2,reuseaddr,fork \
		EXEC:"$HERE/agent.sh"
	;;
demo)
	dmesg -C
	if bash "$HERE/demo.sh" >&3 2> /tmp/demo.err; then
		echo "@demo ok" >&3
	else
		sed 's/^/   | /' /tmp/demo.err >&3
		dmesg | tail -n 30 | sed 's/^/   | /' >&3
	fi
	;;
shell)
	echo "skerry: a shell in the guest; exit switches it off"
	setsid busybox cttyhack bash
	;;
*)
	echo "# no such phase: $PHASE" >&3
	;;
esac
echo "@done" >&3
