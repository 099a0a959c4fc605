// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
//
// The builders of struct ibv_qp_ex (providers/skerry/build.h) on a ring in plain memory: that they
// write the entries that ibv_post_send() writes, all or nothing. Needs the verbs header
// (libibverbs-dev), but no library and no device.

#include <gtest/gtest.h>

#if !__has_include(<infiniband/verbs.h>)

TEST(ProviderBuild, NeedsVerbsHeader)
{
	GTEST_SKIP() << "infiniband/verbs.h is not installed (libibverbs-dev)";
}

#else

#include "../../providers/skerry/build.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

namespace
{

// A send queue of @depth places of which @max_wr may be used, and what is built in it
class Queue
{
public:
	static constexpr uint32_t kEntry = 64 + 112;

	explicit Queue(ibv_qp_type type = IBV_QPT_RC, uint32_t depth = 8, uint32_t max_wr = 8,
		       uint32_t start = 0)
		: memory_((SKERRY_RING_ENTRIES + depth * kEntry) / 8)
	{
		skerry_ring_info info{};

		info.depth = depth;
		info.entry_bytes = kEntry;
		info.mmap_bytes = SKERRY_RING_ENTRIES + depth * kEntry;
		hdr()->kernel_index = hdr()->user_index = start;
		skerry_ring_init(&ring, memory_.data(), &info);
		std::memset(ring.entries, 0xa5, depth * kEntry);
		cap.max_wr = max_wr;
		cap.max_sge = 4;
		cap.max_inline = 100;
		cap.qp_type = static_cast<uint8_t>(type);
		skerry_build_start(&build, &ring, 0);
	}

	skerry_ring_hdr *hdr() { return reinterpret_cast<skerry_ring_hdr *>(memory_.data()); }
	skerry_send_wqe *next(ibv_wr_opcode opcode, unsigned int flags = 0)
	{
		return skerry_build_next(&build, &ring, &cap, 0x1122334455667788, opcode, flags);
	}
	void sges(const std::vector<ibv_sge> &list)
	{
		skerry_build_sges(&build, &cap, list.data(), list.size());
	}
	void inlined(const std::vector<ibv_data_buf> &list)
	{
		skerry_build_inline(&build, &cap, list.data(), list.size());
	}
	int end() { return skerry_build_end(&build, &ring, &cap); }
	skerry_send_wqe *at(uint32_t index)
	{
		return static_cast<skerry_send_wqe *>(skerry_ring_entry(&ring, index));
	}

	skerry_wq_cap cap{};
	skerry_ring ring{};
	skerry_build build{};

private:
	std::vector<uint64_t> memory_;
};

const std::vector<ibv_sge> kSges = { { 0x7000, 10, 0x900 }, { 0x8000, 20, 0x901 } };

const ibv_wr_opcode kOpcodes[] = {
	IBV_WR_SEND,
	IBV_WR_SEND_WITH_IMM,
	IBV_WR_SEND_WITH_INV,
	IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,
	IBV_WR_ATOMIC_CMP_AND_SWP,
	IBV_WR_ATOMIC_FETCH_AND_ADD,
	IBV_WR_LOCAL_INV,
	IBV_WR_BIND_MW,
};

// One request, in the words of either interface
struct Wanted {
	explicit Wanted(ibv_wr_opcode opcode, unsigned int flags) : sges(kSges)
	{
		mr.lkey = 0x77;
		mw.type = IBV_MW_TYPE_2;
		mw.rkey = 0x4200;
		wr.wr_id = 0x1122334455667788;
		wr.opcode = opcode;
		wr.send_flags = flags;
		wr.sg_list = sges.data();
		wr.num_sge = static_cast<int>(sges.size());
		wr.imm_data = 0x01020304;
		if (opcode == IBV_WR_BIND_MW) {
			wr.bind_mw = { &mw, 0x4201, { &mr, 0x5000, 0x600, 7 } };
		} else if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			   opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			wr.wr.atomic = { 0xabc0, 5, 6, 0x99 };
		} else {
			wr.wr.rdma = { 0xabc0, 0x99 };
		}
	}

	void build(Queue &queue)
	{
		skerry_send_wqe *wqe = queue.next(wr.opcode, wr.send_flags);

		ASSERT_NE(wqe, nullptr);
		switch (wr.opcode) {
		case IBV_WR_SEND_WITH_IMM:
			wqe->imm = 0x01020304;
			break;
		case IBV_WR_SEND_WITH_INV:
		case IBV_WR_LOCAL_INV:
			wqe->inv_rkey = 0x01020304;
			break;
		case IBV_WR_RDMA_WRITE_WITH_IMM:
			wqe->imm = 0x01020304;
			[[fallthrough]];
		case IBV_WR_RDMA_WRITE:
		case IBV_WR_RDMA_READ:
			skerry_put_rdma(wqe, 0xabc0, 0x99);
			break;
		case IBV_WR_ATOMIC_CMP_AND_SWP:
		case IBV_WR_ATOMIC_FETCH_AND_ADD:
			skerry_put_atomic(wqe, 0xabc0, 0x99, 5, 6);
			break;
		case IBV_WR_BIND_MW:
			skerry_build_result(&queue.build,
					    skerry_put_bind(wqe, IBV_MW_TYPE_2, &mw, 0x4201,
							    &wr.bind_mw.bind_info));
			break;
		default:
			break;
		}
	}

	std::vector<ibv_sge> sges;
	ibv_mr mr{};
	ibv_mw mw{};
	ibv_send_wr wr{};
};

TEST(ProviderBuild, WritesWhatPostSendWrites)
{
	for (ibv_wr_opcode opcode : kOpcodes) {
		for (unsigned int flags : { 0u, IBV_SEND_SIGNALED | IBV_SEND_FENCE | 0u }) {
			Wanted wanted(opcode, flags);
			Queue posted, built;

			ASSERT_EQ(skerry_put_send(posted.at(0), &wanted.wr, &posted.cap,
						  IBV_MW_TYPE_2),
				  0);
			wanted.build(built);
			built.sges(wanted.sges);
			ASSERT_EQ(built.end(), 0) << opcode;
			EXPECT_EQ(built.ring.index, 1u);
			EXPECT_EQ(std::memcmp(posted.at(0), built.at(0), Queue::kEntry), 0)
				<< opcode;
		}
	}
}

TEST(ProviderBuild, WritesWhatPostSendWritesInline)
{
	std::array<uint8_t, 30> bytes;

	for (size_t i = 0; i < bytes.size(); i++)
		bytes[i] = static_cast<uint8_t>(i);
	for (ibv_wr_opcode opcode : kOpcodes) {
		Wanted wanted(opcode, IBV_SEND_INLINE);
		Queue posted, built;

		wanted.sges[0].addr = reinterpret_cast<uintptr_t>(bytes.data());
		wanted.sges[1].addr = reinterpret_cast<uintptr_t>(bytes.data() + 10);
		const int ret =
			skerry_put_send(posted.at(0), &wanted.wr, &posted.cap, IBV_MW_TYPE_2);

		wanted.build(built);
		built.inlined({ { bytes.data(), 10 }, { bytes.data() + 10, 20 } });
		EXPECT_EQ(built.end(), ret) << opcode;
		if (ret)
			EXPECT_EQ(ret, EINVAL);
		else
			EXPECT_EQ(std::memcmp(posted.at(0), built.at(0), Queue::kEntry), 0)
				<< opcode;
	}
}

// More pieces than a work request has SGEs: inline data has no pieces in the ring
TEST(ProviderBuild, InlineListsCountBytesOnly)
{
	std::array<uint8_t, 100> bytes;
	std::vector<ibv_data_buf> list;

	for (size_t i = 0; i < bytes.size(); i++) {
		bytes[i] = static_cast<uint8_t>(i);
		list.push_back({ &bytes[i], 1 });
	}

	Queue fits;

	fits.next(IBV_WR_SEND);
	fits.inlined(list);
	ASSERT_EQ(fits.end(), 0);
	EXPECT_EQ(fits.at(0)->inline_len, 100u);
	EXPECT_EQ(std::memcmp(fits.at(0) + 1, bytes.data(), 100), 0);

	for (size_t one_more : { size_t{ 1 }, SIZE_MAX, SIZE_MAX - 99, size_t{ 1 } << 32 }) {
		Queue over;
		auto longer = list;

		longer.push_back({ bytes.data(), one_more });
		over.next(IBV_WR_SEND);
		over.inlined(longer);
		EXPECT_EQ(over.end(), EINVAL) << one_more;
	}
}

TEST(ProviderBuild, FlagInlineMeansNothingHere)
{
	Queue queue;

	queue.next(IBV_WR_RDMA_READ, IBV_SEND_INLINE);
	queue.sges(kSges);
	ASSERT_EQ(queue.end(), 0);
	EXPECT_EQ(queue.at(0)->flags, 0);
	EXPECT_EQ(queue.at(0)->num_sge, 2);
}

TEST(ProviderBuild, NothingIsPublishedBeforeTheEnd)
{
	Queue queue(IBV_QPT_RC, 8, 8, 0xfffffffe);

	for (int i = 0; i < 5; i++)
		queue.next(IBV_WR_SEND);
	EXPECT_EQ(queue.hdr()->user_index, 0xfffffffeu);
	ASSERT_EQ(queue.end(), 0);
	EXPECT_EQ(queue.ring.index, 3u);
	skerry_ring_publish(&queue.ring);
	EXPECT_EQ(queue.hdr()->user_index, 3u);
}

TEST(ProviderBuild, AbortTakesEverythingBack)
{
	Queue queue;

	queue.next(IBV_WR_SEND);
	queue.next(IBV_WR_SEND);
	skerry_build_abort(&queue.build, &queue.ring);
	EXPECT_EQ(queue.ring.index, 0u);

	// And the next ones start in the same place
	skerry_build_start(&queue.build, &queue.ring, 0);
	queue.next(IBV_WR_RDMA_WRITE);
	ASSERT_EQ(queue.end(), 0);
	EXPECT_EQ(queue.ring.index, 1u);
	EXPECT_EQ(queue.at(0)->opcode, IBV_WR_RDMA_WRITE);
}

TEST(ProviderBuild, OneErrorTakesEverythingBack)
{
	const auto after = [](auto &&mistake) {
		Queue queue;

		queue.next(IBV_WR_SEND);
		queue.sges(kSges);
		mistake(queue);
		queue.next(IBV_WR_SEND);
		queue.sges(kSges);

		const int ret = queue.end();

		EXPECT_EQ(queue.ring.index, ret ? 0u : 2u);
		return ret;
	};

	EXPECT_EQ(after([](Queue &) {}), 0);
	EXPECT_EQ(after([](Queue &q) { q.next(static_cast<ibv_wr_opcode>(12)); }), EINVAL);
	EXPECT_EQ(after([](Queue &q) {
			  q.next(IBV_WR_SEND);
			  q.sges(std::vector<ibv_sge>(5));
		  }),
		  EINVAL);
	EXPECT_EQ(after([](Queue &q) {
			  std::array<uint8_t, 101> bytes{};

			  q.next(IBV_WR_SEND);
			  q.inlined({ { bytes.data(), bytes.size() } });
		  }),
		  EINVAL);
	EXPECT_EQ(after([](Queue &q) { skerry_build_result(&q.build, EPERM); }), EPERM);
}

TEST(ProviderBuild, TheFirstErrorIsTheOneReported)
{
	Queue queue(IBV_QPT_RC, 2, 2);

	skerry_build_start(&queue.build, &queue.ring, 0);
	for (int i = 0; i < 3; i++)
		queue.next(IBV_WR_SEND);
	queue.next(static_cast<ibv_wr_opcode>(12));
	queue.sges(std::vector<ibv_sge>(5));
	EXPECT_EQ(queue.end(), ENOMEM);

	skerry_build_start(&queue.build, &queue.ring, EINVAL);
	EXPECT_EQ(queue.next(IBV_WR_SEND), nullptr);
	EXPECT_EQ(queue.end(), EINVAL);
	EXPECT_EQ(queue.ring.index, 0u);
}

TEST(ProviderBuild, FullCountsWhatIsNotPublishedYet)
{
	Queue queue(IBV_QPT_RC, 8, 5);

	for (int i = 0; i < 5; i++)
		EXPECT_NE(queue.next(IBV_WR_SEND), nullptr);
	EXPECT_EQ(queue.next(IBV_WR_SEND), nullptr);
	EXPECT_EQ(queue.end(), ENOMEM);

	skerry_build_start(&queue.build, &queue.ring, 0);
	for (int i = 0; i < 5; i++)
		queue.next(IBV_WR_SEND);
	ASSERT_EQ(queue.end(), 0);
	skerry_build_start(&queue.build, &queue.ring, 0);
	EXPECT_EQ(queue.next(IBV_WR_SEND), nullptr);
	EXPECT_EQ(queue.end(), ENOMEM);
	queue.hdr()->kernel_index = 1;
	skerry_build_start(&queue.build, &queue.ring, 0);
	EXPECT_NE(queue.next(IBV_WR_SEND), nullptr);
	EXPECT_EQ(queue.end(), 0);
}

TEST(ProviderBuild, SettersNeedARequest)
{
	Queue queue;

	queue.sges(kSges);
	EXPECT_EQ(queue.end(), EINVAL);

	skerry_build_start(&queue.build, &queue.ring, 0);
	queue.inlined({});
	EXPECT_EQ(queue.end(), EINVAL);
}

TEST(ProviderBuild, FlushAndAtomicWrite)
{
	const uint8_t value[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	Queue queue(IBV_QPT_RC);
	skerry_send_wqe *wqe = queue.next(static_cast<ibv_wr_opcode>(SKERRY_OP_FLUSH));

	ASSERT_NE(wqe, nullptr);
	EXPECT_EQ(skerry_put_flush(wqe, 0x1122334455667788, 0x99aabbcc, 0xfffffffful, 3, 1), 0);
	EXPECT_EQ(wqe->opcode, SKERRY_OP_FLUSH);
	EXPECT_EQ(wqe->flush.remote_addr, 0x1122334455667788u);
	EXPECT_EQ(wqe->flush.rkey, 0x99aabbccu);
	EXPECT_EQ(wqe->flush.length, 0xffffffffu);
	EXPECT_EQ(wqe->flush.type, 3);
	EXPECT_EQ(wqe->flush.level, 1);
	EXPECT_EQ(wqe->num_sge, 0);
	EXPECT_EQ(skerry_put_flush(wqe, 0, 0, 0x100000000ul, 1, 0), EINVAL);

	wqe = queue.next(static_cast<ibv_wr_opcode>(SKERRY_OP_ATOMIC_WRITE));
	ASSERT_NE(wqe, nullptr);
	skerry_put_atomic_write(wqe, 0x1122334455667788, 0x99aabbcc, value + 1);
	EXPECT_EQ(wqe->opcode, SKERRY_OP_ATOMIC_WRITE);
	EXPECT_EQ(wqe->atomic.remote_addr, 0x1122334455667788u);
	EXPECT_EQ(wqe->atomic.rkey, 0x99aabbccu);
	EXPECT_EQ(std::memcmp(&wqe->atomic.swap, value + 1, 8), 0);
	EXPECT_EQ(wqe->atomic.compare_add, 0u);
	EXPECT_EQ(queue.end(), 0);
}

TEST(ProviderBuild, DatagramsNeedAnAddress)
{
	for (bool first : { true, false }) {
		for (bool second : { true, false }) {
			Queue queue(IBV_QPT_UD);
			skerry_ah ah{};

			ah.ah_num = 42;
			for (bool with : { first, second }) {
				queue.next(IBV_WR_SEND);
				queue.sges(kSges);
				skerry_send_wqe *wqe = skerry_build_current(&queue.build);

				if (with && wqe)
					skerry_put_ud(wqe, &ah.ibv_ah, 0x123456, 0x80010000);
			}
			EXPECT_EQ(queue.end(), first && second ? 0 : EINVAL);
		}
	}
}

} // namespace

#endif
