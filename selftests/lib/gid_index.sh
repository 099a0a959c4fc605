#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Index of a device's first GID of one kind: RoCEv2, or RoCEv1 with "v1-" in
# front; of the addresses of one netdev only if one is given.
# Usage: gid_index.sh DEVICE [v1-]v4|v6|ll [NETDEV]

want="RoCE v2"
[ "${2#v1-}" = "$2" ] || want="IB/RoCE v1"

cd "/sys/class/infiniband/$1/ports/1" || exit
for ((i = 0; ; i++)); do
	read -r gid < "gids/$i" || exit 1
	case $gid in
	0000:0000:0000:0000:0000:0000:0000:0000) continue ;;
	0000:0000:0000:0000:0000:ffff:*) kind=v4 ;;
	fe80:*) kind=ll ;;
	*) kind=v6 ;;
	esac
	[ "$kind" = "${2#v1-}" ] || continue
	read -r type 2> /dev/null < "gid_attrs/types/$i" || continue
	[ "$type" = "$want" ] || continue
	[ -z "$3" ] || [ "$(< "gid_attrs/ndevs/$i")" = "$3" ] || continue
	echo $i
	exit 0
done 2> /dev/null
