/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Many packets of one kind, at a rate: what they cost somebody who has nothing to do with it. */
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../lib/bystander.hh"
#include "../lib/gun.hh"
#include "../lib/rng.hh"
#include "victims.hh"

namespace st
{

struct Flood {
	const char *name;
	/* the next packet, and whether it is for B */
	std::function<Bytes(const std::vector<Target> &, Rng &)> packet;
	bool to_b;
};

/* all kinds; bystanders: QPs that packets with a wrong address may name */
std::vector<Flood> floods(const std::vector<uint32_t> &bystanders);

struct FloodReport {
	double before, during; /* messages of the bystander's in a second */
	double seconds;
	uint64_t packets;
	int64_t memory; /* KiB that were gone at the worst moment */
	unsigned int revivals;
};

/* so many packets within so many seconds, or as fast as it goes */
FloodReport flood(const Flood &flood, Victims &victims, const Bystander &bystander,
		  uint64_t packets, double seconds, uint64_t seed);

} // namespace st
