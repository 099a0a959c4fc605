# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What tests of the prober share. Source it after lib.sh.

# prober_up - two hosts, the cable between them in the prober's hands; packets keep
# their order on it
prober_up()
{
	hosts_wired
	links_up
	must in_order "$NS_A" "$DEV_A"
	must in_order "$NS_M" mA
}

# probe SUITE GID [ARGS...] - one of the prober's suites as a single point
probe()
{
	"$PROG/prober" --a "$SK_A" --b "$SK_B" --suite "$1" --gid "$2" "${@:3}" > "$TMP/probe" ||
		{ grep -v '^ok ' "$TMP/probe"; return 1; }
}
