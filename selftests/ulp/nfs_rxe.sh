#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# NFS over RDMA with the kernel's rxe at the other end, as server and as client.
# timeout: 900

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/ulp.sh
. "$(dirname "$0")/../lib/ulp.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/nfs.sh
. "$(dirname "$0")/../lib/nfs.sh"

plan $((2 * NFS_RESULTS - 1))
nfs_there || skip_all "no NFS over RDMA in this kernel"
rxe_up
note "rxe is the server"
nfs_exchange $IP4_A B
nfs_down
note "rxe is the client, which has not come back when its link was down"
swap_hosts
nfs_exchange $IP4_A unbroken
