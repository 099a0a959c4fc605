#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# NVMe over RDMA between two guests, this one the host, the other one the target: ours
# at both ends with IPv6, and the kernel's rxe at either end; I/O that is verified,
# our link down and up under I/O, disconnecting.
# guests: 2
# only: on demand
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/guests.sh
. "$(dirname "$0")/../lib/guests.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/ulp.sh
. "$(dirname "$0")/../lib/ulp.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/nvme.sh
. "$(dirname "$0")/../lib/nvme.sh"

RESULTS=6

plan $((RESULTS - 1 + 2 * RESULTS))
nvme_there || skip_all "no NVMe over RDMA in this kernel"
guests_up virtio_net
# A is the other guest now
swap_hosts
must target_up

# linked TYPE-OF-TARGET TYPE-OF-HOST TARGET - links, and the target at that address
linked()
{
	# 6.12's rxe keeps port 4791 for as long as it is there
	defer on "$NS_A" modprobe -r rdma_rxe
	defer on "$NS_B" modprobe -r rdma_rxe
	must link_add "$NS_A" $SK_A "$DEV_A" "$1"
	must link_add "$NS_B" $SK_B "$DEV_B" "$2"
	must ready "$NS_A" $SK_A
	must ready "$NS_B" $SK_B
	LINK_OF_B=$2
	defer target noport
	must target port "$3"
}

# ours_carried BYTES - the device of ours received so many; rxe counts packets
ours_carried()
{
	if [ "$LINK_OF_B" = rxe ]; then
		carried "$NS_A" $SK_A "$1"
	else
		carried "$NS_B" $SK_B "$1"
	fi
}

# works NAME TARGET HOST [BREAK-HOST BREAK-DEV] - RESULTS results, one less without
# a link that goes down
works()
{
	check "$1: connecting" connect "$2" "$3"
	check "$1: small writes, verified" io $((2 * MIB)) small --rw=randwrite --bs=512 \
		--iodepth=32 --number_ios=500
	check "$1: all sizes, verified" io $((4 * MIB)) sizes --rw=randwrite \
		--bsrange=512-256k --blocksize_unaligned=0 --iodepth=16
	check "$1: the data went through the devices" ours_carried $((4 * MIB))
	[ -z "${5:-}" ] || check "$1: I/O goes on when the link was down" over_a_break "$4" "$5"
	check "$1: disconnecting" disconnect
	note_counters "$NS_A" $SK_A
	note_counters "$NS_B" $SK_B
}

mark=$(deferred)
linked "$LINK" "$LINK" $IP6_A
works "IPv6" $IP6_A $IP6_B
undo_to "$mark"

mark=$(deferred)
linked rxe "$LINK" $IP4_A
works "rxe is the target" $IP4_A $IP4_B "$NS_B" "$DEV_B"
undo_to "$mark"

mark=$(deferred)
linked "$LINK" rxe $IP4_A
works "rxe is the host" $IP4_A $IP4_B "$NS_A" "$DEV_A"
undo_to "$mark"
