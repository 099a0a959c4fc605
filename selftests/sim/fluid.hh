/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Where DCQCN should settle while marking does not saturate, by two models:
 *
 * The fluid model of the literature lets CNPs come at any time; only cuts have a
 * spacing. A receiver sends none within np_min_time_between_cnps of the last one,
 * and what it does not send cuts off no recovery: there the share of packets that
 * must be marked is larger than the model's, by a quarter or more.
 *
 * The renewal model follows a flow from one CNP to the next. The time between is
 * that spacing and then an exponential one, until a marked packet comes. It asks
 * for which share of marked packets the rate is, on average, what it was.
 */
#pragma once

#include "network.hh"

namespace sim
{

struct FixedPoint {
	double p;	/* share of packets that is marked */
	double alpha;	/* congestion as the sender sees it */
	double queue;	/* bytes */
	bool saturated; /* RED would have to mark more than its pmax */
};

/* rate: of the bottleneck, bytes per second; packet: bytes */
FixedPoint fluid_point(const skr_cc_params &params, const Red &red, double rate, unsigned flows,
		       double packet);

/* The same by the renewal model */
FixedPoint renewal_point(const skr_cc_params &params, const Red &red, double rate, unsigned flows,
			 double packet);

} // namespace sim
