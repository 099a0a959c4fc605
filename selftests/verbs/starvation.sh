#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# 64 QPs at full speed leave room for others: ping between the hosts is answered, and a
# QP with small messages gets on beside them. Figures are told, not judged: how fast a
# machine is that does other things, too, is not for this test to say. A kernel that
# finds a CPU locked up or RCU stalled panics here.
# timeout: 200

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

FOR=${FOR:-6}

plan 4
hosts_up
links_up
long_backlog
gid=$(gid_index "$NS_A" $SK_A v4)
peer_gid=$(gid_index "$NS_B" $SK_B v4)

# program NAME LIMIT PORT ARGS... - one of perftest's, with files of its own
program()
{
	local name=$1 limit=$2 port=$3

	shift 3
	mkdir -p "$TMP/$name"
	TMP=$TMP/$name pair "$limit" "$port" "$1" -d $SK_A -x "$gid" -F -p "$port" "${@:2}" -- \
		"$1" -d $SK_B -x "$peer_gid" -F -p "$port" "${@:2}" $IP4_A
}

# bulk QPS - in the background, for FOR seconds; sets _bulk
bulk()
{
	program "bulk$1" $((FOR * 4 + 60)) 18515 ib_write_bw -s 65536 -m 4096 -q "$1" -t 16 \
		-D "$FOR" -f 1 > "$TMP/bulk" 2>&1 &
	_bulk=$!
	wait_until 30 busy_port || true
}

# busy_port - packets have gone out of B
busy_port()
{
	[ "$(counter "$NS_B" $SK_B tx_packets)" -gt 1000 ]
}

bulk_ended()
{
	wait $_bulk || { cat "$TMP/bulk"; return 1; }
}

# speed NAME - what it says that it reached
speed()
{
	note "$1: $(awk '$1 ~ /^[0-9]+$/ && NF >= 5 { line = $4 } END { print line }' \
		"$TMP/$1/client") MiB/s"
}

answered()
{
	on "$NS_B" ping -q -i 0.1 -w "$FOR" $IP4_A > "$TMP/ping"
	cat "$TMP/ping"
	grep -q ' [1-9][0-9]* received' "$TMP/ping"
}

bulk 64
check "ping is answered beside 64 QPs" answered
note "$(tail -n 1 "$TMP/ping")"
check "64 QPs came to their end" bulk_ended
speed bulk64

bulk 1
check "a QP with small messages beside one with large ones" \
	program small 120 18516 ib_write_lat -s 2 -n 500
note "small: typical, 99 % $(awk '$1 ~ /^[0-9]+$/ && NF >= 5 { print $5, $8 }' \
	"$TMP/small/client") us"
check "the one with large ones came to its end" bulk_ended
speed bulk1
