// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * PSN arithmetic in 24 bits.
 */
#include <gtest/gtest.h>

#include <cstdint>

extern "C" {
#include "wire/psn.h"
}

namespace
{

constexpr std::int32_t half = 1 << 23;
constexpr std::uint32_t bases[] = { 0,	      1,	0x7ffffe, 0x7fffff, 0x800000,
				    0x800001, 0xfffffe, 0xffffff, 0x123456 };

TEST(Psn, AddWrapsAt24Bits)
{
	EXPECT_EQ(skr_psn_add(0xffffff, 1), 0u);
	EXPECT_EQ(skr_psn_add(0xfffffe, 3), 1u);
	EXPECT_EQ(skr_psn_add(0, -1), 0xffffffu);
	EXPECT_EQ(skr_psn_add(1, -3), 0xfffffeu);
	EXPECT_EQ(skr_psn_add(0x7fffff, 1), 0x800000u);
	EXPECT_EQ(skr_psn_add(0x800000, -1), 0x7fffffu);
	EXPECT_EQ(skr_psn_add(5, 0), 5u);
	EXPECT_EQ(skr_psn_add(5, 1 << 24), 5u);
	EXPECT_EQ(skr_psn_add(5, INT32_MIN), 5u);
	EXPECT_EQ(skr_psn_add(5, INT32_MAX), 4u);
}

TEST(Psn, DiffIsSigned)
{
	EXPECT_EQ(skr_psn_diff(0, 0), 0);
	EXPECT_EQ(skr_psn_diff(1, 0), 1);
	EXPECT_EQ(skr_psn_diff(0, 1), -1);
	EXPECT_EQ(skr_psn_diff(0, 0xffffff), 1);
	EXPECT_EQ(skr_psn_diff(0xffffff, 0), -1);
	EXPECT_EQ(skr_psn_diff(0x800000, 0x7fffff), 1);
	EXPECT_EQ(skr_psn_diff(0x7fffff, 0x800000), -1);
	/* The farthest future, and the farthest past */
	EXPECT_EQ(skr_psn_diff(0x7fffff, 0), half - 1);
	EXPECT_EQ(skr_psn_diff(0x800000, 0), -half);
	EXPECT_EQ(skr_psn_diff(0, 0x800001), half - 1);
	EXPECT_EQ(skr_psn_diff(0, 0x800000), -half);
}

TEST(Psn, DiffUndoesAdd)
{
	for (std::uint32_t base : bases) {
		for (std::int32_t d = -half; d < half; d += 97)
			ASSERT_EQ(skr_psn_diff(skr_psn_add(base, d), base), d) << base;
		for (std::int32_t d : { -half, -half + 1, -1, 0, 1, half - 2, half - 1 })
			ASSERT_EQ(skr_psn_diff(skr_psn_add(base, d), base), d) << base;
	}
}

TEST(Psn, EveryDistanceAcrossBothWraps)
{
	for (std::uint32_t base : { 0x7fffffu, 0xffffffu })
		for (std::int32_t d = -half; d < half; d++)
			if (skr_psn_diff(skr_psn_add(base, d), base) != d)
				FAIL() << base << " + " << d;
}

TEST(Psn, DiffLooksAt24BitsOnly)
{
	EXPECT_EQ(skr_psn_diff(0xab000001, 0xcd000000), 1);
	EXPECT_EQ(skr_psn_diff(0xab000000, 0xcd000001), -1);
}

} /* namespace */
