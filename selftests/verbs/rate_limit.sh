#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Rates that the user sets: a QP's rate limit (packet pacing), an address's static rate.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

[ "$LINK" = skerry ] || skip_all "rate limits are skerry's"

hosts_up
links_up
run_program rate_limit
