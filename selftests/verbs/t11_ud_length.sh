#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# T11: lengths of datagrams and the 40 bytes in front of them, IPv4.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_wired
links_up
run_program t11_ud_length
