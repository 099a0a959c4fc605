// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Addresses at the end of the number range: a region that ends exactly at
 * 2^64 works to its last byte, and a length that wraps is an access error.
 */
#include "lib/bench.hh"
#include "lib/pattern.hh"

using namespace st;

namespace
{

constexpr size_t BYTES = 4096;
constexpr uint64_t IOVA = 0 - static_cast<uint64_t>(BYTES);

void top_region(Bench &bench, ibv_wr_opcode opcode, size_t offset, uint32_t bytes,
		ibv_wc_status status)
{
	auto pair = bench.pair();
	Mr top(pair.b.pd, BYTES, ALL_ACCESS, IOVA);
	bool read = opcode == IBV_WR_RDMA_READ;
	auto *from = read ? top.data() + offset : pair.a.mr.data();
	auto *to = read ? pair.a.mr.data() : top.data() + offset;

	if (offset + bytes <= BYTES)
		pattern_fill(from, bytes, opcode, 0);
	Work(1, opcode, { pair.a.mr.sge(0, bytes) })
		.remote(top.addr(offset), top.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(1, status);
	if (!status && pattern_check(to, bytes, opcode, 0) != bytes)
		fail("wrong data");
}

/* an ordinary region, an address near the top of the range */
void far_away(Bench &bench, ibv_wr_opcode opcode)
{
	auto pair = bench.pair();

	Work(1, opcode, { pair.a.mr.sge(0, 1024) })
		.remote(0 - 1024ULL, pair.b.mr.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_REM_ACCESS_ERR);
}

/* the local side has the same limits */
void local_top(Bench &bench)
{
	auto pair = bench.pair();
	Mr top(pair.a.pd, BYTES, ALL_ACCESS, IOVA);

	pattern_fill(top.data(), BYTES, 5, 0);
	Work(1, IBV_WR_RDMA_WRITE, { top.sge(BYTES - 1000, 1000) })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
	if (pattern_check(pair.b.mr.data(), 1000, 5, BYTES - 1000) != 1000)
		fail("wrong data");
	Work(2, IBV_WR_RDMA_WRITE, { top.sge(BYTES - 1000, 1001) })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(2, IBV_WC_LOC_PROT_ERR);
}

/* a READ that was executed comes again, its address changed to one that wraps:
 * the replay is checked like the first time */
void replayed_read(Bench &bench)
{
	auto pair = bench.pair();

	Work(1, IBV_WR_RDMA_READ, { pair.a.mr.sge(0, 1024) })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
	for (auto &p : bench.wire.take()) {
		if (p.bth.opcode != RC_READ_REQUEST)
			continue;
		auto path = Path::of(p.frame);
		bench.wire.inject(true,
				  frame(path, p.bth, reth(0 - 512ULL, pair.b.mr.rkey(), 1024)));
	}
	/* whatever the answer is, it carries no data and the host lives */
	bench.wire.wait_for([](const Packet &p) { return !p.to_b; }, 1, 300);
	for (auto &p : bench.wire.take())
		if (!p.to_b && p.bth.opcode != RC_ACK)
			fail("answered with %s", opcode_name(p.bth.opcode));
}

constexpr auto WRITE = IBV_WR_RDMA_WRITE;
constexpr auto READ = IBV_WR_RDMA_READ;
constexpr auto GOOD = IBV_WC_SUCCESS;
constexpr auto BAD = IBV_WC_REM_ACCESS_ERR;

} // namespace

int main(int argc, char **argv)
{
	return run_cases(
		argc, argv,
		{ { "WRITE to all of a region that ends at 2^64",
		    [](Bench &b) { top_region(b, WRITE, 0, BYTES, GOOD); } },
		  { "READ of its last bytes",
		    [](Bench &b) { top_region(b, READ, BYTES - 1024, 1024, GOOD); } },
		  { "WRITE one byte too far",
		    [](Bench &b) { top_region(b, WRITE, BYTES - 1024, 1025, BAD); } },
		  { "READ one byte too far",
		    [](Bench &b) { top_region(b, READ, BYTES - 1024, 1025, BAD); } },
		  { "WRITE that wraps far",
		    [](Bench &b) { top_region(b, WRITE, BYTES - 1, 65536, BAD); } },
		  { "WRITE to 2^64 - 1024 elsewhere", [](Bench &b) { far_away(b, WRITE); } },
		  { "READ from 2^64 - 1024 elsewhere", [](Bench &b) { far_away(b, READ); } },
		  { "the same locally", local_top },
		  { "a READ replayed with an address that wraps", replayed_read } });
}
