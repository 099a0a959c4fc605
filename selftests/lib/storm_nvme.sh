# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Clients of the kernel's in the storm: NVMe over RDMA, which knows the first namespace
# only, between two netdevs and links of its own there. Sourced after storm.sh, ulp.sh
# and nvme.sh.
# shellcheck disable=SC2034,SC2154

NVME=
NVME_SK_A=sk2 NVME_SK_B=sk3
NVME_DEV_A=uA NVME_DEV_B=uB

# nvme_prepare - if this kernel has it. A controller whose way has gone waits for its last
# answer, and its netdev, which goes with it, waits, too: not for the ten seconds after
# which the kernel complains of that.
nvme_prepare()
{
	local timeout

	nvme_there || return 0
	NVME=1
	EVENTS+=(nvme_carrier_lost nvme_link_gone nvme_netdev_gone nvme_target_gone)
	for timeout in io_timeout admin_timeout; do
		must sh -c "echo $((4 * SLOW)) > /sys/module/nvme_core/parameters/$timeout"
	done
}

# in_first COMMAND... - with the names of the hosts in the first namespace
in_first()
{
	local NS_A='' NS_B='' DEV_A=$NVME_DEV_A DEV_B=$NVME_DEV_B
	local SK_A=$NVME_SK_A SK_B=$NVME_SK_B
	local IP4_A=10.78.1.1 IP4_B=10.78.1.2 IP6_A=fd78:1::1 IP6_B=fd78:1::2
	local MAC_A=02:00:00:78:01:01 MAC_B=02:00:00:78:01:02
	local LL_A=fe80::ff:fe78:101 LL_B=fe80::ff:fe78:102

	"$@"
}

nvme_up()
{
	[ -n "$NVME" ] || return 0
	_nvme=$(deferred)
	in_first both_here
	in_first links_up
	in_first target_up
	must in_first nvme_port
	must in_first nvme_connect
}

nvme_down()
{
	[ -n "$NVME" ] || return 0
	end nvme
	nvme disconnect -n "$NQN" > /dev/null
	undo_to "$_nvme"
}

# nvme_port - where the target listens
nvme_port()
{
	target port "$IP4_A"
}

# nvme_connect - I/O fails soon where there is no way
nvme_connect()
{
	connect "$IP4_A" "$IP4_B" --fast_io_fail_tmo=5
}

# nvme_whole - what an event has taken is there again; the connection comes back by
# itself, or is made anew if its device has gone
nvme_whole()
{
	[ -n "$NVME" ] || return 0
	in_first nvme_links
	controller > /dev/null || in_first nvme_connect > "$TMP/nvme_connect" 2>&1 ||
		note_file "$TMP/nvme_connect"
}

nvme_links()
{
	local port="/sys/kernel/config/nvmet/ports/1/subsystems/$NQN" deaf=

	[ -e "/sys/class/net/$DEV_A" ] || both_joined
	if ! link_exists '' "$SK_A" > /dev/null 2>&1; then
		must link_again '' "$SK_A" "$DEV_A"
		# the target does not listen again by itself
		deaf=1
	fi
	link_exists '' "$SK_B" > /dev/null 2>&1 || must link_again '' "$SK_B" "$DEV_B"
	# IPv6 addresses go with the carrier
	must wait_until 20 gid_index '' "$SK_A" v4
	must wait_until 20 gid_index '' "$SK_B" v4
	if [ -n "$deaf" ] || [ ! -e "$port" ]; then
		target noport
		nvme_port
	fi
}

# nvme_traffic - somebody writes and verifies
nvme_traffic()
{
	[ -n "$NVME" ] || return 0
	! alive nvme || return 0
	end nvme
	if grep -qs verify: "$TMP/fio"; then
		note_file "$TMP/fio" 60
		cat "$TMP/fio" >> "$TMP/wrong"
	fi
	state_is live > /dev/null && disk || return 0
	# threads: the process that is killed is the one that works. With a backlog fio checks
	# each block's place and checksum, but not the seed it was made from: that it may lose
	# track of when a request is turned away and comes again.
	fio --thread --name=storm --filename="$disk" --size=$((2 * MIB)) --loops=10000 \
		--rw=randwrite --bs=16k --iodepth=16 "${VERIFY[@]}" --verify_backlog=16 \
		> "$TMP/fio" 2>&1 < /dev/null &
	_proc["nvme"]=$!
}

# nvme_busy - it is under way
nvme_busy()
{
	alive nvme && state_is live > /dev/null
}

# nvme_right - in the end: it never read anything but what it had written
nvme_right()
{
	! grep -s verify: "$TMP/fio" "$TMP/wrong"
}

#
# what happens; $1 is a random number for what is left open
#

# for less or more than it takes them to notice
nvme_carrier_lost()
{
	local dev=$NVME_DEV_A pause=0.$(($1 % 9 + 1))

	[ $(($1 % 2)) = 0 ] || dev=$NVME_DEV_B
	[ $(($1 % 3)) != 0 ] || pause=3
	ip link set "$dev" down
	sleep "$pause"
	ip link set "$dev" up
}

nvme_link_gone()
{
	if [ $(($1 % 2)) = 0 ]; then
		rdma link del "$NVME_SK_A"
	else
		rdma link del "$NVME_SK_B"
	fi
}

nvme_netdev_gone()
{
	ip link del "$NVME_DEV_A"
}

# nobody answers there any more
nvme_target_gone()
{
	in_first target noport
	sleep 0.$(($1 % 9 + 1))
	in_first nvme_port
}
