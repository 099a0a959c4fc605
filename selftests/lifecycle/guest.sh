#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The guest itself: a kernel with what selftests/config asks for, the tools that
# tests call, and a kernel that panics where it would otherwise only warn.

cd "$(dirname "$0")/.." || exit 1
n=0

check()
{
	local text=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $text"
	else
		echo "not ok $n - $text"
	fi
}

# config_has - every option is built in, or a module where =m is asked for
config_has()
{
	local line rc=0

	while read -r line; do
		grep -q -e "^$line\$" -e "^${line%=m}=y\$" "/boot/config-$(uname -r)" ||
			{ echo "# the kernel has not: $line"; rc=1; }
	done < config
	return $rc
}

tools_there()
{
	local tool rc=0

	for tool in ip rdma tc ethtool ibv_rc_pingpong ibv_devinfo ib_write_bw tcpdump tshark \
		strace socat python3; do
		command -v "$tool" > /dev/null || { echo "# there is no: $tool"; rc=1; }
	done
	return $rc
}

# panics - but where KCSAN reports, each of which would be a panic
panics()
{
	{ [ "$(cat /proc/sys/kernel/panic_on_warn)" = 1 ] || [ -e /sys/kernel/debug/kcsan ]; } &&
		[ "$(cat /proc/sys/kernel/panic_on_oops)" = 1 ]
}

# memory_watched - by KASAN or KCSAN, or what becomes of objects, else by KFENCE, which
# takes samples; but in the lane that is for speed
memory_watched()
{
	[[ $(uname -r) = *-native ]] ||
		grep -qE '^CONFIG_(K[AC]SAN|DEBUG_OBJECTS)=y' "/boot/config-$(uname -r)" ||
		[ "$(cat /sys/module/kfence/parameters/sample_interval)" -gt 0 ]
}

check "kernel options of selftests/config" config_has
check "tools" tools_there
check "warnings panic" panics
check "memory is watched" memory_watched
echo "1..$n"
