/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * DCQCN's reaction point once more, from the equations: in floating point, with
 * one event for each period of alpha, and no thought of speed. For comparison
 * with kernel/cc/dcqcn.c; only the parameters' struct is shared.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

extern "C" {
#include "cc/params.h"
}

struct Reference {
	const skr_cc_params &p;
	double line; /* bytes per second */

	double rc;
	double rt;
	double alpha = 0;
	bool limited = false;

	uint64_t alpha_tick = 0;  /* when alpha is updated next */
	uint64_t increase_at = 0; /* when the timer expires */
	uint64_t last_cut = 0;
	bool pending = false; /* a cut waits for the end of the window */
	bool cnp_in_period = false;
	double byte_counter = 0;
	unsigned T = 0, B = 0;

	Reference(const skr_cc_params &params, double line_rate)
		: p(params), line(line_rate), rc(line_rate), rt(line_rate)
	{
	}

	static double rate(uint32_t kbps) { return kbps * 1000.0 / 8; }
	static uint64_t ns(uint32_t us) { return us * uint64_t{ 1000 }; }
	double top() const { return p.rp_max_rate ? std::min(rate(p.rp_max_rate), line) : line; }
	double g() const { return 1 - p.rp_dce_tcp_g / 1024.0; }

	uint64_t timer() const
	{
		double t = static_cast<double>(ns(p.rp_time_reset));

		if (p.rp_time_min_bytes)
			t = std::max(t, std::floor(p.rp_time_min_bytes / rc * 1e9));
		return static_cast<uint64_t>(t);
	}

	void recover_from(uint64_t now)
	{
		T = B = 0;
		byte_counter = 0;
		last_cut = now;
		pending = false;
		increase_at = now + timer();
	}

	void cut(uint64_t now)
	{
		if (p.rp_clamp_tgt_rate || B > 0 || (p.rp_clamp_tgt_rate_ati && T > 0))
			rt = rc;
		double factor = 1 - alpha * 1024 / std::pow(2, p.rp_gd);
		factor = std::max(factor, p.rp_min_dec_fac / 100.0);
		rc = std::min(std::max(rc * factor, rate(p.rp_min_rate)), top());
		if (p.rp_alpha_on_cnp) {
			alpha = (1 - g()) * alpha + g();
			alpha_tick = now + ns(p.rp_dce_tcp_rtt);
		}
		recover_from(now);
	}

	void increase(unsigned &stage)
	{
		unsigned F = p.rp_threshold;
		unsigned most = std::max(T, B);
		unsigned least = p.rp_byte_reset ? std::min(T, B) : T;
		double limit = p.rp_ai_share ? rt * p.rp_ai_share / 1024 : INFINITY;

		if (most >= F && least <= F)
			rt += std::min(rate(p.rp_ai_rate), limit);
		else if (most >= F)
			rt += std::min(rate(p.rp_hai_rate), limit) * (least - F);
		rt = std::min(rt, top());
		rc = std::min((rc + rt) / 2, top());
		stage++;
	}

	/* the limit is lifted; when, is for the caller to say, see below */
	void release()
	{
		limited = false;
		rc = line;
	}

	/* bytes per second that are missing to where the limit is lifted */
	double gap() const { return top() - rc; }

	void tick_alpha()
	{
		double seen = !p.rp_alpha_on_cnp && cnp_in_period ? 1 : 0;

		alpha = (1 - g()) * alpha + g() * seen;
		cnp_in_period = false;
		alpha_tick += ns(p.rp_dce_tcp_rtt);
	}

	uint64_t cut_time() const
	{
		return pending ? last_cut + ns(p.rp_rate_reduce_monitor_period) : UINT64_MAX;
	}

	/* the next change of the rate that time brings */
	uint64_t next() const { return limited ? std::min(increase_at, cut_time()) : UINT64_MAX; }

	/* all updates of alpha up to then */
	void alpha_until(uint64_t now)
	{
		while (limited && alpha_tick <= now)
			tick_alpha();
	}

	/* the change at next() */
	void step()
	{
		uint64_t t = next();

		alpha_until(t);
		if (t == increase_at) {
			increase(T);
			increase_at += timer();
		} else {
			cut(t);
		}
	}

	void sent(uint64_t bytes)
	{
		if (!limited || !p.rp_byte_reset)
			return;
		byte_counter += static_cast<double>(bytes);
		while (byte_counter >= p.rp_byte_reset) {
			byte_counter -= p.rp_byte_reset;
			increase(B);
		}
	}

	void cnp(uint64_t now)
	{
		alpha_until(now);
		if (!limited) {
			limited = true;
			alpha = p.rp_initial_alpha_value / 1024.0;
			alpha_tick = now + ns(p.rp_dce_tcp_rtt);
			cnp_in_period = false;
			rc = rt = top();
			T = B = 0;
			if (p.rp_rate_to_set_on_first_cnp) {
				rc = rt = std::min(rate(p.rp_rate_to_set_on_first_cnp), top());
				recover_from(now);
			} else {
				cut(now);
			}
			return;
		}
		cnp_in_period = true;
		if (now >= last_cut + ns(p.rp_rate_reduce_monitor_period))
			cut(now);
		else
			pending = true;
	}
};
