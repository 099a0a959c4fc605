#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A3: what link add must refuse, each time with a reason that a person can read,
# and with nothing left behind.
# timeout: 120

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

plan 24
hosts_up
must ip -n "$NS_A" link add dum0 type dummy
must ip -n "$NS_A" link set dum0 up

# explained BEFORE - the error says more than "Invalid argument", or the
# kernel's log does
explained()
{
	grep -v -i -E '^error: (invalid argument|unknown error)$|^$' "$TMP/add" ||
		dmesg | tail -n "+$(($1 + 1))" | grep "$LINK_MODULE"
}

# refused NAME NETDEV - adding this link fails, and says why
refused()
{
	local before

	before=$(log_lines)
	if on "$NS_A" rdma link add "$1" type "$LINK" netdev "$2" > "$TMP/add" 2>&1; then
		echo "it was accepted"
		link_del "$NS_A" "$1"
		return 1
	fi
	if ! explained "$before"; then
		echo "no reason was given:"
		cat "$TMP/add"
		return 1
	fi
}

devices()
{
	rdma dev | wc -l
}

# clean DEVICES - no device more than that, and the port free
clean()
{
	[ "$(devices)" = "$1" ] || {
		rdma dev
		return 1
	}
	port_free "$NS_A" || {
		on "$NS_A" ss -Hulnp 'sport = :4791'
		return 1
	}
}

base=$(devices)
check "a netdev that does not exist is refused" refused "$SK_A" nothere
check "nothing is left" clean "$base"

if on "$NS_A" ip link add sit9 type sit local "$IP4_A" remote "$IP4_B" 2> /dev/null; then
	check "a netdev that is not Ethernet is refused" refused "$SK_A" sit9
	check "nothing is left" clean "$base"
else
	skip "a netdev that is not Ethernet is refused" "no sit in this kernel"
	skip "nothing is left" "no sit in this kernel"
fi

# no_ethernet KIND NAME ADD... - a netdev without Ethernet headers
no_ethernet()
{
	if on "$NS_A" ip "${@:3}" 2> /dev/null; then
		check "$1 is refused" refused "$SK_A" "$2"
		check "nothing is left" clean "$base"
	else
		skip "$1 is refused" "not in this kernel"
		skip "nothing is left" "not in this kernel"
	fi
}

no_ethernet "tun" tun9 tuntap add dev tun9 mode tun
no_ethernet "WireGuard" wg9 link add wg9 type wireguard

check "a link for the tests that follow" link_add "$NS_A" "$SK_A" "$DEV_A"
check "a netdev that has a link already is refused" refused sk9 "$DEV_A"
check "a name that is taken is refused" refused "$SK_A" dum0
check "the first link is as it was" link_exists "$NS_A" "$SK_A"
check "no device more" test "$(devices)" = $((base + 1))
check "it goes" link_del "$NS_A" "$SK_A"
check "nothing is left" clean "$base"

# someone_else [ARGS...] - another socket has the port
someone_else()
{
	local holder

	in_host "$NS_A"
	"${_in[@]}" "$PROG/holdport" "$@" > "$TMP/holdport" 2>&1 &
	holder=$!
	defer kill $holder
	wait_until 5 grep -q ready "$TMP/holdport" && refused "$SK_A" "$DEV_A"
	local status=$?
	kill $holder
	wait $holder 2> /dev/null
	return $status
}

check "port 4791 taken by an IPv4 socket: refused" someone_else
check "nothing is left" clean "$base"
check "port 4791 taken by an IPv6 socket: refused" someone_else --v6
check "nothing is left" clean "$base"

if [ "$LINK" = rxe ]; then
	skip "port 4791 taken by rxe: refused" "this is rxe"
	skip "nothing is left" "this is rxe"
else
	NS_OLD=$NS_A
	if ! rxe_in_namespaces; then
		NS_A=
		must ip link add dum0 type dummy
		must ip link add dum1 type dummy
		defer ip link del dum0
		defer ip link del dum1
		must ip link set dum0 up
		must ip link set dum1 up
		victim=dum1
	else
		victim=$DEV_A
	fi
	must on "$NS_A" rdma link add rx9 type rxe netdev dum0
	check "port 4791 taken by rxe: refused" refused "$SK_A" "$victim"
	must link_del "$NS_A" rx9
	# rxe of old keeps the port until it is unloaded
	rxe_in_namespaces || must modprobe -r rdma_rxe
	check "nothing is left" clean "$base"
	NS_A=$NS_OLD
fi

check "after all that a link comes up" links_up
check "and works" pingpong v4 -n 50
link_del "$NS_A" "$SK_A"
check "port 4791 goes with the last link" port_free "$NS_A"
