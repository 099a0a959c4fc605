/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Many packets of one kind, at a rate: what they cost somebody who has nothing to do with it. */
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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
	double without, during; /* messages of the bystander's in a second, medians */
	double kept;		/* what a slice of the flood leaves of the rate after it, median */
	double seconds;
	uint64_t packets;
	int64_t memory; /* KiB that were gone at the worst moment */
	unsigned int revivals;
};

/*
 * So many packets within so many seconds, or in as many as it takes: up to a hundred
 * slices, each followed by as much time without it. The sender rests at least as long as
 * it works, that the processors have time for others. bystander counts messages, pulse
 * what is done.
 */
FloodReport flood(const Flood &flood, Victims &victims, const std::atomic<uint64_t> &bystander,
		  std::atomic<uint64_t> &pulse, uint64_t packets, double seconds, uint64_t seed);

} // namespace st
