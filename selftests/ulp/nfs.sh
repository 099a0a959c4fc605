#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# NFS over RDMA: a server and a client in two namespaces, I/O that is verified, a
# link that goes down and comes back.
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/ulp.sh
. "$(dirname "$0")/../lib/ulp.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/nfs.sh
. "$(dirname "$0")/../lib/nfs.sh"

plan $((NFS_RESULTS + 3))
nfs_there || skip_all "no NFS over RDMA in this kernel"
hosts_up
links_up
nfs_exchange $IP4_A B
check "nothing was refused" counters_zero "$NS_A" $SK_A resp_remote_access_errors \
	resp_remote_invalid_request resp_local_length_error
check "IPv6: mounting" nfs_mount $IP6_A
check "IPv6: verified" nfs_io ipv6 --rw=randrw --bsrange=4k-256k
