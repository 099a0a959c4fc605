#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# rc_huge.sh with its 2 GiB, on a slow machine as well.
# only: on demand
# timeout: 900

SCALE=100
# shellcheck source-path=SCRIPTDIR source=rc_huge.sh
. "$(dirname "$0")/rc_huge.sh"
