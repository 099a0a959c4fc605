# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# Sourced by what boots a guest, after common.sh: waits for its end, and switches
# off one that has fallen silent. The caller sets dir, with verdict in it.

BOOT_LIMIT=240	# seconds without a word from a booting guest
SLACK=90	# seconds that a test may take beyond its own time-out
END_LIMIT=60	# seconds to power down, when all is said: User-mode Linux may never come to it

# quiet_limit - how long the guest may say nothing now
quiet_limit()
{
	local begun

	if grep -aq '^@done' "${dir:?}/verdict" 2> /dev/null; then
		echo $END_LIMIT
		return
	fi
	begun=$(grep -a '^@begin ' "$dir/verdict" 2> /dev/null | tail -n 1 | cut -d' ' -f3)
	if [ -n "$begun" ]; then
		echo $((begun + SLACK))
	else
		echo $BOOT_LIMIT
	fi
}

# switch_off PID WHY - and say so where the guest would
switch_off()
{
	echo "# switched off by the host: $2" >> "$dir/verdict"
	kill -9 "$1"
}

# watch_guest PID [PEER] - until it ends; the second guest is not to end before it
watch_guest()
{
	local guest=$1 peer=${2:-} said=-1 since=$SECONDS now

	while kill -0 "$guest" 2> /dev/null; do
		sleep 1
		now=$(stat -c %s "$dir/verdict")
		if [ "$now" != "$said" ]; then
			said=$now
			since=$SECONDS
		elif [ $((SECONDS - since)) -gt "$(quiet_limit)" ]; then
			switch_off "$guest" "silent for $((SECONDS - since)) s"
		elif [ -n "$peer" ] && ! kill -0 "$peer" 2> /dev/null; then
			switch_off "$guest" "the second guest has ended"
		fi
	done
	wait "$guest" || true
}
