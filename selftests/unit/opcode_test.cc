// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The driver's opcode table against the standard's.
 */
#include <gtest/gtest.h>

#include "wire_standard.h"

namespace
{

using namespace standard;

constexpr std::uint32_t all_headers = SKR_HAS_XRCETH | SKR_HAS_DETH | SKR_HAS_FETH | SKR_HAS_RETH |
				      SKR_HAS_ATOMICETH | SKR_HAS_AETH | SKR_HAS_ATOMICACKETH |
				      SKR_HAS_IMM | SKR_HAS_IETH;

TEST(Opcode, ExistsExactlyWhereTheStandardSaysSo)
{
	unsigned n = 0;

	for (unsigned code = 0; code < 256; code++) {
		EXPECT_EQ(skr_opcodes[code].flags != 0, find(code) != nullptr) << std::hex << code;
		EXPECT_EQ(skr_opcodes[code].hdr_bytes != 0, find(code) != nullptr)
			<< std::hex << code;
		n += skr_opcodes[code].flags != 0;
	}
	EXPECT_EQ(n, 25u + 12u + 2u + 1u + 25u);
}

TEST(Opcode, HasTheStandardsHeaders)
{
	for (const Opcode &op : opcodes) {
		std::uint32_t want = 0;

		for (const std::string &name : headers(op))
			want |= header(name).flag;
		EXPECT_EQ(skr_opcodes[op.code].flags & all_headers, want) << op.name;
		EXPECT_EQ(!!(skr_opcodes[op.code].flags & SKR_HAS_PAYLOAD), op.payload) << op.name;
	}
}

TEST(Opcode, HeaderBytesAreTheSumOfTheFlags)
{
	for (unsigned code = 0; code < 256; code++) {
		unsigned sum = bth_bytes;

		if (!skr_opcodes[code].flags)
			continue;
		for (const Header &h : header_list)
			sum += skr_opcodes[code].flags & h.flag ? h.bytes : 0;
		EXPECT_EQ(skr_opcodes[code].hdr_bytes, sum) << std::hex << code;
		EXPECT_LE(skr_opcodes[code].hdr_bytes, SKR_MAX_HDR_BYTES) << std::hex << code;
	}
}

TEST(Opcode, HasNoFlagWithoutAName)
{
	constexpr std::uint32_t known = all_headers | SKR_HAS_PAYLOAD | SKR_IS_REQUEST |
					SKR_IS_RESPONSE | SKR_IS_SEND | SKR_IS_WRITE | SKR_IS_READ |
					SKR_IS_ATOMIC | SKR_IS_FLUSH | SKR_IS_ATOMIC_WRITE |
					SKR_IS_FIRST | SKR_IS_LAST;

	for (unsigned code = 0; code < 256; code++)
		EXPECT_EQ(skr_opcodes[code].flags & ~known, 0u) << std::hex << code;
}

/* The order of the flags is the order on the wire: parse and build rely on it */
TEST(Opcode, HeadersFollowEachOtherInTheOrderOfTheirFlags)
{
	for (const Opcode &op : opcodes) {
		std::uint32_t last = 0;

		for (const std::string &name : headers(op)) {
			EXPECT_GT(header(name).flag, last) << op.name << ": " << name;
			last = header(name).flag;
		}
	}
}

TEST(Opcode, IsFirstMiddleLastOrOnly)
{
	for (const Opcode &op : opcodes) {
		const std::uint32_t flags = skr_opcodes[op.code].flags;

		EXPECT_EQ(!!(flags & SKR_IS_FIRST),
			  op.place == Place::first || op.place == Place::only)
			<< op.name;
		EXPECT_EQ(!!(flags & SKR_IS_LAST),
			  op.place == Place::last || op.place == Place::only)
			<< op.name;
	}
}

TEST(Opcode, AsksOrAnswers)
{
	for (const Opcode &op : opcodes) {
		const std::uint32_t flags = skr_opcodes[op.code].flags;

		EXPECT_EQ(!!(flags & SKR_IS_REQUEST), op.role == Role::request) << op.name;
		EXPECT_EQ(!!(flags & SKR_IS_RESPONSE), op.role == Role::response) << op.name;
	}
}

TEST(Opcode, IsOfAtMostOneKind)
{
	for (const Opcode &op : opcodes) {
		const std::uint32_t flags = skr_opcodes[op.code].flags;

		EXPECT_EQ(!!(flags & SKR_IS_SEND), op.kind == Kind::send) << op.name;
		EXPECT_EQ(!!(flags & SKR_IS_WRITE), op.kind == Kind::write) << op.name;
		EXPECT_EQ(!!(flags & SKR_IS_READ), op.kind == Kind::read) << op.name;
		EXPECT_EQ(!!(flags & SKR_IS_ATOMIC), op.kind == Kind::atomic) << op.name;
		EXPECT_EQ(!!(flags & SKR_IS_FLUSH), op.kind == Kind::flush) << op.name;
		EXPECT_EQ(!!(flags & SKR_IS_ATOMIC_WRITE), op.kind == Kind::atomic_write)
			<< op.name;
	}
}

TEST(Opcode, ConstantsNameTheStandardsCodes)
{
	const struct {
		unsigned have;
		unsigned want;
	} names[] = {
		{ SKR_TRANS_RC | SKR_SEND_FIRST, 0x00 },
		{ SKR_TRANS_RC | SKR_SEND_MIDDLE, 0x01 },
		{ SKR_TRANS_RC | SKR_SEND_LAST, 0x02 },
		{ SKR_TRANS_RC | SKR_SEND_LAST_IMM, 0x03 },
		{ SKR_TRANS_RC | SKR_SEND_ONLY, 0x04 },
		{ SKR_TRANS_RC | SKR_SEND_ONLY_IMM, 0x05 },
		{ SKR_TRANS_RC | SKR_WRITE_FIRST, 0x06 },
		{ SKR_TRANS_RC | SKR_WRITE_MIDDLE, 0x07 },
		{ SKR_TRANS_RC | SKR_WRITE_LAST, 0x08 },
		{ SKR_TRANS_RC | SKR_WRITE_LAST_IMM, 0x09 },
		{ SKR_TRANS_RC | SKR_WRITE_ONLY, 0x0a },
		{ SKR_TRANS_RC | SKR_WRITE_ONLY_IMM, 0x0b },
		{ SKR_TRANS_RC | SKR_READ_REQUEST, 0x0c },
		{ SKR_TRANS_RC | SKR_READ_RESP_FIRST, 0x0d },
		{ SKR_TRANS_RC | SKR_READ_RESP_MIDDLE, 0x0e },
		{ SKR_TRANS_RC | SKR_READ_RESP_LAST, 0x0f },
		{ SKR_TRANS_RC | SKR_READ_RESP_ONLY, 0x10 },
		{ SKR_TRANS_RC | SKR_ACKNOWLEDGE, 0x11 },
		{ SKR_TRANS_RC | SKR_ATOMIC_ACK, 0x12 },
		{ SKR_TRANS_RC | SKR_COMPARE_SWAP, 0x13 },
		{ SKR_TRANS_RC | SKR_FETCH_ADD, 0x14 },
		{ SKR_TRANS_RC | SKR_SEND_LAST_INV, 0x16 },
		{ SKR_TRANS_RC | SKR_SEND_ONLY_INV, 0x17 },
		{ SKR_TRANS_RC | SKR_FLUSH, 0x1c },
		{ SKR_TRANS_RC | SKR_ATOMIC_WRITE, 0x1d },
		{ SKR_TRANS_UC | SKR_SEND_ONLY, 0x24 },
		{ SKR_TRANS_UD | SKR_SEND_ONLY, 0x64 },
		{ SKR_TRANS_XRC | SKR_SEND_ONLY, 0xa4 },
		{ SKR_OPCODE_CNP, 0x81 },
	};

	for (const auto &n : names)
		EXPECT_EQ(n.have, n.want);
}

TEST(Headers, AreAsLongAsOnTheWire)
{
	EXPECT_EQ(sizeof(skr_bth), 12u);
	EXPECT_EQ(sizeof(skr_deth), 8u);
	EXPECT_EQ(sizeof(skr_reth), 16u);
	EXPECT_EQ(sizeof(skr_atomiceth), 28u);
	EXPECT_EQ(sizeof(skr_aeth), 4u);
	EXPECT_EQ(sizeof(skr_atomicacketh), 8u);
	EXPECT_EQ(SKR_ICRC_BYTES, 4);
}

} /* namespace */
