#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# T07: a packet that the local stack drops is a lost packet and nothing more: a
# queue of one packet, a firewall that swallows everything for 200 ms, a qdisc
# that answers with congestion.
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

mix=send,write,read

plan 10
hosts_up
links_up

qdisc()
{
	must on "$NS_A" tc qdisc replace dev "$DEV_A" root "$@"
	must on "$NS_B" tc qdisc replace dev "$DEV_B" root "$@"
}

no_errors()
{
	[ "$LINK" != rxe ] || return 0
	counters_zero "$NS_A" "$SK_A" req_cqe_error resp_cqe_error &&
		counters_zero "$NS_B" "$SK_B" req_cqe_error resp_cqe_error
}

qdisc pfifo limit 1
check "pfifo limit 1: ib_write_bw, 16 QPs" perftest ib_write_bw v4 -q 16 -s 65536 -n 10
check "pfifo limit 1: traffic" traffic v4 --count=300 --max=200000 --qps=4 --ops=$mix --stall=60
check "no error completion" no_errors

if on "$NS_A" tc qdisc replace dev "$DEV_A" root tbf rate 200mbit burst 20kb limit 20kb 2> /dev/null; then
	check "tbf with a short queue: traffic" traffic v6 --count=200 --max=100000 --qps=2 \
		--ops=$mix --stall=60
else
	skip "tbf with a short queue: traffic" "no tbf"
fi
check "no error completion" no_errors
on "$NS_A" tc qdisc del dev "$DEV_A" root
on "$NS_B" tc qdisc del dev "$DEV_B" root

# firewall HOST RULE... - swallow for 200 ms, five times
firewall()
{
	local host=$1 i

	shift
	for i in 1 2 3 4 5; do
		on "$host" iptables -A OUTPUT "$@" -j DROP
		sleep 0.2
		on "$host" iptables -D OUTPUT "$@" -j DROP
		sleep 0.3
	done
}

interrupted()
{
	local guard status

	firewall "$1" -p udp --dport 4791 > "$TMP/firewall" 2>&1 &
	guard=$!
	traffic v4 --count=4000 --max=100000 --qps=2 --ops=$mix --stall=60
	status=$?
	wait $guard
	cat "$TMP/firewall"
	return $status
}

if on "$NS_A" iptables -nL OUTPUT > /dev/null 2>&1; then
	check "OUTPUT swallows for 200 ms at one end" interrupted "$NS_A"
	check "OUTPUT swallows for 200 ms at the other" interrupted "$NS_B"
	check "no error completion" no_errors
else
	for i in 1 2 3; do
		skip "OUTPUT swallows for 200 ms ($i)" "no iptables"
	done
fi

check "afterwards: ping-pong" pingpong v4 -n 100
check "no error completion" no_errors
