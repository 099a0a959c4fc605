#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# starvation.sh for a minute.
# only: on demand
# timeout: 400

FOR=60
# shellcheck source-path=SCRIPTDIR source=starvation.sh
. "$(dirname "$0")/starvation.sh"
