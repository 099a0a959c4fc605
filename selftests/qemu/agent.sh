#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# In the second guest, once for each connection of lib/remote.sh: reads a line, a
# command, and runs it. Each line that it says goes back with an o in front; at last
# comes an e with its exit status. If the connection ends before, so does the command.

IFS= read -r command || exit
exec 4<&0
say=$(mktemp -u /run/agent.XXXXXX)
mkfifo "$say"
sed -u 's/^/o/' < "$say" &
voice=$!
setsid bash -c "$command" > "$say" 2>&1 < /dev/null 4<&- &
pid=$!
(
	while read -r _ <&4; do :; done
	kill -TERM -- -$pid
	sleep 5
	kill -KILL -- -$pid
) > /dev/null 2>&1 &
watch=$!
wait $pid
status=$?
rm "$say"
wait $voice
kill $watch
printf '\ne%d\n' $status
