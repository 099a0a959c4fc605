// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The names are the model's (Zhu et al., "ECN or Delay", CoNEXT 2016). Rates are
 * in packets per second, and all flows have the same.
 */
#include "fluid.hh"

#include <algorithm>
#include <cmath>

namespace sim
{

namespace
{

/* (1 - p)^n, also for a tiny p */
double none_of(double p, double n)
{
	return std::exp(n * std::log1p(-p));
}

struct Model {
	double tau, tau_alpha, T; /* seconds */
	double B, F, R_ai, R_c;

	double alpha(double p) const { return 1 - none_of(p, tau_alpha * R_c); }

	/* how much more there is of cuts than of increases */
	double excess(double p) const
	{
		double a = 1 - none_of(p, tau * R_c);
		double b = B ? p / std::expm1(-B * std::log1p(-p)) : 0;
		double d = p / std::expm1(-T * R_c * std::log1p(-p));
		double c = b * none_of(p, F * B);
		double e = d * none_of(p, F * T * R_c);
		/* from dR_t/dt = 0 */
		double gap = R_ai * R_c * (c + e) * tau / a;

		return R_c * alpha(p) * a / (2 * tau) - gap / 2 * R_c * (b + d);
	}
};

/* From one CNP to the next; rates in bytes per second */
class Renewal
{
public:
	double alpha = 0; /* mean over time, of the last rate() */

	Renewal(const skr_cc_params &params, double fair_rate, double packet_bytes)
		: p(params), fair(fair_rate), packet(packet_bytes)
	{
	}

	/* the mean rate of a flow of whose packets this share is marked */
	double rate(double marked)
	{
		double g = 1 - p.rp_dce_tcp_g / 1024.0;
		double K = p.rp_dce_tcp_rtt * 1e-6;
		double wait = packet / (marked * fair);
		double decay = 0, alpha_time = 0, time = 0;

		for (int i = 0; i < points; i++) {
			double t = interval(wait, i);

			decay += std::pow(1 - g, std::floor(t / K)) / points;
			/* the sum of a geometric series, and the part of a period */
			double n = std::floor(t / K), left = std::pow(1 - g, n);
			alpha_time += (K * (1 - left) / g + (t - n * K) * left) / points;
			time += t / points;
		}
		double start = g / (1 - decay * (1 - g));
		alpha = start * alpha_time / time;
		cut = start * decay / 2;

		/* what is left at the end: a share of the rate, and of R_ai */
		Path all{};
		for (int i = 0; i < points; i++) {
			Path one = follow(interval(wait, i));

			all.end_rate += one.end_rate / points;
			all.end_ai += one.end_ai / points;
			all.sum_rate += one.sum_rate / points;
			all.sum_ai += one.sum_ai / points;
		}
		double ai = p.rp_ai_rate * 125.0;
		double begin = ai * all.end_ai / (1 - all.end_rate);
		return (begin * all.sum_rate + ai * all.sum_ai) / time;
	}

private:
	static constexpr int points = 500;
	const skr_cc_params &p;
	double fair, packet, cut = 0;

	struct Path {
		double end_rate, end_ai; /* at the end of an interval */
		double sum_rate, sum_ai; /* integrated over it */
	};

	double interval(double wait, int i) const
	{
		double t =
			p.np_min_time_between_cnps * 1e-6 - wait * std::log1p(-(i + 0.5) / points);

		/* nothing of interest happens later, and there it takes long to follow */
		return std::min(t, 0.1);
	}

	Path follow(double t) const
	{
		double T = p.rp_time_reset * 1e-6, B = p.rp_byte_reset / fair;
		double next_t = T, next_b = p.rp_byte_reset ? B : INFINITY, now = 0;
		double rate = 1 - cut, ai = 0, target_ai = 0, sum_rate = 0, sum_ai = 0;
		unsigned ts = 0, bs = 0;

		for (;;) {
			double at = std::min({ next_t, next_b, t });

			sum_rate += rate * (at - now);
			sum_ai += ai * (at - now);
			now = at;
			if (at >= t)
				return { rate, ai, sum_rate, sum_ai };
			if (std::max(ts, bs) >= p.rp_threshold)
				target_ai++;
			rate = (rate + 1) / 2;
			ai = (ai + target_ai) / 2;
			if (at == next_t) {
				next_t += T;
				ts++;
			} else {
				next_b += B;
				bs++;
			}
		}
	}
};

FixedPoint settled(double p, double alpha, const Red &red)
{
	/* where the search ends without a result, no share is enough */
	return { p, alpha, red.kmin + p / red.pmax * (red.kmax - red.kmin),
		 p > std::min(red.pmax, 0.49) };
}

} // namespace

FixedPoint fluid_point(const skr_cc_params &params, const Red &red, double rate, unsigned flows,
		       double packet)
{
	Model m;
	double low = 1e-9, high = 0.5;

	/* the receiver's spacing, or the sender's: cuts are no closer to each other */
	m.tau = 1e-6 *
		std::max(params.np_min_time_between_cnps, params.rp_rate_reduce_monitor_period);
	m.tau_alpha = params.rp_dce_tcp_rtt * 1e-6;
	m.T = params.rp_time_reset * 1e-6;
	m.B = params.rp_byte_reset / packet;
	m.F = params.rp_threshold;
	m.R_ai = params.rp_ai_rate * 125.0 / packet;
	m.R_c = rate / flows / packet;
	for (int i = 0; i < 200; i++) {
		double p = std::sqrt(low * high);

		(m.excess(p) < 0 ? low : high) = p;
	}
	return settled(low, m.alpha(low), red);
}

FixedPoint renewal_point(const skr_cc_params &params, const Red &red, double rate, unsigned flows,
			 double packet)
{
	Renewal r(params, rate / flows, packet);
	double low = 1e-6, high = 0.5;

	for (int i = 0; i < 40; i++) {
		double p = std::sqrt(low * high);

		(r.rate(p) > rate / flows ? low : high) = p;
	}
	return settled(low, r.alpha, red);
}

} // namespace sim
