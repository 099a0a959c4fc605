/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* QPs of every transport on both devices, at work, that come back to life when they fail. */
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "../lib/datagram.hh"
#include "../lib/pair.hh"
#include "../lib/rng.hh"
#include "../lib/xrc.hh"
#include "forge.hh"

namespace st
{

class Victims
{
public:
	Victims(const PairConfig &config, uint64_t seed);

	/* some traffic of their own, and see what has become of it */
	void work();
	/* what has failed starts again; how many had */
	unsigned int revive();
	/* where each stands now */
	std::vector<Target> targets() const;

	uint64_t good = 0, bad = 0; /* completions */

private:
	void post(const Qp &qp, const End &from, const End &to);
	void poll(const Cq &cq);
	Target target(const Qp &qp, const End &end, const Qp &peer, uint8_t transport) const;

	Rng rng;
	PairConfig config;
	Devices devices;
	Pair rc, uc;
	UdEnd ud_a, ud_b;
	Ah to_a, to_b;
	Xrcd domain;
	XrcSrq srq;
	Qp xrc_target, xrc_initiator;
	Path a_to_b;
};

} // namespace st
