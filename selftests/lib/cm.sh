# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Programs that connect by rdma_cm. Sourced after lib.sh.

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

# all_wait HOST PID - no thread of that process runs, or waits for what will not fail
all_wait()
{
	! on "$1" grep -rqs "^State:.[RD]" "/proc/$2/task" --include=status
}

# cm_listens HOST - somebody listens there: to have an ID is not enough, nor is an ID in
# that state, which it has a moment before requests find it; who asks then is rejected.
# Who made it waits for events once it is done; rsockets ask for them again and again.
cm_listens()
{
	local pid

	pid=$(on "$1" rdma resource show cm_id |
		sed -n 's/.*state LISTEN.* pid \([0-9]*\).*/\1/p' | head -n 1)
	[ -n "$pid" ] || return
	wait_until 1 all_wait "$1" "$pid" || :
}

# cm_pair SECONDS SERVER... -- CLIENT... - run_pair with a server that listens by rdma_cm
cm_pair()
{
	local status

	run_pair "$1" "cm_listens '$NS_A'" "${@:2}"
	status=$?
	wait_until 10 negate at_least "$NS_A" 1
	return $status
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
