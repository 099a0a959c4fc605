#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Paths that do not leave the host: a device to itself, two devices of one host
# on one subnet, a dummy, the loopback device. No frame to the sender's own MAC
# address may get out.
# timeout: 240

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 23
hosts_switched

# leaked - frames that the switch saw with one address in both places
leaked()
{
	in_host "$NS_M"
	"${_in[@]}" timeout 200 tcpdump -i br0 -e -nn -l "ether src $MAC_A and ether dst $MAC_A" \
		> "$TMP/leaked" 2> "$TMP/leaked.err" &
	defer kill $!
	wait_until 10 grep -q listening "$TMP/leaked.err"
}

# to_self NAME HOST DEV KIND... - the ping-pongs of a device with itself
to_self()
{
	local name=$1 kind transport
	local NS_A=$2 NS_B=$2 SK_A=$3 SK_B=$3 IP4_A=127.0.0.1

	for kind in "${@:4}"; do
		for transport in rc ud; do
			check "$name to itself: $transport, $kind" \
				pingpong_over $transport "$kind" -n 50 -s 1024
		done
	done
}

must link_add "$NS_A" $SK_A $DEV_A
must ready "$NS_A" $SK_A
must leaked
to_self "veth" "$NS_A" $SK_A v4 v6 v1-v4 v1-v6 v1-ll

# a second netdev of the same host on the same switch
join_hosts "$NS_A" vC "$NS_M" mC "$HOST_MTU"
must ip -n "$NS_M" link set mC master br0 up
address "$NS_A" vC 02:00:00:77:01:03 10.77.1.3 fd77:1::3 fe80::ff:fe77:103
must link_add "$NS_A" sk2 vC
must ready "$NS_A" sk2

# IPv4 takes what comes from the wire for forged if the sender is this host
for dev in $DEV_A vC; do
	must on "$NS_A" sh -c "echo 1 > /proc/sys/net/ipv4/conf/$dev/accept_local"
done

# between KIND - ping-pong of the two devices
between()
{
	local NS_B=$NS_A SK_B=sk2 IP4_A=127.0.0.1

	pingpong "$1" -n 50
}

for kind in v4 v6 v1-v4 v1-v6 v1-ll; do
	check "two devices of one host: $kind" between $kind
done

if on "$NS_A" ip link add dum0 mtu 4200 type dummy 2> /dev/null; then
	address "$NS_A" dum0 02:00:00:77:01:04 10.77.2.1 fd77:2::1 fe80::ff:fe77:104
	must link_add "$NS_A" sk3 dum0
	must ready "$NS_A" sk3
	to_self "dummy" "$NS_A" sk3 v4 v1-v6
else
	for i in 1 2 3 4; do skip "dummy $i" "not in this kernel"; done
fi
must link_add "$NS_A" sk4 lo
must wait_until 10 gid_index "$NS_A" sk4 v4
to_self "loopback" "$NS_A" sk4 v4
NS_B=$NS_A SK_A=sk4 SK_B=sk4 IP4_A=127.0.0.1
check "loopback to itself: RoCEv1" pingpong v1-v4 -n 50
sleep 1
check "no frame from and to the same MAC address left the host" test ! -s "$TMP/leaked"
