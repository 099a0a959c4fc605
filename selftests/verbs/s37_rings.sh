#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# S37: rings that user space shares with the kernel, under fire from their owner.
# timeout: 180

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_up
links_up
run_program s37_rings --rounds 20 --ms 500
