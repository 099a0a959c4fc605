#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Boot a lane's kernel as a process, User-mode Linux, and wait for its end.
# NCPUS in the environment says how many CPUs it has, 2 if not given.
# Usage: boot.sh LANE PAYLOAD DIR [--shell]
#	PAYLOAD	tar archive to unpack over the root (see scripts/payload)
#	DIR	below the build directory; gets console.log and verdict
# Exit status: 0 if the guest came to its orderly end.
#
# It runs in the guest root, whose C library it is linked with, in namespaces of
# its own, which show there
#	/mnt	the build directory
#	/media	the guest root again, read-only: what the guest has below its own
#	/tmp	its memory
# so that nothing it does reaches the guest root, and nothing of it is left.

. "$(dirname "$0")/../../scripts/common.sh"
. "$TOP/scripts/watch.sh"
need_root

lane=$1 payload=$2 dir=$3 shell=${4:-}
MEMORY=2560M

# exec_uml ARGUMENT... - become it; descriptor 3 is its first serial line
exec_uml()
{
	# In a session of its own: one that panics sends its process group SIGTERM.
	# Not as process 1, which no signal of its own can end.
	# shellcheck disable=SC2016 # the inner shell expands it
	exec unshare --mount --pid --fork --kill-child --mount-proc="$ROOT/proc" sh -c '
		root=$1
		mount --bind "$root" "$root/media" &&
			mount -o remount,bind,ro "$root/media" &&
			mount --bind "$2" "$root/mnt" &&
			mount --rbind /dev "$root/dev" &&
			mount -t tmpfs -o size=3G tmpfs "$root/tmp" || exit
		shift 2
		ulimit -c 0
		setsid -w chroot "$root" /usr/bin/env -i HOME=/tmp TMPDIR=/tmp \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb "$@"
		exit $?' sh "$ROOT" "$BUILD" "${@//$BUILD//mnt}"
}

mkdir -p "$dir"
: > "$dir/verdict"
: > "$dir/console.log"
cp "$TOP/selftests/uml/init" "$dir/init"

arguments=("$BUILD/lane/$lane/boot/kernel" "mem=$MEMORY" "ncpus=${NCPUS:-2}" seccomp=auto
	root=/dev/root rootfstype=hostfs ro "init=$dir/init"
	"skerry.payload=$payload"
	panic=-1 oops=panic panic_on_warn=1 loglevel=5 net.ifnames=0
	rcupdate.rcu_cpu_stall_timeout=60 ssl=null "ssl0=null,fd:3" con=null)

if [ "$shell" = --shell ]; then
	exec_uml "${arguments[@]}" con0=fd:0,fd:1 3> "$dir/verdict"
fi

# through pipes: the kernel waits for its lines, which it cannot on a file
rm -f "$dir"/{verdict,console}.pipe
mkfifo "$dir"/{verdict,console}.pipe
cat "$dir/verdict.pipe" >> "$dir/verdict" 9>&- &
cat "$dir/console.pipe" >> "$dir/console.log" 9>&- &
exec_uml "${arguments[@]}" con0=null,fd:1 < /dev/null 9>&- \
	3> "$dir/verdict.pipe" > "$dir/console.pipe" 2>&1 &
guest=$!
trap 'kill -9 $guest 2> /dev/null || true' EXIT
watch_guest $guest
wait	# for what it said last
rm -f "$dir"/{verdict,console}.pipe
grep -q '^@done' "$dir/verdict"
