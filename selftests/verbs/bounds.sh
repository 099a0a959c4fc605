#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What bounds an ordinary user: control groups, and the mode of the device's node.
# only: on demand

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_up
links_up
run_program bounds
