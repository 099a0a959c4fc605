#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# An NFS server of its network namespace, NFSv4.2 over RDMA, until it is told to
# end. It needs a mount namespace of its own.

set -e
DIR=/tmp/skerry-export
NFSD=/proc/fs/nfsd

# a client's mount that it was born with would outlive the client's own
umount -l /tmp/skerry-nfs 2> /dev/null || true
mount -t tmpfs tmpfs /var/lib/nfs
mkdir -p /var/lib/nfs/v4recovery $DIR
touch /var/lib/nfs/etab /var/lib/nfs/rmtab
mount -t tmpfs -o size=128M tmpfs $DIR
mount -t nfsd nfsd $NFSD

# what follows in the kernel outlives this process: it has to be undone
stop()
{
	trap - EXIT TERM INT
	echo 0 > $NFSD/threads
	exportfs -ua
	[ -z "${mountd:-}" ] || kill "$mountd"
	umount $NFSD $DIR
	exit
}
trap stop EXIT TERM INT

exportfs -o rw,fsid=0,no_root_squash,insecure,no_subtree_check,async "*:$DIR"
rpc.mountd --foreground --no-nfs-version 2 --no-nfs-version 3 &
mountd=$!
echo 10 > $NFSD/nfsv4gracetime
echo "-2 -3 +4 +4.1 +4.2" > $NFSD/versions
echo "rdma 20049" > $NFSD/portlist
echo 2 > $NFSD/threads
cat $NFSD/portlist $NFSD/versions
# nobody was here before
echo Y > $NFSD/v4_end_grace || true
kill -0 "$mountd"
echo ready
wait "$mountd"
