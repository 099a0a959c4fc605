# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What the fuzzers' tests share: see Documentation/fuzzing.rst. SEED, COUNT and LIFE in
# the environment are what a run is repeated with.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# objects - what there is of either device, but for the numbers that lines begin with
objects()
{
	local dev

	for dev in "$SK_A" "$SK_B"; do
		rdma resource show "$dev" | sed 's/^[0-9]*: //'
	done
}

# nothing_left - the same objects as at the start
nothing_left()
{
	objects > "$TMP/objects.now"
	cmp -s "$TMP/objects" "$TMP/objects.now"
}

# log_lines - of the kernel's
log_lines()
{
	dmesg | wc -l
}

# fuzz_program NAME COUNTED N [ARGS...] - run a fuzzer for N of what it counts, or COUNT;
# then no object may be left, and the log not be flooded
fuzz_program()
{
	local lines status args=("--$2=${COUNT:-$3}" "--seed=${SEED:-1}")

	[ -z "${LIFE:-}" ] || args+=("--life=$LIFE")
	objects > "$TMP/objects"
	lines=$(log_lines)
	run_program "$1" "${args[@]}" "${@:4}"
	status=$_bad
	if ! wait_until 20 nothing_left; then
		diff "$TMP/objects" "$TMP/objects.now" | sed 's/^/# left: /'
		status=1
	fi
	lines=$(($(log_lines) - lines))
	note "lines in the kernel log meanwhile: $lines"
	if [ $lines -gt 200 ]; then
		note "the log was flooded; the end of it:"
		dmesg | tail -n 5 | sed 's/^/# /'
		status=1
	fi
	_bad=$status
}
