/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What others are asked about our packets: FILE.pcap has them, line N of FILE.txt
 * what packet N is believed to be, in tshark's names of the fields. See
 * lib/oracles.py, which asks.
 */
#pragma once

#include <fstream>
#include <string>

#include "../lib/pcap.hh"

namespace st
{

class Oracle
{
public:
	explicit Oracle(const std::string &file);

	/* body: what stands between BTH and ICRC */
	void add(const Bytes &frame, const Bth &bth, const Bytes &body);

private:
	Pcap pcap;
	std::ofstream beliefs;
};

} // namespace st
