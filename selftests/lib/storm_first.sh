# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What the kernel's own clients in the storm share: two netdevs and links in the first
# namespace, the only one that NVMe knows, what befalls them, and fio. Sourced after
# storm.sh and ulp.sh.
# shellcheck disable=SC2034,SC2154

FIRST=
FIRST_SK_A=sk2 FIRST_SK_B=sk3
FIRST_DEV_A=uA FIRST_DEV_B=uB

# first_prepare - there is a client
first_prepare()
{
	[ -z "$FIRST" ] || return 0
	FIRST=1
	EVENTS+=(first_carrier_lost first_link_gone first_netdev_gone)
}

# in_first COMMAND... - with the names of the hosts in the first namespace
in_first()
{
	local NS_A='' NS_B='' DEV_A=$FIRST_DEV_A DEV_B=$FIRST_DEV_B
	local SK_A=$FIRST_SK_A SK_B=$FIRST_SK_B
	local IP4_A=10.78.1.1 IP4_B=10.78.1.2 IP6_A=fd78:1::1 IP6_B=fd78:1::2
	local MAC_A=02:00:00:78:01:01 MAC_B=02:00:00:78:01:02
	local LL_A=fe80::ff:fe78:101 LL_B=fe80::ff:fe78:102

	"$@"
}

first_up()
{
	[ -n "$FIRST" ] || return 0
	_first=$(deferred)
	in_first both_here
	in_first links_up
}

first_down()
{
	[ -z "$FIRST" ] || undo_to "$_first"
}

# first_whole - what an event has taken is there again. Sets _deaf if A's link is a new one:
# who listened on the old one may have to be told.
first_whole()
{
	_deaf=
	[ -z "$FIRST" ] || in_first first_links
}

first_links()
{
	[ -e "/sys/class/net/$DEV_A" ] || both_joined
	if ! link_exists '' "$SK_A" > /dev/null 2>&1; then
		must link_again '' "$SK_A" "$DEV_A"
		_deaf=1
	fi
	link_exists '' "$SK_B" > /dev/null 2>&1 || must link_again '' "$SK_B" "$DEV_B"
	# IPv6 addresses go with the carrier
	must wait_until 20 gid_index '' "$SK_A" v4
	must wait_until 20 gid_index '' "$SK_B" v4
}

#
# fio: it writes and verifies, until something fails
#

# fio_up NAME FILE - as process NAME
fio_up()
{
	# threads: the process that is killed is the one that works. With a backlog fio checks
	# each block's place and checksum, but not the seed it was made from: that it may lose
	# track of when a request is turned away and comes again.
	fio --thread --name=storm --filename="$2" --size=$((2 * MIB)) --loops=10000 \
		--rw=randwrite --bs=16k --iodepth=16 "${VERIFY[@]}" --verify_backlog=16 \
		> "$TMP/fio-$1" 2>&1 < /dev/null &
	_proc[$1]=$!
}

# fio_ended NAME - it does not run any more, or never did; what it said is kept if it had
# read what it had not written
fio_ended()
{
	! alive "$1" || return
	end "$1"
	! fio_wrong "$TMP/fio-$1" > /dev/null || {
		note_file "$TMP/fio-$1" 60
		cat "$TMP/fio-$1" >> "$TMP/wrong-$1"
	}
}

# fio_right NAME - in the end: it never read anything but what it had written
fio_right()
{
	! fio_wrong "$TMP/fio-$1" "$TMP/wrong-$1"
}

# fio_wrong FILE... - of a block's header it says "verify: bad", of the rest "crc32c: verify
# failed"
fio_wrong()
{
	grep -sE 'verify(:| failed)' "$@"
}

#
# what happens; $1 is a random number for what is left open
#

# for less or more than it takes them to notice
first_carrier_lost()
{
	local dev=$FIRST_DEV_A pause=0.$(($1 % 9 + 1))

	[ $(($1 % 2)) = 0 ] || dev=$FIRST_DEV_B
	[ $(($1 % 3)) != 0 ] || pause=3
	ip link set "$dev" down
	sleep "$pause"
	ip link set "$dev" up
}

first_link_gone()
{
	if [ $(($1 % 2)) = 0 ]; then
		rdma link del "$FIRST_SK_A"
	else
		rdma link del "$FIRST_SK_B"
	fi
}

first_netdev_gone()
{
	nfs_leave
	ip link del "$FIRST_DEV_A"
}
