#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# rdma-core's own Python tests, all but those of other providers. What they may
# skip is listed in lib/rdma_core_skips.
# timeout: 900

# shellcheck source-path=SCRIPTDIR source=../lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

TESTS=${RDMA_CORE:-$SELFTESTS/../rdma-core}

must test -d "$TESTS/tests"
NS_A=''
must ip link add $DEV_A mtu $HOST_MTU type veth peer name $DEV_B mtu $HOST_MTU
defer ip link del $DEV_A
must ip link set $DEV_B up
no_dad ''
address '' $DEV_A $MAC_A $IP4_A $IP6_A $LL_A
must link_add '' $SK_A $DEV_A
must ready '' $SK_A

# they want huge pages
cp "$SELFTESTS/lib/rdma_core_skips" "$TMP/skips"
if [ -d /sys/kernel/mm/hugepages/hugepages-2048kB ]; then
	pages=$(< /proc/sys/vm/nr_hugepages)
	must sysctl -qw vm.nr_hugepages=$((pages + 32))
	defer sysctl -qw vm.nr_hugepages="$pages"
else
	echo "Huge pages of size 2M is not supported" >> "$TMP/skips"
fi

"$SELFTESTS/lib/rdma_core_tests.py" "$TESTS" $SK_A "$TMP/skips"
_bad=$?
