# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Reads what a guest says (see guest-run.sh), prints one line a test and, for
# a test that failed, what it said; appends one line a result to the file
# `results`: pass|fail|skip WHERE TEST NUMBER-AND-NAME, and behind a failure what
# was said before it, its first lines: say WHERE TEST TEXT
#
# Variables: where (kernel), results (file), seen (file: names begun),
# show (1: print everything)

function result(kind, what)
{
	count[kind]++
	print kind, where, test, what >> results
	fflush(results)	# two guests write it: whole lines
	if (kind == "fail")
		failed[++nfailed] = what
}

# tell - what was said since the last point
function tell(	i)
{
	for (i = 1; i <= nsaid; i++)
		print "say", where, test, said[i] >> results
	fflush(results)
	nsaid = 0
}

function finish(status, seconds,	i, mark)
{
	if (!skip_all) {
		if (plan < 0)
			result("fail", "no plan, exit status " status)
		else if (plan != points)
			result("fail", "planned " plan ", ran " points ", exit status " status)
		else if (status != 0 && !count["fail"])
			result("fail", "exit status " status)
		if (plan != points || status != 0)
			tell()
	}
	mark = count["fail"] ? "FAIL" : (count["pass"] ? "ok  " : "skip")
	printf "%-5s %s %s (%d passed%s%s, %s s)%s\n", where, mark, test, count["pass"],
		count["fail"] ? ", " count["fail"] " FAILED" : "",
		count["skip"] ? ", " count["skip"] " skipped" : "", seconds,
		skip_all ? ": " skip_all : ""
	if (count["fail"]) {
		for (i = 1; i <= nfailed && i <= 10; i++)
			printf "%-5s      failed: %s\n", where, failed[i]
		for (i = (nlines > 50 ? nlines - 50 : 1); i <= nlines; i++)
			printf "%-5s      | %s\n", where, lines[i]
	}
	fflush()
	close(results)
	test = ""
}

{ sub(/\r$/, "") }
show { print where, $0; fflush() }

$1 == "@boot" {
	printf "%-5s booted %s, ready %s s after its start\n", where, $2, $3
	fflush()
	next
}

$1 == "@begin" {
	test = $2
	plan = -1
	points = nlines = nfailed = nsaid = 0
	skip_all = ""
	delete count
	print test >> seen
	close(seen)
	next
}

$1 == "@fault" {
	sub(/^@fault [^ ]+ /, "")
	result("fail", $0)
	next
}

$1 == "@end" { finish($3, $4); next }
$1 == "@done" { done = 1; next }

test == "" { next }
{ lines[++nlines] = $0 }

/^1\.\.[0-9]+/ {
	if (plan >= 0) {
		result("fail", "a second plan")
		next
	}
	plan = substr($1, 4) + 0
	if (plan == 0) {
		skip_all = $0
		sub(/^1\.\.0 *#? */, "", skip_all)
		result("skip", skip_all)
	}
	next
}

/^(not )?ok( |$)/ {
	points++
	kind = /^not/ ? "fail" : (/# *SKIP/ ? "skip" : "pass")
	what = $0
	sub(/^(not )?ok */, "", what)
	result(kind, what)
	if (kind == "fail")
		tell()
	nsaid = 0
	next
}

/^#/ && (nsaid < 8 || /^# switched off by the host/) { said[++nsaid] = $0 }

/^Bail out!/ { result("fail", $0) }

END {
	if (test != "") {
		result("fail", "the guest died or hung in this test, behind " points " points")
		tell()
		plan = points
		finish(0, "?")
	}
	if (!done)
		print where > (seen ".died")
}
