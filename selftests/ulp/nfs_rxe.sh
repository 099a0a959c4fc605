#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# NFS over RDMA with the kernel's rxe at the other end, as server and as client. Links
# stay up: after one that went down I/O did not always go on, with rxe as client, and
# once as server on 6.12 (nfs_peer tries it).
# timeout: 900

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/ulp.sh
. "$(dirname "$0")/../lib/ulp.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/nfs.sh
. "$(dirname "$0")/../lib/nfs.sh"

plan $((2 * (NFS_RESULTS - 1)))
nfs_there || skip_all "no NFS over RDMA in this kernel"
rxe_up
note "rxe is the server"
nfs_exchange $IP4_A unbroken
nfs_down
note "rxe is the client"
swap_hosts
nfs_exchange $IP4_A unbroken
