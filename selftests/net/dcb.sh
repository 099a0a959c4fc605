#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The DCB APP table of a netdev chooses the class of what has no service level: by
# DSCP, by UDP port, by ethertype, or for want of these; connected QPs follow changes.
# The netdev gets its table from a test module, as no virtual one of Debian's has one.
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/netdevs.sh
. "$(dirname "$0")/../lib/netdevs.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/classes.sh
. "$(dirname "$0")/../lib/classes.sh"

plan 14
[ "$LINK" = skerry ] || skip_all "the classes are skerry's"

# app ARGS... - change the table of the netdev whose queues are looked at
app()
{
	must on "$NS_B" dcb app "$1" dev "$WIRE" "${@:2}"
}

mark=$(deferred)
grep -qsx CONFIG_DCB=y "/boot/config-$(uname -r)" || skip_all "no DCB in this kernel"
must insmod "$PROG/dcbdev.ko" names=$DEV_B
defer rmmod dcbdev
queues_up
WIRE=$DEV_B
defer on "$NS_B" dcb app flush dev $DEV_B
links_up
super_off
classes "$NS_B" $DEV_B prio

check "no entry: class 0" travels v4 0 104 0
app add dscp-prio 26:3
check "DSCP 26 in the table: class 3" travels v4 0 104 3
check "IPv6, too" travels v6 0 104 3
check "another DSCP: class 0" travels v4 0 40 0
check "a service level goes before the table" travels v4 5 104 5
app add dgram-port-prio 4791:2
check "UDP port 4791 in the table: class 2" travels v4 0 40 2
check "the DSCP goes before it" travels v4 0 104 3
check "RoCEv1 has no port: class 0" travels v1-v4 0 40 0
app add ethtype-prio 0x8915:4
check "ethertype 0x8915 in the table: class 4" travels v1-v6 0 40 4
app del dgram-port-prio 4791:2
app add default-prio 1
check "the default of the table: class 1" travels v6 0 40 1
app del default-prio 1

# in_class LEVEL COUNT - so many packets of B's have been counted there
in_class()
{
	[ "$(counted "$NS_B" "$WIRE" | sed -n "$(($1 + 1))p")" -ge "$2" ]
}

# moves - traffic of QPs that were connected before the table said anything of them
moves()
{
	local pid status=0

	classes "$NS_B" "$WIRE" prio
	perftest ib_write_bw v4 -s 4096 -D 8 --tclass=40 > "$TMP/moves" 2>&1 &
	pid=$!
	if wait_until 20 in_class 0 200 && ! in_class 6 1; then
		app add dscp-prio 10:6
		wait_until 20 in_class 6 200 || status=1
		app del dscp-prio 10:6
	else
		status=1
	fi
	counted "$NS_B" "$WIRE"
	wait $pid || status=1
	[ $status = 0 ] || cat "$TMP/moves"
	return $status
}

check "QPs that are connected follow the table" moves
undo_to "$mark"

# a VLAN's packets: the table is its lower netdev's
must insmod "$PROG/dcbdev.ko" names=pB
defer rmmod dcbdev
stacked_up vlan
stacked_links
super_off
WIRE=pB
defer on "$NS_B" dcb app flush dev pB
classes "$NS_B" pB prio
app add dscp-prio 26:3
app add ethtype-prio 0x8915:4
check "VLAN without a map: class 3, priority 0" travels v4 0 104 3 0
check "VLAN: RoCEv1, class 4, priority 4" travels v1-v4 0 104 4 4
for host in "$NS_A:uA" "$NS_B:uB"; do
	must ip -n "${host%:*}" link set "${host#*:}" type vlan egress-qos-map 2:3
done
check "VLAN, map 2:3: class 2, priority 3" travels v6 0 104 2 3
