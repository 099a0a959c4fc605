/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* A capture file, as tcpdump writes it, of frames that a test chooses. */
#pragma once

#include <fstream>
#include <string>

#include "roce.hh"

namespace st
{

class Pcap
{
public:
	explicit Pcap(const std::string &file);

	/* ns: since 1970 */
	void add(const Bytes &frame, uint64_t ns);

private:
	void put(uint32_t v);

	std::ofstream out;
};

} // namespace st
