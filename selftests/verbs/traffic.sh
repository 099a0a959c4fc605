#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Our own traffic: SEND, WRITE and READ of odd sizes, every byte checked, at
# every path MTU; again with 1 % of the packets lost.
# timeout: 400

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

mix=send,write,read

plan 10
hosts_up
links_up

for mtu in 256 512 1024 2048 4096; do
	check "path MTU $mtu" traffic v4 --mtu=$mtu --count=300 --max=$((mtu * 100)) \
		--ops=$mix --seed=$mtu
done
check "up to 1 MB, IPv6, 2 QPs" traffic v6 --mtu=4096 --count=300 --qps=2 --ops=$mix
check "completion events" traffic v4 --mtu=1024 --count=300 --max=65536 --ops=$mix --events

netem "$NS_A" "$DEV_A" loss 1%
netem "$NS_B" "$DEV_B" loss 1%
for mtu in 256 1024 4096; do
	check "path MTU $mtu, 1 % lost" traffic v4 --mtu=$mtu --count=300 --max=$((mtu * 50)) \
		--ops=$mix --seed=$((mtu + 1)) --stall=60
done
note_counters "$NS_A" "$SK_A"
note_counters "$NS_B" "$SK_B"
