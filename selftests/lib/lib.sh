# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What the selftests share: TAP, clean-up in reverse order, two hosts that are
# network namespaces, RDMA links, GIDs, counters, client and server.
#
# A test sources this file, calls plan, then check/ok/not_ok/skip as often as
# it planned. Whatever it sets up through these functions goes when it ends.

LINK=${LINK:-skerry}
SELFTESTS=${SELFTESTS:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
PROG=${PROG:-$SELFTESTS/../bin}
export LINK SELFTESTS PROG
# how much slower than others this kernel is: that much longer things may take,
# and that much less traffic there is
SLOW=${SLOW:-1}

# the two hosts; an empty name is the first namespace, @peer the other guest of a
# test with "# guests: 2" (see guests.sh)
NS_A=skA NS_B=skB NS_M=skM
DEV_A=vA DEV_B=vB
SK_A=sk0 SK_B=sk1
IP4_A=10.77.1.1 IP4_B=10.77.1.2
IP6_A=fd77:1::1 IP6_B=fd77:1::2
MAC_A=02:00:00:77:01:01 MAC_B=02:00:00:77:01:02
LL_A=fe80::ff:fe77:101 LL_B=fe80::ff:fe77:102

# MTU of what joins them: enough for a path MTU of 4096
HOST_MTU=4200

TMP=$(mktemp -d /tmp/skerry-test.XXXXXX)

#
# clean-up
#

_undo=()

# defer COMMAND... - run it when the test ends, last one first
defer()
{
	_undo+=("$(printf '%q ' "$@")")
}

# undo_to N - run the deferred commands beyond the first N now
undo_to()
{
	local i

	for ((i = ${#_undo[@]} - 1; i >= $1; i--)); do
		eval "${_undo[i]}" > /dev/null 2>&1
		unset "_undo[i]"
	done
	_undo=("${_undo[@]}")
}

# deferred - how many there are, for undo_to
deferred()
{
	echo ${#_undo[@]}
}

_finish()
{
	local status=$? _said

	trap - EXIT
	_said=$(tail -n 20 "$TMP/check" 2> /dev/null)
	undo_to 0
	rm -rf "$TMP"
	if [ "$_count" != "$_planned" ]; then
		echo "# planned $_planned, ran $_count"
		status=1
	fi
	if [ -n "$_checking" ]; then
		# an error of the shell itself, whose words nobody has seen
		note "ended within: $_checking"
		note "$_said"
	fi
	[ "$_bad" = 0 ] || status=1
	exit $status
}
trap _finish EXIT
trap 'exit 1' INT TERM

#
# TAP
#

_planned=0 _count=0 _bad=0 _checking=

# plan N - how many results will follow
plan()
{
	_planned=$1
	echo "1..$1"
}

# note TEXT... - a diagnostic
note()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# note_file FILE [LINES] - the end of a file as diagnostics
note_file()
{
	tail -n "${2:-20}" "$1" | sed 's/^/# /'
}

ok()
{
	_count=$((_count + 1))
	echo "ok $_count - $*"
}

# not_ok NAME [REASON...]
not_ok()
{
	_count=$((_count + 1))
	_bad=$((_bad + 1))
	[ $# -lt 2 ] || note "${@:2}"
	echo "not ok $_count - $1"
}

# skip NAME REASON
skip()
{
	_count=$((_count + 1))
	echo "ok $_count - $1 # SKIP ${*:2}"
}

# skip_all REASON - nothing here can run
skip_all()
{
	[ "$_planned" -gt 0 ] || echo "1..0 # SKIP $*"
	while [ "$_count" -lt "$_planned" ]; do
		skip "subtest $((_count + 1))" "$*"
	done
	exit 0
}

# bail REASON - the rest fails
bail()
{
	note "$*"
	while [ "$_count" -lt "$_planned" ]; do
		not_ok "subtest $((_count + 1)): could not be run"
	done
	exit 1
}

# must COMMAND... - the test cannot go on without it
must()
{
	"$@" > "$TMP/must" 2>&1 || {
		note "failed: $*"
		note_file "$TMP/must"
		bail "set-up failed"
	}
}

# check NAME COMMAND... - a result: ok if the command succeeds
check()
{
	local name=$1

	shift
	_checking=$name
	if "$@" > "$TMP/check" 2>&1; then
		_checking=
		ok "$name"
		return 0
	fi
	_checking=
	note "failed: $*"
	note_file "$TMP/check" 40
	not_ok "$name"
	return 1
}

# check_not NAME COMMAND... - ok if the command fails
check_not()
{
	check "$1" negate "${@:2}"
}

negate()
{
	! "$@"
}

#
# waiting
#

# wait_until SECONDS COMMAND... - until it succeeds; fails if it does not
wait_until()
{
	local end=$((${EPOCHREALTIME/./} + $1 * SLOW * 1000000)) tries=0

	shift
	until "$@" > /dev/null 2>&1; do
		# a machine that stood still has waited, but not looked
		tries=$((tries + 1))
		[ "${EPOCHREALTIME/./}" -lt $end ] || [ $tries -lt 20 ] || return 1
		sleep 0.05
	done
}

gone()
{
	! kill -0 "$1" 2> /dev/null
}

# reap SECONDS PID - status of a child that has to end in time; else it is
# killed and the status is 124
reap()
{
	if ! wait_until "$1" gone "$2"; then
		kill -9 "$2" 2> /dev/null
		wait "$2" 2> /dev/null
		return 124
	fi
	wait "$2"
}

# in_time SECONDS COMMAND... - ends in that time
in_time()
{
	"${@:2}" &
	reap "$1" $!
}

# slow_machine - its processor is a program: QEMU without KVM, User-mode Linux
slow_machine()
{
	grep -qE 'QEMU TCG|User Mode Linux' /proc/cpuinfo
}

# scaled N - N, or as much of it as a slow machine can do in the same time;
# SCALE, in per cent, if set
scaled()
{
	local percent=${SCALE:-100}

	[ -n "${SCALE:-}" ] || ! slow_machine || percent=10
	echo $((($1 * percent + 99) / 100))
}

#
# hosts
#

# on HOST COMMAND... - run there
on()
{
	case $1 in
	'') "${@:2}" ;;
	@peer) "$SELFTESTS/lib/remote.sh" "${@:2}" ;;
	*) ip netns exec "$1" "${@:2}" ;;
	esac
}

# ns_add NAME...
ns_add()
{
	local ns

	for ns; do
		must ip netns add "$ns"
		defer ip netns del "$ns"
		must ip -n "$ns" link set lo up
		no_dad "$ns"
	done
}

no_dad()
{
	must on "$1" sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
		echo 0 > /proc/sys/net/ipv6/conf/all/accept_dad'
}

# address HOST DEV MAC IPV4 IPV6 LINK-LOCAL - and up
address()
{
	must on "$1" ip link set "$2" address "$3" addrgenmode none
	must on "$1" ip addr add "$4/24" dev "$2"
	must on "$1" ip addr add "$5/64" dev "$2" nodad
	must on "$1" ip addr add "$6/64" dev "$2" nodad
	must on "$1" ip link set "$2" up
}

# join HOST DEV HOST DEV MTU - a veth pair between two hosts
join_hosts()
{
	local a=${1:-1} b=${3:-1}

	must ip link add "$2" mtu "$5" netns "$a" type veth peer name "$4" mtu "$5" netns "$b"
}

# acquainted - A and B have found each other by both families. ib_core waits a second for
# that, which is no longer than a lost question takes to be asked again.
acquainted()
{
	must wait_until 20 on "$NS_A" ping -c 1 -W 1 $IP4_B
	must wait_until 20 on "$NS_A" ping -6 -c 1 -W 1 $IP6_B
}

# hosts_up - two hosts joined by veth, with addresses
hosts_up()
{
	ns_add "$NS_A" "$NS_B"
	join_hosts "$NS_A" $DEV_A "$NS_B" $DEV_B "$HOST_MTU"
	address "$NS_A" $DEV_A $MAC_A $IP4_A $IP6_A $LL_A
	address "$NS_B" $DEV_B $MAC_B $IP4_B $IP6_B $LL_B
	must wait_until 5 carrier "$NS_A" $DEV_A
	acquainted
}

# host_a_first - as hosts_up, but A is the first namespace
host_a_first()
{
	NS_A=''
	ns_add "$NS_B"
	join_hosts '' $DEV_A "$NS_B" $DEV_B "$HOST_MTU"
	defer ip link del $DEV_A
	address '' $DEV_A $MAC_A $IP4_A $IP6_A $LL_A
	address "$NS_B" $DEV_B $MAC_B $IP4_B $IP6_B $LL_B
	must wait_until 5 carrier '' $DEV_A
	acquainted
}

# hosts_switched - two hosts with a bridge in a namespace between them;
# ports mA and mB of $NS_M take netem, tbf and the like
hosts_switched()
{
	ns_add "$NS_A" "$NS_B" "$NS_M"
	join_hosts "$NS_A" $DEV_A "$NS_M" mA "$HOST_MTU"
	join_hosts "$NS_B" $DEV_B "$NS_M" mB "$HOST_MTU"
	must ip -n "$NS_M" link add br0 mtu "$HOST_MTU" type bridge
	must ip -n "$NS_M" link set mA master br0 up
	must ip -n "$NS_M" link set mB master br0 up
	must ip -n "$NS_M" link set br0 up
	address "$NS_A" $DEV_A $MAC_A $IP4_A $IP6_A $LL_A
	address "$NS_B" $DEV_B $MAC_B $IP4_B $IP6_B $LL_B
	must wait_until 5 carrier "$NS_A" $DEV_A
	acquainted
}

# swap_hosts - let A and B trade places: client and server swap roles
swap_hosts()
{
	local name a b

	for name in NS DEV SK IP4 IP6 MAC LL; do
		a=${name}_A b=${name}_B
		local value=${!a}
		printf -v "$a" %s "${!b}"
		printf -v "$b" %s "$value"
	done
}

# hosts_wired - two hosts whose cable ends in $NS_M, where a program carries the
# frames from one to the other (prog/lib/wire.hh)
hosts_wired()
{
	ns_add "$NS_A" "$NS_B" "$NS_M"
	join_hosts "$NS_A" $DEV_A "$NS_M" mA "$HOST_MTU"
	join_hosts "$NS_B" $DEV_B "$NS_M" mB "$HOST_MTU"
	# the middle is a cable: it has no opinion of its own
	must on "$NS_M" sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
	must ip -n "$NS_M" link set mA arp off up
	must ip -n "$NS_M" link set mB arp off up
	address "$NS_A" $DEV_A $MAC_A $IP4_A $IP6_A $LL_A
	address "$NS_B" $DEV_B $MAC_B $IP4_B $IP6_B $LL_B
	must wait_until 5 carrier "$NS_A" $DEV_A
}

# long_backlog - a slow receiver must not make the kernel drop packets on veth
long_backlog()
{
	local file=/proc/sys/net/core/netdev_max_backlog now

	now=$(< $file)
	must sh -c "echo 100000 > $file"
	defer sh -c "echo $now > $file"
}

carrier()
{
	on "$1" grep -q 1 "/sys/class/net/$2/carrier"
}

# netem HOST DEV ARGS... - loss and the like on what leaves through DEV
netem()
{
	must on "$1" tc qdisc replace dev "$2" root netem "${@:3}"
}

#
# RDMA links
#

# link_add HOST NAME NETDEV [TYPE] - and see to it that it goes again
link_add()
{
	on "$1" rdma link add "$2" type "${4:-$LINK}" netdev "$3" || return
	defer link_del "$1" "$2"
}

link_del()
{
	on "$1" rdma link del "$2"
}

link_exists()
{
	on "$1" rdma link show "$2/1"
}

# links_up - a link in each host, ready
links_up()
{
	must link_add "$NS_A" $SK_A $DEV_A
	must link_add "$NS_B" $SK_B $DEV_B
	must ready "$NS_A" $SK_A
	must ready "$NS_B" $SK_B
}

# ready HOST DEV - until its node is there, its port up and its GIDs filled in
ready()
{
	wait_until 10 node_of "$1" "$2" && wait_until 10 active "$1" "$2" &&
		wait_until 10 gid_index "$1" "$2" v4 && wait_until 10 gid_index "$1" "$2" v6
}

active()
{
	on "$1" rdma link show "$2/1" | grep -q 'state ACTIVE'
}

# node_of HOST DEV - its node is there; namespaces share them
node_of()
{
	case $1 in
	@peer) on @peer bash -c "$(declare -f node); node $2" ;;
	*) node "$2" ;;
	esac
}

node()
{
	local dir

	for dir in /sys/class/infiniband_verbs/uverbs*; do
		[ "$(cat "$dir/ibdev" 2> /dev/null)" != "$1" ] ||
			[ ! -c "/dev/infiniband/${dir##*/}" ] || return 0
	done
	return 1
}

# gid_index HOST DEV KIND [NETDEV] - index of the first GID of that kind: v4, v6
# and ll are RoCEv2, with v1- in front RoCEv1
gid_index()
{
	on "$1" "$SELFTESTS/lib/gid_index.sh" "${@:2}"
}

# peer_address KIND - where B finds A over TCP
peer_address()
{
	case ${1#v1-} in
	v4) echo $IP4_A ;;
	v6) echo $IP6_A ;;
	ll) echo $LL_A%$DEV_B ;;
	esac
}

# port_free HOST - nobody has UDP port 4791
port_free()
{
	[ -z "$(on "$1" ss -Huln 'sport = :4791')" ]
}

# module_idle - the module is not there, or goes when asked to
module_unload()
{
	[ ! -d "/sys/module/$LINK_MODULE" ] || modprobe -r "$LINK_MODULE"
}

case $LINK in
rxe | siw) LINK_MODULE=rdma_$LINK ;;
*) LINK_MODULE=$LINK ;;
esac

# rxe_in_namespaces - this kernel's rxe has its sockets in each namespace
rxe_in_namespaces()
{
	local v
	v=$(uname -r)

	[ "${v%%.*}" -ge 7 ]
}

# in_order HOST DEV - a cable keeps the order of packets, a veth pair with a
# backlog on each CPU does not; one CPU for what comes in makes a cable of it. A kernel
# for one CPU has nothing to choose from.
in_order()
{
	[ "$(cat /sys/devices/system/cpu/possible)" != 0 ] || return 0
	# shellcheck disable=SC2016 # the shell over there expands it
	on "$1" sh -c 'echo 1 > "/sys/class/net/$1/queues/rx-0/rps_cpus"' sh "$2"
}

# rxe_up - two hosts, A with the kernel's rxe, B with a link under test, and a
# cable that loses and reorders nothing
rxe_up()
{
	long_backlog
	if rxe_in_namespaces; then
		hosts_up
	else
		# this rxe keeps port 4791 of the first namespace until it is unloaded
		defer modprobe -r rdma_rxe
		host_a_first
	fi
	must link_add "$NS_A" $SK_A $DEV_A rxe
	must link_add "$NS_B" $SK_B $DEV_B
	must ready "$NS_A" $SK_A
	must ready "$NS_B" $SK_B
	must in_order "$NS_A" $DEV_A
	must in_order "$NS_B" $DEV_B
}

# netns_mode exclusive|shared - for this test
netns_mode()
{
	local now

	now=$(rdma system show | sed 's/.*netns \([a-z]*\).*/\1/')
	[ "$now" != "$1" ] || return 0
	# the kernel refuses while there are other namespaces, and a deleted one
	# takes a moment to go
	wait_until 60 rdma system set netns "$1" || return
	defer wait_until 60 rdma system set netns "$now"
}

#
# counters
#

# counter HOST DEV NAME - value, nothing if there is no such counter
counter()
{
	on "$1" rdma statistic show link "$2/1" | tr -s ' ' '\n' |
		awk -v name="$3" 'seen { print; exit } $0 == name { seen = 1 }'
}

# number HOST DEV NAME - the counter's value, 0 if there is no such counter
number()
{
	local value

	value=$(counter "$@")
	echo "${value:-0}"
}

# counter_is HOST DEV NAME VALUE
counter_is()
{
	local value

	value=$(counter "$1" "$2" "$3")
	[ "$value" = "$4" ] || {
		echo "$2: $3 is ${value:-not there}, not $4"
		return 1
	}
}

# counters_zero HOST DEV NAME... - each is there and zero
counters_zero()
{
	local name bad=0

	for name in "${@:3}"; do
		counter_is "$1" "$2" "$name" 0 || bad=1
	done
	return $bad
}

# resources HOST DEV - what there is of each kind, but for the kernel's memory
resources()
{
	on "$1" rdma resource show "$2" | sed 's/^[0-9]*: //'
}

# log_lines - of the kernel
log_lines()
{
	dmesg | wc -l
}

# note_counters HOST DEV - what is not zero, as a diagnostic
note_counters()
{
	note "$2:" "$(on "$1" rdma statistic show link "$2/1" | tr -s ' \n' ' ' |
		grep -o '[a-z_0-9]* [1-9][0-9]*' | tr '\n' ',')"
}

#
# client and server
#

listening()
{
	[ -n "$(on "$1" ss -Htln "sport = :$2")" ]
}

# in_host HOST - set _in to what runs a program there as a process of its own
in_host()
{
	case $1 in
	'') _in=() ;;
	@peer) _in=("$SELFTESTS/lib/remote.sh") ;;
	*) _in=(ip netns exec "$1") ;;
	esac
}

# slowed N - that many messages, on a slow kernel fewer, but never below 20
slowed()
{
	if [ "$1" -gt $((20 * SLOW)) ]; then
		echo $(($1 / SLOW))
	elif [ "$1" -gt 20 ]; then
		echo 20
	else
		echo "$1"
	fi
}

# scale ARGUMENT... - set _scaled to them, with -n N and --count=N scaled
scale()
{
	_scaled=()
	while [ $# -gt 0 ]; do
		case $1 in
		--count=*) _scaled+=("--count=$(slowed "${1#*=}")") ;;
		-n)
			_scaled+=(-n "$(slowed "$2")")
			shift
			;;
		*) _scaled+=("$1") ;;
		esac
		shift
	done
}

# run_pair SECONDS LISTENS SERVER... -- CLIENT... - the server in A, the client in B
# once the command LISTENS says that A listens; both have to end well within that
# time. A server that would go on for ever has $stop_server set.
run_pair()
{
	local limit=$(($1 * SLOW)) listens=$2 server=() pid status client

	shift 2
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	in_host "$NS_A"
	"${_in[@]}" timeout -k 5 "$limit" "${server[@]}" > "$TMP/server" 2>&1 < /dev/null &
	pid=$!
	if ! wait_until 20 eval "$listens"; then
		echo "server does not listen:"
		kill "$pid" 2> /dev/null
		wait "$pid"
		cat "$TMP/server"
		return 1
	fi
	in_host "$NS_B"
	"${_in[@]}" timeout -k 5 "$limit" "$@" > "$TMP/client" 2>&1 < /dev/null
	client=$?
	if [ -n "${stop_server-}" ]; then
		kill $pid 2> /dev/null
	elif [ $client != 0 ]; then
		# a client that failed leaves its server waiting
		wait_until 3 gone $pid || kill $pid 2> /dev/null
	fi
	wait $pid
	status=$?
	[ -z "${stop_server-}" ] || status=0
	[ $client = 0 ] && [ $status = 0 ] && return 0
	echo "client (status $client):"
	tail -n 15 "$TMP/client"
	echo "server (status $status):"
	tail -n 15 "$TMP/server"
	note_counters "$NS_A" "$SK_A"
	note_counters "$NS_B" "$SK_B"
	return 1
}

# pair SECONDS PORT SERVER... -- CLIENT... - run_pair with a server that listens on a
# TCP port
pair()
{
	run_pair "$1" "listening '$NS_A' $2" "${@:3}"
}

# pingpong KIND [ARGS...] - ibv_rc_pingpong between the hosts
pingpong()
{
	pingpong_over rc "$@"
}

# gids KIND - set _gid_a and _gid_b to the hosts' GID indices of that kind
gids()
{
	_gid_a=$(gid_index "$NS_A" $SK_A "$1")
	_gid_b=$(gid_index "$NS_B" $SK_B "$1")
	if [ -z "$_gid_a" ] || [ -z "$_gid_b" ]; then
		echo "no GID of kind $1"
		return 1
	fi
}

# pingpong_over rc|uc|ud KIND [ARGS...] - one of the ping-pongs between the hosts,
# within PINGPONG_LIMIT seconds
pingpong_over()
{
	local program=ibv_$1_pingpong kind=$2 _gid_a _gid_b _scaled

	shift 2
	scale "$@"
	gids "$kind" || return
	pair "${PINGPONG_LIMIT:-60}" 18515 "$program" -d $SK_A -g "$_gid_a" -c "${_scaled[@]}" -- \
		"$program" -d $SK_B -g "$_gid_b" -c "${_scaled[@]}" $IP4_A
}

# perftest PROGRAM KIND [ARGS...] - one of perftest's programs between the hosts
perftest()
{
	local program=$1 kind=$2 _gid_a _gid_b _scaled

	shift 2
	scale "$@"
	gids "$kind" || return
	pair "${PERFTEST_LIMIT:-120}" 18515 \
		"$program" -d $SK_A -x "$_gid_a" -F "${_scaled[@]}" -- \
		"$program" -d $SK_B -x "$_gid_b" -F "${_scaled[@]}" $IP4_A
}

# traffic KIND [ARGS...] - our own traffic test; ARGS are the client's
traffic()
{
	local kind=$1 both=() client=() arg _scaled

	shift
	scale "$@"
	for arg in "${_scaled[@]}"; do
		case $arg in
		--events | --depth=* | --recv-depth=* | --sges=* | --inline=* | --stall=*)
			both+=("$arg") ;;
		*)
			client+=("$arg") ;;
		esac
	done
	pair "${TRAFFIC_LIMIT:-120}" 7471 \
		"$PROG/traffic" --dev $SK_A --gid "$kind" --listen "${both[@]}" -- \
		"$PROG/traffic" --dev $SK_B --gid "$kind" --connect "$(peer_address "$kind")" \
		"${both[@]}" "${client[@]}"
}

# watch_icrc [v1|v2] - recompute the ICRC of all that passes A's netdev, from now
# on; nothing else than that encapsulation may pass if it is given
watch_icrc()
{
	local file=/sys/kernel/debug/skerry/zero_copy

	# the watcher's copy is made when it reads: what was lent may be in use again by then
	if [ -e $file ]; then
		echo N > $file
		# shellcheck disable=SC2016 # the shell that runs it expands it
		defer sh -c 'echo Y > "$1"' sh $file
	fi
	in_host "$NS_A"
	"${_in[@]}" "$PROG/icrcwatch" --interface "$DEV_A" ${1:+--only="$1"} > "$TMP/icrc" 2>&1 &
	_watcher=$!
	defer kill "$_watcher"
	must wait_until 5 grep -q ready "$TMP/icrc"
}

# icrc_right - end of watch_icrc: packets both ways, not one wrong
icrc_right()
{
	local status

	kill "$_watcher"
	reap 20 "$_watcher"
	status=$?
	cat "$TMP/icrc"
	return $status
}

# run_program NAME [ARGS...] - a program that prints TAP itself, plan and all
run_program()
{
	"$PROG/$1" --a $SK_A --b $SK_B "${@:2}"
	_bad=$?
}
