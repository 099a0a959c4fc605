#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Many connected QPs, and the memory that one takes.
# timeout: 400

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_up
links_up
run_program many_qps --qps "${QPS:-500}"
