#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# ibv_ud_pingpong and ibv_uc_pingpong between two hosts, over each kind of
# address, polling and with completion events.
# timeout: 240

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# UC loses a message whose packets come apart by a pause of the host, and this
# program then waits for ever: what counts is that it can end
patient_uc()
{
	local i

	for i in 1 2 3; do
		PINGPONG_LIMIT=20 pingpong_over uc "$@" && return
	done
	return 1
}

plan 15
hosts_up
links_up

for kind in v4 v6 ll; do
	for transport in ud uc; do
		check "$transport over $kind, polling" \
			pingpong_over $transport $kind -n 100 -s 1024
		check "$transport over $kind, events" \
			pingpong_over $transport $kind -n 100 -s 1024 -e
	done
done
check "ud, one byte" pingpong_over ud v4 -n 50 -s 1
check "uc, one byte" pingpong_over uc v4 -n 50 -s 1
check "uc, 64 KB in packets of 256 bytes" patient_uc v6 -n 20 -s 65536 -m 256
