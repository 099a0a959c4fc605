/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The packets of icrc-vectors.txt, from layer 3 to the ICRC; v1_ in front of a name
 * is RoCEv1, whose layer 3 is a GRH. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

struct KnownPacket {
	std::string name;
	std::vector<std::uint8_t> packet;

	bool rocev1() const { return name.starts_with("v1_"); }
};

inline std::vector<KnownPacket> known_packets()
{
	std::ifstream in(SKR_UNIT_DIR "/icrc-vectors.txt");
	std::vector<KnownPacket> out;

	for (std::string line; std::getline(in, line);) {
		std::istringstream words(line);
		std::string name, hex;

		if (!(words >> name >> hex) || name[0] == '#')
			continue;
		out.push_back({ name, {} });
		for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
			out.back().packet.push_back(std::stoul(hex.substr(i, 2), nullptr, 16));
	}
	return out;
}
