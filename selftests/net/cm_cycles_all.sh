#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# cm_cycles.sh with all its connections, on a slow machine as well.
# only: on demand
# timeout: 3000

SCALE=100
# shellcheck source-path=SCRIPTDIR source=cm_cycles.sh
. "$(dirname "$0")/cm_cycles.sh"
