// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
//
// From a work request to a ring entry (providers/skerry/wqe.h): what is written where, and what is
// refused with which error. Needs the verbs header (libibverbs-dev), but no library and no device.

#include <gtest/gtest.h>

#if !__has_include(<infiniband/verbs.h>)

TEST(ProviderWqe, NeedsVerbsHeader)
{
	GTEST_SKIP() << "infiniband/verbs.h is not installed (libibverbs-dev)";
}

#else

#include "../../providers/skerry/wqe.h"

#include <arpa/inet.h>
#include <rdma/ib_user_verbs.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace
{

static_assert(SKERRY_SEND_FENCE == IBV_SEND_FENCE);
static_assert(SKERRY_SEND_SIGNALED == IBV_SEND_SIGNALED);
static_assert(SKERRY_SEND_SOLICITED == IBV_SEND_SOLICITED);
static_assert(SKERRY_SEND_INLINE == IBV_SEND_INLINE);
static_assert(sizeof(ibv_sge) == sizeof(skerry_sge));
static_assert(offsetof(ibv_sge, addr) == offsetof(skerry_sge, addr));
static_assert(offsetof(ibv_sge, length) == offsetof(skerry_sge, length));
static_assert(offsetof(ibv_sge, lkey) == offsetof(skerry_sge, lkey));

constexpr uint8_t kDirt = 0xa5;

// A place in the ring, dirty from its last use, with a guard behind it
struct Slot {
	static constexpr size_t kBytes = 64 + 256;

	Slot() { bytes.fill(kDirt); }

	skerry_send_wqe *send() { return reinterpret_cast<skerry_send_wqe *>(bytes.data()); }
	skerry_recv_wqe *recv() { return reinterpret_cast<skerry_recv_wqe *>(bytes.data()); }
	const uint8_t *data(size_t header) const { return bytes.data() + header; }

	// Everything from @offset on is as it was before
	testing::AssertionResult untouched_from(size_t offset) const
	{
		for (size_t i = offset; i < bytes.size(); i++)
			if (bytes[i] != kDirt)
				return testing::AssertionFailure()
				       << "byte " << i << " was written";
		return testing::AssertionSuccess();
	}

	alignas(64) std::array<uint8_t, kBytes> bytes;
};

skerry_wq_cap cap(ibv_qp_type type)
{
	skerry_wq_cap c{};

	c.max_wr = 16;
	c.max_sge = 4;
	c.max_inline = 100;
	c.qp_type = static_cast<uint8_t>(type);
	return c;
}

struct Request {
	explicit Request(ibv_wr_opcode opcode, int num_sge = 0)
	{
		wr.wr_id = 0x1122334455667788;
		wr.opcode = opcode;
		for (size_t i = 0; i < sges.size(); i++)
			sges[i] = { 0x7000000000001000 + 0x100 * i, static_cast<uint32_t>(10 + i),
				    static_cast<uint32_t>(0x900 + i) };
		wr.sg_list = sges.data();
		wr.num_sge = num_sge;
	}

	ibv_send_wr wr{};
	std::array<ibv_sge, 8> sges{};
};

std::array<uint64_t, 5> body(const skerry_send_wqe &wqe)
{
	std::array<uint64_t, 5> words;

	std::memcpy(words.data(), wqe.rsvd, sizeof(words));
	return words;
}

TEST(ProviderWqe, Send)
{
	const skerry_wq_cap c = cap(IBV_QPT_RC);
	Request rq(IBV_WR_SEND, 3);
	Slot slot;

	rq.wr.imm_data = 0xffffffff;
	rq.wr.wr.rdma.remote_addr = ~0ull;
	rq.wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ASSERT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2), 0);
	EXPECT_EQ(slot.send()->wr_id, 0x1122334455667788u);
	EXPECT_EQ(slot.send()->opcode, IB_UVERBS_WR_SEND);
	EXPECT_EQ(slot.send()->flags, SKERRY_SEND_SIGNALED | SKERRY_SEND_FENCE);
	EXPECT_EQ(slot.send()->num_sge, 3);
	EXPECT_EQ(slot.send()->inline_len, 0u);
	EXPECT_EQ(std::memcmp(slot.data(64), rq.sges.data(), 3 * 16), 0);
	EXPECT_TRUE(slot.untouched_from(64 + 3 * 16));

	// What the operation does not use is zero, whatever the request holds
	EXPECT_EQ(slot.send()->imm, 0u);
	EXPECT_EQ(slot.send()->srqn, 0u);
	EXPECT_EQ(body(*slot.send()), (std::array<uint64_t, 5>{}));
}

/* On XRC every request says whom it is for, and on other transports none does */
TEST(ProviderWqe, SrqNumberOnXrc)
{
	for (ibv_qp_type type : { IBV_QPT_XRC_SEND, IBV_QPT_RC, IBV_QPT_UC }) {
		const skerry_wq_cap c = cap(type);

		for (ibv_wr_opcode op : { IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
					  IBV_WR_ATOMIC_FETCH_AND_ADD }) {
			Request rq(op, 1);
			Slot slot;

			rq.wr.qp_type.xrc.remote_srqn = 0xabcdef;
			if (type == IBV_QPT_UC && op != IBV_WR_SEND)
				continue;
			ASSERT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2), 0);
			EXPECT_EQ(slot.send()->srqn, type == IBV_QPT_XRC_SEND ? 0xabcdefu : 0u)
				<< "opcode " << op << ", QP type " << type;
		}
	}
}

TEST(ProviderWqe, ImmediateAndInvalidate)
{
	const skerry_wq_cap c = cap(IBV_QPT_RC);

	for (ibv_wr_opcode op : { IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM }) {
		Request rq(op, 1);
		Slot slot;

		rq.wr.imm_data = htonl(0x01020304);
		ASSERT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2), 0);
		EXPECT_EQ(slot.send()->opcode, op);
		EXPECT_EQ(std::memcmp(&slot.send()->imm, "\1\2\3\4", 4), 0) << "as on the wire";
	}
	for (ibv_wr_opcode op : { IBV_WR_SEND_WITH_INV, IBV_WR_LOCAL_INV }) {
		Request rq(op, 1);
		Slot slot;

		rq.wr.invalidate_rkey = 0x01020304;
		ASSERT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2), 0);
		EXPECT_EQ(slot.send()->opcode, op);
		EXPECT_EQ(slot.send()->inv_rkey, 0x01020304u);
	}
	EXPECT_EQ(static_cast<int>(IBV_WR_SEND_WITH_INV), IB_UVERBS_WR_SEND_WITH_INV);
	EXPECT_EQ(static_cast<int>(IBV_WR_LOCAL_INV), IB_UVERBS_WR_LOCAL_INV);
}

TEST(ProviderWqe, LocalInvalidateHasNoData)
{
	const skerry_wq_cap c = cap(IBV_QPT_RC);
	Request rq(IBV_WR_LOCAL_INV, 2);
	Slot slot;

	rq.wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	ASSERT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2), 0);
	EXPECT_EQ(slot.send()->num_sge, 0);
	EXPECT_EQ(slot.send()->inline_len, 0u);
	EXPECT_EQ(slot.send()->flags, SKERRY_SEND_SIGNALED);
	EXPECT_TRUE(slot.untouched_from(64));
}

TEST(ProviderWqe, Rdma)
{
	const skerry_wq_cap c = cap(IBV_QPT_RC);

	for (ibv_wr_opcode op :
	     { IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM }) {
		Request rq(op, 4);
		Slot slot;

		rq.wr.wr.rdma.remote_addr = 0xfedcba9876543210;
		rq.wr.wr.rdma.rkey = 0xcafe;
		ASSERT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2), 0);
		EXPECT_EQ(slot.send()->opcode, op);
		EXPECT_EQ(slot.send()->rdma.remote_addr, 0xfedcba9876543210u);
		EXPECT_EQ(slot.send()->rdma.rkey, 0xcafeu);
		EXPECT_EQ(slot.send()->num_sge, 4);
		EXPECT_EQ(std::memcmp(slot.data(64), rq.sges.data(), 4 * 16), 0);
		EXPECT_TRUE(slot.untouched_from(64 + 4 * 16));
	}
}

TEST(ProviderWqe, Atomics)
{
	const skerry_wq_cap c = cap(IBV_QPT_RC);

	for (ibv_wr_opcode op : { IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD }) {
		Request rq(op, 1);
		Slot slot;

		rq.wr.wr.atomic.remote_addr = 0x1000;
		rq.wr.wr.atomic.rkey = 0xcafe;
		rq.wr.wr.atomic.compare_add = 77;
		rq.wr.wr.atomic.swap = 88;
		ASSERT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2), 0);
		EXPECT_EQ(slot.send()->opcode, op);
		EXPECT_EQ(slot.send()->atomic.remote_addr, 0x1000u);
		EXPECT_EQ(slot.send()->atomic.rkey, 0xcafeu);
		EXPECT_EQ(slot.send()->atomic.compare_add, 77u);
		EXPECT_EQ(slot.send()->atomic.swap, op == IBV_WR_ATOMIC_CMP_AND_SWP ? 88u : 0u);
	}
}

TEST(ProviderWqe, BindsWindowsOfTheTypeAndTheNameAskedFor)
{
	const skerry_wq_cap c = cap(IBV_QPT_RC);
	const auto put = [&](Slot &slot, ibv_mw_type window, ibv_mw_type caller, uint32_t rkey,
			     ibv_mr *mr) {
		Request rq(IBV_WR_BIND_MW, 2);
		ibv_mw mw{};

		mw.type = window;
		mw.rkey = 0x1234aa;
		rq.wr.bind_mw.mw = &mw;
		rq.wr.bind_mw.rkey = rkey;
		rq.wr.bind_mw.bind_info = { mr, 0xfedcba9876543210, 0x123456789a,
					    IBV_ACCESS_REMOTE_READ };
		return skerry_put_send(slot.send(), &rq.wr, &c, caller);
	};
	ibv_mr mr{};
	Slot slot;

	mr.lkey = 0xcafe;
	for (ibv_mw_type type : { IBV_MW_TYPE_1, IBV_MW_TYPE_2 }) {
		ASSERT_EQ(put(slot, type, type, 0x123400, &mr), 0);
		EXPECT_EQ(slot.send()->opcode, IBV_WR_BIND_MW);
		EXPECT_EQ(slot.send()->mem.addr, 0xfedcba9876543210u);
		EXPECT_EQ(slot.send()->mem.length, 0x123456789au);
		EXPECT_EQ(slot.send()->mem.key, 0x123400u);
		EXPECT_EQ(slot.send()->mem.lkey, 0xcafeu);
		EXPECT_EQ(slot.send()->mem.access, unsigned{ IBV_ACCESS_REMOTE_READ });
		EXPECT_EQ(slot.send()->num_sge, 0) << "no data goes with it";
		EXPECT_TRUE(slot.untouched_from(64));
	}
	EXPECT_EQ(put(slot, IBV_MW_TYPE_2, IBV_MW_TYPE_2, 0x1234aa, nullptr), 0);
	EXPECT_EQ(slot.send()->mem.lkey, 0u);
	EXPECT_EQ(put(slot, IBV_MW_TYPE_1, IBV_MW_TYPE_2, 0x123400, &mr), EINVAL);
	EXPECT_EQ(put(slot, IBV_MW_TYPE_2, IBV_MW_TYPE_1, 0x123400, &mr), EINVAL);
	EXPECT_EQ(put(slot, IBV_MW_TYPE_2, IBV_MW_TYPE_2, 0x1235aa, &mr), EINVAL)
		<< "the name of another window";
}

TEST(ProviderWqe, Datagram)
{
	const skerry_wq_cap c = cap(IBV_QPT_UD);
	Request rq(IBV_WR_SEND_WITH_IMM, 1);
	skerry_ah ah{};
	Slot slot;

	ah.ah_num = 42;
	rq.wr.wr.ud.ah = &ah.ibv_ah;
	rq.wr.wr.ud.remote_qpn = 0x123456;
	rq.wr.wr.ud.remote_qkey = 0x80010000;
	ASSERT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2), 0);
	EXPECT_EQ(slot.send()->ud.ah_num, 42u);
	EXPECT_EQ(slot.send()->ud.remote_qpn, 0x123456u);
	EXPECT_EQ(slot.send()->ud.remote_qkey, 0x80010000u);
}

TEST(ProviderWqe, InlineGathersTheBytes)
{
	const skerry_wq_cap c = cap(IBV_QPT_RC);
	std::string a = "one", b = "", d = "three";
	Slot slot;

	for (ibv_wr_opcode op : { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_INV,
				  IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM }) {
		Request rq(op, 3);
		Slot s;

		rq.sges[0] = { reinterpret_cast<uintptr_t>(a.data()), 3, 0xdead };
		rq.sges[1] = { 0, 0, 0xdead };
		rq.sges[2] = { reinterpret_cast<uintptr_t>(d.data()), 5, 0xdead };
		rq.wr.send_flags = IBV_SEND_INLINE;
		ASSERT_EQ(skerry_put_send(s.send(), &rq.wr, &c, IBV_MW_TYPE_2), 0) << op;
		EXPECT_EQ(s.send()->flags, SKERRY_SEND_INLINE);
		EXPECT_EQ(s.send()->num_sge, 0);
		EXPECT_EQ(s.send()->inline_len, 8u);
		EXPECT_EQ(std::memcmp(s.data(64), "onethree", 8), 0);
		EXPECT_TRUE(s.untouched_from(64 + 8));
	}

	Request nothing(IBV_WR_SEND, 0);

	nothing.wr.send_flags = IBV_SEND_INLINE;
	nothing.wr.sg_list = nullptr;
	ASSERT_EQ(skerry_put_send(slot.send(), &nothing.wr, &c, IBV_MW_TYPE_2), 0);
	EXPECT_EQ(slot.send()->inline_len, 0u);
}

TEST(ProviderWqe, InlineUpToTheLimitAndNotOneByteMore)
{
	const skerry_wq_cap c = cap(IBV_QPT_RC);
	std::vector<uint8_t> bytes(101, 0x3c);

	const auto put = [&](std::vector<uint32_t> lengths) {
		Request rq(IBV_WR_SEND, static_cast<int>(lengths.size()));
		Slot slot;

		for (size_t i = 0; i < lengths.size(); i++)
			rq.sges[i] = { reinterpret_cast<uintptr_t>(bytes.data()), lengths[i], 0 };
		rq.wr.send_flags = IBV_SEND_INLINE;

		const int ret = skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2);

		EXPECT_TRUE(slot.untouched_from(64 + c.max_inline));
		return ret;
	};

	EXPECT_EQ(put({ 100 }), 0);
	EXPECT_EQ(put({ 99, 1 }), 0);
	EXPECT_EQ(put({ 101 }), EINVAL);
	EXPECT_EQ(put({ 100, 1 }), EINVAL);
	EXPECT_EQ(put({ 50, 0xffffffff }), EINVAL) << "the sum is 49 modulo 2^32";
	EXPECT_EQ(put({ 0xffffffff }), EINVAL);
}

TEST(ProviderWqe, InlineOnlyWhereDataGoesOut)
{
	const skerry_wq_cap c = cap(IBV_QPT_RC);

	for (ibv_wr_opcode op :
	     { IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD }) {
		Request rq(op, 1);
		Slot slot;

		rq.wr.send_flags = IBV_SEND_INLINE;
		EXPECT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2), EINVAL) << op;
	}
}

TEST(ProviderWqe, TooManyPieces)
{
	const skerry_wq_cap c = cap(IBV_QPT_RC);

	for (int n : { 0, 4, 5, 8, -1, 0x10001 }) {
		for (unsigned int flags : { 0u, unsigned{ IBV_SEND_INLINE } }) {
			Request rq(IBV_WR_SEND, n);
			std::vector<uint8_t> bytes(16);
			Slot slot;

			for (ibv_sge &sge : rq.sges)
				sge = { reinterpret_cast<uintptr_t>(bytes.data()), 16, 0 };
			rq.wr.send_flags = flags;
			EXPECT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2),
				  n >= 0 && n <= 4 ? 0 : EINVAL)
				<< n << " pieces, flags " << flags;
			EXPECT_TRUE(slot.untouched_from(64 + 100));
		}
	}
}

TEST(ProviderWqe, OperationsOfEachTransport)
{
	constexpr auto rc = 1, uc = 2, ud = 4, xrc = 8;
	const std::vector<std::pair<int, int>> table = {
		{ IBV_WR_RDMA_WRITE, rc | uc | xrc },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, rc | uc | xrc },
		{ IBV_WR_SEND, rc | uc | ud | xrc },
		{ IBV_WR_SEND_WITH_IMM, rc | uc | ud | xrc },
		{ IBV_WR_RDMA_READ, rc | xrc },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, rc | xrc },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, rc | xrc },
		{ IBV_WR_LOCAL_INV, rc | uc | xrc },
		{ IBV_WR_BIND_MW, rc | uc | xrc },
		{ IBV_WR_SEND_WITH_INV, rc | uc | xrc },
		{ IBV_WR_TSO, 0 },
		{ IBV_WR_DRIVER1, 0 },
		{ 12, 0 },
		{ 13, 0 },
		/* FLUSH, ATOMIC_WRITE: struct ibv_send_wr cannot say what */
		{ 14, 0 },
		{ 15, 0 },
	};
	const std::vector<std::pair<ibv_qp_type, int>> types = {
		{ IBV_QPT_RC, rc },	   { IBV_QPT_UC, uc },	      { IBV_QPT_UD, ud },
		{ IBV_QPT_XRC_SEND, xrc }, { IBV_QPT_RAW_PACKET, 0 }, { IBV_QPT_XRC_RECV, 0 }
	};
	skerry_ah ah{};
	ibv_mw mw{};

	mw.type = IBV_MW_TYPE_2;
	for (const auto &[opcode, transports] : table) {
		for (const auto &[type, bit] : types) {
			const skerry_wq_cap c = cap(type);
			Request rq(static_cast<ibv_wr_opcode>(opcode), 1);
			Slot slot;

			if (type == IBV_QPT_UD)
				rq.wr.wr.ud.ah = &ah.ibv_ah;
			if (opcode == IBV_WR_BIND_MW)
				rq.wr.bind_mw.mw = &mw;
			EXPECT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2),
				  transports & bit ? 0 : EINVAL)
				<< "opcode " << opcode << ", QP type " << type;
		}
	}
}

TEST(ProviderWqe, FlagsOfTheQueueAndUnknownFlags)
{
	skerry_wq_cap c = cap(IBV_QPT_RC);
	Request rq(IBV_WR_SEND, 0);
	Slot slot;

	c.flags = SKERRY_SEND_SIGNALED; // sq_sig_all
	rq.wr.send_flags = IBV_SEND_SOLICITED | IBV_SEND_IP_CSUM | 0xffffff00;
	ASSERT_EQ(skerry_put_send(slot.send(), &rq.wr, &c, IBV_MW_TYPE_2), 0);
	EXPECT_EQ(slot.send()->flags, SKERRY_SEND_SOLICITED | SKERRY_SEND_SIGNALED);
}

TEST(ProviderWqe, Receive)
{
	const skerry_wq_cap c = cap(IBV_QPT_RC);

	for (int n : { 0, 1, 4, 5, -1 }) {
		Request pieces(IBV_WR_SEND);
		ibv_recv_wr wr{};
		Slot slot;

		wr.wr_id = 0x1122334455667788;
		wr.sg_list = n ? pieces.sges.data() : nullptr;
		wr.num_sge = n;
		if (n < 0 || n > 4) {
			EXPECT_EQ(skerry_put_recv(slot.recv(), &wr, &c), EINVAL);
			EXPECT_TRUE(slot.untouched_from(0));
			continue;
		}
		ASSERT_EQ(skerry_put_recv(slot.recv(), &wr, &c), 0);
		EXPECT_EQ(slot.recv()->wr_id, 0x1122334455667788u);
		EXPECT_EQ(slot.recv()->num_sge, static_cast<uint32_t>(n));
		EXPECT_EQ(slot.recv()->rsvd, 0u);
		EXPECT_EQ(std::memcmp(slot.data(16), pieces.sges.data(), n * sizeof(ibv_sge)), 0);
		EXPECT_TRUE(slot.untouched_from(16 + n * sizeof(ibv_sge)));
	}
}

} // namespace

#endif
