#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# perftest over RC: send, write and read; bandwidth and latency; 2 B to 1 MB.
# Do they run through, not how fast.
# timeout: 420

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

sizes=(2 64 1000 4096 65536 1048576)

plan $((6 * ${#sizes[@]} + 3))
hosts_up
links_up

# a few messages of big ones, more of small ones
count()
{
	if [ "$1" -le 4096 ]; then
		echo 200
	elif [ "$1" -le 65536 ]; then
		echo 50
	else
		echo 8
	fi
}

for size in "${sizes[@]}"; do
	n=$(count "$size")
	for verb in send write read; do
		check "ib_${verb}_bw, $size bytes" perftest ib_${verb}_bw v4 -s "$size" -n "$n"
		check "ib_${verb}_lat, $size bytes" perftest ib_${verb}_lat v4 -s "$size" -n "$n"
	done
done
check "ib_send_bw, both directions" perftest ib_send_bw v6 -s 8192 -n 100 -b
check "ib_send_bw, completion events" perftest ib_send_bw v4 -s 8192 -n 100 -e
check "ib_write_bw, 4 QPs, path MTU 4096" perftest ib_write_bw v6 -s 65536 -n 40 -q 4 -m 4096
