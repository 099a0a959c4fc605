#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# perftest over RC, a selection of what perftest_all.sh runs: each program, sizes
# from 2 B to 8 MB, 1 and 16 QPs, polling and events. Do they run through, not
# how fast.
# timeout: 420

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 14
hosts_up
links_up

for verb in send write read; do
	check "ib_${verb}_bw -a" perftest ib_${verb}_bw v4 -a -n 5 -m 4096
done
check "ib_send_lat, 2 bytes" perftest ib_send_lat v4 -s 2 -n 100
check "ib_write_lat, 1001 bytes" perftest ib_write_lat v6 -s 1001 -n 100
check "ib_read_lat, 64 KB, events" perftest ib_read_lat v4 -s 65536 -n 20 -e
check "ib_send_bw, 16 QPs, events" perftest ib_send_bw v6 -s 4096 -n 20 -q 16 -e
check "ib_write_bw, 16 QPs, path MTU 4096" perftest ib_write_bw v6 -s 65536 -n 10 -q 16 -m 4096
check "ib_read_bw, 16 QPs, events" perftest ib_read_bw v4 -s 16384 -n 10 -q 16 -e
check "ib_send_bw, both directions" perftest ib_send_bw v6 -s 8192 -n 50 -b
check "ib_atomic_bw, 16 QPs" perftest ib_atomic_bw v4 -A FETCH_AND_ADD -n 20 -q 16
check "ib_atomic_bw, events" perftest ib_atomic_bw v4 -A CMP_AND_SWAP -n 50 -e
check "ib_atomic_lat" perftest ib_atomic_lat v4 -A FETCH_AND_ADD -n 100
check "ib_atomic_lat, events" perftest ib_atomic_lat v6 -A CMP_AND_SWAP -n 100 -e
