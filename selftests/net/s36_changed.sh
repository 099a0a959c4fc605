#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# S36: packets that their sender changes after they were checked.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_up
links_up
# the neighbour has to be known: nothing can be asked later
must on "$NS_A" ping -6 -c 1 -W 5 $IP6_B
run_program s36_changed
