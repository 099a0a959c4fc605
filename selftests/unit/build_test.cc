// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * skr_build(): bytes as the standard has them, and the way back.
 */
#include <gtest/gtest.h>

#include "wire_standard.h"

extern "C" {
#include "wire/aeth.h"
}

namespace
{

using namespace standard;

Bytes build(const skr_pkt &p)
{
	Exactly room(skr_opcodes[p.opcode].hdr_bytes);

	EXPECT_EQ(skr_build(&p, room.data()), skr_opcodes[p.opcode].hdr_bytes);
	return room.bytes();
}

TEST(Build, WritesWhatTheStandardSays)
{
	std::mt19937_64 rng(1);

	for (const Opcode &op : opcodes) {
		for (unsigned i = 0; i < 200; i++) {
			skr_pkt p = random_facts(op, op.payload ? i % 9 : 0, rng);

			ASSERT_EQ(build(p), encode(op, p)) << op.name << ": " << facts(p);
		}
	}
}

TEST(Build, ComesBackFromParse)
{
	std::mt19937_64 rng(2);

	for (const Opcode &op : opcodes) {
		for (unsigned i = 0; i < 200; i++) {
			skr_pkt p = random_facts(op, op.payload ? i % 9 : 0, rng);
			Exactly hdr(build(p));
			skr_pkt back;

			std::memset(&back, 0xa5, sizeof(back));
			ASSERT_EQ(skr_parse(&back, hdr.data(), p.hdr_bytes,
					    p.hdr_bytes + p.payload_bytes + p.pad + icrc_bytes),
				  SKR_DROP_NONE)
				<< op.name;
			ASSERT_EQ(facts(back), facts(p)) << op.name;
		}
	}
}

TEST(Build, LooksNeitherAtFlagsNorAtHeaderBytes)
{
	std::mt19937_64 rng(3);

	for (const Opcode &op : opcodes) {
		skr_pkt p = random_facts(op, 0, rng);
		const Bytes want = encode(op, p);

		p.flags = static_cast<std::uint32_t>(rng());
		p.hdr_bytes = static_cast<std::uint8_t>(rng());
		p.payload_bytes = static_cast<std::uint32_t>(rng());
		EXPECT_EQ(build(p), want) << op.name;
	}
}

/* Bits above a field's width must not reach its neighbours */
TEST(Build, CutsFactsToTheWidthOfTheirFields)
{
	std::mt19937_64 rng(4);

	for (const Opcode &op : opcodes) {
		skr_pkt p = random_facts(op, 0, rng);
		const Bytes want = encode(op, p);

		p.qpn |= 0xff000000;
		p.psn |= 0xff000000;
		p.msn |= 0xff000000;
		p.src_qpn |= 0xff000000;
		p.srqn |= 0xff000000;
		p.bth_flags |= 0x3f;
		p.pad |= 0xfc;
		EXPECT_EQ(build(p), want) << op.name;
	}
}

TEST(Build, WritesNothingForAnOpcodeThatDoesNotExist)
{
	for (unsigned code = 0; code < 256; code++) {
		Exactly none(std::size_t{ 0 });
		skr_pkt p;

		if (find(code))
			continue;
		std::memset(&p, 0xff, sizeof(p));
		p.opcode = static_cast<std::uint8_t>(code);
		EXPECT_EQ(skr_build(&p, none.data()), 0u) << std::hex << code;
	}
}

TEST(Build, WritesAtOddAddresses)
{
	std::mt19937_64 rng(5);

	for (const Opcode &op : opcodes) {
		for (unsigned shift = 0; shift < 8; shift++) {
			skr_pkt p = random_facts(op, 0, rng);
			Exactly room(header_bytes(op) + shift);
			skr_pkt back;
			Bytes got;

			skr_build(&p, room.data() + shift);
			got = room.bytes();
			got.erase(got.begin(), got.begin() + shift);
			EXPECT_EQ(got, encode(op, p)) << op.name;
			EXPECT_EQ(skr_parse(&back, room.data() + shift, header_bytes(op),
					    header_bytes(op) + icrc_bytes),
				  SKR_DROP_NONE)
				<< op.name;
			EXPECT_EQ(facts(back), facts(p)) << op.name;
		}
	}
}

/* From here on typed by hand: a mistake common to both writers would show */
TEST(Build, KnownXrcWriteOnlyImm)
{
	skr_pkt p = {};

	p.opcode = 0xab;
	p.bth_flags = SKR_BTH_SE | SKR_BTH_MIGREQ;
	p.pad = 2;
	p.becn = 1;
	p.ackreq = 1;
	p.pkey = 0x8001;
	p.qpn = 0x123456;
	p.psn = 0xabcdef;
	p.srqn = 0x654321;
	p.va = 0x0102030405060708;
	p.rkey = 0x11223344;
	p.dmalen = 0x55667788;
	std::memcpy(&p.imm, "\xde\xad\xbe\xef", 4);
	EXPECT_EQ(build(p), (Bytes{ 0xab, 0xe0, 0x80, 0x01, 0x40, 0x12, 0x34, 0x56, 0x80,
				    0xab, 0xcd, 0xef, 0x00, 0x65, 0x43, 0x21, 0x01, 0x02,
				    0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x11, 0x22, 0x33,
				    0x44, 0x55, 0x66, 0x77, 0x88, 0xde, 0xad, 0xbe, 0xef }));
}

TEST(Build, KnownUdSendOnlyImm)
{
	skr_pkt p = {};

	p.opcode = 0x65;
	p.fecn = 1;
	p.pkey = 0xffff;
	p.qpn = 1;
	p.qkey = 0x80010000;
	p.src_qpn = 0x000002;
	std::memcpy(&p.imm, "\x01\x02\x03\x04", 4);
	EXPECT_EQ(build(p), (Bytes{ 0x65, 0x00, 0xff, 0xff, 0x80, 0x00, 0x00, 0x01,
				    0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00,
				    0x00, 0x00, 0x00, 0x02, 0x01, 0x02, 0x03, 0x04 }));
}

TEST(Build, KnownAtomicAck)
{
	skr_pkt p = {};

	p.opcode = 0x12;
	p.pkey = 0xffff;
	p.qpn = 0x11;
	p.psn = 7;
	p.syndrome = SKR_AETH_ACK_UNLIMITED;
	p.msn = 0x0a0b0c;
	p.orig = 0x1112131415161718;
	EXPECT_EQ(build(p), (Bytes{ 0x12, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11,
				    0x00, 0x00, 0x00, 0x07, 0x1f, 0x0a, 0x0b, 0x0c,
				    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18 }));
}

TEST(Build, KnownCompareSwap)
{
	skr_pkt p = {};

	p.opcode = 0x13;
	p.va = 0x2122232425262728;
	p.rkey = 0x31323334;
	p.swap_add = 0x4142434445464748;
	p.compare = 0x5152535455565758;
	EXPECT_EQ(build(p), (Bytes{ 0x13, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
				    0x00, 0x00, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
				    0x31, 0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46,
				    0x47, 0x48, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58 }));
}

TEST(Build, KnownFlush)
{
	skr_pkt p = {};

	p.opcode = 0x1c;
	p.feth = 0x00000012;
	p.va = 1;
	p.rkey = 2;
	p.dmalen = 3;
	EXPECT_EQ(build(p),
		  (Bytes{ 0x1c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
			  0x00, 0x00, 0x00, 0x00, 0x12, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
			  0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x03 }));
}

TEST(Build, KnownSendOnlyInv)
{
	skr_pkt p = {};

	p.opcode = 0x17;
	p.ieth = 0xcafef00d;
	EXPECT_EQ(build(p), (Bytes{ 0x17, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
				    0x00, 0x00, 0xca, 0xfe, 0xf0, 0x0d }));
}

TEST(Pad, FillsUpToFour)
{
	for (std::uint32_t n = 0; n < 5000; n++) {
		EXPECT_EQ((n + skr_pad(n)) % 4, 0u) << n;
		EXPECT_LE(skr_pad(n), 3) << n;
	}
	EXPECT_EQ(skr_pad(1), 3);
	EXPECT_EQ(skr_pad(SKR_MAX_MSG_BYTES), 0);
	EXPECT_EQ(skr_pad(SKR_MAX_MSG_BYTES - 1), 1);
	EXPECT_EQ(skr_pad(0xffffffff), 1);
}

} /* namespace */
