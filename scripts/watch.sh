# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# Sourced by what boots a guest, after common.sh: waits for its end, and switches
# off one that has fallen silent. The caller sets dir, with verdict in it.

BOOT_LIMIT=240	# seconds without a word from a booting guest
SLACK=90	# seconds that a test may take beyond its own time-out

# quiet_limit - how long the guest may say nothing now
quiet_limit()
{
	local begun

	begun=$(grep -a '^@begin ' "${dir:?}/verdict" 2> /dev/null | tail -n 1 | cut -d' ' -f3)
	if [ -n "$begun" ]; then
		echo $((begun + SLACK))
	else
		echo $BOOT_LIMIT
	fi
}

# watch_guest PID - until it ends
watch_guest()
{
	local guest=$1 said=-1 since=$SECONDS now

	while kill -0 "$guest" 2> /dev/null; do
		sleep 1
		now=$(stat -c %s "$dir/verdict")
		if [ "$now" != "$said" ]; then
			said=$now
			since=$SECONDS
		elif [ $((SECONDS - since)) -gt "$(quiet_limit)" ]; then
			echo "# silent for $((SECONDS - since)) s: switched off by the host" >> "$dir/verdict"
			kill -9 "$guest"
		fi
	done
	wait "$guest" || true
}
