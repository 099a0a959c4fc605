#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Documentation/wire-format.rst, "Watching": tcpdump on the netdev sees what comes and
# what goes, and tshark prints a message packet by packet.
# timeout: 200

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

command -v tshark > /dev/null || skip_all "no tshark"

plan 12
hosts_up
links_up

# a super-packet is one frame to tcpdump, and its first packet to tshark
super=/sys/kernel/debug/skerry/super_tx
if [ -e $super ]; then
	defer sh -c "echo $(< $super) > $super"
	echo N > $super
fi

# watch FILE - tcpdump on A's netdev, until watched
watch()
{
	in_host "$NS_A"
	"${_in[@]}" tcpdump -i "$DEV_A" -w "$TMP/$1" --immediate-mode -s 256 -B 16384 -U \
		'udp port 4791 or ether proto 0x8915' > "$TMP/tcpdump" 2>&1 &
	_tcpdump=$!
	defer kill "$_tcpdump"
	must wait_until 10 grep -q 'listening on' "$TMP/tcpdump"
}

watched()
{
	sleep 0.5
	kill "$_tcpdump"
	wait "$_tcpdump"
}

# seen FILE FILTER MINIMUM - so many packets at least
seen()
{
	local n

	n=$(tshark -n -r "$TMP/$1" -Y "$2" 2> /dev/null | wc -l)
	[ "$n" -ge "$3" ] || { echo "$n of $3 packets: $2"; return 1; }
}

for kind in v4 v6 v1-v4; do
	case $kind in
	v4) from="ip.src==$IP4_A" to="ip.src==$IP4_B" ;;
	v6) from="ipv6.src==$IP6_A" to="ipv6.src==$IP6_B" ;;
	v1-v4) from="eth.type==0x8915 && eth.src==$MAC_A" to="eth.type==0x8915 && eth.src==$MAC_B" ;;
	esac
	watch $kind.pcap
	# 5 messages of three packets each way
	check "$kind: ping-pong" pingpong $kind -n 5 -s 3000 -m 1024
	watched
	check "$kind: what A sends is seen" seen $kind.pcap \
		"$from && infiniband.bth.opcode in {0,1,2}" 15
	check "$kind: what B sends is seen" seen $kind.pcap \
		"$to && infiniband.bth.opcode in {0,1,2}" 15
	check "$kind: ACKs have MSNs" seen $kind.pcap "infiniband.aeth.msn >= 1" 2
done
[ -z "${VIEW:-}" ] || note "$(tshark -n -r "$TMP/v4.pcap" 2> /dev/null | head -12)"
