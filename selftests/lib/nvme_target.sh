#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# An NVMe over RDMA target in this kernel: a disk of 1 GB in memory.
# Usage: nvme_target.sh up NQN | port NQN ADDRESS | noport NQN | down NQN
#	up	the disk
#	port	it is to be had at this address, IPv4 or IPv6
#	noport	and no longer
#	down	nothing of it any more

CONFIG=/sys/kernel/config
NVMET=$CONFIG/nvmet
what=$1 sub=$NVMET/subsystems/$2 port=$NVMET/ports/1

port_down()
{
	[ -d $port ] || return 0
	rm -f "$port/subsystems/${sub##*/}"
	rmdir $port
}

port_up()
{
	local family=ipv4

	case $1 in *:*) family=ipv6 ;; esac
	mkdir $port && echo rdma > $port/addr_trtype && echo $family > $port/addr_adrfam &&
		echo "$1" > $port/addr_traddr && echo 4420 > $port/addr_trsvcid &&
		ln -s "$sub" "$port/subsystems/${sub##*/}"
}

disk_up()
{
	modprobe null_blk nr_devices=1 gb=1 memory_backed=1 && modprobe nvmet_rdma || return
	mountpoint -q $CONFIG || mount -t configfs configfs $CONFIG || return
	mkdir "$sub" && echo 1 > "$sub/attr_allow_any_host" &&
		mkdir "$sub/namespaces/1" &&
		echo -n /dev/nullb0 > "$sub/namespaces/1/device_path" &&
		echo 1 > "$sub/namespaces/1/enable"
}

disk_down()
{
	[ -d "$sub" ] || return 0
	echo 0 > "$sub/namespaces/1/enable"
	rmdir "$sub/namespaces/1" "$sub"
}

case $what in
up) disk_up ;;
port) port_up "$3" ;;
noport) port_down ;;
down)
	port_down
	disk_down
	modprobe -r nvmet_rdma null_blk
	;;
esac
