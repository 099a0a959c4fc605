// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
//
// The provider's side of the shared rings (providers/skerry/ring.h), on plain memory. The kernel's
// side is played by a few lines written from the contract at the top of rdma/skerry-abi.h.

#include "../../providers/skerry/ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>

namespace
{

static_assert(sizeof(skerry_ring_hdr) == SKERRY_RING_ENTRIES);
static_assert(offsetof(skerry_ring_hdr, user_index) / 64 !=
	      offsetof(skerry_ring_hdr, kernel_index) / 64);
static_assert(offsetof(skerry_ring_hdr, arm) / 64 == offsetof(skerry_ring_hdr, user_index) / 64);
static_assert(offsetof(skerry_ring_hdr, need_kick) / 64 ==
	      offsetof(skerry_ring_hdr, kernel_index) / 64);
static_assert(sizeof(skerry_send_wqe) == 64);
static_assert(sizeof(skerry_recv_wqe) == 16);
static_assert(sizeof(skerry_sge) == 16);
static_assert(sizeof(skerry_cqe) == 64);
static_assert(sizeof(skerry_ring_info) == 24);

struct FreeDeleter {
	void operator()(void *p) const { std::free(p); }
};

// A ring in memory, mapped as the provider maps it, at any starting index.
class Ring
{
public:
	Ring(uint32_t depth, uint32_t entry_bytes, uint32_t start = 0)
	{
		info_.depth = depth;
		info_.entry_bytes = entry_bytes;
		info_.mmap_bytes = (SKERRY_RING_ENTRIES + depth * entry_bytes + 4095) & ~4095u;
		map_.reset(std::aligned_alloc(4096, info_.mmap_bytes));
		std::memset(map_.get(), 0, info_.mmap_bytes);
		hdr()->user_index = start;
		hdr()->kernel_index = start;
		EXPECT_TRUE(skerry_ring_info_ok(&info_, entry_bytes));
		skerry_ring_init(&ring, map_.get(), &info_);
	}

	skerry_ring_hdr *hdr() { return static_cast<skerry_ring_hdr *>(map_.get()); }
	uint8_t *base() { return static_cast<uint8_t *>(map_.get()); }
	uint32_t bytes() const { return info_.mmap_bytes; }

	// What the kernel does
	uint32_t posted() { return __atomic_load_n(&hdr()->user_index, __ATOMIC_ACQUIRE); }
	void set_kernel(uint32_t index)
	{
		__atomic_store_n(&hdr()->kernel_index, index, __ATOMIC_RELEASE);
	}
	template <typename T> T *at(uint32_t index)
	{
		return reinterpret_cast<T *>(base() + SKERRY_RING_ENTRIES +
					     size_t{ index & (info_.depth - 1) } *
						     info_.entry_bytes);
	}

	skerry_ring ring{};

private:
	skerry_ring_info info_{};
	std::unique_ptr<void, FreeDeleter> map_;
};

skerry_ring_info info(uint32_t mmap_bytes, uint32_t depth, uint32_t entry_bytes)
{
	skerry_ring_info i{};

	i.mmap_bytes = mmap_bytes;
	i.depth = depth;
	i.entry_bytes = entry_bytes;
	return i;
}

TEST(ProviderRing, TakesOnlyGeometryThatFits)
{
	const auto ok = [](const skerry_ring_info &i, size_t min) {
		return skerry_ring_info_ok(&i, min);
	};

	EXPECT_TRUE(ok(info(4096, 32, 64), 64));
	EXPECT_TRUE(ok(info(128 + 32 * 64, 32, 64), 64));
	EXPECT_TRUE(ok(info(4096, 1, 64), 64));
	EXPECT_TRUE(ok(info(4096, 16, 128), 64));

	EXPECT_FALSE(ok(info(128 + 32 * 64 - 1, 32, 64), 64)) << "mapping too short";
	EXPECT_FALSE(ok(info(4096, 0, 64), 64)) << "no entries";
	EXPECT_FALSE(ok(info(4096, 24, 64), 64)) << "not a power of two";
	EXPECT_FALSE(ok(info(4096, 16, 56), 64)) << "entries too small";
	EXPECT_FALSE(ok(info(4096, 16, 68), 64)) << "entries not aligned";
	EXPECT_FALSE(ok(info(4096, 1U << 31, 1U << 31), 64))
		<< "product beyond 64 bits' lower half";
	EXPECT_FALSE(ok(info(256, 1U << 26, 64), 64)) << "product is 0 modulo 2^32";
}

TEST(ProviderRing, EntriesLieWhereTheContractSaysAtBothWraps)
{
	for (uint32_t start : { 0u, 5u, 0x7ffffffeu, 0xfffffffcu }) {
		Ring r(8, 96, start);

		EXPECT_EQ(r.ring.index, start);
		for (uint32_t i = 0; i < 20; i++)
			EXPECT_EQ(skerry_ring_entry(&r.ring, start + i), r.at<void>(start + i));
		EXPECT_LE(r.at<uint8_t>(7) + 96, r.base() + r.bytes());
	}
}

TEST(ProviderRing, PublishesOnlyWhenTold)
{
	Ring r(8, 64, 0xfffffffe);

	r.ring.index += 3;
	EXPECT_EQ(r.posted(), 0xfffffffeu);
	skerry_ring_publish(&r.ring);
	EXPECT_EQ(r.posted(), 1u);
}

TEST(ProviderRing, FullAtTheLimitNotAtTheDepth)
{
	for (uint32_t start : { 0u, 0xfffffffdu }) {
		for (uint32_t limit : { 1u, 5u, 8u }) {
			Ring r(8, 64, start);

			for (uint32_t i = 0; i < limit; i++) {
				ASSERT_FALSE(skerry_ring_full(&r.ring, limit));
				r.ring.index++;
			}
			EXPECT_TRUE(skerry_ring_full(&r.ring, limit));

			// One completes: one more fits
			r.set_kernel(start + 1);
			EXPECT_FALSE(skerry_ring_full(&r.ring, limit));
			r.ring.index++;
			EXPECT_TRUE(skerry_ring_full(&r.ring, limit));

			// All complete
			r.set_kernel(r.ring.index);
			EXPECT_FALSE(skerry_ring_full(&r.ring, limit));
		}
	}
}

TEST(ProviderRing, LimitZeroIsAlwaysFull)
{
	Ring r(1, 64);

	EXPECT_TRUE(skerry_ring_full(&r.ring, 0));
}

// What stands in the page is a copy: overwriting it does not move this side.
TEST(ProviderRing, NeverReadsItsOwnIndexBack)
{
	Ring r(8, 64, 100);

	r.ring.index += 2;
	skerry_ring_publish(&r.ring);
	r.hdr()->user_index = 0xdeadbeef;
	EXPECT_FALSE(skerry_ring_full(&r.ring, 8));
	EXPECT_EQ(r.ring.index, 102u);
	skerry_ring_publish(&r.ring);
	EXPECT_EQ(r.posted(), 102u);
}

TEST(ProviderRing, KicksOnlyWhenAsked)
{
	Ring r(8, 64);

	EXPECT_FALSE(skerry_ring_need_kick(&r.ring));
	r.hdr()->need_kick = 1;
	EXPECT_TRUE(skerry_ring_need_kick(&r.ring));
}

TEST(ProviderRing, RestartsWhereTheKernelStands)
{
	Ring r(8, 64, 10);

	r.ring.index += 6;
	skerry_ring_publish(&r.ring);

	// The kernel had completed two and drops the rest
	r.set_kernel(12);
	skerry_ring_restart(&r.ring);
	EXPECT_EQ(r.posted(), 12u);
	EXPECT_EQ(r.ring.index, 12u);

	// The kernel had taken all of it
	r.ring.index += 3;
	skerry_ring_publish(&r.ring);
	r.set_kernel(15);
	skerry_ring_restart(&r.ring);
	EXPECT_EQ(r.posted(), 15u);

	// The kernel begins again at 0
	r.set_kernel(0);
	skerry_ring_restart(&r.ring);
	EXPECT_EQ(r.posted(), 0u);
	for (int i = 0; i < 8; i++) {
		ASSERT_FALSE(skerry_ring_full(&r.ring, 8));
		r.ring.index++;
	}
	EXPECT_TRUE(skerry_ring_full(&r.ring, 8));
}

TEST(ProviderRing, TakesCqesOnceAndInOrder)
{
	Ring r(4, sizeof(skerry_cqe), 0xfffffffe);
	uint64_t sent = 0, taken = 0;

	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 1 + round % 4; i++) {
			uint32_t index = r.hdr()->kernel_index;

			r.at<skerry_cqe>(index)->wr_id = sent++;
			r.set_kernel(index + 1);
		}
		EXPECT_EQ(skerry_ring_avail(&r.ring), sent - taken);
		while (const skerry_cqe *cqe = skerry_ring_take(&r.ring))
			EXPECT_EQ(cqe->wr_id, taken++);
		EXPECT_EQ(taken, sent);

		// An empty ring stays empty however often it is asked
		EXPECT_EQ(skerry_ring_take(&r.ring), nullptr);
		EXPECT_EQ(skerry_ring_take(&r.ring), nullptr);
		EXPECT_EQ(skerry_ring_avail(&r.ring), 0u);
		skerry_ring_publish(&r.ring);
		EXPECT_EQ(r.posted(), r.hdr()->kernel_index);
	}
}

// The kernel has changed over to another ring; what it wrote before is still in the old one
TEST(ProviderRing, MovesWhatWasNotConsumedWhenTheRingIsReplaced)
{
	for (const auto &[from_depth, to_depth] :
	     { std::pair{ 8u, 32u }, { 32u, 8u }, { 8u, 8u } }) {
		for (uint32_t start : { 0u, 5u, 0xfffffffdu }) {
			for (uint32_t waiting : { 0u, 1u, 7u, 8u }) {
				Ring from(from_depth, sizeof(skerry_cqe), start);
				const uint32_t end = start + waiting;
				Ring to(to_depth, sizeof(skerry_cqe), end);

				for (uint32_t i = start; i != end; i++)
					from.at<skerry_cqe>(i)->wr_id = i;
				from.set_kernel(end);
				// The kernel goes on meanwhile, as far as there is room
				uint32_t more = to_depth - waiting;
				for (uint32_t i = end; i != end + more; i++)
					to.at<skerry_cqe>(i)->wr_id = i;
				to.set_kernel(end + more);

				skerry_ring_move(&to.ring, &from.ring);
				for (uint32_t i = start; i != end + more; i++) {
					const skerry_cqe *cqe = skerry_ring_take(&to.ring);

					ASSERT_NE(cqe, nullptr) << i - start;
					EXPECT_EQ(cqe->wr_id, uint64_t{ i });
				}
				EXPECT_EQ(skerry_ring_take(&to.ring), nullptr);
			}
		}
	}
}

TEST(ProviderRing, ForgetsOneQpAndKeepsTheOthersInOrder)
{
	// each bit of the mask: is the entry of QP 1, which is forgotten?
	for (uint32_t start : { 0u, 6u, 0xfffffffdu }) {
		for (uint32_t mask = 0; mask < 256; mask++) {
			for (uint32_t taken : { 0u, 3u, 8u }) {
				Ring r(8, sizeof(skerry_cqe), start);

				for (uint32_t i = 0; i < 8; i++) {
					r.at<skerry_cqe>(start + i)->wr_id = i;
					r.at<skerry_cqe>(start + i)->qp_num = mask >> i & 1;
				}
				r.set_kernel(start + 8);
				for (uint32_t i = 0; i < taken; i++)
					skerry_ring_take(&r.ring);

				skerry_ring_forget(&r.ring, 1);
				EXPECT_EQ(r.posted(), r.ring.index);
				for (uint32_t i = taken; i < 8; i++) {
					if (mask >> i & 1)
						continue;
					const skerry_cqe *cqe = skerry_ring_take(&r.ring);

					ASSERT_NE(cqe, nullptr) << mask;
					EXPECT_EQ(cqe->wr_id, uint64_t{ i }) << mask;
					EXPECT_EQ(cqe->qp_num, 0u) << mask;
				}
				EXPECT_EQ(skerry_ring_take(&r.ring), nullptr) << mask;
				EXPECT_EQ(r.ring.index, start + 8);
			}
		}
	}
}

TEST(ProviderRing, ArmingAddsUp)
{
	Ring r(4, sizeof(skerry_cqe));

	skerry_ring_arm(&r.ring, SKERRY_ARM_SOLICITED);
	EXPECT_EQ(r.hdr()->arm, SKERRY_ARM_SOLICITED);
	skerry_ring_arm(&r.ring, SKERRY_ARM_NEXT);
	EXPECT_EQ(r.hdr()->arm, SKERRY_ARM_SOLICITED | SKERRY_ARM_NEXT);
	skerry_ring_arm(&r.ring, SKERRY_ARM_SOLICITED);
	EXPECT_EQ(r.hdr()->arm, SKERRY_ARM_SOLICITED | SKERRY_ARM_NEXT);
}

// Wait for the other thread without giving it time to get far, but let it run where there is only
// one CPU.
template <typename F> void spin_while(F condition)
{
	for (int turns = 0; condition(); turns++)
		if (turns > 1000)
			std::this_thread::yield();
}

// Two threads that start each turn together
class Turns
{
public:
	void meet()
	{
		const uint32_t all = (arrived_.fetch_add(1) | 1) + 1;

		spin_while([&] { return static_cast<int32_t>(arrived_.load() - all) < 0; });
	}

private:
	std::atomic<uint32_t> arrived_{ 0 };
};

// Let some nanoseconds pass
void dawdle(int turns)
{
	while (turns-- > 0)
		std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Both sides write one word, then read the other's: with a full barrier in between, at least one of
// them sees what the other wrote. Count the turns in which neither did. Both hold both lines in
// their caches when they start, so that reads are quick and writes are not, and they start at
// every distance from each other.
template <typename Reset, typename User, typename Kernel>
int both_missed(Ring &r, Reset reset, User user_sees, Kernel kernel_sees)
{
	constexpr int kTurns = 100000;
	bool seen_by_kernel = false;
	Turns turns;
	int missed = 0;

	const auto touch = [&] {
		__atomic_load_n(&r.hdr()->user_index, __ATOMIC_SEQ_CST);
		__atomic_load_n(&r.hdr()->kernel_index, __ATOMIC_SEQ_CST);
	};

	std::thread kernel([&] {
		for (int i = 0; i < kTurns; i++) {
			turns.meet();
			touch();
			turns.meet();
			dawdle(i % 256 - 128);
			seen_by_kernel = kernel_sees();
			turns.meet();
		}
	});

	for (int i = 0; i < kTurns; i++) {
		reset();
		turns.meet();
		touch();
		turns.meet();
		dawdle(128 - i % 256);
		const bool seen_by_user = user_sees();
		turns.meet();
		missed += !seen_by_user && !seen_by_kernel;
	}
	kernel.join();
	return missed;
}

// A post against a kernel that goes idle: either the kick is made or the entry is found.
TEST(ProviderRing, NoPostIsMissedByAKernelThatGoesIdle)
{
	Ring r(16, sizeof(skerry_send_wqe), 0xffff0000);

	EXPECT_EQ(0, both_missed(
			     r,
			     [&] {
				     r.hdr()->need_kick = 0;
				     r.set_kernel(r.ring.index);
			     },
			     [&] {
				     r.ring.index++;
				     skerry_ring_publish(&r.ring);
				     return skerry_ring_need_kick(&r.ring);
			     },
			     [&] {
				     const uint32_t cons = r.hdr()->kernel_index;

				     __atomic_store_n(&r.hdr()->need_kick, 1, __ATOMIC_RELAXED);
				     __atomic_thread_fence(__ATOMIC_SEQ_CST);
				     return r.posted() != cons;
			     }));
}

// Arming against a kernel that produces: either the event is raised or the entry is found.
TEST(ProviderRing, NoCompletionIsMissedByOneWhoArms)
{
	Ring r(16, sizeof(skerry_cqe), 0xffff0000);

	EXPECT_EQ(0, both_missed(
			     r,
			     [&] {
				     r.hdr()->arm = 0;
				     while (skerry_ring_take(&r.ring))
					     ;
			     },
			     [&] {
				     skerry_ring_arm(&r.ring, SKERRY_ARM_NEXT);
				     return skerry_ring_avail(&r.ring) != 0;
			     },
			     [&] {
				     r.set_kernel(r.hdr()->kernel_index + 1);
				     __atomic_thread_fence(__ATOMIC_SEQ_CST);
				     return __atomic_load_n(&r.hdr()->arm, __ATOMIC_RELAXED) != 0;
			     }));
}

constexpr uint32_t kMany = 20000;

// Sleep until somebody signals; false after a time in which somebody must have.
using Event = std::counting_semaphore<>;

bool wait_for(Event &event)
{
	return event.try_acquire_for(std::chrono::seconds(30));
}

// The whole protocol of a send ring: every entry arrives once, in order, and whole.
TEST(ProviderRing, PostsEndToEnd)
{
	Ring r(16, sizeof(skerry_send_wqe), 0xffffff00);
	const uint32_t start = r.ring.index;
	std::atomic<bool> failed{ false };
	Event kicked{ 0 };

	std::thread kernel([&] {
		uint32_t cons = start;

		for (uint64_t expect = 0; expect < kMany && !failed;) {
			if (cons == r.posted()) {
				__atomic_store_n(&r.hdr()->need_kick, 1, __ATOMIC_RELAXED);
				__atomic_thread_fence(__ATOMIC_SEQ_CST);
				if (cons == r.posted() && !wait_for(kicked))
					failed = true;
				__atomic_store_n(&r.hdr()->need_kick, 0, __ATOMIC_RELAXED);
				continue;
			}
			const auto *wqe = r.at<skerry_send_wqe>(cons);

			if (wqe->wr_id != expect || wqe->rsvd[4] != ~expect)
				failed = true;
			expect++;
			r.set_kernel(++cons);
		}
	});

	for (uint64_t i = 0; i < kMany && !failed; i++) {
		spin_while([&] { return skerry_ring_full(&r.ring, i & 1024 ? 16 : 1) && !failed; });
		auto *wqe =
			static_cast<skerry_send_wqe *>(skerry_ring_entry(&r.ring, r.ring.index));

		wqe->wr_id = i;
		wqe->rsvd[4] = ~i;
		r.ring.index++;
		skerry_ring_publish(&r.ring);
		if (skerry_ring_need_kick(&r.ring))
			kicked.release();
	}
	kernel.join();
	EXPECT_FALSE(failed);
}

// The whole protocol of a completion ring: poll, arm, poll again, sleep.
TEST(ProviderRing, CompletesEndToEnd)
{
	Ring r(16, sizeof(skerry_cqe), 0xffffff00);
	const uint32_t start = r.ring.index;
	std::atomic<bool> failed{ false };
	Event event{ 0 };

	std::thread kernel([&] {
		uint32_t prod = start;

		for (uint64_t i = 0; i < kMany && !failed; i++) {
			spin_while([&] {
				return prod - r.posted() >= (i & 1024 ? 16u : 1u) && !failed;
			});
			r.at<skerry_cqe>(prod)->wr_id = i;
			r.at<skerry_cqe>(prod)->timestamp = ~i;
			r.set_kernel(++prod);
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			if (__atomic_load_n(&r.hdr()->arm, __ATOMIC_RELAXED) &&
			    __atomic_exchange_n(&r.hdr()->arm, 0, __ATOMIC_SEQ_CST))
				event.release();
		}
	});

	uint64_t expect = 0;
	const auto drain = [&] {
		const uint64_t before = expect;

		for (; const skerry_cqe *cqe = skerry_ring_take(&r.ring); expect++)
			if (cqe->wr_id != expect || cqe->timestamp != ~expect)
				failed = true;
		if (expect != before)
			skerry_ring_publish(&r.ring);
		return expect != before;
	};

	while (expect < kMany && !failed) {
		if (drain())
			continue;
		skerry_ring_arm(&r.ring, SKERRY_ARM_NEXT);
		if (!drain() && !wait_for(event))
			failed = true;
	}
	kernel.join();
	EXPECT_FALSE(failed);
}

} // namespace
