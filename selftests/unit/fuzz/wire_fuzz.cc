// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Fuzz target: kernel/wire reads whatever comes. The input is a packet from its
 * layer-3 header to its ICRC, as in icrc-vectors.txt; lengths are those of the input.
 * The sanitizers see what is read beyond it; what else must hold is checked here.
 *
 * For libFuzzer (make fuzz), and for fuzz_test.cc.
 */
#include "fuzz/targets.hh"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

extern "C" {
#include <linux/crc32.h>
#include "wire/aeth.h"
#include "wire/icrc.h"
#include "wire/pkt.h"
#include "wire/psn.h"
}

namespace
{

/* a copy in memory of exactly that size */
std::unique_ptr<std::uint8_t[]> copy(const std::uint8_t *data, std::size_t bytes)
{
	auto mem = std::make_unique<std::uint8_t[]>(bytes);

	std::copy(data, data + bytes, mem.get());
	return mem;
}

/* what must hold; a fuzzer is told by a crash */
void must(bool holds)
{
	if (!holds)
		std::abort();
}

struct Layout {
	skr_l3 net;
	std::size_t l3, udp;
};

Layout layout(const std::uint8_t *data, std::size_t bytes)
{
	constexpr std::uint8_t grh_next = 0x1b;

	if (data[0] >> 4 == 4)
		return { SKR_L3_IPV4, 20, 8 };
	if (bytes > 6 && data[6] == grh_next)
		return { SKR_L3_GRH, 40, 0 };
	return { SKR_L3_IPV6, 40, 8 };
}

/* what is built of a packet's facts says what the packet said, reserved bits aside */
void rebuild(const skr_pkt &pkt)
{
	auto mem = std::make_unique<std::uint8_t[]>(pkt.hdr_bytes);
	skr_pkt again;

	must(skr_build(&pkt, mem.get()) == pkt.hdr_bytes);
	must(skr_parse(&again, mem.get(), pkt.hdr_bytes,
		       pkt.hdr_bytes + pkt.payload_bytes + pkt.pad + SKR_ICRC_BYTES) ==
	     SKR_DROP_NONE);
	must(!std::memcmp(&again, &pkt, sizeof(pkt)));
}

void parse(const std::uint8_t *bth, std::uint32_t avail, std::uint32_t len)
{
	auto mem = copy(bth, avail);
	skr_pkt pkt;

	std::memset(&pkt, 0xa5, sizeof(pkt));
	const skr_drop drop = skr_parse(&pkt, mem.get(), avail, len);
	must(drop < SKR_DROP_COUNT);
	if (drop != SKR_DROP_NONE)
		return;
	must(pkt.hdr_bytes <= avail && pkt.hdr_bytes <= SKR_MAX_HDR_BYTES);
	must(pkt.pad <= 3);
	must(pkt.hdr_bytes + pkt.payload_bytes + pkt.pad + SKR_ICRC_BYTES == len);
	must(pkt.flags & SKR_HAS_PAYLOAD || !pkt.payload_bytes);
	must(!(pkt.qpn & ~SKR_MASK24) && !(pkt.psn & ~SKR_MASK24));
	rebuild(pkt);
}

/* the same, however the packet is cut, and whatever routers change */
void checksum(const std::uint8_t *data, const Layout &at, std::size_t bytes)
{
	const std::size_t bth = at.l3 + at.udp, rest = bytes - bth - SKR_ICRC_BYTES;
	const auto crc = [&](const std::uint8_t *l3, std::uint32_t head) {
		auto ip = copy(l3, at.l3), udp = copy(data + at.l3, at.udp);
		auto hdr = copy(data + bth, head), body = copy(data + bth + head, rest - head);
		auto sum = skr_icrc_hdr(at.net, ip.get(), at.udp ? udp.get() : nullptr, hdr.get(),
					head);

		return skr_icrc_end(skr_icrc_add(sum, body.get(), rest - head));
	};
	const std::uint32_t least = sizeof(skr_bth);
	const std::uint32_t most = std::min<std::size_t>(rest, SKR_MAX_HDR_BYTES);
	auto routed = copy(data, at.l3);

	/* type of service, time to live and checksum; class, label and hop limit */
	if (at.net == SKR_L3_IPV4) {
		routed[1] ^= 0xff;
		routed[8]--;
		routed[10] ^= 0x12;
	} else {
		routed[0] ^= 0x0f;
		routed[3] ^= 0x77;
		routed[7]--;
	}
	must(crc(data, least) == crc(data, most));
	must(crc(data, least) == crc(routed.get(), most));
}

} // namespace

int fuzz_wire(const std::uint8_t *data, std::size_t bytes)
{
	if (!bytes)
		return 0;
	const Layout at = layout(data, bytes);
	const std::size_t bth = at.l3 + at.udp;

	if (bytes <= bth)
		return 0;
	const std::uint32_t len = bytes - bth;
	/* all of it in one piece, only the headers, and less than that */
	parse(data + bth, len, len);
	parse(data + bth, std::min<std::uint32_t>(len, SKR_MAX_HDR_BYTES), len);
	parse(data + bth, std::min<std::uint32_t>(len, data[0] & 63), len);
	if (len >= sizeof(skr_bth) + SKR_ICRC_BYTES)
		checksum(data, at, bytes);
	must(skr_rnr_ns(data[bth]) >= 10000 && skr_rnr_ns(data[bth]) <= 655360000);
	must(!skr_ack_timeout_ns(data[bth]) == !(data[bth] & 31));
	return 0;
}
