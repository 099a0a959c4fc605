# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# NFS over RDMA in the storm, server and client in the first namespace. Sourced after
# storm_first.sh and nfs.sh.
# shellcheck disable=SC2034,SC2154

NFS=

nfs_prepare()
{
	nfs_there || return 0
	NFS=1
	first_prepare
	EVENTS+=(nfs_server_gone)
}

nfs_begin()
{
	[ -n "$NFS" ] || return 0
	_nfs=$(deferred)
	_nfs_reads=0
	in_first nfs_way
	in_first nfs_routes
	must in_first nfs_up
	must in_first nfs_mount_soft
}

nfs_finish()
{
	[ -n "$NFS" ] || return 0
	# the shell tells of whom it has killed
	end nfs 2> /dev/null
	in_first nfs_down
	undo_to "$_nfs"
}

# nfs_way - what goes to either host leaves by the other one's netdev, or not at all: the
# client does not say where it sends from, and would find the server at its own address
nfs_way()
{
	must ip rule add pref 200 lookup local
	defer ip rule del pref 200
	must ip rule add pref 100 iif lo lookup 100
	defer ip rule del pref 100
	must ip rule add pref 101 iif lo to "$IP4_A/24" unreachable
	defer ip rule del pref 101
	must ip rule del pref 0 lookup local
	defer ip rule add pref 0 lookup local
}

# nfs_routes - they go with netdev and carrier
nfs_routes()
{
	must ip route replace "$IP4_A" dev "$DEV_B" src "$IP4_B" table 100
	must ip route replace "$IP4_B" dev "$DEV_A" src "$IP4_A" table 100
}

# nfs_mount_soft - I/O fails after some seconds where there is no way
nfs_mount_soft()
{
	nfs_mount "$IP4_A" "soft,timeo=$((30 * SLOW)),retrans=1"
}

# nfs_leave - the netdev is about to go. The client's device would wait for ever for the client:
# rpcrdma_remove_one() waits for the event that the connection has ended, and there is none if the
# GIDs went first. rdma_create_ah() refuses them, ib_send_cm_dreq() fails, and rdma_cm tells nobody.
nfs_leave()
{
	[ -n "$NFS" ] || return 0
	end nfs
	nfs_umount
	wait_until 30 nfs_apart
}

# nfs_apart - no connection of the client's, not even one that ends
nfs_apart()
{
	! rdma resource show cm_id | grep 'dst-addr [^ ]*:20049'
}

# nfs_whole - what an event has taken is there again; the server listens on each new link,
# and the client finds it, by themselves
nfs_whole()
{
	[ -n "$NFS" ] || return 0
	in_first nfs_routes
	! gone "$_nfs_server" || in_first nfs_start > "$TMP/nfs_start" 2>&1 ||
		note_file "$TMP/nfs_start"
	nfs_mounted || nfs_again > "$TMP/nfs_again" 2>&1 || note_file "$TMP/nfs_again"
}

# nfs_again - mounted anew, and counted anew
nfs_again()
{
	_nfs_reads=0
	in_first nfs_mount_soft
}

# nfs_traffic - somebody writes and verifies
nfs_traffic()
{
	[ -n "$NFS" ] && fio_ended nfs || return 0
	# without the mount it would be a file of the guest's own
	! nfs_mounted || fio_up nfs "$NFS_FILE"
}

# nfs_busy - it is under way: there were answers since somebody asked
nfs_busy()
{
	local before=${_nfs_reads:-0}

	[ -n "$NFS" ] || return
	_nfs_reads=$(nfs_reads)
	alive nfs && [ "${_nfs_reads:-0}" -gt "$before" ]
}

# nfs_worked N - that often it was under way; if it never was, then it is now
nfs_worked()
{
	[ "$1" -gt 0 ] || wait_until 60 nfs_works
}

nfs_works()
{
	nfs_traffic
	nfs_busy
}

# nfs_reads - how many READs have been answered
nfs_reads()
{
	awk -v dir="$NFS_DIR" '$1 == "device" { ours = $5 == dir }
		ours && $1 == "READ:" { print $2 - $10 }' /proc/self/mountstats
}

nfs_left()
{
	nfs_mounted || pgrep -x nfsd
}

#
# what happens; $1 is a random number for what is left open
#

# nobody answers there any more; who comes back knows neither clients nor files
nfs_server_gone()
{
	in_first nfs_stop
	sleep 0.$(($1 % 9 + 1))
	in_first nfs_start
}
