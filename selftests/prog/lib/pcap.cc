// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "pcap.hh"

#include "fail.hh"

namespace st
{

/* in the byte order of who writes it: the magic number tells */
constexpr uint32_t MAGIC_NS = 0xa1b23c4d, VERSION_2_4 = 4U << 16 | 2, ETHERNET = 1;
constexpr uint32_t SNAP_BYTES = 1 << 18;

Pcap::Pcap(const std::string &file) : out(file, std::ios::binary)
{
	if (!out)
		fail_errno("write " + file);
	for (uint32_t v : { MAGIC_NS, VERSION_2_4, 0U, 0U, SNAP_BYTES, ETHERNET })
		put(v);
}

void Pcap::put(uint32_t v)
{
	out.write(reinterpret_cast<const char *>(&v), sizeof(v));
}

void Pcap::add(const Bytes &frame, uint64_t ns)
{
	for (uint64_t v : { ns / 1000000000, ns % 1000000000, frame.size(), frame.size() })
		put(v);
	out.write(reinterpret_cast<const char *>(frame.data()), frame.size());
	out.flush();
}

} // namespace st
