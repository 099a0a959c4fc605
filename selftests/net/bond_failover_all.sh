#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# bond_failover.sh for every kind of aggregate and both types of GIDs, with more
# failovers, and with QPs whose time-out is 17 s.
# only: on demand
# timeout: 900

FAILOVERS="active-backup:v4 active-backup:v1-v6 802.3ad:v4 802.3ad:v1-v6 team:v4 team:v1-v6"
FAILOVERS+=" active-backup:v4:22 802.3ad:v4:22"
GOES="1 2 1 2"
# shellcheck source-path=SCRIPTDIR source=bond_failover.sh
. "$(dirname "$0")/bond_failover.sh"
