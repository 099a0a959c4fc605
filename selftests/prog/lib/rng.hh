/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Small repeatable random numbers (splitmix64), the same on every machine. */
#pragma once

#include <cstdint>

namespace st
{

constexpr uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

class Rng
{
public:
	explicit Rng(uint64_t seed) : state(seed) {}

	uint64_t next()
	{
		state += 0x9e3779b97f4a7c15ULL;
		return mix(state);
	}

	/* 0 .. n-1; n must not be 0 */
	uint64_t below(uint64_t n) { return next() % n; }

	/* lo .. hi, both included */
	uint64_t between(uint64_t lo, uint64_t hi) { return lo + below(hi - lo + 1); }

	bool percent(unsigned int p) { return below(100) < p; }

	/* 0 .. max, every order of magnitude as likely as the next */
	uint64_t magnitude(uint64_t max)
	{
		unsigned int bits = 0;

		while (max >> bits)
			bits++;
		auto v = below(1ULL << below(bits + 1));
		return v > max ? max : v;
	}

private:
	uint64_t state;
};

} // namespace st
