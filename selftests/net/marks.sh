#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What packets say of congestion, by the prober's capture of them: ECT(0) of RC, UC and
# UD, if the device or the program asks for congestion control; DSCP by the traffic
# class; and who has no congestion control ignores CNPs.
# timeout: 300

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=../lib/prober.sh
. "$SELFTESTS/lib/prober.sh"

[ "$LINK" = skerry ] || skip_all "congestion control is skerry's"

plan 3
prober_up
check "RoCEv2/IPv4" probe marks v4
check "RoCEv2/IPv6" probe marks v6
check "RoCEv1 has no marks" probe marks v1-v4
