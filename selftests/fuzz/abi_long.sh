#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# As abi.sh, five million calls.
# only: on demand
# timeout: 14400

CALLS=5000000
# shellcheck source-path=SCRIPTDIR source=abi.sh
. "$(dirname "$0")/abi.sh"
