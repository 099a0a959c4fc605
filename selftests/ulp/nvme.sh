#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# NVMe over RDMA, both ends in this kernel: a target with a disk in memory, a host
# that writes and verifies, loses its link and gets it back, and devices that go
# while they are in use. Both ends know the first namespace only; IPv4 only, since
# the connection manager takes no IPv6 request from an address of its own host
# (nvme_peer.sh has IPv6).
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/ulp.sh
. "$(dirname "$0")/../lib/ulp.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/nvme.sh
. "$(dirname "$0")/../lib/nvme.sh"

plan 17
nvme_there || skip_all "no NVMe over RDMA in this kernel"
both_here
links_up

must target_up
check "a target" target port $IP4_A
check "a host connects" connect $IP4_A $IP4_B
check "its disk has the target's size" disk
check "small writes, verified" io $((4 * MIB)) small --rw=randwrite --bs=512 --iodepth=32 \
	--number_ios=2000
check "all sizes, verified" io $((32 * MIB)) sizes --rw=randwrite --bsrange=512-256k \
	--blocksize_unaligned=0 --iodepth=16
check "large writes, verified" io $((64 * MIB)) large --rw=write --bs=1M --iodepth=8
check "the data went through the devices" carried '' $SK_A $((90 * MIB))
check "I/O goes on when the link was down" over_a_break '' $DEV_B
check "verified again" io $((8 * MIB)) after --rw=randwrite --bs=16k --iodepth=8
check "nothing was refused" counters_zero '' $SK_A resp_remote_access_errors \
	resp_remote_invalid_request resp_local_length_error
check "disconnecting" disconnect

# devices that go while they are in use take their users with them
check "connecting again" connect $IP4_A $IP4_B
check "verified over the new connection" io $((8 * MIB)) again --rw=randrw --bs=8k --iodepth=8
check "the host's link goes while it is connected" link_del '' $SK_B
check "so does its controller" wait_until 60 no_controller
must link_add '' $SK_B $DEV_B
# the IPv6 ones went with the link
must wait_until 20 gid_index '' $SK_B v4
check "a new link, a new connection" connect $IP4_A $IP4_B
check "the target's link goes while somebody is connected" link_del '' $SK_A
nvme disconnect -n $NQN > /dev/null
