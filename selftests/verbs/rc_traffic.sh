#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# All RC operations mixed, 20,000 messages of 0 to 1 MB in 1 to 32 pieces, every
# byte checked, atomics counted; then with loss, duplication and reordering.
# only: on demand
# timeout: 900

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

TRAFFIC_LIMIT=400

plan 13
hosts_up
links_up

ops=all
# a fenced atomic never ends with this peer
[ "$LINK" != rxe ] || ops=send,send_imm,write,write_imm,read,cas,fadd,inline

check "20,000 messages, path MTU 4096, 4 QPs" traffic v4 --mtu=4096 --count=2500 --qps=4 --ops=$ops \
	--large=2 --psn=0x7fffe0
for mtu in 256 512 1024 2048; do
	check "path MTU $mtu" traffic v6 --mtu=$mtu --count=1000 --max=$((mtu * 100)) --qps=2 \
		--ops=$ops --seed=$mtu --psn=0xffffe0
done
check "completion events" traffic v4 --mtu=4096 --count=1000 --max=100000 --qps=2 --ops=$ops --events
check "receive requests that come late" traffic v4 --mtu=1024 --count=1000 --max=20000 --ops=$ops \
	--no-recv-credits --recv-depth=2
check "queues of four" traffic v4 --mtu=1024 --count=1000 --max=20000 --ops=$ops --depth=4 \
	--recv-depth=4
check "one READ or atomic at a time" traffic v4 --mtu=1024 --count=1000 --max=20000 --ops=$ops \
	--rd-atomic=1

disturbed()
{
	netem "$NS_A" "$DEV_A" "$@"
	netem "$NS_B" "$DEV_B" "$@"
	traffic v4 --mtu=1024 --count=2500 --max=100000 --large=1 --qps=4 --ops=$ops --stall=60
}

check "1 % lost" disturbed loss 1%
check "1 % doubled" disturbed duplicate 1%
check "5 % out of order" disturbed delay 1ms reorder 95%
check "all of that" disturbed delay 1ms reorder 95% loss 1% duplicate 1%
note_counters "$NS_A" "$SK_A"
note_counters "$NS_B" "$SK_B"
