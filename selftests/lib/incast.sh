# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A lab of congestion: senders, each a namespace, with a router between them and the
# receivers, and a bottleneck in it that marks. Sourced after lib.sh, which sets _in.
#
#	skS1 es1 --- r1 \                / out ---- ed   skD	the receiver
#	skS2 es2 --- r2 -- skR (router) -
#	...             /                \ outv --- ev   skV	the victim's receiver
#
# It is a model to scale of a port of 10 Gb/s: the bottleneck is SHRINK times slower,
# and so are all times and rates of congestion control. What takes 20 ms there takes
# 20 ms times SHRINK here, and what a busy machine does to the timing of a packet
# counts as much less. It still makes packets come in bunches: the queue may be some
# times as long as there before it is marked.
# shellcheck disable=SC2154

NS_R=skR NS_D=skD NS_V=skV
IP_D=10.78.0.2 IP_V=10.78.100.2
PORTS_FROM=7471
# where marking begins and where it ends, in bytes
KMIN=50000 KMAX=500000
# what waits in the bottleneck at most: more than all senders may have under way
ROOM=16000000

# router_up MBPS - the router, with the bottleneck towards the receiver
router_up()
{
	MBPS=$1
	SHRINK=$((10000 / MBPS))
	# 20 ms: so late may the bottleneck's own timer be without its being slower
	LATE=$((MBPS * 2500))
	ns_add $NS_R
	must on $NS_R sysctl -q net.ipv4.ip_forward=1
	receiver_up $NS_D d out $IP_D
	bottleneck
}

# leg NAMESPACE DEV ROUTER-DEV ADDRESS - a host and its way to the router
leg()
{
	ns_add "$1"
	join_hosts "$1" "$2" $NS_R "$3" "$HOST_MTU"
	must ip -n "$1" addr add "$4/24" dev "$2"
	must ip -n "$1" link set "$2" up
	must ip -n $NS_R addr add "${4%.*}.1/24" dev "$3"
	must ip -n $NS_R link set "$3" up
	must wait_until 5 carrier "$1" "$2"
	must ip -n "$1" route add default via "${4%.*}.1"
}

# receiver_up NAMESPACE NAME ROUTER-DEV ADDRESS
receiver_up()
{
	leg "$1" "e$2" "$3" "$4"
	must link_add "$1" "sk$2" "e$2"
	must wait_until 10 gid_index "$1" "sk$2" v4
}

# victim_up - another receiver, whose way is as slow but its own
victim_up()
{
	receiver_up $NS_V v outv $IP_V
	must on $NS_R tc qdisc add dev outv root tbf rate "${MBPS}mbit" burst "$LATE" \
		limit $ROOM
}

# senders_up N - hosts 1 to N
senders_up()
{
	local i

	SENDERS=$1
	for ((i = 1; i <= SENDERS; i++)); do
		leg "skS$i" "es$i" "r$i" "10.78.$i.2"
		must link_add "skS$i" "sks$i" "es$i"
		must wait_until 10 gid_index "skS$i" "sks$i" v4
	done
}

# ports_to_scale MBPS - the senders' ports, too, are no faster than what they are a model of:
# until the first CNP a flow has its port's speed, and but for that UC has no bounds
ports_to_scale()
{
	local i

	for ((i = 1; i <= SENDERS; i++)); do
		must on "skS$i" tc qdisc add dev "es$i" root tbf rate "$1mbit" \
			burst $(($1 * 2500)) limit $ROOM
	done
}

red()
{
	echo red limit $ROOM min $KMIN max $KMAX avpkt 1000 burst 51 probability 0.9 \
		bandwidth "${MBPS}mbit" ecn
}

# bottleneck - classes behind one rate: what is resolved, managed and agreed upon goes
# before CNPs, and these before data, which alone is marked
bottleneck()
{
	local tc=(on "$NS_R" tc)

	must "${tc[@]}" qdisc add dev out root handle 1: tbf rate "${MBPS}mbit" burst "$LATE" \
		limit $ROOM
	must "${tc[@]}" qdisc add dev out parent 1:1 handle 2: ets bands 3 strict 3
	# shellcheck disable=SC2046 # a list
	must "${tc[@]}" qdisc add dev out parent 2:3 handle 3: $(red)
	must "${tc[@]}" filter add dev out parent 2: protocol ip prio 1 \
		u32 match ip dsfield 192 0xfc classid 2:2
	must "${tc[@]}" filter add dev out parent 2: protocol ip prio 2 \
		u32 match ip protocol 17 0xff match ip dport 4791 0xffff classid 2:3
	must "${tc[@]}" filter add dev out parent 2: protocol all prio 3 \
		u32 match u32 0 0 classid 2:1
}

# cc_file DEV FILE - where debugfs has it
cc_file()
{
	echo "/sys/kernel/debug/skerry/$1/$2"
}

# scale_times DEV - the parameters for a port of 10 Gb/s, to scale
scale_times()
{
	local name value file

	while read -r name value; do
		file=$(cc_file "$1" "cc_params/$name")
		must sh -c "echo $value > $file"
	done <<- END
		rp_time_reset $((55 * SHRINK))
		rp_dce_tcp_rtt $((55 * SHRINK))
		rp_rate_reduce_monitor_period $((50 * SHRINK))
		np_min_time_between_cnps $((50 * SHRINK))
		rp_ai_rate $(decimal $((10000 / SHRINK)))
		rp_hai_rate $(decimal $((50000 / SHRINK)))
		rp_min_rate $(decimal $((1000 / SHRINK)))
		rp_max_rate $MBPS
	END
}

# decimal THOUSANDTHS
decimal()
{
	printf '%d.%03d\n' $(($1 / 1000)) $(($1 % 1000))
}

# control dcqcn|none - on all hosts, with parameters to scale
control()
{
	local dev

	for dev in skd $(seq -f sks%g "$SENDERS"); do
		must sh -c "echo $1 > $(cc_file "$dev" cc)"
		scale_times "$dev"
	done
}

# monotonic - milliseconds
monotonic()
{
	awk '{ print int($1 * 1000) }' /proc/uptime
}

# flow NUMBER SENDER RECEIVER ADDRESS [ARGS...] - a source and its sink, in the background
flow()
{
	local n=$1 port=$((PORTS_FROM + $1)) sink=$TMP/sink$1 source=$TMP/source$1

	in_host "$3"
	"${_in[@]}" timeout -k 5 $((LIMIT * SLOW)) "$PROG/incast" --dev "sk${SINK:-d}" --listen \
		--port $port --start "$TMP/start" > "$sink" 2>&1 &
	flows+=($!)
	must wait_until 20 listening "$3" $port
	in_host "skS$2"
	"${_in[@]}" timeout -k 5 $((LIMIT * SLOW)) "$PROG/incast" --dev "sks$2" --connect "$4" \
		--port $port --key "$n" --start "$TMP/start" --ms "$MSEC" "${@:5}" > "$source" 2>&1 &
	flows+=($!)
}

# ready_flows N - so many sources have connected
ready_flows()
{
	[ "$(cat "$TMP"/source* | grep -c ready)" -ge "$1" ]
}

# flows_go N - from now on, once all N are ready
flows_go()
{
	wait_until 60 ready_flows "$1"
	at=$(($(monotonic) + 100))
	echo $at > "$TMP/start.new"
	mv "$TMP/start.new" "$TMP/start"
}

# flows_done - all have ended, well
flows_done()
{
	local pid bad=0

	for pid in "${flows[@]}"; do
		wait "$pid" || bad=1
	done
	[ $bad = 0 ] || cat "$TMP"/sink* "$TMP"/source*
	return $bad
}

# incast MS [ARGS...] - all senders, from the same moment on and for so long; and the
# victim, if VICTIM is 1
VICTIM=
incast()
{
	local i flows=()

	MSEC=$1
	LIMIT=$((MSEC / 1000 + 60))
	rm -f "$TMP"/sink* "$TMP"/source* "$TMP/start"
	for ((i = 1; i <= SENDERS; i++)); do
		flow $i $i $NS_D $IP_D "${@:2}"
	done
	[ -z "$VICTIM" ] || SINK=v flow 0 1 $NS_V $IP_V
	flows_go $((SENDERS + ${VICTIM:-0}))
	flows_done
}

# victim MS - a flow of sender 1 to where there is no congestion, alone
victim()
{
	local flows=()

	MSEC=$1
	LIMIT=$((MSEC / 1000 + 60))
	rm -f "$TMP"/sink* "$TMP"/source* "$TMP/start"
	SINK=v flow 0 1 $NS_V $IP_V
	flows_go 1
	flows_done
}

# victim_rate FROM TO - bytes a second between these, in ms
victim_rate()
{
	awk -v from="$1" -v to="$2" '
		$1 == "bin" && $2 >= from && $2 < to { n += $3 }
		END { printf "%d\n", n / (to - from) * 1000 }' "$TMP/sink0"
}

#
# What is to hold
#

# hosts - all of them, with their devices: NAMESPACE DEVICE
hosts()
{
	local i

	echo "$NS_D skd"
	for ((i = 1; i <= SENDERS; i++)); do
		echo "skS$i sks$i"
	done
}

# total COUNTER... - of all senders
total()
{
	local i name value sum=0

	for ((i = 1; i <= SENDERS; i++)); do
		for name; do
			value=$(counter "skS$i" "sks$i" "$name")
			sum=$((sum + ${value:-0}))
		done
	done
	echo $sum
}

# received COUNTER... - of the receiver
received()
{
	local name value sum=0

	for name; do
		value=$(counter $NS_D skd "$name")
		sum=$((sum + ${value:-0}))
	done
	echo $sum
}

# dropped - packets, by the queues of the bottleneck
dropped()
{
	on $NS_R tc -s qdisc show dev out |
		awk '/dropped/ { sub(/.*dropped /, ""); n += $1 } END { print n + 0 }'
}

# local_drops - packets that a host, the router or the stack between them let fall
local_drops()
{
	local ns lost names="rx_drop_busy rx_drop_nomem tx_congested tx_nomem"

	{
		# shellcheck disable=SC2086 # a list
		total $names
		# shellcheck disable=SC2086
		received $names
		while read -r _ lost _; do
			echo $((16#$lost))
		done < /proc/net/softnet_stat
		for ns in $NS_R $NS_D $(seq -f skS%g "$SENDERS"); do
			on "$ns" sh -c 'cat /sys/class/net/*/statistics/*_dropped'
		done
	} | awk '{ n += $1 } END { print n + 0 }'
}

# remember - how everything stands, for the checks that follow
declare -A before
remember()
{
	before=(
		[marks]=$(received np_ecn_marked_roce_packets)
		[cnps]=$(received np_cnp_sent)
		[handled]=$(total rp_cnp_handled)
		[ignored]=$(total rp_cnp_ignored)
		[dropped]=$(dropped)
		[local]=$(local_drops)
	)
}

# watched COMMAND... - with a capture of what concerns congestion on the bottleneck's
# wire, and a trace of all changes of rates
watched()
{
	local tracing=/sys/kernel/tracing dump status

	[ -d $tracing/events ] || tracing=/sys/kernel/debug/tracing
	echo mono > $tracing/trace_clock
	echo > $tracing/trace
	echo 1 > $tracing/events/skerry/skr_rate/enable
	rm -f "$TMP/dump.err"
	# headers only, and room for all of them: this machine may be busy
	in_host $NS_R
	"${_in[@]}" tcpdump -i out --immediate-mode -s 64 -B 32768 -U -w "$TMP/dump" \
		"udp dst port 4791 and (ip[1] & 3 = 3 or udp[8] = 0x81)" \
		> /dev/null 2> "$TMP/dump.err" &
	dump=$!
	wait_until 10 grep -q listening "$TMP/dump.err"
	"$@"
	status=$?
	written
	kill $dump
	wait $dump
	echo 0 > $tracing/events/skerry/skr_rate/enable
	cat $tracing/trace > "$TMP/trace"
	return $status
}

# written - the capture has not grown for a second, or 20 are over
written()
{
	local size last=-1

	for _ in {1..20}; do
		size=$(stat -c %s "$TMP/dump")
		[ "$size" != "$last" ] || return
		last=$size
		sleep 1
	done
}

# on_wire FILTER - how many packets of the wire
on_wire()
{
	tcpdump -r "$TMP/dump" --count "$1" 2> /dev/null | cut -d' ' -f1
}

# complete - nothing is missing in the capture: a busy machine may lose some
complete()
{
	grep -q "^0 packets dropped by kernel" "$TMP/dump.err" && return
	cat "$TMP/dump.err"
	return 1
}

# same NAME NUMBER... - one number, and not 0
same()
{
	local n

	echo "$@"
	[ "$2" -gt 0 ] || return
	for n in "${@:3}"; do
		[ "$n" = "$2" ] || return
	done
}

undropped()
{
	same dropped 1 $((1 + $(dropped) - before[dropped]))
}

nothing_lost()
{
	same "lost in the local stack" 1 $((1 + $(local_drops) - before[local]))
}

# marks_counted - CE on the wire, and at the receiver
marks_counted()
{
	local marked=$(($(received np_ecn_marked_roce_packets) - before[marks])) wire

	wire=$(on_wire 'ip[1] & 3 = 3')
	complete || wire=$marked
	same CE "$marked" "$wire"
}

# cnps_counted - by the receiver, on the wire, and by the senders
cnps_counted()
{
	local sent=$(($(received np_cnp_sent) - before[cnps])) wire

	wire=$(on_wire 'udp[8] = 0x81')
	complete || wire=$sent
	same CNP "$sent" "$wire" $(($(total rp_cnp_handled) - before[handled]))
}

no_strangers()
{
	same "ignored CNPs" 1 $((1 + $(total rp_cnp_ignored) - before[ignored]))
}

# no_marks - of what was sent none was marked, and nobody was told anything
no_marks()
{
	same "marks and CNPs" 1 $((1 + $(on_wire '') +
		$(received np_ecn_marked_roce_packets np_cnp_sent) - before[marks] - before[cnps]))
}

some_dropped()
{
	[ "$(dropped)" -gt "${before[dropped]}" ]
}

# all_slowed - each sender's rate has been less than the bottleneck's
all_slowed()
{
	local i

	for ((i = 1; i <= SENDERS; i++)); do
		rates | awk -v flow=$i -v limit=$((MBPS * 125000)) '
			$2 == flow && $3 < limit { low++ }
			END { print flow, low + 0; exit !low }' || return
	done
}

#
# What came of it
#

# rates - of the trace: "MS FLOW BYTES-PER-SECOND ALPHA", ms since the beginning
rates()
{
	awk -v at="$at" '{
		for (i = 1; i < NF; i++)
			if ($i == "skr_rate:") {
				time = $(i - 1) + 0
				flow = substr($(i + 1), 4)
				printf "%.1f %s %s %s\n", time * 1000 - at, flow, $(i + 5), $(i + 9) / 1024
			}
	}' "$TMP/trace"
}

# bins - of all sinks: "MS FLOW BYTES"
bins()
{
	local i

	for ((i = 1; i <= SENDERS; i++)); do
		awk -v flow=$i '$1 == "bin" { print $2, flow, $3 }' "$TMP/sink$i"
	done
}

# figures FROM TO WINDOW - of the time between these, in ms: per cent of the bottleneck
# that the receiver's data takes, Jain's index, mean and least of the windows
figures()
{
	bins | awk -v from="$1" -v to="$2" -v window="$3" -v mbps="$MBPS" -v flows="$SENDERS" '
		$1 >= from && $1 < to {
			sum[int(($1 - from) / window), $2] += $3
			all += $3
		}
		END {
			windows = int((to - from) / window)
			worst = 1
			for (w = 0; w < windows; w++) {
				s = q = 0
				for (f = 1; f <= flows; f++) {
					s += sum[w, f]
					q += sum[w, f] ^ 2
				}
				j = q ? s * s / (flows * q) : 0
				mean += j / windows
				if (j < worst) worst = j
			}
			# 1024 bytes are 58 more on the wire, as tbf counts
			wire = all * (1024 + 58) / 1024 * 8 / ((to - from) / 1000)
			printf "%5.1f %.4f %.4f\n", 100 * wire / (mbps * 1e6), mean, worst
		}'
}
