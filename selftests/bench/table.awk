# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# From lines "ROUND,WHO,WHAT,VALUE,UNIT" a table of medians: a line for each WHAT, and
# how many times rxe's and TCP's ours is. With kernel=1, times: how many times ours
# rxe's and siw's are; with poller=1, a column for each WHO instead; with plot=1, bandwidths
# for plot.gp.
# What costs time for each byte also stands there without both passes of the ICRC.

function median(who, key,    i, a, m) {
	m = n[who, key]
	if (!m)
		return ""
	for (i = 1; i <= m; i++)
		a[i] = v[who, key, i] + 0
	asort(a)
	return m % 2 ? a[(m + 1) / 2] : (a[m / 2] + a[m / 2 + 1]) / 2
}

function ratio(a, b) {
	return a != "" && b ? sprintf("%.2f", a / b) : ""
}

# picoseconds a byte of both passes, with packets of that size, in the unit of the key
function passes(key,    icrc) {
	icrc = median("alone", "ICRC MTU " (key ~ /MTU 1024/ ? 1024 : 4096) " [ps/B]")
	if (key ~ /CPU-s/)
		return 2 * icrc / 1000
	if (key ~ /ps.B/)
		return 2 * icrc
	# a nanosecond is an instruction
	if (key ~ /insn.KiB/)
		return 2 * icrc * 1.024
	return 0
}

function line(key, us, rxe, other) {
	printf "%-42s %10s %10s %8s %8s\n", key, us, rxe, ratio(us, rxe), ratio(us, other)
}

# What is not measured side by side, if it is measured at all
function alone(what, value) {
	if (value != "")
		printf "%-42s %10s\n", what, value
}

function side_by_side(    i, key, us, rxe, other, less, limit) {
	printf "%-42s %10s %10s %8s %8s\n", "", "skerry", "rxe", "/ rxe", "/ TCP"
	for (i = 1; i <= keys; i++) {
		key = order[i]
		us = median("skerry", key)
		rxe = median("rxe", key)
		other = ""
		if (key ~ /steered/)
			other = median("tcp", "stream steered [MiB/s]")
		else if (key ~ /MiB.s/)
			other = median("tcp", "stream [MiB/s]")
		else if (key == "send latency [us]")
			other = median("tcp", "latency [us]")
		line(key, us, rxe, other)
		less = passes(key)
		if (less)
			line("  less the ICRC", us - less, rxe == "" ? "" : rxe - less, "")
	}
	alone("TCP, one stream [MiB/s]", median("tcp", "stream [MiB/s]"))
	alone("TCP, one stream, steered [MiB/s]", median("tcp", "stream steered [MiB/s]"))
	alone("TCP, latency [us]", median("tcp", "latency [us]"))
	alone("ICRC alone, MTU 4096 [ps/B]", median("alone", "ICRC MTU 4096 [ps/B]"))
	alone("ICRC alone, MTU 1024 [ps/B]", median("alone", "ICRC MTU 1024 [ps/B]"))
	alone("copy alone [ps/B]", median("alone", "copy [ps/B]"))
	limit = median("alone", "ICRC and copy [MiB/s]")
	us = median("skerry", "write 64 KiB MTU 4096 [MiB/s]")
	if (!limit || us == "")
		return
	printf "%-42s %10.1f %s\n", "limit: ICRC and copy, on two CPUs [MiB/s]", limit,
		"reached: " ratio(us, limit) \
		", steered " ratio(median("skerry", "write 64 KiB MTU 4096 steered [MiB/s]"), limit)
}

function times(key, us, rxe, siw) {
	printf "%-34s %9s %9s %9s %10s %10s\n", key, us, rxe, siw, ratio(rxe, us), ratio(siw, us)
}

# siw sends no CRC
function kernel_verbs(    i, key, us, rxe, siw, less) {
	printf "%-34s %9s %9s %9s %10s %10s\n", "", "skerry", "rxe", "siw", "rxe / ours",
		"siw / ours"
	for (i = 1; i <= keys; i++) {
		key = order[i]
		us = median("skerry", key)
		rxe = median("rxe", key)
		siw = median("siw", key)
		times(key, us, rxe, siw)
		less = passes(key)
		if (less)
			times("  less the ICRC", us - less, rxe - less, siw)
	}
	printf "%-34s %9s\n", "ICRC alone, MTU 4096 [ps/B]", median("alone", "ICRC MTU 4096 [ps/B]")
	printf "%-34s %9s\n", "ICRC alone, MTU 1024 [ps/B]", median("alone", "ICRC MTU 1024 [ps/B]")
}

function columns(    i, j) {
	printf "%-34s", ""
	for (j = 1; j <= whos; j++)
		printf " %11s", column[j]
	printf "\n"
	for (i = 1; i <= keys; i++) {
		printf "%-34s", order[i]
		for (j = 1; j <= whos; j++)
			printf " %11s", median(column[j], order[i])
		printf "\n"
	}
}

function bandwidths(    i, key) {
	for (i = 1; i <= keys; i++) {
		key = order[i]
		if (key ~ /MiB.s/)
			printf "%s\t%s\t%s\t%s\n", substr(key, 1, index(key, " [") - 1),
				median("skerry", key), median("rxe", key),
				median("tcp", "stream [MiB/s]")
	}
}

{
	key = $3 " [" $5 "]"
	v[$2, key, ++n[$2, key]] = $4
}

!($2 in known) {
	known[$2]
	column[++whos] = $2
}

!(key in seen) && $2 != "tcp" && $2 != "alone" {
	seen[key]
	order[++keys] = key
}

END {
	if (poller)
		columns()
	else if (kernel)
		kernel_verbs()
	else if (plot)
		bandwidths()
	else
		side_by_side()
}
