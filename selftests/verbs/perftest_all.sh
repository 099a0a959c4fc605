#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# perftest over RC in full: send, write, read and atomics; bandwidth and
# latency; all sizes from 2 B to 8 MB; 1 and 16 QPs; polling and events. Its
# latency tests know one QP, its WRITE tests no events, its atomics one size.
# Do they run through, not how fast.
# only: on demand
# timeout: 3000

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

PERFTEST_LIMIT=600

plan $((3 * (2 + 1) + 2 * (2 + 1) + 2 * 2 * (2 + 1)))
hosts_up
links_up

# each_way NAME ARGS... - bandwidth with 1 and 16 QPs, latency
each_way()
{
	local verb=$1 what=$2

	shift 2
	check "ib_${verb}_bw $what" perftest ib_"${verb}"_bw v4 -n 5 "$@"
	check "ib_${verb}_bw $what, 16 QPs" perftest ib_"${verb}"_bw v6 -n 5 -q 16 "$@"
	check "ib_${verb}_lat $what" perftest ib_"${verb}"_lat v4 -n 5 "$@"
}

for verb in send write read; do
	each_way $verb "-a" -a -m 4096
done
for verb in send read; do
	each_way $verb "-a, events" -a -m 4096 -e
done
for type in FETCH_AND_ADD CMP_AND_SWAP; do
	each_way atomic $type -A $type
	each_way atomic "$type, events" -A $type -e
done
