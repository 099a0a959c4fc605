#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# perftest in its other modes: connections by rdma_cm, shared receive queues,
# inline data, multicast, latency under UD and UC with events. Do they run
# through, not how fast.
# timeout: 420

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/cm.sh
. "$(dirname "$0")/../lib/cm.sh"

# over_cm PROGRAM ADDRESS [ARGS...] - connected by rdma_cm, which finds device and
# GID by the address
over_cm()
{
	local program=$1 ip=$2 family=()

	shift 2
	[ "$ip" = "${ip#*:}" ] || family=(--ipv6-addr)
	cm_pair 60 "$program" -R "${family[@]}" -F "$@" -- \
		"$program" -R "${family[@]}" -F "$@" "$ip"
}

plan 23
hosts_up
links_up

for transport in RC UD; do
	check "ib_send_bw -R, $transport" \
		over_cm ib_send_bw $IP4_A -c $transport -s 1024 -n 100 -r 200
	check "ib_send_lat -R, $transport" over_cm ib_send_lat $IP4_A -c $transport -s 64 -n 100
	check "ib_send_lat -R -e, $transport" \
		over_cm ib_send_lat $IP4_A -e -c $transport -s 64 -n 100
	check "ib_send_lat -R, $transport, IPv6" \
		over_cm ib_send_lat $IP6_A -c $transport -s 64 -n 100
done
for verb in write read; do
	check "ib_${verb}_bw -R, 4 QPs" over_cm ib_${verb}_bw $IP4_A -s 65536 -n 20 -q 4
	check "ib_${verb}_lat -R" over_cm ib_${verb}_lat $IP4_A -s 64 -n 100
done
check "ib_atomic_bw -R" over_cm ib_atomic_bw $IP4_A -A FETCH_AND_ADD -n 50
check "ib_atomic_lat -R" over_cm ib_atomic_lat $IP4_A -A CMP_AND_SWAP -n 50

# UD loses what comes before it is waited for, and the program then waits for ever
check "ib_send_bw, shared receive queue" \
	perftest ib_send_bw v4 --use-srq -s 1024 -n 100 -q 4 -r 500
for transport in RC UD; do
	check "ib_send_lat, shared receive queue, $transport" \
		perftest ib_send_lat v6 --use-srq -c $transport -s 64 -n 100
done
for transport in RC UC UD; do
	check "ib_send_lat, 200 bytes inline, $transport" \
		perftest ib_send_lat v4 -c $transport -I 200 -s 200 -n 100
done
check "ib_write_lat, 512 bytes inline" perftest ib_write_lat v6 -I 512 -s 512 -n 100

# Its own group has the scope of one interface, which no IPv6 host sends on or takes
GROUP=255:14:0:0:0:0:0:0:0:0:0:0:0:0:18:52
check "ib_send_bw, multicast, RoCEv2" \
	perftest ib_send_bw v6 -c UD -g -M $GROUP -s 1024 -n 100 -r 200
check "ib_send_bw, multicast, RoCEv1" perftest ib_send_bw v1-v6 -c UD -g -s 1024 -n 100 -r 200
