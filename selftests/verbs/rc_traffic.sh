#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# All RC operations mixed, messages of 0 to 1 MB in 1 to 32 pieces, 20,000 of
# them or fewer on a slow machine, every byte checked, atomics counted; then with
# loss, duplication and reordering. rc_traffic_all.sh does the same in full
# everywhere.
# timeout: 400

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

TRAFFIC_LIMIT=900

plan 13
hosts_up
links_up

ops=all
# a fenced atomic never ends with this peer
[ "$LINK" != rxe ] || ops=send,send_imm,write,write_imm,read,cas,fadd,inline

# mixed KIND COUNT ARGS... - COUNT messages each way and QP
mixed()
{
	traffic "$1" --count="$(scaled "$2")" --ops=$ops --stall=60 "${@:3}"
}

check "20,000 messages, path MTU 4096, 4 QPs" mixed v4 2500 --mtu=4096 --qps=4 --large=2 \
	--psn=0x7fffe0
for mtu in 256 512 1024 2048; do
	check "path MTU $mtu" mixed v6 1000 --mtu=$mtu --max=$((mtu * 100)) --qps=2 --seed=$mtu \
		--psn=0xffffe0
done
check "completion events" mixed v4 1000 --mtu=4096 --max=100000 --qps=2 --events
check "receive requests that come late" mixed v4 1000 --mtu=1024 --max=20000 \
	--no-recv-credits --recv-depth=2
check "queues of four" mixed v4 1000 --mtu=1024 --max=20000 --depth=4 --recv-depth=4
check "one READ or atomic at a time" mixed v4 1000 --mtu=1024 --max=20000 --rd-atomic=1

# disturbed NETEM... - 20,000 messages over a bad path, both ways
disturbed()
{
	netem "$NS_A" "$DEV_A" "$@"
	netem "$NS_B" "$DEV_B" "$@"
	mixed v4 2500 --mtu=1024 --max=100000 --large=1 --qps=4 --psn=0xfffff0
}

check "1 % lost" disturbed loss 1%
check "1 % doubled" disturbed duplicate 1%
check "5 % out of order" disturbed delay 1ms reorder 95%
check "all of that" disturbed delay 1ms reorder 95% loss 1% duplicate 1%
note_counters "$NS_A" "$SK_A"
note_counters "$NS_B" "$SK_B"
