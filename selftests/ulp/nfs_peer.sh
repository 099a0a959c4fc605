#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# NFS over RDMA between two guests with the kernel's rxe at the other end, as server
# and as client; I/O that is verified, our link down and up under I/O.
# guests: 2
# only: on demand
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/guests.sh
. "$(dirname "$0")/../lib/guests.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/ulp.sh
. "$(dirname "$0")/../lib/ulp.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/nfs.sh
. "$(dirname "$0")/../lib/nfs.sh"

plan $((2 * NFS_RESULTS))
nfs_there || skip_all "no NFS over RDMA in this kernel"
guests_up virtio_net
# A, the server, is the other guest now
swap_hosts

# exchange TYPE-OF-SERVER TYPE-OF-CLIENT A|B - whose link goes down
exchange()
{
	local mark

	mark=$(deferred)
	# 6.12's rxe keeps port 4791 for as long as it is there
	defer on "$NS_A" modprobe -r rdma_rxe
	defer on "$NS_B" modprobe -r rdma_rxe
	must link_add "$NS_A" $SK_A "$DEV_A" "$1"
	must link_add "$NS_B" $SK_B "$DEV_B" "$2"
	must ready "$NS_A" $SK_A
	must ready "$NS_B" $SK_B
	nfs_exchange $IP4_A "$3"
	undo_to "$mark"
}

note "rxe is the server"
exchange rxe "$LINK" B
note "rxe is the client"
exchange "$LINK" rxe A
