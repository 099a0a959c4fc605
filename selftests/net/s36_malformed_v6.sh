#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# S36: malformed packets, over IPv6.
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_wired
links_up
lines=$(dmesg | wc -l)
run_program s36_malformed --gid v6
note "lines in the kernel log meanwhile: $(($(dmesg | wc -l) - lines))"
if [ $(($(dmesg | wc -l) - lines)) -gt 20 ]; then
	note "the log was flooded"
	_bad=1
fi
