# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What tests of the kernel's own clients share. Sourced after lib.sh.
# shellcheck disable=SC2034

# modules_there MODULE... - load them; 1 if this kernel has not got one
modules_there()
{
	local m

	for m; do
		modprobe "$m" 2> /dev/null || { note "there is no module $m"; return 1; }
	done
}

# both_here - two netdevs of the first namespace, each the other's cable: for
# clients that know no other namespace. IPv4 takes what comes from the wire for
# forged if the sender is this host.
both_here()
{
	NS_A='' NS_B=''
	no_dad ''
	defer ip link del "$DEV_A"
	both_joined
}

# both_joined - the netdevs of both_here
both_joined()
{
	join_hosts '' "$DEV_A" '' "$DEV_B" "$HOST_MTU"
	address '' "$DEV_A" "$MAC_A" "$IP4_A" "$IP6_A" "$LL_A"
	address '' "$DEV_B" "$MAC_B" "$IP4_B" "$IP6_B" "$LL_B"
	must sh -c "echo 1 > /proc/sys/net/ipv4/conf/$DEV_A/accept_local
		echo 1 > /proc/sys/net/ipv4/conf/$DEV_B/accept_local"
	must wait_until 5 carrier '' "$DEV_A"
}

# how fio writes and reads back what it wrote
VERIFY=(--direct=1 --ioengine=libaio --verify=crc32c --verify_fatal=1 --do_verify=1
	--randrepeat=1 --verify_state_save=0)

# verify_io HOST FILE BYTES NAME ARGUMENT... - fio writes FILE, which is a file or a
# device, and reads back what it wrote
verify_io()
{
	local host=$1 file=$2 bytes=$3 name=$4

	shift 4
	on "$host" fio --name="$name" --filename="$file" --size="$bytes" "${VERIFY[@]}" "$@"
}

# carried HOST DEV BYTES - that much came in through the RDMA device
carried()
{
	local bytes

	bytes=$(counter "$1" "$2" rx_bytes)
	echo "$2 received ${bytes:-nothing}, at least $3 are expected"
	[ -n "$bytes" ] && [ "$bytes" -ge "$3" ]
}
