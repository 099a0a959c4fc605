#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# QPs at work, little and much, while others query them, by verbs and by `rdma resource`.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_up
links_up
while :; do
	rdma -dd resource show qp > /dev/null
done &
defer kill $!
run_program onlookers
