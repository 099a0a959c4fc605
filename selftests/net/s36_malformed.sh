#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# S36: malformed packets, over IPv4; s36_malformed_v6.sh is the same over IPv6.
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_wired
links_up
lines=$(dmesg | wc -l)
run_program s36_malformed --gid "${KIND:-v4}"
lines=$(($(dmesg | wc -l) - lines))
note "lines in the kernel log meanwhile: $lines"
if [ $lines -gt 20 ]; then
	note "the log was flooded"
	_bad=1
fi
