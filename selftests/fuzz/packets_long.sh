#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# As packets.sh, ten million packets.
# only: on demand
# timeout: 28800

PACKETS=10000000
# shellcheck source-path=SCRIPTDIR source=packets.sh
. "$(dirname "$0")/packets.sh"
