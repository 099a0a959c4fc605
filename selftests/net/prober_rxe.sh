#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The prober and the kernel's own rxe, which speaks RoCEv2 only: what it violates is
# reported, and is no failure of ours.
# timeout: 600
# only: on demand

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=../lib/prober.sh
. "$SELFTESTS/lib/prober.sh"

if ! rxe_in_namespaces; then
	plan 1
	skip_all "this kernel's rxe has no namespaces"
fi

hosts_wired
must link_add "$NS_A" $SK_A $DEV_A rxe
must link_add "$NS_B" $SK_B $DEV_B
must ready "$NS_A" $SK_A
must ready "$NS_B" $SK_B
must in_order "$NS_A" "$DEV_A"
must in_order "$NS_M" mA
# rxe answers a reserved syndrome with a kernel warning, on which the guest panics, and
# a packet without a whole BTH, over IPv6, with a NULL pointer
run_program prober --foreign --gid "${GID:-v4}" \
	--without 'a reserved syndrome|shorter than its headers'
