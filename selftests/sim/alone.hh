/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * One flow of the kernel's own unit under what models assume: no network, no queue,
 * each packet is marked with the same probability whatever the rate and whatever was
 * marked before.
 */
#pragma once

#include "network.hh"

namespace sim
{

struct Alone {
	double rate;  /* bytes per second, mean over time */
	double alpha; /* mean over time */
};

/*
 * marked: probability; spacing: seconds without a CNP after each one, 0 for one for
 * each mark; packet: bytes. A tenth of the time is left out of the means.
 */
Alone flow_alone(const skr_cc_params &params, double line_rate, double marked, double spacing,
		 double packet, double seconds, unsigned seed);

} // namespace sim
