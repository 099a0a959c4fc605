#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# S36: malformed packets, over IPv6.
# timeout: 300

KIND=v6
# shellcheck source-path=SCRIPTDIR source=s36_malformed.sh
. "$(dirname "$0")/s36_malformed.sh"
