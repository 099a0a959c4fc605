#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# shellcheck disable=SC2317 # functions are called by name
#
# What `make demo` runs in the guest: two hosts, that is two network namespaces
# joined by a veth pair, each with an RDMA link on its Ethernet port, and the
# standard tools talking between them.

set -euo pipefail

LINK=${LINK:-skerry}
case $LINK in
rxe) MODULE=rdma_rxe ;;
*) MODULE=$LINK ;;
esac
MTU=4200
IPV4=(10.77.0.1 10.77.0.2)
IPV6=(fd77::1 fd77::2)
HOSTS=(hostA hostB)
DEVS=(sk0 sk1)
PORT=18515	# ibv_rc_pingpong and perftest both talk here first
rows=()
failed=0

say()
{
	echo "   $*"
}

# on N CMD... - run CMD on host N
on()
{
	ip netns exec "${HOSTS[$1]}" "${@:2}"
}

set_up()
{
	local i

	say "modprobe $MODULE"
	modprobe "$MODULE"
	ip netns add "${HOSTS[0]}"
	ip netns add "${HOSTS[1]}"
	ip link add eth0 mtu $MTU netns "${HOSTS[0]}" type veth \
		peer name eth0 mtu $MTU netns "${HOSTS[1]}"
	for i in 0 1; do
		on $i ip link set lo up
		on $i ip addr add "${IPV4[i]}/24" dev eth0
		on $i ip addr add "${IPV6[i]}/64" dev eth0 nodad
		on $i ip link set eth0 up
		say "${HOSTS[i]}: rdma link add ${DEVS[i]} type $LINK netdev eth0"
		on $i rdma link add "${DEVS[i]}" type "$LINK" netdev eth0
	done
}

# gid_text ADDRESS - an IPv4 or IPv6 address as sysfs writes a GID
gid_text()
{
	python3 - "$1" <<- 'END'
		import ipaddress, sys
		a = ipaddress.ip_address(sys.argv[1])
		n = int(a) if a.version == 6 else int(a) | 0xffff << 32
		print(":".join("%04x" % (n >> s & 0xffff) for s in range(112, -1, -16)))
	END
}

# gid_index DEV GID - index of its RoCEv2 GID; the table fills by itself
gid_index()
{
	local port=/sys/class/infiniband/$1/ports/1 i try gid type

	for try in {1..100}; do
		for ((i = 0; i < 16; i++)); do
			read -r gid 2> /dev/null < "$port/gids/$i" || continue
			[ "$gid" = "$2" ] || continue
			read -r type 2> /dev/null < "$port/gid_attrs/types/$i" || continue
			if [ "$type" = "RoCE v2" ]; then
				echo $i
				return
			fi
		done
		sleep 0.1
	done
	echo "$1 has no RoCEv2 GID $2 (tried $try times)" >&2
	return 1
}

# listening PORT - wait until the server on host A accepts connections
listening()
{
	local i

	for ((i = 0; i < 100; i++)); do
		[ -z "$(on 0 ss -Hltn "sport = :$1")" ] || return 0
		sleep 0.1
	done
	return 1
}

row()
{
	rows+=("$(printf '%-42s %-7s %s' "$1" "$2" "$3")")
	[ "$2" = ok ] || failed=1
}

# pair NAME ADDRESS-A ADDRESS-B FIGURE TOOL... - run TOOL on both hosts over the
# GIDs of these addresses (its last option takes a GID index; the tools find
# each other over IPv4); FIGURE picks the figure from what the client prints
pair()
{
	local name=$1 figure=$4 tool=("${@:5}") server a b rc=0

	a=$(gid_index "${DEVS[0]}" "$(gid_text "$2")")
	b=$(gid_index "${DEVS[1]}" "$(gid_text "$3")")
	on 0 timeout 90 "${tool[@]}" "$a" -d "${DEVS[0]}" > /tmp/server 2>&1 &
	server=$!
	listening $PORT || rc=1
	on 1 timeout 90 "${tool[@]}" "$b" -d "${DEVS[1]}" "${IPV4[0]}" > /tmp/client 2>&1 || rc=$?
	wait $server || rc=$?
	if [ $rc = 0 ]; then
		row "$name" ok "$($figure < /tmp/client)"
	else
		row "$name" FAILED "exit status $rc"
		sed "s/^/   | server: /" /tmp/server
		sed "s/^/   | client: /" /tmp/client
	fi
}

pingpong_figure()
{
	sed -n 's/.* = \(.*usec\/iter\).*/\1/p'
}

bandwidth_figure()
{
	awk '/BW average/ { match($0, /BW average\[[^]]*/); unit = substr($0, RSTART + 11, RLENGTH - 11) }
		$1 == 65536 { print $4, unit, "average, messages of 64 KiB" }'
}

set_up
pair "ibv_rc_pingpong, IPv4 GID" "${IPV4[@]}" pingpong_figure ibv_rc_pingpong -g
pair "ibv_rc_pingpong, IPv6 GID" "${IPV6[@]}" pingpong_figure ibv_rc_pingpong -g
pair "ib_write_bw" "${IPV4[@]}" bandwidth_figure ib_write_bw -F -n 1000 -x

echo
printf '%-42s %-7s %s\n' "test ($LINK, kernel $(uname -r))" result figure
printf '%s\n' "${rows[@]}"
for i in 0 1; do
	on $i rdma link del "${DEVS[i]}"
done
exit $failed
