#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# perftest over UD and UC. Do they run through, not how fast.
# timeout: 420

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 20
hosts_up
links_up

# What arrives faster than it is received is lost on these transports: the
# bandwidth tests send no more at a time than the other side has room for.
for kind in v4 v6; do
	for size in 2 1000 4096; do
		check "ib_send_lat, UD, $size bytes, $kind" \
			perftest ib_send_lat $kind -c UD -s $size -n 100
		check "ib_send_lat, UC, $size bytes, $kind" \
			perftest ib_send_lat $kind -c UC -s $size -n 100
	done
	check "ib_send_bw, UD, $kind" perftest ib_send_bw $kind -c UD -s 1024 -n 100 -r 200
	check "ib_send_bw, UC, $kind" perftest ib_send_bw $kind -c UC -s 8192 -n 100 -r 200
	check "ib_write_bw, UC, $kind" perftest ib_write_bw $kind -c UC -s 65536 -n 40
	check "ib_write_lat, UC, $kind" perftest ib_write_lat $kind -c UC -s 1000 -n 100
done
