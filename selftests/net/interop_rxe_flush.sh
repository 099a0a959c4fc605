#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# FLUSH and ATOMIC WRITE with the kernel's rxe at the other end, as server and as
# client. The ICRC of rxe's FLUSHes is wrong; the cable translates (prog/flush.cc).

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# side ASK ANSWER RXE - links of these types, and the tests with A asking B
side()
{
	local mark

	mark=$(deferred)
	must link_add "$NS_A" $SK_A $DEV_A "$1"
	must link_add "$NS_B" $SK_B $DEV_B "$2"
	must ready "$NS_A" $SK_A
	must ready "$NS_B" $SK_B
	"$PROG/flush" --a $SK_A --b $SK_B --rxe "$3" > "$TMP/out"
	sed -n "s/^\(not ok\|ok\) [0-9]* - \(.*\)/\1 \2/p" "$TMP/out" |
		sed "s/\$/, $1 asks $2/" > "$TMP/results"
	grep '^#' "$TMP/out"
	undo_to "$mark"
}

plan 8
rxe_in_namespaces || skip_all "this kernel's rxe lives in the first namespace"
hosts_wired
for ask in rxe "$LINK"; do
	if [ "$ask" = rxe ]; then
		side rxe "$LINK" a
	else
		side "$LINK" rxe b
	fi
	while read -r good name; do
		case $good in
		ok) ok "$name" ;;
		*) not_ok "${name#ok }" ;;
		esac
	done < "$TMP/results"
done
