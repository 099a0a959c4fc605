#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Two guests, each with a kernel of its own, joined by NICs as QEMU has them, virtio-net
# and e1000e: ping-pong, perftest, rping and verified traffic over RoCEv1 and RoCEv2.
# guests: 2
# timeout: 900

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/guests.sh
. "$(dirname "$0")/../lib/guests.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/cm.sh
. "$(dirname "$0")/../lib/cm.sh"

plan 31

# offloads DEV - what of it matters for packets of ours
offloads()
{
	ethtool -k "$1" | grep -E '^(tx-checksumming|tx-udp-segmentation|generic-receive-offload|rx-udp-gro-forwarding):' |
		tr '\n' ' '
}

# works NIC
works()
{
	check "$1: RoCEv2, RC ping-pong" pingpong v4 -n 100
	check "$1: RoCEv2, UC ping-pong" pingpong_over uc v6 -n 100
	check "$1: RoCEv2, UD ping-pong" pingpong_over ud v4 -n 100 -s 1024
	check "$1: RoCEv1, RC ping-pong" pingpong v1-v4 -n 100
	check "$1: RoCEv1, UD ping-pong" pingpong_over ud v1-v6 -n 100 -s 1024
	check "$1: RoCEv2, ib_write_bw" perftest ib_write_bw v4 -s 65536 -n 100
	check "$1: RoCEv2, ib_send_bw, UD" perftest ib_send_bw v6 -c UD -s 1024 -n 100
	check "$1: RoCEv1, ib_read_bw" perftest ib_read_bw v1-v4 -s 65536 -n 50
	check "$1: RoCEv1, ib_send_lat, UC" perftest ib_send_lat v1-v6 -c UC -s 64 -n 100
	check "$1: RoCEv2, verified traffic" traffic v4 --mtu=4096 --count=200 --max=200000 --qps=4
	check "$1: RoCEv1, verified traffic" traffic v1-v6 --mtu=4096 --count=100 --max=100000 --qps=2
	check "$1: RoCEv2, rping" cm_pair 40 rping -s -a $IP4_A -C 10 -V -- \
		rping -c -a $IP4_A -C 10 -V
}

for nic in virtio_net e1000e; do
	mark=$(deferred)
	guests_up $nic
	note "$nic: $(offloads "$DEV_A")"
	links_up
	works $nic
	if [ $nic = virtio_net ]; then
		# the receiver's GRO puts super-packets together again
		must ethtool -K "$DEV_A" rx-udp-gro-forwarding on
		check "$nic: verified traffic through GRO" traffic v6 --mtu=1024 --count=200 \
			--max=200000 --qps=4
		must ethtool -K "$DEV_A" rx-udp-gro-forwarding off
	fi
	check "$nic: no packet was bad" counters_zero "$NS_A" $SK_A rx_icrc_encapsulated rx_drop_l3
	check "$nic: nor on the other side" counters_zero "$NS_B" $SK_B rx_icrc_encapsulated \
		rx_drop_l3
	if cm_type "IB/RoCE v1"; then
		check "$nic: RoCEv1, rping" cm_pair 40 rping -s -a $IP6_A -C 10 -V -- \
			rping -c -a $IP6_A -C 10 -V
	else
		skip "$nic: RoCEv1, rping" "rdma_cm cannot be told the type"
	fi
	undo_to "$mark"
done
