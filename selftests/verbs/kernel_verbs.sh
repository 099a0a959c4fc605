#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What consumers in the kernel do: fast registration, keys and their invalidation,
# draining, posting and polling from everywhere (selftests/kmod).

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

TAP=/sys/kernel/debug/kvtest/tap

hosts_up
links_up
if ! insmod "$PROG/kvtest.ko" a=$SK_A b=$SK_B slow="$SLOW"; then
	plan 1
	bail "kvtest did not run"
fi
defer rmmod kvtest
cat $TAP
# the plan and the results are its own
grep -q '^1\.\.[1-9]' $TAP && ! grep -q '^not ok' $TAP
_bad=$?
