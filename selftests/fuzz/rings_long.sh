#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# As rings.sh, a million mutations.
# only: on demand
# timeout: 7200

MUTATIONS=1000000
# shellcheck source-path=SCRIPTDIR source=rings.sh
. "$(dirname "$0")/rings.sh"
