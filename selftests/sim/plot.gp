# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A scenario's CSV as a picture: rates, queue, fairness.
# Usage: gnuplot -e "csv='FILE.csv'; png='FILE.png'; what='TITLE'; kmax=KB" plot.gp

set terminal pngcairo size 900,900
set output png
set datafile separator ','
set multiplot layout 3,1 title what
stats csv every ::1 nooutput
flows = STATS_columns - 6
set xlabel 'ms'
set grid
set key off
set ylabel 'Gb/s per flow'
set yrange [0:*]
plot for [i=7:6+flows] csv using 1:i every ::1 with lines
set key on
set ylabel 'queue, KB'
plot csv using 1:3 every ::1 with lines lc rgb '#bbbbbb' title 'deepest', \
     csv using 1:2 every ::1 with lines lw 2 lc rgb '#0044aa' title 'mean', \
     kmax with lines dt 2 lc rgb '#aa0000' title 'Kmax'
set ylabel 'Jain, 10 ms'
set yrange [0:1.02]
set y2range [0:*]
set y2tics
set y2label 'total, Gb/s'
plot csv using 1:4 every ::1 with lines lw 2 title 'Jain', \
     csv using 1:5 every ::1 axes x1y2 with lines title 'total'
unset multiplot
