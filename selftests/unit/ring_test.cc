// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The kernel's side of the shared rings: counting, kicking, arming. */
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "ring/ring.h"
}

namespace
{

class Ring : public testing::Test
{
protected:
	static constexpr __u32 depth = 8, entry = 64;
	std::vector<__u64> memory = std::vector<__u64>(skr_ring_bytes(depth, entry) / 8);
	skr_ring ring = { reinterpret_cast<skerry_ring_hdr *>(memory.data()), depth, entry };
};

TEST_F(Ring, CountsWhatUserSpaceProduced)
{
	for (__u32 base : { 0U, 5U, 0xfffffffcU }) {
		for (__u32 n = 0; n <= depth; n++) {
			ring.hdr->user_index = base + n;
			for (__u32 taken = 0; taken <= n; taken++)
				EXPECT_EQ(skr_ring_ready(&ring, base, base + taken), n - taken);
		}
	}
}

TEST_F(Ring, RefusesAnIndexThatCannotBe)
{
	ring.hdr->user_index = depth + 1;
	EXPECT_EQ(skr_ring_ready(&ring, 0, 0), SKR_RING_BROKEN);
	ring.hdr->user_index = 0xffffffff;
	EXPECT_EQ(skr_ring_ready(&ring, 0, 0), SKR_RING_BROKEN);
	ring.hdr->user_index = 2; /* three were taken */
	EXPECT_EQ(skr_ring_ready(&ring, 0, 3), SKR_RING_BROKEN);
}

TEST_F(Ring, EntriesStayInside)
{
	auto first = reinterpret_cast<char *>(memory.data()) + SKERRY_RING_ENTRIES;

	EXPECT_EQ(skr_ring_entry(&ring, 0), first);
	EXPECT_EQ(skr_ring_entry(&ring, depth), first);
	EXPECT_EQ(skr_ring_entry(&ring, 0xffffffff), first + (depth - 1) * entry);
}

TEST_F(Ring, KickIsAskedForAndTakenBack)
{
	ring.hdr->user_index = 3;
	EXPECT_FALSE(skr_ring_want_kick(&ring, 3));
	EXPECT_EQ(ring.hdr->need_kick, 1U);
	EXPECT_TRUE(skr_ring_want_kick(&ring, 2));
	skr_ring_no_kick(&ring);
	EXPECT_EQ(ring.hdr->need_kick, 0U);
}

TEST_F(Ring, FiresOnceForWhatWasArmed)
{
	EXPECT_FALSE(skr_ring_fire(&ring, true));
	ring.hdr->arm = SKERRY_ARM_SOLICITED;
	EXPECT_FALSE(skr_ring_fire(&ring, false));
	EXPECT_TRUE(skr_ring_fire(&ring, true));
	EXPECT_FALSE(skr_ring_fire(&ring, true));
	ring.hdr->arm = SKERRY_ARM_NEXT;
	EXPECT_TRUE(skr_ring_fire(&ring, false));
	EXPECT_EQ(ring.hdr->arm, 0U);
}

/* the kernel may look whether it is waited for, and raise the event later */
TEST_F(Ring, ArmedIsAskedWithoutDisarming)
{
	EXPECT_FALSE(skr_ring_armed(&ring, true));
	ring.hdr->arm = SKERRY_ARM_SOLICITED;
	EXPECT_FALSE(skr_ring_armed(&ring, false));
	EXPECT_TRUE(skr_ring_armed(&ring, true));
	EXPECT_TRUE(skr_ring_armed(&ring, true));
	ring.hdr->arm |= SKERRY_ARM_NEXT;
	EXPECT_TRUE(skr_ring_armed(&ring, false));
	EXPECT_EQ(ring.hdr->arm, SKERRY_ARM_SOLICITED | SKERRY_ARM_NEXT);
	EXPECT_TRUE(skr_ring_fire(&ring, false));
	EXPECT_FALSE(skr_ring_armed(&ring, true));
}

} // namespace
