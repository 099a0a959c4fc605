# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Bandwidths side by side as a picture.
# Usage: gnuplot -e "data='FILE.dat'; png='FILE.png'; what='TITLE'" plot.gp
# FILE.dat is what table.awk writes with plot=1.

set terminal pngcairo size 1100,600
set output png
set datafile separator '\t'
set datafile missing ''
set title what
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set ylabel 'MiB/s'
set yrange [0:*]
set grid ytics
set xtics rotate by -35
plot data using 2:xtic(1) title 'skerry', '' using 3 title 'rxe', \
     '' using 4 title 'TCP, one stream'
