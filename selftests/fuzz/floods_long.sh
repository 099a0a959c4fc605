#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# As floods.sh, 100,000 packets of each kind, each within ten seconds or as slowly as it
# must be for there to be processors left; the bystander keeps four fifths of its rate.
# only: on demand
# timeout: 3600

PACKETS=100000 SECONDS_EACH=10 LEAST=80
# shellcheck source-path=SCRIPTDIR source=floods.sh
. "$(dirname "$0")/floods.sh"
