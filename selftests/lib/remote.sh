#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Run a command in the other guest of a test with two (see qemu/agent.sh). What it
# says on either output is said here; its exit status is this script's, or 255 if the
# other guest is not to be reached. It ends there when this script is killed.
# Usage: remote.sh COMMAND...

exec 4<> /dev/tcp/10.99.0.2/7999 || exit 255
printf '%q ' "$@" >&4
echo >&4
while IFS= read -r line <&4; do
	case $line in
	o*) printf '%s\n' "${line#o}" ;;
	e*) exit "${line#e}" ;;
	esac
done
exit 255
