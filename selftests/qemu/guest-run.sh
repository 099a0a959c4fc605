#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Runs the tests named in /skerry/tests, one after the other, in the guest.
# Output, on descriptor 3, for selftests/qemu/tap.awk:
#	@begin NAME TIMEOUT	then the test's own TAP, its stderr as "# "
#	@fault NAME TEXT	something that the test itself does not say
#	@end NAME STATUS SECONDS

SELFTESTS=/skerry/selftests
CGROUP=/sys/fs/cgroup/test
KMEMLEAK=/sys/kernel/debug/kmemleak
KCSAN=/sys/kernel/debug/kcsan
leaks=''
SHOWN=60	# lines of the kernel's log, of a test that has failed
two=$(grep -ow guests=2 /proc/cmdline)
TROUBLE='WARNING:|BUG:|Oops|Call Trace:|refcount_t:|KASAN|KFENCE|UBSAN'
TROUBLE+='|unregister_netdevice: waiting for|soft lockup|rcu.*stall|blocked for more than'
TROUBLE+='|general protection fault|unhandled|use-after-free|list_(add|del) corruption'

. $SELFTESTS/settings
default_timeout=${timeout:?}

fault()
{
	echo "@fault $name $*" >&3
}

# kernel_log - to /run/kernel.log, what the kernel has said since dmesg -C. A data race is
# the module's or the test modules' if a function of theirs is on the way to either access,
# which does not lead through an interrupt or a softirq: whom these interrupt has nothing to
# do with it. Of other races the title is left out, so that they are no trouble, and kept for
# the end.
kernel_log()
{
	local modules=skerry module

	for module in /skerry/bin/*.ko; do
		[ ! -e "$module" ] || modules+="|$(basename "$module" .ko)"
	done
	dmesg | awk -v ours="[[]($modules)[]]" -v others=/run/kcsan.others '
		function tell(all,	i) {
			for (i = 1; i <= n; i++) {
				if (all || lines[i] !~ /BUG: KCSAN:/)
					print lines[i]
				else
					print substr(lines[i], index(lines[i], "KCSAN:")) >> others
			}
			n = 0
		}
		/========================================$/ && !n { mine = 0; lines[++n] = $0; next }
		!n { print; next }
		{ lines[++n] = $0 }
		/ by (task|interrupt)/ { under = 0 }
		$0 ~ ours && !under { mine = 1 }
		/ (asm_(sysvec|exc|common_interrupt)|handle_softirqs)/ { under = 1 }
		/========================================$/ { tell(mine) }
		END { tell(1) }' > /run/kernel.log
}

# links - RDMA links of the type under test, in all namespaces
links()
{
	local ns

	{
		rdma -j link 2> /dev/null
		for ns in $(ip netns list 2> /dev/null | cut -d' ' -f1); do
			ip netns exec "$ns" rdma -j link 2> /dev/null
		done
	} | grep -o '"ifname":"[^"]*"' | cut -d'"' -f4 | sort -u
}

# left_behind - what a test must have cleaned up, but has not
left_behind()
{
	local ns link

	for ns in $(ip netns list 2> /dev/null | cut -d' ' -f1); do
		printf 'namespace %s, ' "$ns"
	done
	for link in $(links); do
		printf 'link %s, ' "$link"
	done
}

# clean_up - give the next test a clean machine, say what was found
clean_up()
{
	local left tries=0 ns link

	left=$(left_behind)
	# a namespace takes a moment to go
	while [ -n "$left" ] && [ $tries -lt 10 ]; do
		sleep 0.5
		tries=$((tries + 1))
		left=$(left_behind)
	done
	[ -n "$left" ] || return
	fault "left behind: ${left%, }"
	for link in $(links); do
		rdma link del "$link" 2> /dev/null
	done
	for ns in $(ip netns list | cut -d' ' -f1); do
		for link in $(ip netns exec "$ns" rdma -j link |
				grep -o '"ifname":"[^"]*"' | cut -d'"' -f4); do
			ip netns exec "$ns" rdma link del "$link"
		done
		ip netns del "$ns"
	done 2> /dev/null
}

# switches_as_at_boot - a test that was killed may have left others
switches_as_at_boot()
{
	local file tries

	for tries in {1..60}; do
		rdma system set netns shared && break
		sleep 0.5
	done
	for file in super_tx super_rx batch merge_acks zero_copy rx_aside; do
		[ ! -e /sys/kernel/debug/skerry/$file ] || echo Y > /sys/kernel/debug/skerry/$file
	done
	[ ! -e /sys/kernel/tracing/events/skerry/enable ] ||
		echo 0 > /sys/kernel/tracing/events/skerry/enable
} 2> /dev/null

# the other guest of a test with two
PEER=$SELFTESTS/lib/remote.sh

# peer_ready - it answers, or two minutes are over
peer_ready()
{
	local end=$((SECONDS + 120))

	until $PEER true 2> /dev/null || [ $SECONDS -gt $end ]; do
		sleep 1
	done
}

# peer_trouble - what its kernel says in the end
peer_trouble()
{
	if ! $PEER dmesg > /run/peer.dmesg; then
		fault "the other guest does not answer"
	elif grep -E "$TROUBLE" /run/peer.dmesg > /run/trouble; then
		fault "the other guest's kernel log: $(head -n 1 /run/trouble)"
		tail -n 60 /run/peer.dmesg | sed 's/^/# /' >&3
	fi
	if [ "$($PEER rdma link | grep -c .)" != 0 ]; then
		fault "left behind in the other guest: $($PEER rdma link)"
	fi
}

run_one()
{
	local name=$1 path=$SELFTESTS/$1 limit status start=$SECONDS

	limit=$(sed -n '1,20s/^# timeout: *\([0-9]*\) *$/\1/p' "$path" | head -n 1)
	limit=$((${limit:-$default_timeout} * SLOW))
	echo "@begin $name $limit" >&3
	dmesg -C
	[ -z "$two" ] || $PEER dmesg -C
	rm -f /run/test.out /run/test.err
	mkfifo /run/test.out /run/test.err
	mkdir -p $CGROUP
	# whole lines only, so that two writers cannot mix within one
	sed -u 's/^//' < /run/test.out >&3 &
	sed -u 's/^/# /' < /run/test.err >&3 &
	(
		echo $BASHPID > $CGROUP/cgroup.procs
		cd "${path%/*}" || exit 127
		exec 3>&- timeout -k 10 "$limit" "./${path##*/}"
	) > /run/test.out 2> /run/test.err < /dev/null
	status=$?
	# whatever the test left running goes now
	echo 1 > $CGROUP/cgroup.kill
	wait
	rmdir $CGROUP 2> /dev/null || { sleep 1; rmdir $CGROUP; }

	case $status in
	124 | 137) fault "took longer than $limit s" ;;
	esac
	clean_up
	switches_as_at_boot
	[ -z "$two" ] || peer_trouble
	kernel_log
	if grep -E "$TROUBLE" /run/kernel.log > /run/trouble; then
		fault "kernel log: $(head -n 1 /run/trouble)"
		tail -n "$SHOWN" /run/kernel.log | sed 's/^/# /' >&3
	elif [ $status != 0 ]; then
		dmesg | tail -n 15 | sed 's/^/# dmesg: /' >&3
	fi
	echo "@end $name $status $((SECONDS - start))" >&3
}

# at_end NAME SECONDS TEXT COMMAND... - what is to hold after all tests, as a
# test of its own
at_end()
{
	local name=$1 result=ok start=$SECONDS

	echo "@begin $name $2" >&3
	dmesg -C
	"${@:4}" > /run/at_end 2>&1 || result="not ok"
	sed 's/^/# /' /run/at_end >&3
	printf '%s 1 - %s\n1..1\n' "$result" "$3" >&3
	kernel_log
	if grep -E "$TROUBLE" /run/kernel.log > /run/trouble; then
		fault "kernel log: $(head -n 1 /run/trouble)"
		tail -n "$SHOWN" /run/kernel.log | sed 's/^/# /' >&3
	fi
	echo "@end $name 0 $((SECONDS - start))" >&3
}

# leaks - what kmemleak has found, but for what the kernel itself allocated before there
# was a process: some of that it comes to think of only later
leaks()
{
	awk '/^unreferenced object/ { if (mine) printf "%s", block; block = ""; mine = 1 }
		/^ +comm "swapper\/0", pid 1,/ { mine = 0 }
		{ block = block $0 "\n" }
		END { if (mine) printf "%s", block }' $KMEMLEAK
}

# no_leaks - kmemleak finds nothing that was allocated since the tests began
no_leaks()
{
	# what is younger than five seconds it does not report; and what one scan
	# finds may have been on its way from one list to another
	sleep 6
	# that fails if it was switched off meanwhile
	echo scan > $KMEMLEAK && echo scan > $KMEMLEAK || return
	leaks
	[ -z "$(leaks)" ]
}

# lockdep_on - it looks no further once it has reported something, or has run out of room
lockdep_on()
{
	cat /proc/lockdep_stats
	grep -qx ' debug_locks: *1' /proc/lockdep_stats
}

# leaks_from_here_on - what the boot has left is not the tests'. Fails if kmemleak is not
# there, or was switched off for want of memory.
leaks_from_here_on()
{
	[ -w $KMEMLEAK ] || return
	sleep 6
	echo scan > $KMEMLEAK && echo scan > $KMEMLEAK && echo clear > $KMEMLEAK
} 2> /dev/null

# kcsan_counter NAME - one of what KCSAN counts
kcsan_counter()
{
	sed -n "s/^$1: //p" $KCSAN
}

# race_reported - KCSAN has found the race of race.ko
race_reported()
{
	local tries

	for tries in {1..120}; do
		! dmesg | grep 'BUG: KCSAN: data-race in race_.*\[race\]' || return 0
		sleep 0.5
	done
	echo "not reported in $((tries / 2)) s"
	return 1
}

# kcsan_on - it looks at the module, which is compiled for that, has looked at memory
# all the time, and still reports a race when there is one
kcsan_on()
{
	local rc=0 before=$1 skerry

	cat $KCSAN
	skerry=$(modinfo -n skerry) && nm -u "$skerry" | grep -c ' __tsan_.*[0-9]$' || rc=1
	[ "$(kcsan_counter enabled)" = 1 ] || rc=1
	[ $(($(kcsan_counter setup_watchpoints) - before)) -gt 10000 ] || rc=1
	insmod /skerry/bin/race.ko && race_reported || rc=1
	rmmod race || rc=1
	if [ -s /run/kcsan.others ]; then
		echo "data races without us:"
		sort /run/kcsan.others | uniq -c
	fi
	# that one was asked for
	[ $rc != 0 ] || dmesg -C
	return $rc
}

leaks_from_here_on && leaks=watched
if [ -e $KCSAN ]; then
	watched_before=$(kcsan_counter setup_watchpoints)
	# Emulated, the other CPU does in hundreds of microseconds what it would do in some
	# tens, if it runs at all: the host's CPUs may have other work.
	echo 400 > /sys/module/kcsan/parameters/udelay_task
	echo 200 > /sys/module/kcsan/parameters/udelay_interrupt
	echo on > $KCSAN
	# reports are long
	SHOWN=400
fi

[ -z "$two" ] || peer_ready
while read -r test; do
	run_one "$test"
done < /skerry/tests

if [ "${LINK:-}" = skerry ] && [ -d /sys/module/skerry ]; then
	at_end unload 60 "skerry unloads after all tests" modprobe -r skerry
fi
if [ -r /proc/lockdep_stats ]; then
	at_end lockdep 60 "lockdep has looked at all of it" lockdep_on
fi
if [[ $(uname -r) = *-kcsan ]]; then
	at_end kcsan 200 "KCSAN has looked at skerry, and sees a race" kcsan_on "$watched_before"
fi
if [ -n "$leaks" ]; then
	at_end kmemleak 300 "no memory has been left behind" no_leaks
fi
