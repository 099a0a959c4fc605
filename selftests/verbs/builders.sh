#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The work request builders of ibv_qp_ex, and the domains that QPs and CQs live in.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

hosts_wired
links_up
run_program builders
