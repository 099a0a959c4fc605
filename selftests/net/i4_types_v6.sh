#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# I4: RoCEv1 and RoCEv2 do not mix on connected QPs, over IPv6 addresses.
# timeout: 120

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_wired
links_up
run_program i4_types --gid v6
