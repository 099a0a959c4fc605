// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Registering memory anew: access, protection domain, address, and all of them;
 * what failed changes nothing, and what is over touches nothing.
 */
#include "lib/bench.hh"

#include <atomic>
#include <cstring>
#include <thread>

#include "lib/pattern.hh"
#include "lib/region.hh"

using namespace st;

namespace
{

constexpr size_t BYTES = 5 * 4096 + 123;
constexpr int ACCESS = IBV_REREG_MR_CHANGE_ACCESS, PD = IBV_REREG_MR_CHANGE_PD,
	      TRANS = IBV_REREG_MR_CHANGE_TRANSLATION;

void must(int err, const char *what)
{
	if (err)
		fail_errno(what, err);
}

void must_fail(int err, int want, const char *what)
{
	if (err != want)
		fail("%s: errno %d instead of %d", what, err, want);
}

/* a writes stream key to a region of b's peer */
ibv_wc_status write_to(const Pair &pair, const Region &to, uint64_t key)
{
	pattern_fill(pair.a.mr.data(), BYTES, key, 0);
	Work(key, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, BYTES) })
		.remote(to.addr(), to.rkey())
		.post(pair.a.qp);
	const auto wc = pair.a.send_cq.next();
	if (!wc)
		fail("no completion");
	return wc->status;
}

void write_ok(const Pair &pair, const Region &to, const Memory &memory, uint64_t key)
{
	if (const auto status = write_to(pair, to, key))
		fail("WRITE: %s", ibv_wc_status_str(status));
	expect_pattern("after WRITE", memory.data(), BYTES, key);
	if (memory.data()[BYTES])
		fail("a byte behind the region was written");
}

void write_refused(const Pair &pair, const Region &to)
{
	if (const auto status = write_to(pair, to, 9); status != IBV_WC_REM_ACCESS_ERR)
		fail("WRITE: %s", ibv_wc_status_str(status));
}

void access_taken_and_given(Bench &bench)
{
	Memory memory(BYTES + 4096);
	auto first = bench.pair();
	Region region(first.b.pd, memory.data(), BYTES);
	const uint32_t lkey = region.lkey(), rkey = region.rkey();

	write_ok(first, region, memory, 1);
	must(region.rereg(ACCESS, nullptr, nullptr, 0,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ),
	     "rereg");
	Work(2, IBV_WR_RDMA_READ, { first.a.mr.sge(BYTES, BYTES) })
		.remote(region.addr(), region.rkey())
		.post(first.a.qp);
	first.a.send_cq.expect(2, IBV_WC_SUCCESS);
	expect_pattern("READ", first.a.mr.data() + BYTES, BYTES, 1);
	write_refused(first, region);
	expect_pattern("after a WRITE that was refused", memory.data(), BYTES, 1);

	/* both QPs have failed; the region is the other end's own still */
	must(region.rereg(ACCESS, nullptr, nullptr, 0, ALL_ACCESS), "rereg back");
	must(first.a.qp.try_state(IBV_QPS_RESET), "RESET");
	must(first.b.qp.try_state(IBV_QPS_RESET), "RESET");
	join(bench.devices, bench.config, first.a.qp, first.b.qp);
	write_ok(first, region, memory, 3);
	if (region.lkey() != lkey || region.rkey() != rkey)
		fail("the keys are others");
}

/* memory that was registered for reading becomes writable, or does not */
void access_widened(Bench &bench)
{
	Memory memory(BYTES + 4096);
	auto pair = bench.pair();
	Region region(pair.b.pd, memory.data(), BYTES, IBV_ACCESS_REMOTE_READ);

	must(region.rereg(ACCESS, nullptr, nullptr, 0, ALL_ACCESS), "rereg");
	write_ok(pair, region, memory, 1);
}

void access_widened_read_only(Bench &bench)
{
	Memory memory(BYTES + 4096);
	auto pair = bench.pair();

	pattern_fill(memory.data(), BYTES, 4, 0);
	if (mprotect(memory.data(), memory.size(), PROT_READ))
		fail_errno("mprotect");
	Region region(pair.b.pd, memory.data(), BYTES, IBV_ACCESS_REMOTE_READ);
	must_fail(region.rereg(ACCESS, nullptr, nullptr, 0, ALL_ACCESS), EFAULT,
		  "a mapping for reading, for writing");
	Work(2, IBV_WR_RDMA_READ, { pair.a.mr.sge(0, BYTES) })
		.remote(region.addr(), region.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(2, IBV_WC_SUCCESS);
	expect_pattern("READ", pair.a.mr.data(), BYTES, 4);
	write_refused(pair, region);
	expect_pattern("read-only memory", memory.data(), BYTES, 4);
}

void other_domain(Bench &bench)
{
	Memory memory(BYTES + 4096);
	Pd other(bench.devices.b);
	auto pair = bench.pair();
	Region region(pair.b.pd, memory.data(), BYTES);

	must(region.rereg(PD, &other, nullptr, 0, 0), "rereg");
	write_refused(pair, region);
	expect_bytes("memory of another domain", memory.data(), memory.size(), 0);

	auto again = bench.pair();
	must(region.rereg(PD, &again.b.pd, nullptr, 0, 0), "rereg");
	write_ok(again, region, memory, 1);
	/* as local memory of the QP that had it first: it is in another domain */
	auto third = bench.pair();
	Work(5, IBV_WR_SEND, { region.sge(0, 8) }).post(third.b.qp);
	third.b.send_cq.expect(5, IBV_WC_LOC_PROT_ERR);
	/* the domain may go only with the region */
	must(region.rereg(PD, &other, nullptr, 0, 0), "rereg");
}

void other_address(Bench &bench)
{
	Memory before(BYTES + 4096), after(BYTES + 4096);
	auto pair = bench.pair();
	Region region(pair.b.pd, before.data(), BYTES);

	write_ok(pair, region, before, 1);
	must(region.rereg(TRANS, nullptr, after.data(), BYTES, 0), "rereg");
	before.unmap();
	before.map_again();
	write_ok(pair, region, after, 2);
	expect_bytes("the memory before", before.data(), before.size(), 0);
}

/* the old address is not the region's any more, the new length is the limit */
void other_length(Bench &bench)
{
	Memory memory(2 * BYTES + 4096);
	auto pair = bench.pair();
	Region region(pair.b.pd, memory.data(), 100);

	must(region.rereg(TRANS, nullptr, memory.data(), BYTES, 0), "rereg");
	write_ok(pair, region, memory, 1);
	must(region.rereg(TRANS, nullptr, memory.data(), BYTES - 1, 0), "rereg");
	write_refused(pair, region);
	expect_pattern("one byte too long", memory.data(), BYTES, 1);
}

void all_combinations(Bench &bench)
{
	for (int flags = 1; flags <= (ACCESS | PD | TRANS); flags++) {
		Memory one(BYTES + 4096), two(BYTES + 4096);
		auto pair = bench.pair();
		Pd elsewhere(bench.devices.b);
		Region region(flags & PD ? elsewhere : pair.b.pd, one.data(), BYTES,
			      flags & ACCESS ? IBV_ACCESS_LOCAL_WRITE : ALL_ACCESS);
		const Memory &memory = flags & TRANS ? two : one;

		must(region.rereg(flags, &pair.b.pd, two.data(), BYTES,
				  flags & ACCESS ? ALL_ACCESS : 0),
		     "rereg");
		write_ok(pair, region, memory, flags);
		expect_bytes("the other memory", (flags & TRANS ? one : two).data(), BYTES, 0);
		if (region.get()->pd != pair.b.pd.get())
			fail("flags %d: the region is in another domain", flags);
	}
}

void failure_changes_nothing(Bench &bench)
{
	Memory memory(BYTES + 4096), hole(BYTES + 4096), fixed(4096, PROT_READ);
	auto pair = bench.pair();
	Region region(pair.b.pd, memory.data(), BYTES);

	if (munmap(hole.data(4096), 4096))
		fail_errno("munmap");
	must_fail(region.rereg(TRANS, nullptr, hole.data(), BYTES, 0), EFAULT, "a hole");
	write_ok(pair, region, memory, 1);
	must_fail(region.rereg(TRANS, nullptr, fixed.data(), 4096, 0), EFAULT,
		  "a mapping for reading");
	write_ok(pair, region, memory, 2);
	must_fail(region.rereg(ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_WRITE), EINVAL,
		  "remote without local write");
	write_ok(pair, region, memory, 3);
	must_fail(region.rereg(TRANS, nullptr, memory.data(), size_t{ 1 } << 41, 0), EINVAL,
		  "more than max_mr_size");
	write_ok(pair, region, memory, 4);
}

void with_a_window(Bench &bench)
{
	Memory memory(BYTES + 4096), other(BYTES + 4096);
	auto pair = bench.pair();
	Region region(pair.b.pd, memory.data(), BYTES, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	ibv_mw *mw = ibv_alloc_mw(pair.b.pd.get(), IBV_MW_TYPE_1);
	ibv_mw_bind bind = { 7,
			     IBV_SEND_SIGNALED,
			     { region.get(), region.addr(), BYTES, IBV_ACCESS_REMOTE_WRITE } };

	if (!mw)
		fail_errno("ibv_alloc_mw");
	must(ibv_bind_mw(pair.b.qp.get(), mw, &bind), "ibv_bind_mw");
	pair.b.send_cq.expect(7, IBV_WC_SUCCESS);
	const int err = region.rereg(TRANS, nullptr, other.data(), BYTES, 0);
	ibv_dealloc_mw(mw);
	must_fail(err, EBUSY, "with a window");
	write_ok(pair, region, memory, 1);
	must(region.rereg(TRANS, nullptr, other.data(), BYTES, 0), "without a window");
	write_ok(pair, region, other, 2);
}

/*
 * While WRITEs come in, the region moves on; from that moment the memory that it
 * had is nobody's but ours. A WRITE that finds no region fails its QP.
 */
void under_traffic(Bench &bench)
{
	for (int round = 0; round < 20; round++) {
		Memory one(BYTES + 4096), two(BYTES + 4096);
		auto pair = bench.pair();
		Region region(pair.b.pd, one.data(), BYTES);
		std::atomic<bool> stop = false;
		const uint64_t addr = region.addr();
		const uint32_t rkey = region.rkey();

		pattern_fill(pair.a.mr.data(), BYTES, round, 0);
		std::thread writer([&] {
			while (!stop) {
				Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, BYTES) })
					.remote(addr, rkey)
					.post(pair.a.qp);
				const auto wc = pair.a.send_cq.next();
				if (!wc || wc->status)
					break;
			}
		});
		sleep_us(500 + 100 * round);
		const int err = region.rereg(TRANS, nullptr, two.data(), BYTES, 0);
		memset(one.data(), 0xee, one.size());
		sleep_us(2000);
		stop = true;
		writer.join();
		must(err, "rereg");
		expect_bytes("memory that was the region's", one.data(), one.size(), 0xee);
		expect_bytes("memory at another address", two.data(), two.size(), 0);
	}
}

void relaxed_ordering(Bench &bench)
{
	Memory memory(BYTES + 4096);
	auto pair = bench.pair();
	Region region(pair.b.pd, memory.data(), BYTES, ALL_ACCESS | IBV_ACCESS_RELAXED_ORDERING);

	write_ok(pair, region, memory, 1);
	must(region.rereg(ACCESS, nullptr, nullptr, 0, ALL_ACCESS | IBV_ACCESS_RELAXED_ORDERING),
	     "rereg");
	write_ok(pair, region, memory, 2);
}

/* the last byte of the region is the last one there is */
void highest_iova(Bench &bench)
{
	constexpr uint64_t TOP = -uint64_t{ 2 * 4096 };
	Memory memory(2 * 4096);
	auto pair = bench.pair();
	Region region(pair.b.pd, memory.data(), memory.size(), TOP, ALL_ACCESS);

	pattern_fill(pair.a.mr.data(), memory.size(), 6, 0);
	Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, memory.size()) })
		.remote(TOP, region.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
	expect_pattern("up to 2^64", memory.data(), memory.size(), 6);
	errno = 0;
	if (ibv_reg_mr_iova2(pair.b.pd.get(), memory.data(), memory.size(), TOP + 4096, ALL_ACCESS))
		fail("a region went beyond 2^64");
	must_fail(errno, EINVAL, "beyond 2^64");
}

void read_only(Bench &bench)
{
	Memory memory(2 * 4096, PROT_READ);
	auto pair = bench.pair();

	errno = 0;
	if (ibv_reg_mr(pair.b.pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE))
		fail("a mapping for reading was registered for writing");
	must_fail(errno, EFAULT, "register for writing");
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "access taken and given, keys kept", access_taken_and_given },
			   { "access widened to writing", access_widened },
			   { "access widened, read-only mapping", access_widened_read_only },
			   { "another domain", other_domain },
			   { "another address", other_address },
			   { "another length", other_length },
			   { "all combinations", all_combinations },
			   { "a failure changes nothing", failure_changes_nothing },
			   { "EBUSY with a window", with_a_window },
			   { "under traffic", under_traffic },
			   { "relaxed ordering is accepted", relaxed_ordering },
			   { "up to 2^64 and not beyond", highest_iova },
			   { "read-only mapping refused for writing", read_only } });
}
