# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Programs that connect by rdma_cm. Sourced after lib.sh, which sets _in.
# shellcheck disable=SC2154

# cm_ids HOST - connections and listeners that processes of a host have
cm_ids()
{
	on "$1" rdma resource show cm_id | grep -c "pid"
}

# at_least HOST COUNT - so many listeners
at_least()
{
	[ "$(cm_ids "$1")" -ge "$2" ]
}

# cm_pair SECONDS SERVER... -- CLIENT... - the server in A, the client in B once
# the server listens; both end well in time. A server that would go on for ever
# has $stop_server set.
cm_pair()
{
	local limit=$1 server=() pid status=0 client

	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	in_host "$NS_A"
	"${_in[@]}" timeout -k 5 "$limit" "${server[@]}" > "$TMP/server" 2>&1 < /dev/null &
	pid=$!
	if ! wait_until 20 at_least "$NS_A" 1; then
		echo "server does not listen:"
		kill $pid
		cat "$TMP/server"
		return 1
	fi
	in_host "$NS_B"
	"${_in[@]}" timeout -k 5 "$limit" "$@" > "$TMP/client" 2>&1 < /dev/null
	client=$?
	if [ "$client" != 0 ] || [ -n "${stop_server-}" ]; then
		sleep 0.2
		kill $pid 2> /dev/null
	fi
	wait $pid || [ -n "${stop_server-}" ] || status=1
	wait_until 10 negate at_least "$NS_A" 1
	[ $client = 0 ] && [ $status = 0 ] && return 0
	echo "client (status $client):"
	tail -n 15 "$TMP/client"
	echo "server (status $status):"
	tail -n 15 "$TMP/server"
	return 1
}

# cm_type TYPE - of the GIDs that the connection manager takes: "IB/RoCE v1" or
# "RoCE v2"; fails where there is no configfs for it
cm_type()
{
	local host dev where

	for host in "$NS_A:$SK_A" "$NS_B:$SK_B"; do
		dev=${host#*:}
		# all namespaces have one configfs, which is not seen in theirs
		where=
		[ "${host%:*}" != @peer ] || where=@peer
		on "$where" bash -c "$(declare -f cm_type_of); cm_type_of '$dev' '$1'" || return
		defer on "$where" rmdir "/sys/kernel/config/rdma_cm/$dev"
	done
}

# cm_type_of DEV TYPE - in this guest
cm_type_of()
{
	local dir=/sys/kernel/config/rdma_cm/$1

	modprobe -q rdma_cm
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config || return
	mkdir -p "$dir" && echo "$2" > "$dir/ports/1/default_roce_mode"
}
