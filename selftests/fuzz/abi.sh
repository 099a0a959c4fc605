#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# ioctl() and write() on uverbs, all that libibverbs can say and what it would not;
# abi_long.sh is the same for long.
# timeout: 400

# shellcheck source-path=SCRIPTDIR source=../lib/fuzz.sh
. "$(dirname "$0")/../lib/fuzz.sh"

hosts_up
links_up
fuzz_program fuzz_abi calls "${CALLS:-5000}"
