# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The live lab's CSV as a picture: with congestion control on the left, without it on
# the right: rates that QPs allow themselves, what arrives, what waits.
# Usage: gnuplot -e "csv='FILE.csv'; png='FILE.png'; mbps=RATE" live.gp

set terminal pngcairo size 1200,900
set output png
set datafile separator ','
set multiplot layout 3,2 columnsfirst title sprintf('4:1 at %d Mb/s, live', mbps)
set xrange [0:16]
set grid
set key off
of(run, kind, flow) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\" && $4 == %d' %s", run, kind, flow, csv)
do for [run in 'dcqcn none'] {
	set title run
	set ylabel 'rate allowed, Mb/s'
	set yrange [0:mbps * 1.1]
	if (run eq 'none') {
		plot NaN
	} else {
		plot for [i=1:4] of(run, 'rate', i) using ($3 / 1000):($5 * 8e-6) with lines
	}
	unset title
	set ylabel 'arrived, Mb/s'
	plot for [i=1:4] of(run, 'bin', i) using ($3 / 1000):($5 * 80e-6) with lines, mbps / 4.0 with lines dt 2 lc rgb '#888888'
	set ylabel 'queue, KB'
	set yrange [0:*]
	set xlabel 's'
	plot of(run, 'queue', 0) using ($3 / 1000):($5 / 1000) with lines lc rgb '#0044aa'
	unset xlabel
}
unset multiplot
