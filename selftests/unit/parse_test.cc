// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * skr_parse(): what it takes, what it refuses and why, and that it never reads
 * behind what it was given. The buffers are exactly as long as they claim.
 */
#include <gtest/gtest.h>

#include "wire_standard.h"

namespace
{

using namespace standard;

skr_drop parse(const Bytes &hdr, std::uint32_t avail, std::uint32_t len, skr_pkt *pkt)
{
	Exactly mem(hdr, avail);

	std::memset(pkt, 0xa5, sizeof(*pkt));
	return skr_parse(pkt, mem.data(), avail, len);
}

skr_drop parse(const Bytes &hdr, std::uint32_t avail, std::uint32_t len)
{
	skr_pkt pkt;

	return parse(hdr, avail, len, &pkt);
}

/* Headers of @op, then enough bytes for any payload used here */
Bytes sample(const Opcode &op, unsigned payload = 0)
{
	std::mt19937_64 rng(op.code);
	Bytes b = encode(op, random_facts(op, payload, rng));

	b.resize(b.size() + 64, 0xff);
	return b;
}

TEST(Parse, ReadsWhatTheStandardSays)
{
	std::mt19937_64 rng(11);

	for (const Opcode &op : opcodes) {
		for (unsigned i = 0; i < 200; i++) {
			const skr_pkt want = random_facts(op, op.payload ? i : 0, rng);
			const std::uint32_t len =
				want.hdr_bytes + want.payload_bytes + want.pad + icrc_bytes;
			skr_pkt got;

			ASSERT_EQ(parse(encode(op, want), want.hdr_bytes, len, &got), SKR_DROP_NONE)
				<< op.name;
			ASSERT_EQ(facts(got), facts(want)) << op.name;
		}
	}
}

TEST(Parse, IgnoresReservedBits)
{
	for (const Opcode &op : opcodes) {
		Bytes b = sample(op);
		const std::uint32_t len = header_bytes(op) + icrc_bytes;
		unsigned at = bth_bytes;
		skr_pkt plain, dirty;

		ASSERT_EQ(parse(b, header_bytes(op), len, &plain), SKR_DROP_NONE) << op.name;
		b[4] |= 0x3f;
		b[8] |= 0x7f;
		for (const std::string &name : headers(op)) {
			if (name == "XRCETH")
				b[at] = 0xff;
			else if (name == "DETH")
				b[at + 4] = 0xff;
			at += header(name).bytes;
		}
		ASSERT_EQ(parse(b, header_bytes(op), len, &dirty), SKR_DROP_NONE) << op.name;
		EXPECT_EQ(facts(dirty), facts(plain)) << op.name;
	}
}

TEST(Parse, RefusesEveryTruncatedPacket)
{
	for (const Opcode &op : opcodes) {
		for (unsigned payload = 0; payload < (op.payload ? 4 : 1); payload++) {
			const Bytes b = sample(op, payload);
			const std::uint32_t pad = (4 - payload) % 4;
			const std::uint32_t least = header_bytes(op) + pad + icrc_bytes;

			for (std::uint32_t len = 0; len < least; len++)
				EXPECT_EQ(parse(b, len, len), SKR_DROP_SHORT)
					<< op.name << " " << len;
			EXPECT_EQ(parse(b, least, least), SKR_DROP_NONE) << op.name;
		}
	}
}

TEST(Parse, RefusesHeadersThatAreNotReadable)
{
	for (const Opcode &op : opcodes) {
		const Bytes b = sample(op);
		const std::uint32_t full = header_bytes(op) + (op.payload ? 4000 : 0) + icrc_bytes;

		for (std::uint32_t avail = 0; avail < header_bytes(op); avail++)
			EXPECT_EQ(parse(b, avail, full), SKR_DROP_SHORT) << op.name << " " << avail;
		EXPECT_EQ(parse(b, header_bytes(op), full), SKR_DROP_NONE) << op.name;
	}
}

/* Ethernet padding: more bytes are readable than the packet has */
TEST(Parse, TakesTheLengthFromTheHeadersBelow)
{
	for (const Opcode &op : opcodes) {
		const Bytes b = sample(op);
		skr_pkt got;

		ASSERT_EQ(parse(b, header_bytes(op) + 18, header_bytes(op) + icrc_bytes, &got),
			  SKR_DROP_NONE)
			<< op.name;
		EXPECT_EQ(got.payload_bytes, 0u) << op.name;
		for (std::uint32_t len = 0; len < header_bytes(op) + icrc_bytes; len++)
			EXPECT_EQ(parse(b, header_bytes(op) + 18, len), SKR_DROP_SHORT)
				<< op.name << " " << len;
	}
}

TEST(Parse, TakesTheLargestHeaderRoomForEveryOpcode)
{
	for (const Opcode &op : opcodes) {
		Bytes b = sample(op);

		b.resize(SKR_MAX_HDR_BYTES);
		EXPECT_EQ(parse(b, SKR_MAX_HDR_BYTES,
				header_bytes(op) + (op.payload ? 4096 : 0) + icrc_bytes),
			  SKR_DROP_NONE)
			<< op.name;
	}
}

TEST(Parse, RefusesPadLargerThanWhatFollowsTheHeaders)
{
	for (const Opcode &op : opcodes) {
		if (!op.payload)
			continue;
		for (unsigned pad = 1; pad < 4; pad++) {
			for (unsigned rest = 0; rest < 8; rest++) {
				Bytes b = sample(op);
				skr_pkt got;
				skr_drop drop;

				b[1] = static_cast<std::uint8_t>(pad << 4);
				drop = parse(b, header_bytes(op),
					     header_bytes(op) + rest + icrc_bytes, &got);
				EXPECT_EQ(drop, rest < pad ? SKR_DROP_SHORT : SKR_DROP_NONE)
					<< op.name << " " << pad << " of " << rest;
				if (drop == SKR_DROP_NONE) {
					EXPECT_EQ(got.payload_bytes, rest - pad) << op.name;
				}
			}
		}
	}
}

TEST(Parse, RefusesPayloadAndPadWhereThereIsNone)
{
	for (const Opcode &op : opcodes) {
		if (op.payload)
			continue;
		for (unsigned pad = 0; pad < 4; pad++) {
			for (unsigned rest = pad; rest < 40; rest++) {
				Bytes b = sample(op);

				b[1] = static_cast<std::uint8_t>(pad << 4);
				EXPECT_EQ(parse(b, header_bytes(op),
						header_bytes(op) + rest + icrc_bytes),
					  rest ? SKR_DROP_L3 : SKR_DROP_NONE)
					<< op.name << " " << pad << " of " << rest;
			}
		}
	}
}

TEST(Parse, RefusesOtherHeaderVersions)
{
	for (const Opcode &op : opcodes) {
		for (unsigned tver = 1; tver < 16; tver++) {
			Bytes b = sample(op);

			b[1] |= static_cast<std::uint8_t>(tver);
			EXPECT_EQ(parse(b, header_bytes(op), header_bytes(op) + icrc_bytes),
				  SKR_DROP_TVER)
				<< op.name;
		}
	}
}

TEST(Parse, RefusesOpcodesThatDoNotExist)
{
	for (unsigned code = 0; code < 256; code++) {
		Bytes b(SKR_MAX_HDR_BYTES + icrc_bytes, 0);

		b[0] = static_cast<std::uint8_t>(code);
		EXPECT_EQ(parse(b, SKR_MAX_HDR_BYTES + icrc_bytes,
				SKR_MAX_HDR_BYTES + icrc_bytes) == SKR_DROP_OPCODE,
			  find(code) == nullptr)
			<< std::hex << code;
	}
}

TEST(Parse, LengthsNearTheLimitOfTheirTypeDoNotWrap)
{
	const Opcode &op = *find(0x04);
	Bytes b = sample(op);
	skr_pkt got;

	b[1] = 0x30;
	ASSERT_EQ(parse(b, header_bytes(op), 0xffffffff, &got), SKR_DROP_NONE);
	EXPECT_EQ(got.payload_bytes, 0xffffffff - 12 - 3 - 4);
}

/* What the parser has to say to any first two bytes, readable bytes and length */
skr_drop expected(unsigned code, unsigned flags, std::uint32_t avail, std::uint32_t len)
{
	const Opcode *op = find(code);
	const std::uint32_t pad = flags >> 4 & 3;

	if (avail < bth_bytes || len < bth_bytes + icrc_bytes)
		return SKR_DROP_SHORT;
	if (flags & 0x0f)
		return SKR_DROP_TVER;
	if (!op)
		return SKR_DROP_OPCODE;
	if (avail < header_bytes(*op) || len < header_bytes(*op) + pad + icrc_bytes)
		return SKR_DROP_SHORT;
	if (!op->payload && len > header_bytes(*op) + icrc_bytes)
		return SKR_DROP_L3;
	return SKR_DROP_NONE;
}

TEST(Parse, EveryPairOfFirstBytes)
{
	std::mt19937_64 rng(12);

	for (std::uint32_t len = 0; len <= 72; len += len < 10 ? 5 : 1) {
		Exactly mem(len);
		std::uint8_t *b = mem.data();

		for (std::uint32_t i = 0; i < len; i++)
			b[i] = static_cast<std::uint8_t>(rng());
		for (unsigned code = 0; code < 256; code++) {
			/* Not asked 256 times: it searches a list */
			skr_drop want[4][2];

			for (unsigned pad = 0; pad < 4; pad++)
				for (unsigned tver = 0; tver < 2; tver++)
					want[pad][tver] = expected(code, pad << 4 | tver, len, len);
			for (unsigned flags = 0; flags < 256; flags++) {
				skr_pkt got;
				skr_drop drop;

				if (len > 1) {
					b[0] = static_cast<std::uint8_t>(code);
					b[1] = static_cast<std::uint8_t>(flags);
				}
				drop = skr_parse(&got, b, len, len);
				ASSERT_EQ(drop, want[flags >> 4 & 3][(flags & 0x0f) != 0])
					<< std::hex << code << " " << flags << " len " << len;
				if (drop != SKR_DROP_NONE)
					continue;
				ASSERT_EQ(got.hdr_bytes + got.payload_bytes + got.pad + icrc_bytes,
					  len)
					<< std::hex << code << " " << flags;
				ASSERT_EQ(got.flags, skr_opcodes[code].flags);
				ASSERT_EQ(got.opcode, code);
				ASSERT_EQ(got.bth_flags, flags & 0xc0);
				ASSERT_EQ(got.pad, flags >> 4 & 3);
			}
		}
	}
}

TEST(Parse, RandomBytesOfRandomLengths)
{
	std::mt19937_64 rng(13);

	for (unsigned i = 0; i < 300000; i++) {
		const std::uint32_t avail = rng() % 70;
		const std::uint32_t len = rng() % 3 ? rng() % 100 : avail;
		Exactly mem(avail);
		std::uint8_t *b = mem.data();
		skr_pkt got;
		skr_drop drop;

		for (std::uint32_t j = 0; j < avail; j++)
			b[j] = static_cast<std::uint8_t>(rng());
		/* Mostly opcodes and versions that get further */
		if (avail > 1 && rng() % 8) {
			b[0] = opcodes[rng() % std::size(opcodes)].code;
			b[1] &= 0xf0;
		}
		drop = skr_parse(&got, b, avail, len);
		ASSERT_EQ(drop, expected(avail > 0 ? b[0] : 0, avail > 1 ? b[1] : 0, avail, len));
		if (drop == SKR_DROP_NONE) {
			ASSERT_EQ(got.hdr_bytes + got.payload_bytes + got.pad + icrc_bytes, len);
			ASSERT_LE(got.hdr_bytes, avail);
		}
	}
}

} /* namespace */
