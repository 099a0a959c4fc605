#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# C26: multicast groups, RoCEv1 with IPv4 groups.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_wired
links_up
run_program c26_multicast --gid v1-v4
