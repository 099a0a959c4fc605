# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Two hosts that are two guests. The test runs in the first, which is A; commands for
# B, @peer, go to the second by a network of their own. Sourced after lib.sh, by tests
# with "# guests: 2" in their header.

NS_A='' NS_B=@peer

# nic_of HOST DRIVER - the netdev that joins the guests and has this driver
nic_of()
{
	# shellcheck disable=SC2016 # the shell over there expands it
	on "$1" bash -c '
		for dev in /sys/class/net/*; do
			[ "${dev##*/}" != eth0 ] || continue
			[ "$(basename "$(readlink -f "$dev/device/driver")")" != "$1" ] ||
				echo "${dev##*/}"
		done' bash "$2"
}

# guests_up DRIVER - A and B have addresses on the netdevs of this driver
guests_up()
{
	DEV_A=$(nic_of "$NS_A" "$1")
	DEV_B=$(nic_of "$NS_B" "$1")
	if [ -z "$DEV_A" ] || [ -z "$DEV_B" ]; then
		bail "no netdev of $1: A '$DEV_A', B '$DEV_B'"
	fi
	must ip link set "$DEV_A" mtu "$HOST_MTU"
	must on "$NS_B" ip link set "$DEV_B" mtu "$HOST_MTU"
	defer ip link set "$DEV_A" down
	defer ip addr flush dev "$DEV_A"
	defer on "$NS_B" ip link set "$DEV_B" down
	defer on "$NS_B" ip addr flush dev "$DEV_B"
	# a link that is taken down would lose its IPv6 addresses
	must on "$NS_A" sysctl -qw "net.ipv6.conf.$DEV_A.keep_addr_on_down=1"
	must on "$NS_B" sysctl -qw "net.ipv6.conf.$DEV_B.keep_addr_on_down=1"
	address "$NS_A" "$DEV_A" "$MAC_A" "$IP4_A" "$IP6_A" "$LL_A"
	address "$NS_B" "$DEV_B" "$MAC_B" "$IP4_B" "$IP6_B" "$LL_B"
	must wait_until 10 carrier "$NS_A" "$DEV_A"
	must wait_until 10 carrier "$NS_B" "$DEV_B"
	acquainted
}
