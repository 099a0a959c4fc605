#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# T02: packet sequence numbers that wrap, at 2^24 and where the sign of their
# difference changes, with and without loss, on requests and READ responses.
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 8
hosts_up
links_up

round()
{
	local what=$1 psn

	shift
	for psn in 0xfffff0 0x7ffff0; do
		check "WRITEs from PSN $psn$what" traffic v4 --psn=$psn --count=2000 --max=4096 \
			--large=0 --mtu=1024 --ops=send,write "$@"
		check "READs from PSN $psn$what" traffic v6 --psn=$psn --count=300 --max=65536 \
			--large=50 --mtu=1024 --ops=send,read "$@"
	done
}

round ""
netem "$NS_A" "$DEV_A" loss 1%
netem "$NS_B" "$DEV_B" loss 1%
round ", 1 % lost" --stall=60
note_counters "$NS_A" "$SK_A"
note_counters "$NS_B" "$SK_B"
