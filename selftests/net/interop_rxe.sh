#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The kernel's rxe at the other end, as server and as client. Every ICRC on
# the wire between is recomputed by a third party. rxe knows other namespaces
# than the first from 7.x on; before, it lives in the first one.
# timeout: 400

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

mix=send,write,read,inline
# ACK time-out of 2^18 x 4.096 us: nothing is lost here but time, on a slow machine
slow=18

plan 20
rxe_up
watch_icrc

# rxe's responder forgets a region after a READ or WRITE of nothing: a READ that
# is then asked for again is answered with the region missing, which makes rxe
# warn (rxe_mr_copy), and a warning ends the guest. So no message is empty here.
nonempty()
{
	traffic "$@" --ops=$mix --min=1 --timeout=$slow
}

exchange()
{
	local way=$1 verb

	check "$way: ping-pong, IPv4" pingpong v4 -n 100
	check "$way: ping-pong, IPv6, events, path MTU 4096" pingpong v6 -n 50 -s 10001 -m 4096 -e
	for verb in send write read; do
		check "$way: ib_${verb}_bw" perftest ib_${verb}_bw v4 -s 65536 -n 50 -u $slow
	done
	check "$way: traffic, path MTU 256" nonempty v4 --mtu=256 --count=200 --max=20000
	check "$way: traffic, path MTU 1024" nonempty v6 --mtu=1024 --count=300 --max=100000
	check "$way: traffic, path MTU 4096" nonempty v4 --mtu=4096 --count=200
}

exchange "rxe is the server"
swap_hosts
exchange "rxe is the client"

check "every ICRC on the wire is right" icrc_right
note_counters "$NS_A" "$SK_A"
note_counters "$NS_B" "$SK_B"
if [ "$LINK" = rxe ]; then
	skip "no packet dropped for its ICRC" "rxe does not count them"
else
	check "no packet dropped for its ICRC" counter_is "$NS_A" "$SK_A" rx_icrc_encapsulated 0
fi
check "link of $LINK goes while rxe's stays" link_del "$NS_A" "$SK_A"
check "port 4791 is free again" port_free "$NS_A"
