// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The fuzz targets over mutations of known packets: no coverage to guide them, but
 * wherever there is a compiler, and the same each time. `make fuzz` is the real thing.
 */
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz/targets.hh"

namespace
{

using Bytes = std::vector<std::uint8_t>;

/* the packets of icrc-vectors.txt */
std::vector<Bytes> seeds()
{
	std::ifstream in(SKR_UNIT_DIR "/icrc-vectors.txt");
	std::vector<Bytes> out;

	for (std::string line; std::getline(in, line);) {
		std::istringstream words(line);
		std::string name, hex;
		Bytes bytes;

		if (!(words >> name >> hex) || name[0] == '#')
			continue;
		for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
			bytes.push_back(std::stoul(hex.substr(i, 2), nullptr, 16));
		out.push_back(bytes);
	}
	return out;
}

Bytes mutated(Bytes b, std::mt19937_64 &rng)
{
	for (auto n = 1 + rng() % 6; n; n--) {
		const auto at = b.empty() ? 0 : rng() % b.size();

		switch (rng() % 6) {
		case 0:
			b.resize(rng() % 128);
			break;
		case 1:
			b.insert(b.begin() + at, rng());
			break;
		case 2:
			if (!b.empty())
				b.erase(b.begin() + at);
			break;
		case 3:
			if (!b.empty())
				b[at] ^= 1U << rng() % 8;
			break;
		case 4:
			/* an opcode, where it stands in one of the layouts */
			for (auto bth : { 28, 40, 48 })
				if (b.size() > static_cast<std::size_t>(bth) && rng() % 2)
					b[bth] = rng();
			break;
		default:
			if (!b.empty())
				b[at] = rng();
		}
	}
	return b;
}

TEST(Fuzz, WireTakesMutatedPackets)
{
	const auto packets = seeds();
	std::mt19937_64 rng(4791);

	ASSERT_GE(packets.size(), 4U);
	for (const auto &p : packets)
		fuzz_wire(p.data(), p.size());
	for (unsigned int i = 0; i < 100000; i++) {
		const auto b = mutated(packets[rng() % packets.size()], rng);

		fuzz_wire(b.data(), b.size());
	}
}

TEST(Fuzz, WireTakesNoise)
{
	std::mt19937_64 rng(36);

	for (unsigned int i = 0; i < 50000; i++) {
		Bytes b(rng() % 160);

		for (auto &byte : b)
			byte = rng();
		if (!b.empty() && rng() % 2)
			b[0] = rng() % 2 ? 0x45 : 0x60;
		fuzz_wire(b.data(), b.size());
	}
}

TEST(Fuzz, RingTakesAnyIndex)
{
	std::mt19937_64 rng(37);

	for (unsigned int i = 0; i < 30000; i++) {
		Bytes b(5 + rng() % 90);

		for (auto &byte : b)
			byte = rng();
		b[0] = rng() % 16;
		fuzz_ring(b.data(), b.size());
	}
}

} // namespace
