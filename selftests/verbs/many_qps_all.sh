#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# many_qps.sh with 10,000 of each device.
# only: on demand
# timeout: 3000

QPS=10000
# shellcheck source-path=SCRIPTDIR source=many_qps.sh
. "$(dirname "$0")/many_qps.sh"
