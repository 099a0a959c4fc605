#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# V17: the device is what it says it is, and refuses the rest without a word in
# the kernel log.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_wired
links_up
before=$(log_lines)
run_program v17_capabilities
if [ "$(log_lines)" != "$before" ]; then
	dmesg | tail -n +$((before + 1)) | sed 's/^/# the kernel says: /'
	_bad=1
fi
