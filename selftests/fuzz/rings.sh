#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Every byte that the device shares with a process, under fire from its owner; the
# objects of it go, and nobody else notices. rings_long.sh is the same for long.
# timeout: 600

# shellcheck source-path=SCRIPTDIR source=../lib/fuzz.sh
. "$(dirname "$0")/../lib/fuzz.sh"

hosts_up
links_up
fuzz_program fuzz_rings mutations "${MUTATIONS:-4000}"
