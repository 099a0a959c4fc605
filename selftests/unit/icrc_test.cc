// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The ICRC against known packets, and against a second implementation that
 * masks a copy of the whole packet.
 */
#include <gtest/gtest.h>

#include "known_packets.hh"
#include "wire_standard.h"

extern "C" {
#include <linux/crc32.h>
#include "wire/icrc.h"
}

namespace
{

using namespace standard;

struct Vector : KnownPacket {
	Vector() = default;
	explicit Vector(const KnownPacket &known)
		: KnownPacket(known), net(rocev1()		? SKR_L3_GRH
					  : packet[0] >> 4 == 4 ? SKR_L3_IPV4
								: SKR_L3_IPV6)
	{
	}

	skr_l3 net = SKR_L3_IPV4;

	std::size_t l3_bytes() const { return net == SKR_L3_IPV4 ? 20 : 40; }
	std::size_t udp_bytes() const { return net == SKR_L3_GRH ? 0 : 8; }
	std::size_t bth_at() const { return l3_bytes() + udp_bytes(); }
	std::size_t icrc_at() const { return packet.size() - icrc_bytes; }
	Bytes icrc() const { return Bytes(packet.end() - icrc_bytes, packet.end()); }
};

std::vector<Vector> vectors()
{
	const auto known = known_packets();

	return { known.begin(), known.end() };
}

/* As a sender or receiver does it; everything in memory of exactly its size */
Bytes driver_icrc(const Vector &v, std::uint32_t hdr_bytes)
{
	const auto part = [&v](std::size_t from, std::size_t to) {
		return Bytes(v.packet.begin() + from, v.packet.begin() + to);
	};
	Exactly l3(part(0, v.l3_bytes()));
	Exactly udp(part(v.l3_bytes(), v.bth_at()));
	Exactly bth(part(v.bth_at(), v.bth_at() + hdr_bytes));
	Exactly rest(part(v.bth_at() + hdr_bytes, v.icrc_at()));
	Bytes out(icrc_bytes);
	__u32 crc;
	__le32 end;

	crc = skr_icrc_hdr(v.net, l3.data(), v.udp_bytes() ? udp.data() : nullptr, bth.data(),
			   hdr_bytes);
	crc = skr_icrc_add(crc, rest.data(),
			   static_cast<__u32>(v.icrc_at() - v.bth_at() - hdr_bytes));
	end = skr_icrc_end(crc);
	std::memcpy(out.data(), &end, icrc_bytes);
	return out;
}

std::uint32_t hdr_bytes(const Vector &v)
{
	return header_bytes(*find(v.packet[v.bth_at()]));
}

/* Bits of the packet's byte @at that routers may change */
std::uint8_t mask(const Vector &v, std::size_t at)
{
	if (at == v.bth_at() + 4)
		return 0xff; /* FECN, BECN, reserved */
	if (v.udp_bytes() && (at == v.l3_bytes() + 6 || at == v.l3_bytes() + 7))
		return 0xff; /* UDP checksum */
	if (at >= v.l3_bytes())
		return 0;
	if (v.net == SKR_L3_IPV4)
		return at == 1 || at == 8 || at == 10 || at == 11 ? 0xff : 0;
	if (at == 0)
		return 0x0f;
	return (at >= 1 && at <= 3) || at == 7 ? 0xff : 0;
}

/* Second implementation: one masked copy, one byte-wise CRC with its own table */
Bytes plain_icrc(const Vector &v)
{
	std::uint32_t table[256], crc = 0xffffffff;
	Bytes all(8, 0xff);

	for (std::uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320 : table[i] >> 1;
	}
	for (std::size_t i = 0; i < v.icrc_at(); i++)
		all.push_back(v.packet[i] | mask(v, i));
	for (std::uint8_t b : all)
		crc = crc >> 8 ^ table[(crc ^ b) & 0xff];
	crc = ~crc;
	return Bytes{ static_cast<std::uint8_t>(crc), static_cast<std::uint8_t>(crc >> 8),
		      static_cast<std::uint8_t>(crc >> 16), static_cast<std::uint8_t>(crc >> 24) };
}

/* Check value of CRC-32, as in every catalogue of CRCs */
TEST(Icrc, TheShimsCrcIsTheEthernetCrc)
{
	EXPECT_EQ(~crc32_le(0xffffffff, "123456789", 9), 0xcbf43926u);
}

TEST(Icrc, Vectors)
{
	const std::vector<Vector> all = vectors();

	ASSERT_GE(all.size(), 4u) << SKR_UNIT_DIR "/icrc-vectors.txt";
	for (const Vector &v : all) {
		EXPECT_EQ(driver_icrc(v, hdr_bytes(v)), v.icrc()) << v.name;
		EXPECT_EQ(plain_icrc(v), v.icrc()) << v.name;
	}
}

TEST(Icrc, VectorsParse)
{
	for (const Vector &v : vectors()) {
		const std::uint32_t len = static_cast<std::uint32_t>(v.packet.size() - v.bth_at());
		Exactly mem(Bytes(v.packet.begin() + v.bth_at(), v.packet.end()));
		skr_pkt p;

		ASSERT_EQ(skr_parse(&p, mem.data(), len, len), SKR_DROP_NONE) << v.name;
		EXPECT_EQ(p.pad, skr_pad(p.payload_bytes)) << v.name;
	}
}

/* Every bit in front of the ICRC: pad, extended headers and all of layer 3, too */
TEST(Icrc, ChangesWithEveryBitItCoversAndWithNoOther)
{
	for (const Vector &v : vectors()) {
		for (std::size_t at = 0; at < v.icrc_at(); at++) {
			for (unsigned bit = 0; bit < 8; bit++) {
				const std::uint8_t one = static_cast<std::uint8_t>(1 << bit);
				Vector flipped = v;

				flipped.packet[at] ^= one;
				EXPECT_EQ(driver_icrc(flipped, hdr_bytes(v)) == v.icrc(),
					  (mask(v, at) & one) != 0)
					<< v.name << " byte " << at << " bit " << bit;
			}
		}
	}
}

TEST(Icrc, CoversThePad)
{
	unsigned padded = 0;

	for (const Vector &v : vectors()) {
		const unsigned pad = v.packet[v.bth_at() + 1] >> 4 & 3;

		for (unsigned i = 1; i <= pad; i++) {
			Vector other = v;

			other.packet[v.icrc_at() - i] ^= 0x01;
			EXPECT_NE(driver_icrc(other, hdr_bytes(v)), v.icrc()) << v.name;
			padded++;
		}
	}
	EXPECT_GT(padded, 0u);
}

TEST(Icrc, SamePiecesOrWhole)
{
	std::mt19937_64 rng(21);
	Bytes b(97);

	for (std::uint8_t &x : b)
		x = static_cast<std::uint8_t>(rng());
	for (std::uint32_t cut = 0; cut <= b.size(); cut++) {
		Exactly head(b, cut);
		Exactly tail(Bytes(b.begin() + cut, b.end()));
		const __u32 crc = skr_icrc_add(0x12345678, head.data(), cut);

		EXPECT_EQ(skr_icrc_add(crc, tail.data(), static_cast<__u32>(b.size()) - cut),
			  skr_icrc_add(0x12345678, b.data(), static_cast<__u32>(b.size())));
	}
	EXPECT_EQ(skr_icrc_add(5, nullptr, 0), 5u);
}

TEST(Icrc, EveryOpcodeOverEveryLayer3)
{
	std::mt19937_64 rng(22);

	for (const Opcode &op : opcodes) {
		for (skr_l3 net : { SKR_L3_GRH, SKR_L3_IPV4, SKR_L3_IPV6 }) {
			for (unsigned payload : { 0u, 1u, 3u, 4u, 256u }) {
				skr_pkt p = random_facts(op, op.payload ? payload : 0, rng);
				const Bytes hdr = encode(op, p);
				Vector v;

				v.net = net;
				v.packet.resize(v.bth_at());
				v.packet.insert(v.packet.end(), hdr.begin(), hdr.end());
				v.packet.resize(v.packet.size() + p.payload_bytes + p.pad +
						icrc_bytes);
				for (std::size_t i = 0; i < v.packet.size(); i++)
					if (i < v.bth_at() || i >= v.bth_at() + hdr.size())
						v.packet[i] = static_cast<std::uint8_t>(rng());
				ASSERT_EQ(driver_icrc(v, p.hdr_bytes), plain_icrc(v))
					<< op.name << " over " << net;
			}
		}
	}
}

TEST(Icrc, DoesNotDependOnAlignment)
{
	for (const Vector &v : vectors()) {
		for (unsigned shift = 0; shift < 8; shift++) {
			Bytes moved(shift, 0);
			const std::uint8_t *p;
			__le32 end;

			moved.insert(moved.end(), v.packet.begin(), v.packet.end());
			p = moved.data() + shift;
			end = skr_icrc_end(skr_icrc_hdr(
				v.net, p, v.udp_bytes() ? p + v.l3_bytes() : nullptr,
				p + v.bth_at(), static_cast<__u32>(v.icrc_at() - v.bth_at())));
			EXPECT_EQ(std::memcmp(&end, v.icrc().data(), icrc_bytes), 0) << v.name;
		}
	}
}

} /* namespace */
