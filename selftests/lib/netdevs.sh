# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Two hosts whose addresses are on a netdev of some kind on top of a veth.
# Sourced after lib.sh.

# kind_available KIND - this kernel can make one
kind_available()
{
	local made=1 type=$1

	case $1 in
	active-backup | 802.3ad)
		modprobe -q bonding
		type=bond
		;;
	team)
		modprobe -q team team_mode_activebackup
		command -v teamd > /dev/null || return
		;;
	*)
		modprobe -q "$1"
		;;
	esac
	must ip link add kind1 type veth peer name kind2
	ip link add link kind1 name kind0 type "$type" > /dev/null 2>&1 && made=0
	ip link del kind0 > /dev/null 2>&1
	ip link del kind1
	return $made
}

# aggregate HOST KIND NAME - a bond or team without any netdev in it
aggregate()
{
	case $2 in
	active-backup) must ip -n "$1" link add "$3" type bond mode active-backup miimon 20 ;;
	802.3ad) must ip -n "$1" link add "$3" type bond mode 802.3ad miimon 20 lacp_rate fast \
		xmit_hash_policy layer3+4 ;;
	team)
		must on "$1" teamd -d -t "$3" -c '{"runner": {"name": "activebackup"},
			"link_watch": {"name": "ethtool"}}'
		# it would keep the namespace
		defer on "$1" teamd -k -t "$3"
		;;
	esac
}

# on_top HOST LOWER KIND NAME - put a netdev of that kind onto LOWER, both up
on_top()
{
	local at=()

	[ -z "$1" ] || at=(-n "$1")
	case $3 in
	vlan)
		must ip "${at[@]}" link add link "$2" name "$4" type vlan id 55
		;;
	macvlan)
		must ip "${at[@]}" link add link "$2" name "$4" type macvlan mode bridge
		;;
	vlan-macvlan)
		on_top "$1" "$2" vlan "$4v"
		on_top "$1" "$4v" macvlan "$4"
		;;
	active-backup | 802.3ad | team)
		aggregate "$1" "$3" "$4"
		must ip "${at[@]}" link set "$2" down
		must ip "${at[@]}" link set "$2" master "$4"
		;;
	bridge)
		must ip "${at[@]}" link add "$4" mtu "$HOST_MTU" type bridge
		must ip "${at[@]}" link set "$2" master "$4"
		;;
	esac
	must ip "${at[@]}" link set "$2" up
	must ip "${at[@]}" link set "$4" mtu "$HOST_MTU" up
}

# stacked_up KIND - as hosts_up, with DEV_A and DEV_B netdevs of that kind; the
# links go onto LOWER_A and LOWER_B: the same, or what the VLAN device is on
stacked_up()
{
	ns_add "$NS_A" "$NS_B"
	join_hosts "$NS_A" pA "$NS_B" pB "$HOST_MTU"
	if [ "$1" = veth ]; then
		DEV_A=pA DEV_B=pB
	else
		DEV_A=uA DEV_B=uB
		must ip -n "$NS_A" link set pA addrgenmode none
		must ip -n "$NS_B" link set pB addrgenmode none
		on_top "$NS_A" pA "$1" $DEV_A
		on_top "$NS_B" pB "$1" $DEV_B
	fi
	LOWER_A=$DEV_A LOWER_B=$DEV_B
	[ "$1" != vlan ] || LOWER_A=pA LOWER_B=pB
	address "$NS_A" "$DEV_A" "$MAC_A" "$IP4_A" "$IP6_A" "$LL_A"
	address "$NS_B" "$DEV_B" "$MAC_B" "$IP4_B" "$IP6_B" "$LL_B"
	must wait_until 5 carrier "$NS_A" "$DEV_A"
	acquainted
}

# stacked_links - a link in each host, on LOWER_A and LOWER_B
stacked_links()
{
	must link_add "$NS_A" "$SK_A" "$LOWER_A"
	must link_add "$NS_B" "$SK_B" "$LOWER_B"
	must ready "$NS_A" "$SK_A"
	must ready "$NS_B" "$SK_B"
}

# tagged KIND SL PCP - ping-pong with that service level has that tag on the wire, once
tagged()
{
	local dump _in packets='\.4791: '

	case $1 in v1-*) packets=0x8915 ;; esac
	rm -f "$TMP/dump.err"
	in_host "$NS_A"
	"${_in[@]}" timeout 120 tcpdump -i pA -Q out -e -nn -l -c 200 > "$TMP/dump" 2> "$TMP/dump.err" &
	dump=$!
	wait_until 60 grep -qs listening "$TMP/dump.err"
	pingpong "$1" -n 50 -l "$2" || { kill $dump; return 1; }
	wait_until 20 grep -q "$packets" "$TMP/dump"
	kill $dump 2> /dev/null
	wait $dump 2> /dev/null
	grep "$packets" "$TMP/dump" > "$TMP/roce"
	if [ ! -s "$TMP/roce" ] || grep -v "vlan 55, p $3," "$TMP/roce" > "$TMP/wrong" ||
		grep 'vlan.*vlan' "$TMP/roce" > "$TMP/wrong"; then
		head -n 3 "$TMP/wrong" "$TMP/dump"
		return 1
	fi
}

# what each_kind goes through: how many
# shellcheck disable=SC2034 # for a test's plan
KINDS=7

# each_kind COUNT FUNCTION - for each kind of netdev that two hosts can have on top of
# a veth: call FUNCTION KIND, which comes to COUNT results
each_kind()
{
	local kind mark i

	for kind in veth vlan bridge macvlan active-backup 802.3ad team; do
		if [ "$kind" != vlan ] && ! kind_available "$kind"; then
			for ((i = 1; i <= $1; i++)); do
				skip "$kind: $i" "not in this kernel"
			done
			continue
		fi
		mark=$(deferred)
		stacked_up "$kind"
		stacked_links
		"$2" "$kind"
		undo_to "$mark"
	done
}
