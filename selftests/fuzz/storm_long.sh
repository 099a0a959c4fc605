#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# As storm.sh, ten minutes.
# only: on demand
# timeout: 2400

DURATION=${DURATION:-600}
# shellcheck source-path=SCRIPTDIR source=storm.sh
. "$(dirname "$0")/storm.sh"
