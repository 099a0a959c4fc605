# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# An NFS server in A and a client in B, over RDMA. Sourced after lib.sh and ulp.sh.
# shellcheck disable=SC2034,SC2153,SC2154

NFS_DIR=/tmp/skerry-nfs
NFS_FILE=$NFS_DIR/file
NFS_RESULTS=8
MIB=1048576

nfs_there()
{
	modules_there rpcrdma nfsd nfsv4
}

# nfs_up - the server, once it listens
nfs_up()
{
	defer nfs_down
	nfs_start
}

nfs_down()
{
	nfs_umount
	nfs_stop
}

# nfs_start - as nfs_up, but it stays until nfs_stop
nfs_start()
{
	# "ready" is not what the last one said
	: > "$TMP/nfs"
	in_host "$NS_A"
	"${_in[@]}" unshare --mount "$SELFTESTS/lib/nfs_server.sh" > "$TMP/nfs" 2>&1 &
	_nfs_server=$!
	wait_until 40 grep -q ready "$TMP/nfs" && return
	cat "$TMP/nfs"
	return 1
}

nfs_stop()
{
	[ -n "$_nfs_server" ] || return 0
	kill "$_nfs_server"
	reap 30 "$_nfs_server"
	# in the other guest it goes by itself
	wait_until 30 nfs_gone
	_nfs_server=''
}

nfs_gone()
{
	! on "$NS_A" pgrep -f lib/nfs_server.sh
}

# nfs_client COMMAND... - with B's network and this shell's mounts
nfs_client()
{
	if [ -n "$NS_B" ]; then
		nsenter --net="/run/netns/$NS_B" "$@"
	else
		"$@"
	fi
}

# nfs_mount ADDRESS [OPTIONS] - until nfs_umount or nfs_down
nfs_mount()
{
	local server=$1 proto=rdma

	case $1 in *:*) server="[$1]" proto=rdma6 ;; esac
	mkdir -p $NFS_DIR
	nfs_client timeout 100 mount -t nfs4 -o "proto=$proto,port=20049,vers=4.2,sec=sys${2:+,$2}" \
		"$server:/" $NFS_DIR || return
	grep " $NFS_DIR nfs4 .*proto=$proto" /proc/mounts
}

# nfs_mounted - asks nobody who may not answer
nfs_mounted()
{
	grep -q " $NFS_DIR nfs4 " /proc/mounts
}

nfs_umount()
{
	! nfs_mounted || umount $NFS_DIR || umount -fl $NFS_DIR
}

# nfs_io NAME ARGUMENT... - write and verify
nfs_io()
{
	local name=$1

	shift
	verify_io '' $NFS_FILE $((16 * MIB)) "$name" "$@"
}

# nfs_over_a_break A|B - a host's link goes down under I/O and comes back
nfs_over_a_break()
{
	local ns=NS_$1 dev=DEV_$1 ip6=IP6_$1 ll=LL_$1 pid status

	# some ten seconds, and then what was written is read
	nfs_io break --rw=randwrite --bs=16k --iodepth=8 --rate_iops=100 > "$TMP/break" 2>&1 &
	pid=$!
	sleep 2
	on "${!ns}" ip link set "${!dev}" down
	sleep 4
	on "${!ns}" ip link set "${!dev}" up
	# IPv6 addresses went with the link
	on "${!ns}" ip addr replace "${!ip6}/64" dev "${!dev}" nodad
	on "${!ns}" ip addr replace "${!ll}/64" dev "${!dev}" nodad
	reap 250 $pid
	status=$?
	cat "$TMP/break"
	return $status
}

# nfs_exchange ADDRESS A|B|unbroken - server, client, I/O, whose link goes down and comes
# back: NFS_RESULTS results, one less if none does
nfs_exchange()
{
	check "a server" nfs_up
	check "mounting over RDMA" nfs_mount "$1"
	check "small writes, verified" nfs_io small --rw=randwrite --bs=512 --iodepth=8 \
		--number_ios=1000
	check "all sizes, verified" nfs_io sizes --rw=randwrite --bsrange=512-256k \
		--blocksize_unaligned=0 --iodepth=8
	check "large writes, verified" nfs_io large --rw=write --bs=1M --iodepth=4
	check "the data went through the devices" nfs_carried $((32 * MIB))
	[ "$2" = unbroken ] || check "I/O goes on when the link was down" nfs_over_a_break "$2"
	check "unmounting" in_time 60 umount $NFS_DIR
}

# nfs_carried BYTES - RDMA, not TCP
nfs_carried()
{
	local sk=$SK_B ns=$NS_B

	# rxe counts packets
	if ! rdma_counts "$ns" "$sk"; then
		sk=$SK_A ns=$NS_A
	fi
	carried "$ns" "$sk" "$1"
}

rdma_counts()
{
	[ -n "$(counter "$1" "$2" rx_bytes)" ]
}
