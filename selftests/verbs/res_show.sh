#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What an administrator sees: rdma res show names the objects and their owner,
# hw_counters count, tracepoints fire.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

COUNTERS=(rx_icrc_encapsulated duplicate_request out_of_sequence packet_seq_err
	local_ack_timeout_err rnr_nak_retry_err implied_nak_seq_err
	resp_local_length_error resp_remote_access_errors)
TRACE=/sys/kernel/tracing

plan $((4 + 1 + 4 + ${#COUNTERS[@]} + 5 + 5))
hosts_up
links_up

in_host "$NS_A"
"${_in[@]}" "$PROG/holder" --a "$SK_A" --b "$SK_B" --idle --wait 600 > "$TMP/holder" 2>&1 &
holder=$!
must wait_until 10 grep -q ready "$TMP/holder"

# named KIND - an object of that kind belongs to our process
named()
{
	rdma res show "$1" link "$SK_A" > "$TMP/res" 2> /dev/null ||
		rdma res show "$1" dev "$SK_A" > "$TMP/res" 2>&1
	cat "$TMP/res"
	grep -q "pid $holder comm holder" "$TMP/res"
}

for kind in pd cq qp mr; do
	check "rdma res show $kind names its owner" named "$kind"
done
check "rdma res counts them" sh -c "rdma res show '$SK_A' | grep -E 'pd [1-9].*cq [1-9].*qp [1-9].*mr [1-9]'"

# details KIND WORD... - rdma -dd res show has them for our process's object
details()
{
	local kind=$1 word

	rdma -dd res show "$kind" link "$SK_A" > "$TMP/res" 2> /dev/null ||
		rdma -dd res show "$kind" dev "$SK_A" > "$TMP/res" 2>&1
	cat "$TMP/res"
	for word in "${@:2}"; do
		# the object's lines, up to the next object
		awk -v pid="pid $holder " '/^[a-z]/ { mine = index($0, pid) } mine' "$TMP/res" |
			grep -q "$word" || return
	done
}

if [ "$LINK" = skerry ]; then
	check "details of a QP" details qp 'drv_sq_depth [1-9]' 'drv_sq_under_way 0' \
		'drv_mtu [1-9]' 'drv_una_psn' 'drv_rate [1-9]' 'drv_cc dcqcn' \
		'drv_cc_wish device'
	check "details of a CQ" details cq 'drv_waiting 0' 'drv_overrun 0'
	check "details of an MR" details mr 'drv_kind user' 'drv_valid 1' 'drv_windows 0'
else
	for kind in QP CQ MR; do
		skip "details of a $kind" "$LINK has none"
	done
fi

# while objects come and go, each listing is complete or leaves them out
lists()
{
	local i

	for ((i = 0; i < 20; i++)); do
		rdma -dd res show qp link "$SK_A/1" || return
		rdma -dd res show cq dev "$SK_A" || return
	done
}

comes_and_goes()
{
	local i

	for ((i = 0; i < 12; i++)); do
		ibv_devinfo -d "$SK_A" -v > /dev/null
		pingpong v4 -n 1 > /dev/null || return
	done &
	lists
	local status=$?
	wait $!
	return $status
}
check "listing while objects come and go" comes_and_goes

kill -9 "$holder"
wait "$holder" 2> /dev/null

if [ "$LINK" = rxe ]; then
	for name in "${COUNTERS[@]}"; do
		skip "counter $name" "rxe has others"
	done
else
	for name in "${COUNTERS[@]}"; do
		check "counter $name is there and zero" counter_is "$NS_A" "$SK_A" "$name" 0
	done
fi

# grows NAME COMMAND... - the command makes the counter grow
grows()
{
	local name=$1 before after

	before=$(counter "$NS_A" "$SK_A" "$name")
	shift
	"$@" || return
	after=$(counter "$NS_A" "$SK_A" "$name")
	echo "$name: from ${before:-nothing} to ${after:-nothing}"
	[ -n "$before" ] && [ "$after" -gt "$before" ]
}

if [ "$LINK" = rxe ]; then
	names=(sent_pkts rcvd_pkts sent_bytes rcvd_bytes)
else
	names=(tx_packets rx_packets tx_bytes rx_bytes)
fi
for name in "${names[@]}"; do
	check "counter $name counts" grows "$name" pingpong v4 -n 10
done
in_sysfs()
{
	cat "/sys/class/infiniband/$SK_A/ports/1/hw_counters/${names[0]}" ||
		on "$NS_A" cat "/sys/class/infiniband/$SK_A/ports/1/hw_counters/${names[0]}"
}
check "the counters are in sysfs" in_sysfs

if [ "$LINK" = rxe ] || [ ! -d $TRACE/events ]; then
	for ((i = 0; i < 5; i++)); do
		skip "tracepoint" "none here"
	done
	exit
fi
echo > $TRACE/trace
echo 1 > $TRACE/events/skerry/enable
defer sh -c "echo 0 > $TRACE/events/skerry/enable; echo > $TRACE/trace"
pingpong v4 -n 10 > /dev/null
echo 0 > $TRACE/events/skerry/enable
for event in skr_wqe skr_tx skr_rx skr_cqe skr_qp_state; do
	check "tracepoint $event fires" grep -q " $event: " $TRACE/trace ||
		note "$(find $TRACE/events/skerry -mindepth 1 -maxdepth 1 -type d)"
done
