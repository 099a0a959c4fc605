// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Syndromes, RNR timer codes and the local ACK timeout.
 */
#include <gtest/gtest.h>

#include <cstdint>

extern "C" {
#include "wire/aeth.h"
}

namespace
{

/* In the standard's own unit, milliseconds with two decimals: here in 10 us */
constexpr std::uint64_t rnr_10us[32] = {
	/* 00 */ 65536,
	/* 01 */ 1,
	/* 02 */ 2,
	/* 03 */ 3,
	/* 04 */ 4,
	/* 05 */ 6,
	/* 06 */ 8,
	/* 07 */ 12,
	/* 08 */ 16,
	/* 09 */ 24,
	/* 10 */ 32,
	/* 11 */ 48,
	/* 12 */ 64,
	/* 13 */ 96,
	/* 14 */ 128,
	/* 15 */ 192,
	/* 16 */ 256,
	/* 17 */ 384,
	/* 18 */ 512,
	/* 19 */ 768,
	/* 20 */ 1024,
	/* 21 */ 1536,
	/* 22 */ 2048,
	/* 23 */ 3072,
	/* 24 */ 4096,
	/* 25 */ 6144,
	/* 26 */ 8192,
	/* 27 */ 12288,
	/* 28 */ 16384,
	/* 29 */ 24576,
	/* 30 */ 32768,
	/* 31 */ 49152,
};

TEST(Rnr, EveryCode)
{
	for (unsigned code = 0; code < 32; code++)
		EXPECT_EQ(skr_rnr_ns(static_cast<__u8>(code)), rnr_10us[code] * 10000) << code;
}

TEST(Rnr, RowsOfTheTableInMilliseconds)
{
	EXPECT_EQ(skr_rnr_ns(0), 655360000u);  /* 655.36 ms */
	EXPECT_EQ(skr_rnr_ns(1), 10000u);      /* 0.01 ms */
	EXPECT_EQ(skr_rnr_ns(16), 2560000u);   /* 2.56 ms */
	EXPECT_EQ(skr_rnr_ns(25), 61440000u);  /* 61.44 ms */
	EXPECT_EQ(skr_rnr_ns(31), 491520000u); /* 491.52 ms */
}

/* From code 3 on, two codes further is twice as long */
TEST(Rnr, DoublesEveryTwoCodes)
{
	for (unsigned code = 3; code + 2 < 32; code++)
		EXPECT_EQ(skr_rnr_ns(static_cast<__u8>(code + 2)),
			  2 * skr_rnr_ns(static_cast<__u8>(code)))
			<< code;
}

TEST(Rnr, TakesAWholeSyndrome)
{
	for (unsigned syndrome = 0; syndrome < 256; syndrome++)
		EXPECT_EQ(skr_rnr_ns(static_cast<__u8>(syndrome)),
			  rnr_10us[syndrome & 0x1f] * 10000)
			<< syndrome;
}

TEST(AckTimeout, ZeroIsNoTimeout)
{
	EXPECT_EQ(skr_ack_timeout_ns(0), 0u);
}

TEST(AckTimeout, EveryCode)
{
	std::uint64_t ns = 4096;

	for (unsigned code = 1; code < 32; code++) {
		ns *= 2;
		EXPECT_EQ(skr_ack_timeout_ns(static_cast<__u8>(code)), ns) << code;
	}
	EXPECT_EQ(ns, 8796093022208u); /* about 2.4 hours */
}

TEST(AckTimeout, LooksAtFiveBitsOnly)
{
	for (unsigned code = 0; code < 256; code++)
		EXPECT_EQ(skr_ack_timeout_ns(static_cast<__u8>(code)),
			  skr_ack_timeout_ns(static_cast<__u8>(code & 0x1f)))
			<< code;
}

TEST(Syndrome, ClassesAndCodes)
{
	EXPECT_EQ(SKR_AETH_CLASS_MASK | SKR_AETH_VALUE_MASK, 0x7f);
	EXPECT_EQ(SKR_AETH_CLASS_MASK & SKR_AETH_VALUE_MASK, 0);
	EXPECT_EQ(SKR_AETH_ACK, 0x00);
	EXPECT_EQ(SKR_AETH_RNR, 0x20);
	EXPECT_EQ(SKR_AETH_NAK, 0x60);
	EXPECT_EQ(SKR_AETH_ACK_UNLIMITED, SKR_AETH_ACK | 0x1f);
	EXPECT_EQ(SKR_NAK_PSN_SEQ, SKR_AETH_NAK | 0);
	EXPECT_EQ(SKR_NAK_INV_REQ, SKR_AETH_NAK | 1);
	EXPECT_EQ(SKR_NAK_REM_ACCESS, SKR_AETH_NAK | 2);
	EXPECT_EQ(SKR_NAK_REM_OP, SKR_AETH_NAK | 3);
	EXPECT_EQ(SKR_NAK_INV_RD_REQ, SKR_AETH_NAK | 4);
}

} /* namespace */
