// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The witness itself: the selftests' own packet library, which judges the driver's
 * packets, against the known packets. For RoCEv1 there is no other oracle.
 */
#include <gtest/gtest.h>

#include "../prog/lib/roce.hh"
#include "known_packets.hh"

namespace
{

/* as an Ethernet frame */
st::Bytes framed(const KnownPacket &v)
{
	st::Bytes frame(12);

	st::put16(frame, v.rocev1() ? st::ROCE_V1_TYPE : v.packet[0] >> 4 == 6 ? 0x86dd : 0x0800);
	frame.insert(frame.end(), v.packet.begin(), v.packet.end());
	return frame;
}

TEST(Witness, ComputesTheKnownIcrcs)
{
	auto all = known_packets();

	ASSERT_GE(all.size(), 4u) << SKR_UNIT_DIR "/icrc-vectors.txt";
	for (auto &v : all) {
		auto frame = framed(v);
		auto view = st::view(frame.data(), frame.size());

		ASSERT_TRUE(view) << v.name;
		EXPECT_EQ(st::icrc(v.packet.data(), v.packet.size()), view->wire_icrc()) << v.name;
	}
}

/* taken apart and put together again, each known packet is what it was */
TEST(Witness, RebuildsTheKnownPackets)
{
	for (auto &v : known_packets()) {
		auto frame = framed(v);
		auto view = st::view(frame.data(), frame.size());

		ASSERT_TRUE(view) << v.name;
		/* the library has no flow labels, and IPv4 packets with DF only */
		if (view->v6 ? st::get32(view->ip) & 0xfffff : st::get16(view->ip + 6) != 0x4000)
			continue;
		auto path = st::Path::of(frame);
		st::Bytes body(view->body, view->body + view->body_bytes);
		EXPECT_EQ(st::frame(path, view->bth, body), frame) << v.name;
	}
}

TEST(Witness, SeesEachBitOfDamage)
{
	for (auto &v : known_packets()) {
		auto frame = framed(v);
		auto view = st::view(frame.data(), frame.size());
		size_t from = view->body - frame.data();

		for (size_t bit = from * 8; bit < frame.size() * 8; bit++) {
			auto bad = frame;

			bad[bit / 8] ^= 1 << bit % 8;
			EXPECT_FALSE(st::view(bad.data(), bad.size())->icrc_good())
				<< v.name << " bit " << bit;
		}
	}
}

} // namespace
