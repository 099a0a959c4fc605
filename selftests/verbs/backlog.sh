#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A QP that is kept from working, and packets that wait for it.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

[ "$LINK" = skerry ] || skip_all "the counter is skerry's"

hosts_up
links_up
long_backlog
run_program backlog
