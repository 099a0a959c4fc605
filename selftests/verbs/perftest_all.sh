#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# perftest over RC in full: send, write, read and atomics; bandwidth and
# latency; all sizes from 2 B to 8 MB; 1 and 16 QPs; polling and events.
# only: on demand
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

PERFTEST_LIMIT=300

plan 18
hosts_up
links_up

for verb in send write read; do
	check "ib_${verb}_bw -a" perftest ib_${verb}_bw v4 -a -n 10 -m 4096
	check "ib_${verb}_lat -a" perftest ib_${verb}_lat v4 -a -n 10 -m 4096
	# 16 x 8 MB x 5 of each size would take long in emulation
	check "ib_${verb}_bw, 16 QPs, 1 MB" perftest ib_${verb}_bw v6 -q 16 -s 1048576 -n 5 -m 4096
	check "ib_${verb}_bw, 16 QPs, 2 B" perftest ib_${verb}_bw v6 -q 16 -s 2 -n 100
done
check "ib_send_bw -a, events" perftest ib_send_bw v4 -a -n 10 -m 4096 -e
check "ib_send_bw, 16 QPs, events" perftest ib_send_bw v4 -q 16 -s 65536 -n 20 -e
for type in FETCH_AND_ADD CMP_AND_SWAP; do
	check "ib_atomic_bw, 16 QPs, $type" perftest ib_atomic_bw v4 -A $type -q 16 -n 200
	check "ib_atomic_lat, $type" perftest ib_atomic_lat v4 -A $type -n 200
done
