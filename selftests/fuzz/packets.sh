#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Packets that are right but for something, to live QPs of all transports, by RoCEv2
# and RoCEv1; packets_long.sh is the same for long.
# timeout: 240

# shellcheck source-path=SCRIPTDIR source=../lib/fuzz.sh
. "$(dirname "$0")/../lib/fuzz.sh"

hosts_switched
links_up
long_backlog
fuzz_program fuzz_packets packets "${PACKETS:-20480}"
