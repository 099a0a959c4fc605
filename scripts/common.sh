# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# Sourced by every script of the lab: where things are, steps that are timed
# and logged, stamps that let a later run skip what is unchanged, and commands
# run inside the guest root.

set -euo pipefail
umask 022
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${SKERRY_BUILD:-$TOP/build}
mkdir -p "$BUILD"
BUILD=$(cd "$BUILD" && pwd)
ROOT=$BUILD/root
LOG=$BUILD/log
STAMP=$BUILD/stamp
mkdir -p "$LOG" "$STAMP"

# What the guest runs. KERNEL chooses one, empty means both. A lane is a kernel of
# its own, that looks for faults or, native, is fast; LANE chooses one and leaves the
# others out.
ALL_KERNELS="6.12 7.3"
ALL_LANES="kasan lockdep kcsan native"
KERNEL=${KERNEL:-}
LANE=${LANE:-}
# A whole `make test` has these besides, with the tests that selftests/lanes/LANE.tests
# names.
DEFAULT_LANES="kasan"
# Lanes are built from this package.
export KERNEL_SOURCE=linux-source-7.3
# Link type under test. LINK=rxe runs the lab on the kernel's own soft RoCE,
# without building module and provider: for work on the lab itself.
LINK=${LINK:-skerry}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

if [ "$KERNEL" = uml ]; then
	KERNEL='' LANE=kasan
fi
[ -z "$KERNEL" ] || [ -z "$LANE" ] || die "KERNEL=$KERNEL and LANE=$LANE: only one of them"
export SKERRY_BUILD=$BUILD KERNEL LANE LINK

[ "$(uname -m)" = x86_64 ] || die "the lab runs on x86-64 only"

# need_root - chroot and mount need it; make calls these scripts through sudo
need_root()
{
	[ "$(id -u)" = 0 ] || die "must run as root: use make, which calls sudo where needed"
}

# chosen_of ALL CHOICE - the words of ALL, or CHOICE, which must be one of them
chosen_of()
{
	local word

	# shellcheck disable=SC2086 # a list
	set -- "$2" $1
	[ -n "$1" ] || { shift; printf '%s\n' "$@"; return; }
	for word in "${@:2}"; do
		[ "$word" != "$1" ] || { echo "$word"; return; }
	done
	die "$1 is none of: ${*:2}"
}

# chosen_kernels - the distribution's kernels to build for and boot, one a line
chosen_kernels()
{
	[ -n "$LANE" ] || chosen_of "$ALL_KERNELS" "$KERNEL"
}

# chosen_lanes - the lanes likewise
chosen_lanes()
{
	if [ -n "$LANE" ]; then
		chosen_of "$ALL_LANES" "$LANE"
	elif [ -z "$KERNEL" ] && [ -z "${T:-}" ] && [ "$LINK" = skerry ]; then
		chosen_of "$DEFAULT_LANES" ""
	fi
}

# is_lane NAME - is this the name of a lane?
is_lane()
{
	case " $ALL_LANES " in *" $1 "*) return 0 ;; esac
	return 1
}

# lane_arch LANE - what its kernel is built as
lane_arch()
{
	case $1 in
	kcsan) echo x86 ;;
	*) echo um ;;
	esac
}

# lane_slow NAME - how many times slower than others this kernel or lane is
lane_slow()
{
	case $1 in
	kasan | lockdep) echo 2 ;;
	kcsan) echo 4 ;;
	*) echo 1 ;;
	esac
}

# boot_script NAME - what boots that kernel or lane
boot_script()
{
	if is_lane "$1" && [ "$(lane_arch "$1")" = um ]; then
		echo "$TOP/selftests/uml/boot.sh"
	else
		echo "$TOP/selftests/qemu/boot.sh"
	fi
}

# kernel_release SHORT - full name of a guest kernel (uname -r), of a lane's too
kernel_release()
{
	if is_lane "$1"; then
		cat "$BUILD/lane/$1/boot/release"
	else
		cat "$BUILD/kernel-$1"
	fi
}

# lock_build - one run at a time in a build directory; children inherit it
lock_build()
{
	[ "${SKERRY_LOCKED:-}" != "$BUILD" ] || return 0
	exec 9> "$BUILD/.lock"
	if ! flock -n 9; then
		echo "waiting for another run in $BUILD"
		flock 9
	fi
	export SKERRY_LOCKED=$BUILD
}

# step NAME TEXT CMD... - run one long step: say what it does and, after it,
# how long it took; its output goes to build/log/NAME.log, whose end is shown
# if it fails
step()
{
	# these names are seen by what it calls
	local _text=$2 _log=$LOG/$1.log _start=$SECONDS _rc
	shift 2

	printf -- '-- %s ... ' "$_text"
	# not in an || list: that would switch off -e inside
	set +e
	(set -e; "$@") > "$_log" 2>&1 < /dev/null 9>&-
	_rc=$?
	set -e
	if [ $_rc = 0 ]; then
		printf '%d s\n' $((SECONDS - _start))
		return 0
	fi
	printf 'FAILED after %d s (exit status %d)\n' $((SECONDS - _start)) $_rc
	printf '   end of %s:\n' "$_log"
	tail -n 40 "$_log" | sed 's/^/   | /'
	return $_rc
}

# hash_of PATH... - content hash of files and whole folders; strings that are
# no path count as they are
hash_of()
{
	local p

	for p in "$@"; do
		if [ -d "$p" ]; then
			(cd "$p" && find . -type f -print0 | sort -z |
				xargs -0r sha256sum)
		elif [ -f "$p" ]; then
			sha256sum < "$p"
		else
			printf '%s\n' "$p"
		fi
	done | sha256sum | cut -d' ' -f1
}

# fresh NAME HASH - was step NAME done with these inputs?
fresh()
{
	[ -f "$STAMP/$1" ] && [ "$(cat "$STAMP/$1")" = "$2" ]
}

# stamp NAME HASH - remember that it was
stamp()
{
	printf '%s\n' "$2" > "$STAMP/$1"
}

# in_root CMD... - run CMD in the guest root. Its /proc, and the build directory
# as /mnt, live in a mount namespace of their own, so that they are gone on every
# way out, and a PID namespace takes everything that CMD started with it.
in_root()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare --mount --pid --fork --kill-child --mount-proc="$ROOT/proc" sh -c '
		mount --bind "$1" "$2/mnt" || exit
		shift
		exec chroot "$@"' sh "$BUILD" "$ROOT" /usr/bin/env -i \
		HOME=/root TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# exec_qemu ARGUMENT... - become the guest root's own QEMU, whatever the host
# has: Debian 12's, 7.2, loses a race between translating code and the guest
# patching it, so that kernels die of "Oops: int3" where a static key is switched
# under load. The build directory is /mnt in there.
exec_qemu()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	exec unshare --mount --pid --fork --kill-child --mount-proc="$ROOT/proc" sh -c '
		mount --rbind /dev "$1/dev" && mount --bind "$2" "$1/mnt" || exit
		root=$1
		shift 2
		exec chroot "$root" qemu-system-x86_64 "$@"' sh "$ROOT" "$BUILD" \
		"${@//$BUILD//mnt}"
}

# debian_mirror - the Debian mirror that this host's apt uses; empty: unknown
debian_mirror()
{
	local sites

	# shellcheck disable=SC2016 # the names are apt's
	sites=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' \
		'Origin: Debian' 'Label: Debian' 2>/dev/null | sort -u || true)
	if [ -z "$sites" ]; then
		# shellcheck disable=SC2016
		sites=$(apt-get indextargets --format '$(SITE)' \
			'Created-By: Packages' 2>/dev/null |
			grep -E '/debian/?$' | sort -u || true)
	fi
	head -n 1 <<< "$sites"
}
