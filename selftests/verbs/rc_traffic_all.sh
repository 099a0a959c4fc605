#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# rc_traffic.sh with all its messages, on a slow machine as well.
# only: on demand
# timeout: 3000

SCALE=100
# shellcheck source-path=SCRIPTDIR source=rc_traffic.sh
. "$(dirname "$0")/rc_traffic.sh"
