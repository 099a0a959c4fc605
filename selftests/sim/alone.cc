// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "alone.hh"

#include <random>

namespace sim
{

Alone flow_alone(const skr_cc_params &params, double line_rate, double marked, double spacing,
		 double packet, double seconds, unsigned seed)
{
	std::mt19937_64 random(seed);
	std::geometric_distribution<uint64_t> unmarked(marked);
	const double from = seconds * 1e8, to = seconds * 1e9;
	double now = 0, cnp_from = 0, bytes = 0, alpha = 0;
	uint64_t left = unmarked(random);
	skr_cc cc;

	skr_cc_init(&cc, &skr_cc_dcqcn, &params, line_rate);
	skr_cc_cnp(&cc, now);
	while (now < to) {
		double takes = packet * 1e9 / cc.rate;
		skr_cc_view view;

		now += takes;
		skr_cc_timer(&cc, now);
		skr_cc_sent(&cc, packet, now);
		if (!left--) {
			left = unmarked(random);
			if (now >= cnp_from) {
				cnp_from = now + spacing * 1e9;
				skr_cc_cnp(&cc, now);
			}
		}
		if (now < from)
			continue;
		skr_cc_show(&cc, now, &view);
		bytes += packet;
		alpha += view.alpha / 1024.0 * takes;
	}
	return { bytes / (to - from) * 1e9, alpha / (to - from) };
}

} // namespace sim
