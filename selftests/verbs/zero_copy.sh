#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Payloads that leave without a copy: what is lent, and what becomes of it.

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

[ "$LINK" = skerry ] || skip_all "zero copy is skerry's"
hosts_up
links_up
run_program zero_copy
