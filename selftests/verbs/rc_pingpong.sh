#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# ibv_rc_pingpong between two hosts, over each kind of address, polling and
# with completion events.
# timeout: 180

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 9
hosts_up
links_up

for kind in v4 v6 ll; do
	check "RC ping-pong over $kind, polling" pingpong $kind -n 200
	check "RC ping-pong over $kind, events" pingpong $kind -n 200 -e
done
check "RC ping-pong, one byte" pingpong v4 -n 50 -s 1
check "RC ping-pong, 1 MB, path MTU 4096" pingpong v4 -n 10 -s 1048576 -m 4096
check "RC ping-pong, path MTU 256" pingpong v6 -n 20 -s 65536 -m 256
