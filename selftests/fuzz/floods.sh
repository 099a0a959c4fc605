#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Floods of packets of one kind: unknown QPs, CNPs, NAKs, connection requests, spoofed
# ones. A bystander goes on, what memory they take is bounded; floods_long.sh is
# 100,000 of each.
# only: on demand
# timeout: 400

# shellcheck source-path=SCRIPTDIR source=../lib/fuzz.sh
. "$(dirname "$0")/../lib/fuzz.sh"

hosts_switched
links_up
long_backlog
fuzz_program fuzz_packets packets "${PACKETS:-1024}" --floods "--seconds=${SECONDS_EACH:-1}" \
	"--least=${LEAST:-0}"
