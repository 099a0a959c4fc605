#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# An unprivileged process of the same machine sends packets out of pages that it goes on
# writing to: what was checked is what is used.

# shellcheck source-path=SCRIPTDIR source=../lib/fuzz.sh
. "$(dirname "$0")/../lib/fuzz.sh"

hosts_up
links_up
fuzz_program shifting seconds "${SECONDS_EACH:-5}"
