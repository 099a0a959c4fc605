# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# NVMe over RDMA in the storm, both ends in the first namespace. Sourced after
# storm_first.sh and nvme.sh.
# shellcheck disable=SC2034,SC2154

NVME=

# nvme_prepare - if this kernel has it. A controller whose way has gone waits for its last
# answer, and its netdev, which goes with it, waits, too: not for the ten seconds after
# which the kernel complains of that.
nvme_prepare()
{
	local timeout

	nvme_there || return 0
	NVME=1
	first_prepare
	EVENTS+=(nvme_target_gone)
	for timeout in io_timeout admin_timeout; do
		must sh -c "echo $((4 * SLOW)) > /sys/module/nvme_core/parameters/$timeout"
	done
}

nvme_up()
{
	[ -n "$NVME" ] || return 0
	_nvme=$(deferred)
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

# nvme_whole - the target listens; the connection comes back by itself, or is made anew if
# its device has gone
nvme_whole()
{
	local port="/sys/kernel/config/nvmet/ports/1/subsystems/$NQN"

	[ -n "$NVME" ] || return 0
	# it does not listen on a new link by itself
	if [ -n "$_deaf" ] || [ ! -e "$port" ]; then
		in_first target noport
		in_first nvme_port
	fi
	controller > /dev/null || in_first nvme_connect > "$TMP/nvme_connect" 2>&1 ||
		note_file "$TMP/nvme_connect"
}

# nvme_traffic - somebody writes and verifies
nvme_traffic()
{
	[ -n "$NVME" ] && fio_ended nvme || return 0
	state_is live > /dev/null && disk || return 0
	fio_up nvme "$disk"
}

# nvme_busy - it is under way
nvme_busy()
{
	alive nvme && state_is live > /dev/null
}

# nobody answers there any more
nvme_target_gone()
{
	in_first target noport
	sleep 0.$(($1 % 9 + 1))
	in_first nvme_port
}
