#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# timeout: 400
#
# On-demand paging.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# where memory counts, its tables do
if echo +memory > /sys/fs/cgroup/cgroup.subtree_control; then
	defer sh -c "echo -memory > /sys/fs/cgroup/cgroup.subtree_control"
fi 2> /dev/null
hosts_wired
links_up
run_program odp
