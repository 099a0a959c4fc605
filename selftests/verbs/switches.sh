#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What makes the data path fast, each switched off in debugfs and then all of it:
# the traffic stays right. Super-packets are seen to be used, and not to be when
# they are switched off: the netdev counts an skb, the device its packets. The poller
# finds posts when it always watches, and none when it is off.
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

SWITCHES=/sys/kernel/debug/skerry
names=(super_tx super_rx batch merge_acks zero_copy rx_aside)

[ "$LINK" = skerry ] || skip_all "the switches are skerry's"
plan 16
hosts_up
links_up

turn()
{
	local to=$1 name

	shift
	for name; do
		echo "$to" > "$SWITCHES/$name"
	done
}
defer turn Y "${names[@]}"

skbs()
{
	on "$NS_A" cat "/sys/class/net/$DEV_A/statistics/tx_packets"
}

# merged: did the netdev carry fewer skbs than the device sent packets? 1: no, 2: no traffic
merged()
{
	local skbs packets

	skbs=$(skbs)
	packets=$(counter "$NS_A" "$SK_A" tx_packets)
	traffic v4 --mtu=1024 --count=200 --max=60000 --ops=send,write,read || return 2
	skbs=$(($(skbs) - skbs))
	packets=$(($(counter "$NS_A" "$SK_A" tx_packets) - packets))
	note "$packets packets in $skbs skbs"
	[ "$packets" -gt $((2 * skbs)) ]
}

single()
{
	merged
	[ $? = 1 ]
}

check "several packets leave as one skb" merged
turn N super_tx
check "none does when that is switched off" single
turn Y super_tx

for name in "${names[@]}"; do
	turn N "$name"
	mtu=1024
	[[ $name != zero_copy && $name != rx_aside ]] || mtu=4096
	check "without $name" traffic v6 --mtu=$mtu --count=300 --max=60000 \
		--ops=send,write,read --seed=7
	turn Y "$name"
done

# poll MODE [USECS] - of both devices
poll()
{
	local dev

	for dev in $SK_A $SK_B; do
		echo "$1" > "$SWITCHES/$dev/sq_poll"
		echo "${2:-100}" > "$SWITCHES/$dev/sq_poll_usecs"
	done
}

# found - how many posts the pollers have found
found()
{
	cat "$SWITCHES"/{$SK_A,$SK_B}/sq_poll_hits | awk '{ n += $1 } END { print n }'
}

# finds - do they find any now? A busy machine may have no CPU to spare for them
finds()
{
	local before try name="the poller finds posts"

	before=$(found)
	for try in 1 2 3 4 5 6; do
		if ! traffic v4 --mtu=1024 --count=300 --max=2000 --ops=send,write,read \
			--seed="$try" > "$TMP/finds"; then
			note_file "$TMP/finds"
			not_ok "$name"
			return
		fi
		[ "$(found)" = "$before" ] || { ok "$name"; return; }
	done
	skip "$name" "no CPU to spare"
}

# rests - nothing is found while they are off
rests()
{
	local before

	before=$(found)
	traffic v4 --mtu=1024 --count=300 --max=2000 --ops=send,write,read || return
	[ "$(found)" = "$before" ]
}

poll off
check "the poller is off" rests
poll always 10000
finds
for name in super_tx merge_acks; do
	turn N "$name"
	check "the poller without $name" traffic v6 --mtu=1024 --count=300 --max=60000 --qps=3 \
		--ops=send,write,read --seed=8
	turn Y "$name"
done
poll auto
check "the poller by itself" traffic v4 --mtu=4096 --count=500 --max=20000 --qps=2 \
	--ops=send,write,read
poll always 1000
turn N "${names[@]}"
check "the poller without all of them" traffic v4 --mtu=4096 --count=300 --max=200000 --qps=2 \
	--ops=send,write,read
poll off
check "without all of them" traffic v4 --mtu=4096 --count=300 --max=200000 --qps=2 \
	--ops=send,write,read
poll always 1000
netem "$NS_A" "$DEV_A" loss 1%
netem "$NS_B" "$DEV_B" loss 1%
check "nor with 1 % lost" traffic v4 --mtu=1024 --count=200 --max=50000 \
	--ops=send,write,read --stall=60
