#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Index of a device's first RoCEv2 GID of one kind.
# Usage: gid_index.sh DEVICE v4|v6|ll

cd "/sys/class/infiniband/$1/ports/1" || exit
for ((i = 0; ; i++)); do
	read -r gid < "gids/$i" || exit 1
	case $gid in
	0000:0000:0000:0000:0000:0000:0000:0000) continue ;;
	0000:0000:0000:0000:0000:ffff:*) kind=v4 ;;
	fe80:*) kind=ll ;;
	*) kind=v6 ;;
	esac
	[ "$kind" = "$2" ] || continue
	read -r type 2> /dev/null < "gid_attrs/types/$i" || continue
	[ "$type" = "RoCE v2" ] || continue
	echo $i
	exit 0
done 2> /dev/null
