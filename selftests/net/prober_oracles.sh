#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Who judges the judge: packets of the prober, and of the device to it, are taken
# apart by tshark as the prober believes them to be, and scapy computes the ICRCs of
# RoCEv2 as the prober did. (RoCEv1's: unit test roce_test, with known packets.)
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=../lib/prober.sh
. "$SELFTESTS/lib/prober.sh"

ask()
{
	"$SELFTESTS/lib/oracles.py" "$1" "$TMP/$2"
}

# a lie is found: what no packet has is believed of one of them
lie()
{
	cp "$TMP/v4.pcap" "$TMP/lie.pcap"
	sed '10s/bth.psn=/bth.psn=1/' "$TMP/v4.txt" > "$TMP/lie.txt"
	ask tshark lie
}

# so is a packet that was changed: its last byte, of the ICRC
damage()
{
	local byte

	for byte in '\x5a' '\xa5'; do
		cp "$TMP/v4.pcap" "$TMP/damage.pcap"
		truncate -s -1 "$TMP/damage.pcap"
		printf '%b' "$byte" >> "$TMP/damage.pcap"
		cmp -s "$TMP/damage.pcap" "$TMP/v4.pcap" || break
	done
	ask scapy damage
}

command -v tshark > /dev/null || skip_all "no tshark"

plan 10
prober_up
for gid in v4 v6 v1-v4; do
	check "$gid: exchanges" probe wire $gid --thin 10 --oracle "$TMP/$gid"
	check "$gid: tshark finds each field where it is" ask tshark $gid
	[ $gid = v1-v4 ] || check "$gid: scapy computes the same ICRCs" ask scapy $gid
done
check_not "a wrong belief is found" lie
check_not "a wrong ICRC is found" damage
