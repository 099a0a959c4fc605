// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * On-demand paging: memory that comes when it is needed, goes while it is in use,
 * and changes its pages under traffic.
 */
#include "lib/bench.hh"

#include <cstring>
#include <atomic>
#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/counters.hh"
#include "lib/datagram.hh"
#include "lib/pattern.hh"
#include "lib/region.hh"

using namespace st;

namespace
{

constexpr size_t PAGE = 4096;
constexpr int ODP = ALL_ACCESS | IBV_ACCESS_ON_DEMAND;
/* not whole pages, at either end */
constexpr size_t SKEW = 1234, BYTES = 40 * PAGE + 777;

/* a slow machine is slow at bringing pages in while others take them away */
Pair patient(Bench &bench)
{
	bench.config.link_a.timeout = 19;
	return bench.pair();
}

/* memory that is not there yet at b, and the region over it */
struct Bed {
	explicit Bed(Bench &bench, int access = ODP, size_t bytes = BYTES)
		: pair(patient(bench)), memory(bytes + 2 * PAGE),
		  region(pair.b.pd, memory.data(SKEW), bytes, access)
	{
	}
	uint8_t *data(size_t offset = 0) const { return memory.data(SKEW + offset); }

	Pair pair;
	Memory memory;
	Region region;
};

ibv_wc_status run(const Pair &pair, Work work)
{
	/* longer than a QP tries: it is the one that says that it has not worked */
	constexpr int PATIENCE_MS = 60000;

	work.post(pair.a.qp);
	const auto wc = pair.a.send_cq.next(PATIENCE_MS);
	if (!wc)
		fail("no completion");
	return wc->status;
}

void good(ibv_wc_status status, const char *what)
{
	if (status)
		fail("%s: %s", what, ibv_wc_status_str(status));
}

void refused(ibv_wc_status status, ibv_wc_status want, const char *what)
{
	if (status != want)
		fail("%s: %s", what, ibv_wc_status_str(status));
}

ibv_wc_status write(const Pair &pair, const Region &to, size_t offset, size_t bytes, uint64_t key)
{
	pattern_fill(pair.a.mr.data(), bytes, key, 0);
	return run(pair, Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, bytes) })
				 .remote(to.addr(offset), to.rkey()));
}

ibv_wc_status read(const Pair &pair, const Region &from, size_t offset, size_t bytes)
{
	memset(pair.a.mr.data(), 0xcc, bytes);
	return run(pair, Work(2, IBV_WR_RDMA_READ, { pair.a.mr.sge(0, bytes) })
				 .remote(from.addr(offset), from.rkey()));
}

ibv_wc_status add_one(const Pair &pair, const Region &to, size_t offset)
{
	return run(pair, Work(3, IBV_WR_ATOMIC_FETCH_AND_ADD, { pair.a.mr.sge(0, 8) })
				 .atomic(to.addr(offset), to.rkey(), 1));
}

/*
 * Something that goes on beside the traffic, half of the time: who brings pages in has
 * to get between two times, however slow the machine is. What it throws is thrown again.
 */
class Beside
{
public:
	explicit Beside(std::function<void()> once);
	Beside(const Beside &) = delete;
	~Beside() { stop(); }
	/* how often it was done */
	unsigned int end()
	{
		stop();
		if (error)
			std::rethrow_exception(error);
		return count;
	}

private:
	void stop()
	{
		over = true;
		if (thread.joinable())
			thread.join();
	}

	std::atomic<bool> over = false;
	std::exception_ptr error;
	unsigned int count = 0;
	std::thread thread;
};

Beside::Beside(std::function<void()> once)
	: thread([this, once] {
		  try {
			  while (!over) {
				  const uint64_t start = now_ns();

				  once();
				  count++;
				  sleep_us((now_ns() - start) / 1000);
			  }
		  } catch (...) {
			  error = std::current_exception();
		  }
	  })
{
}

/* pages go, their contents stay */
void drop_pages(const Memory &memory)
{
	if (madvise(memory.data(), memory.size(), MADV_DONTNEED))
		fail_errno("madvise");
	sleep_us(300);
}

/*
 * A child has the memory of this moment and must keep it: nothing that is written
 * here later may be seen there.
 */
void fork_and_watch(const Memory &memory)
{
	const pid_t pid = fork();

	if (pid < 0)
		fail_errno("fork");
	if (!pid) {
		uint64_t sum[2] = {};

		for (auto &s : sum) {
			for (size_t i = 0; i < memory.size(); i++)
				s = s * 31 + memory.data()[i];
			usleep(2000);
		}
		_exit(sum[0] != sum[1]);
	}
	int status = 0;
	if (waitpid(pid, &status, 0) != pid)
		fail_errno("waitpid");
	if (status)
		fail("the memory of a child changed");
	sleep_us(5000);
}

void write_missing(Bench &bench)
{
	Bed bed(bench);

	good(write(bed.pair, bed.region, 0, BYTES, 1), "WRITE");
	expect_pattern("after WRITE", bed.data(), BYTES, 1);
	expect_bytes("before the region", bed.memory.data(), SKEW, 0);
	expect_bytes("behind the region", bed.data(BYTES), PAGE, 0);
}

void read_missing(Bench &bench)
{
	Bed bed(bench);

	good(read(bed.pair, bed.region, 0, BYTES), "READ of pages that are not there");
	expect_bytes("after READ", bed.pair.a.mr.data(), BYTES, 0);
	pattern_fill(bed.data(), BYTES, 2, 0);
	good(read(bed.pair, bed.region, 0, BYTES), "READ");
	expect_pattern("after READ", bed.pair.a.mr.data(), BYTES, 2);
}

/* a's memory is not there: what WRITE and SEND take, where READ and atomics put it */
void local_missing(Bench &bench)
{
	auto pair = bench.pair();
	Memory from(BYTES + PAGE), to(BYTES + PAGE);
	Region source(pair.a.pd, from.data(), BYTES, ODP), target(pair.a.pd, to.data(), BYTES, ODP);

	good(run(pair, Work(1, IBV_WR_RDMA_WRITE, { source.sge(0, BYTES) })
			       .remote(pair.b.mr.addr(), pair.b.mr.rkey())),
	     "WRITE of pages that are not there");
	expect_bytes("after WRITE", pair.b.mr.data(), BYTES, 0);
	pattern_fill(from.data(), BYTES, 3, 0);
	good(run(pair, Work(1, IBV_WR_RDMA_WRITE,
			    { source.sge(0, 5000), source.sge(5000, 100000),
			      source.sge(105000, BYTES - 105000) })
			       .remote(pair.b.mr.addr(), pair.b.mr.rkey())),
	     "WRITE");
	expect_pattern("after WRITE", pair.b.mr.data(), BYTES, 3);
	good(run(pair,
		 Work(2, IBV_WR_RDMA_READ, { target.sge(0, 9000), target.sge(9000, BYTES - 9000) })
			 .remote(pair.b.mr.addr(), pair.b.mr.rkey())),
	     "READ");
	expect_pattern("after READ", to.data(), BYTES, 3);
	drop_pages(to);
	memset(pair.b.mr.data(), 7, 8);
	good(run(pair, Work(3, IBV_WR_ATOMIC_FETCH_AND_ADD, { target.sge(PAGE, 8) })
			       .atomic(pair.b.mr.addr(), pair.b.mr.rkey(), 1)),
	     "FETCH_ADD");
	expect_bytes("result of FETCH_ADD", to.data(PAGE), 8, 7);
}

void send_missing(Bench &bench, ibv_qp_type type)
{
	bench.config.depth.type = type;
	auto pair = bench.pair();
	Memory from(BYTES + PAGE), to(BYTES + PAGE);
	Region source(pair.a.pd, from.data(), BYTES, ODP), target(pair.b.pd, to.data(), BYTES, ODP);

	for (int i = 0; i < 10; i++) {
		pattern_fill(from.data(), BYTES, i, 0);
		pair.b.qp.recv(i, { target.sge(0, 10), target.sge(10, BYTES - 10) });
		good(run(pair, Work(i, IBV_WR_SEND, { source.sge(0, BYTES) })), "SEND");
		pair.b.recv_cq.expect(i, IBV_WC_SUCCESS);
		expect_pattern("after SEND", to.data(), BYTES, i);
		drop_pages(to);
		drop_pages(from);
	}
}

void datagrams(Bench &bench)
{
	UdEnd a(bench.devices.a, bench.config.gid), b(bench.devices.b, bench.config.gid);
	Ah ah(a.pd, a.gid_index, b.gid());
	Memory from(2 * PAGE), to(2 * PAGE);
	Region source(a.pd, from.data(), PAGE, ODP), target(b.pd, to.data(), 2 * PAGE, ODP);

	for (int i = 0; i < 50; i++) {
		const uint32_t bytes = 1 + i * 20;

		pattern_fill(from.data(), bytes, i, 0);
		b.qp.recv(i, { target.sge(PAGE - 60, 2000) });
		Work(i, IBV_WR_SEND, { source.sge(0, bytes) })
			.datagram(ah.get(), b.qp.num(), UdEnd::QKEY)
			.post(a.qp);
		a.send_cq.expect(i, IBV_WC_SUCCESS);
		b.recv_cq.expect(i, IBV_WC_SUCCESS);
		expect_pattern("datagram", to.data(PAGE - 60 + GRH_BYTES), bytes, i);
		drop_pages(to);
		drop_pages(from);
	}
}

void uc_write(Bench &bench)
{
	bench.config.depth.type = IBV_QPT_UC;
	Bed bed(bench);

	for (int i = 0; i < 10; i++) {
		good(write(bed.pair, bed.region, 0, BYTES, i), "WRITE");
		/* nothing says when it is there: what follows comes behind it */
		bed.pair.b.qp.recv(7, { bed.pair.b.mr.sge(0, 8) });
		good(run(bed.pair, Work(7, IBV_WR_SEND, { bed.pair.a.mr.sge(0, 8) })), "SEND");
		bed.pair.b.recv_cq.expect(7, IBV_WC_SUCCESS);
		expect_pattern("after WRITE", bed.data(), BYTES, i);
		drop_pages(bed.memory);
	}
}

void atomics_missing(Bench &bench)
{
	Bed bed(bench);
	const size_t at = PAGE - SKEW % PAGE + 16;

	for (uint64_t i = 0; i < 20; i++) {
		good(add_one(bed.pair, bed.region, at), "FETCH_ADD");
		uint64_t was, is;
		memcpy(&was, bed.pair.a.mr.data(), 8);
		memcpy(&is, bed.data(at), 8);
		if (was || is != 1)
			fail("FETCH_ADD number %zu: %zu became %zu", size_t(i), size_t(was),
			     size_t(is));
		drop_pages(bed.memory);
	}
}

/* the mapping goes, and comes again as another: never the old page */
void munmap_and_map(Bench &bench)
{
	Bed bed(bench);

	for (int i = 0; i < 20; i++) {
		good(write(bed.pair, bed.region, 0, BYTES, i), "WRITE");
		expect_pattern("after WRITE", bed.data(), BYTES, i);
		bed.memory.unmap();
		bed.memory.map_again();
		good(read(bed.pair, bed.region, 0, BYTES), "READ");
		expect_bytes("new mapping", bed.pair.a.mr.data(), BYTES, 0);
	}
}

/* the pages move elsewhere with what they have; what is written comes to the new ones */
void mremap_away(Bench &bench)
{
	Bed bed(bench);
	Memory elsewhere(bed.memory.size());

	for (int i = 0; i < 10; i++) {
		good(write(bed.pair, bed.region, 0, BYTES, 100 + i), "WRITE");
		if (mremap(bed.memory.data(), bed.memory.size(), elsewhere.size(),
			   MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere.data()) == MAP_FAILED)
			fail_errno("mremap");
		bed.memory.map_again();
		good(write(bed.pair, bed.region, 0, BYTES, 200 + i), "WRITE");
		expect_pattern("the pages that moved", elsewhere.data(SKEW), BYTES, 100 + i);
		expect_pattern("the new pages", bed.data(), BYTES, 200 + i);
	}
}

void unmapped_remote(Bench &bench, ibv_wr_opcode opcode)
{
	Bed bed(bench);
	auto &pair = bed.pair;
	auto work = Work(1, opcode, { pair.a.mr.sge(0, 8) });
	const size_t at = 8 * PAGE - SKEW;

	if (munmap(bed.data(at), PAGE))
		fail_errno("munmap");
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		work.atomic(bed.region.addr(at), bed.region.rkey(), 1);
	else
		work.remote(bed.region.addr(at), bed.region.rkey());
	refused(run(pair, work), IBV_WC_REM_ACCESS_ERR, "access to a hole");
	if (pair.b.qp.state() != IBV_QPS_ERR)
		fail("the responder's QP is in state %d", pair.b.qp.state());

	/* the region is none the worse for it */
	auto again = bench.pair();
	if (mmap(bed.data(at), PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != bed.data(at))
		fail_errno("mmap");
	Region region(again.b.pd, bed.data(), BYTES, ODP);
	good(write(again, region, 0, BYTES, 5), "WRITE");
	expect_pattern("after WRITE", bed.data(), BYTES, 5);
}

void unmapped_local(Bench &bench)
{
	auto pair = bench.pair();
	Memory memory(4 * PAGE);
	Region region(pair.a.pd, memory.data(), 4 * PAGE, ODP);

	if (munmap(memory.data(2 * PAGE), PAGE))
		fail_errno("munmap");
	refused(run(pair, Work(1, IBV_WR_RDMA_WRITE, { region.sge(0, 4 * PAGE) })
				  .remote(pair.b.mr.addr(), pair.b.mr.rkey())),
		IBV_WC_LOC_PROT_ERR, "WRITE from a hole");
	auto other = bench.pair();
	Region target(other.a.pd, memory.data(), 4 * PAGE, ODP);
	refused(run(other, Work(2, IBV_WR_RDMA_READ, { target.sge(0, 4 * PAGE) })
				   .remote(other.b.mr.addr(), other.b.mr.rkey())),
		IBV_WC_LOC_PROT_ERR, "READ into a hole");
	auto third = bench.pair();
	Region receive(third.b.pd, memory.data(), 4 * PAGE, ODP);
	third.b.qp.recv(3, { receive.sge(0, 4 * PAGE) });
	refused(run(third, Work(3, IBV_WR_SEND, { third.a.mr.sge(0, 4 * PAGE) })),
		IBV_WC_REM_OP_ERR, "SEND into a hole");
	third.b.recv_cq.expect(3, IBV_WC_LOC_PROT_ERR);
}

/* registered for writing, mapped for reading: it is the mapping that counts */
void read_only_mapping(Bench &bench)
{
	auto pair = bench.pair();
	Memory memory(BYTES + PAGE, PROT_READ);
	Region region(pair.b.pd, memory.data(), BYTES, ODP);

	good(read(pair, region, 0, BYTES), "READ");
	expect_bytes("after READ", pair.a.mr.data(), BYTES, 0);
	refused(write(pair, region, 0, BYTES, 1), IBV_WC_REM_ACCESS_ERR, "WRITE");
	expect_bytes("after WRITE", memory.data(), BYTES, 0);

	auto again = bench.pair();
	Region same(again.b.pd, memory.data(), BYTES, ODP);
	if (mprotect(memory.data(), memory.size(), PROT_READ | PROT_WRITE))
		fail_errno("mprotect");
	good(write(again, same, 0, BYTES, 2), "WRITE");
	expect_pattern("after WRITE", memory.data(), BYTES, 2);
	/* and back, with the pages there */
	if (mprotect(memory.data(), memory.size(), PROT_READ))
		fail_errno("mprotect");
	refused(write(again, same, 0, BYTES, 3), IBV_WC_REM_ACCESS_ERR, "WRITE again");
	expect_pattern("after WRITE", memory.data(), BYTES, 2);
}

constexpr unsigned int ROUNDS = 15;

/* one file's pages, dropped from the mapping again and again while they are used */
void shared_dropped(Bench &bench)
{
	auto pair = patient(bench);
	Memory one(BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
	Memory two(BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
	Region a(pair.a.pd, one.data(), BYTES, ODP), b(pair.b.pd, two.data(), BYTES, ODP);
	Beside noise([&] {
		drop_pages(one);
		drop_pages(two);
	});

	for (unsigned int i = 0; i < ROUNDS; i++) {
		pattern_fill(one.data(), BYTES, i, 0);
		good(run(pair, Work(i, IBV_WR_RDMA_WRITE, { a.sge(0, BYTES) })
				       .remote(b.addr(), b.rkey())),
		     "WRITE");
		expect_pattern("after WRITE", two.data(), BYTES, i);
		pattern_fill(two.data(), BYTES, 1000 + i, 0);
		good(run(pair,
			 Work(i, IBV_WR_RDMA_READ, { a.sge(0, BYTES) }).remote(b.addr(), b.rkey())),
		     "READ");
		expect_pattern("after READ", one.data(), BYTES, 1000 + i);
		pair.b.qp.recv(i, { b.sge(0, BYTES) });
		pattern_fill(one.data(), BYTES, 2000 + i, 0);
		good(run(pair, Work(i, IBV_WR_SEND, { a.sge(0, BYTES) })), "SEND");
		pair.b.recv_cq.expect(i, IBV_WC_SUCCESS);
		expect_pattern("after SEND", two.data(), BYTES, 2000 + i);
	}
	if (!noise.end())
		fail("no page was dropped");
}

/* WRITE and READ while children take copies of the memory */
void forked_write_read(Bench &bench)
{
	Bed bed(bench);
	Beside noise([&] { fork_and_watch(bed.memory); });

	for (unsigned int i = 0; i < ROUNDS; i++) {
		good(write(bed.pair, bed.region, 0, BYTES, i), "WRITE");
		expect_pattern("after WRITE", bed.data(), BYTES, i);
		pattern_fill(bed.data(), BYTES, 1000 + i, 0);
		good(read(bed.pair, bed.region, 0, BYTES), "READ");
		expect_pattern("after READ", bed.pair.a.mr.data(), BYTES, 1000 + i);
	}
	if (!noise.end())
		fail("no child was made");
}

/* the bytes of a READ are put where children take copies */
void forked_read_target(Bench &bench)
{
	auto pair = patient(bench);
	Memory memory(BYTES + PAGE);
	Region region(pair.a.pd, memory.data(), BYTES, ODP);
	Beside noise([&] { fork_and_watch(memory); });

	for (unsigned int i = 0; i < ROUNDS; i++) {
		pattern_fill(pair.b.mr.data(), BYTES, i, 0);
		good(run(pair, Work(i, IBV_WR_RDMA_READ, { region.sge(0, BYTES) })
				       .remote(pair.b.mr.addr(), pair.b.mr.rkey())),
		     "READ");
		expect_pattern("after READ", memory.data(), BYTES, i);
	}
	if (!noise.end())
		fail("no child was made");
}

/* none is lost and none is done twice */
void atomics_under(Bench &bench, const std::function<void(const Memory &)> &disturb, int flags)
{
	constexpr uint64_t TIMES = 100;
	auto pair = patient(bench);
	Memory memory(4 * PAGE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS);
	Region region(pair.b.pd, memory.data(), memory.size(), ODP);
	Beside noise([&] { disturb(memory); });
	uint64_t value;

	for (uint64_t i = 0; i < TIMES; i++) {
		good(add_one(pair, region, PAGE + 8), "FETCH_ADD");
		memcpy(&value, pair.a.mr.data(), 8);
		if (value != i)
			fail("FETCH_ADD number %zu found %zu", size_t(i), size_t(value));
		/* the CPU takes part */
		__atomic_add_fetch(reinterpret_cast<uint64_t *>(memory.data(2 * PAGE)), 1,
				   __ATOMIC_SEQ_CST);
		good(run(pair, Work(4, IBV_WR_ATOMIC_FETCH_AND_ADD, { pair.a.mr.sge(0, 8) })
				       .atomic(region.addr(2 * PAGE), region.rkey(), 1)),
		     "FETCH_ADD");
	}
	if (!noise.end())
		fail("nothing disturbed");
	memcpy(&value, memory.data(2 * PAGE), 8);
	if (value != 2 * TIMES)
		fail("%zu and %zu made %zu", size_t(TIMES), size_t(TIMES), size_t(value));
}

/* memory that is thrown away has no old bytes; what is new is seen */
void generations(Bench &bench)
{
	Bed bed(bench);

	for (unsigned int i = 0; i < ROUNDS; i++) {
		pattern_fill(bed.data(), BYTES, i, 0);
		good(read(bed.pair, bed.region, 0, BYTES), "READ");
		expect_pattern("after READ", bed.pair.a.mr.data(), BYTES, i);
		if (madvise(bed.memory.data(), bed.memory.size(), MADV_DONTNEED))
			fail_errno("madvise");
		good(read(bed.pair, bed.region, 0, BYTES), "READ");
		expect_bytes("after DONTNEED", bed.pair.a.mr.data(), BYTES, 0);
	}
}

/* the region goes while pages are brought in for it */
void deregister_under_traffic(Bench &bench)
{
	for (int round = 0; round < 30; round++) {
		auto pair = bench.pair();
		Memory memory(BYTES + PAGE);
		{
			Region region(pair.b.pd, memory.data(), BYTES, ODP);

			Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, BYTES) })
				.remote(region.addr(), region.rkey())
				.post(pair.a.qp);
			sleep_us(20 * round);
		}
		const auto wc = pair.a.send_cq.next();
		if (!wc || (wc->status && wc->status != IBV_WC_REM_ACCESS_ERR))
			fail("%s", wc ? ibv_wc_status_str(wc->status) : "no completion");
		/* from here on nobody writes to it */
		memory.unmap();
		memory.map_again();
		sleep_us(500);
		expect_bytes("after deregistration", memory.data(), memory.size(), 0);
	}
}

/* QPs go while pages are brought in for them */
void destroy_under_traffic(Bench &bench)
{
	for (int round = 0; round < 30; round++) {
		Bed bed(bench);

		Work(1, IBV_WR_RDMA_WRITE, { bed.pair.a.mr.sge(0, BYTES) })
			.remote(bed.region.addr(), bed.region.rkey())
			.post(bed.pair.a.qp);
		sleep_us(20 * round);
		if (int err = round & 1 ? bed.pair.b.qp.destroy()
					: bed.pair.b.qp.try_state(IBV_QPS_RESET))
			fail_errno("destroy or reset", err);
	}
}

ibv_mr *all_of_it(const Pd &pd, int access = ODP)
{
	return ibv_reg_mr(pd.get(), nullptr, SIZE_MAX, access);
}

void implicit(Bench &bench)
{
	auto pair = bench.pair();
	Region all(all_of_it(pair.b.pd), 0), mine(all_of_it(pair.a.pd), 0);
	/* across spans of the tables, and far apart */
	constexpr size_t SPAN = 1 << 24;
	Memory wide(3 * SPAN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	uint8_t *edge = wide.data() + SPAN - wide.addr() % SPAN;
	uint8_t stack[3000], from[3000];
	auto at = [](const void *p) { return reinterpret_cast<uint64_t>(p); };

	pattern_fill(from, sizeof(from), 1, 0);
	good(run(pair, Work(1, IBV_WR_RDMA_WRITE, { { at(from), sizeof(from), mine.lkey() } })
			       .remote(at(stack), all.rkey())),
	     "WRITE from stack to stack");
	expect_pattern("stack", stack, sizeof(stack), 1);
	pattern_fill(pair.a.mr.data(), BYTES, 2, 0);
	good(run(pair, Work(2, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, BYTES) })
			       .remote(at(edge) - BYTES / 2, all.rkey())),
	     "WRITE across tables");
	expect_pattern("across tables", edge - BYTES / 2, BYTES, 2);
	good(run(pair, Work(3, IBV_WR_RDMA_READ,
			    { { at(edge) + SPAN - 100, 200, mine.lkey() },
			      { at(stack), 100, mine.lkey() } })
			       .remote(at(edge) - BYTES / 2, all.rkey())),
	     "READ into several places");
	expect_pattern("first place", edge + SPAN - 100, 200, 2);
	expect_pattern("second place", stack, 100, 2, 200);
	refused(run(pair,
		    Work(4, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 8) }).remote(PAGE, all.rkey())),
		IBV_WC_REM_ACCESS_ERR, "WRITE to page 1");
}

/* messages that end where the memory does: nothing behind them may be asked for */
void hole_behind(Bench &bench)
{
	constexpr size_t PAGES = 76, FROM = 16, LENGTH = PAGES * PAGE - FROM - 100;
	auto pair = patient(bench);
	Region all(all_of_it(pair.b.pd), 0);
	Memory source(LENGTH);
	Region local(pair.a.pd, source.data(), LENGTH);

	for (auto opcode : { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ }) {
		Memory memory((PAGES + 1) * PAGE);

		if (mprotect(memory.data(PAGES * PAGE), PAGE, PROT_NONE))
			fail_errno("mprotect");
		pattern_fill(source.data(), LENGTH, 1, 0);
		good(run(pair, Work(1, opcode, { local.sge(0, LENGTH) })
				       .remote(memory.addr(FROM), all.rkey())),
		     "a message before a hole");
		if (opcode == IBV_WR_RDMA_WRITE)
			expect_pattern("written", memory.data(FROM), LENGTH, 1);
		else
			expect_bytes("read", source.data(), LENGTH, 0);
	}
}

/* a region that goes around the end of all addresses */
void around_the_end(Bench &bench)
{
	auto pair = bench.pair();
	auto *last = reinterpret_cast<void *>(~uint64_t{ 0 } - PAGE + 1);

	errno = 0;
	ibv_mr *mr = ibv_reg_mr_iova2(pair.b.pd.get(), last, 2 * PAGE, 1 << 16, ODP);
	if (mr || errno != EINVAL)
		fail("it was registered, or errno is %d", errno);
}

void implicit_far(Bench &bench)
{
	for (const uint64_t addr : { uint64_t{ 0 }, uint64_t{ 1 } << 47, ~uint64_t{ 0 } - 4096,
				     ~uint64_t{ 0 } - 8, uint64_t{ 0xffffffff80000000 } }) {
		auto pair = bench.pair();
		Region all(all_of_it(pair.b.pd), 0);

		refused(run(pair, Work(1, IBV_WR_RDMA_READ, { pair.a.mr.sge(0, 8) })
					  .remote(addr, all.rkey())),
			IBV_WC_REM_ACCESS_ERR, "READ of what no process has");
	}
	auto pair = bench.pair();
	errno = 0;
	if (all_of_it(pair.b.pd, ALL_ACCESS))
		fail("all of the memory was registered, pinned");
	/* read-only is read-only */
	Region all(all_of_it(pair.b.pd, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND), 0);
	uint64_t value = 7;
	refused(run(pair, Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 8) })
				  .remote(reinterpret_cast<uint64_t>(&value), all.rkey())),
		IBV_WC_REM_ACCESS_ERR, "WRITE");
	if (value != 7)
		fail("it was written");
}

int advise(const Pair &pair, ibv_advise_mr_advice advice, uint32_t flags, ibv_sge sge)
{
	return ibv_advise_mr(pair.b.pd.get(), advice, flags, &sge, 1);
}

uint64_t faults(const Bench &bench)
{
	return counter(bench.config.dev_b, "odp_page_faults");
}

size_t resident(const Memory &memory)
{
	std::vector<unsigned char> vec(memory.size() / PAGE + 1);
	size_t n = 0;

	if (mincore(memory.data(), memory.size(), vec.data()))
		fail_errno("mincore");
	for (const auto v : vec)
		n += v & 1;
	return n;
}

void prefetch_sync_once(Bench &bench)
{
	Bed bed(bench);
	const auto sge = bed.region.sge(0, BYTES);

	if (int err = advise(bed.pair, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			     IBV_ADVISE_MR_FLAG_FLUSH, sge))
		fail_errno("ibv_advise_mr", err);
	const auto before = faults(bench);
	good(write(bed.pair, bed.region, 0, BYTES, 1), "WRITE");
	expect_pattern("after WRITE", bed.data(), BYTES, 1);
	if (faults(bench) != before)
		fail("%zu pages were missed", size_t(faults(bench) - before));

	/* for reading only: reading misses nothing, writing does */
	drop_pages(bed.memory);
	if (int err =
		    advise(bed.pair, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, sge))
		fail_errno("ibv_advise_mr", err);
	good(read(bed.pair, bed.region, 0, BYTES), "READ");
	expect_bytes("after READ", bed.pair.a.mr.data(), BYTES, 0);
	if (faults(bench) != before)
		fail("%zu pages were missed", size_t(faults(bench) - before));
	good(write(bed.pair, bed.region, 0, BYTES, 2), "WRITE");
	expect_pattern("after WRITE", bed.data(), BYTES, 2);
	if (faults(bench) == before)
		fail("the counter does not count");
}

/* the kernel may move a page at any time; not each time */
void prefetch_sync(Bench &bench)
{
	for (int left = 4;; left--) {
		try {
			prefetch_sync_once(bench);
			return;
		} catch (const Failure &) {
			if (!left)
				throw;
		}
	}
}

void prefetch_async(Bench &bench)
{
	Bed bed(bench);
	const size_t pages = (SKEW + BYTES + PAGE - 1) / PAGE;

	if (int err = advise(bed.pair, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0,
			     bed.region.sge(0, BYTES)))
		fail_errno("ibv_advise_mr", err);
	for (int ms = 0; resident(bed.memory) < pages; ms++) {
		if (ms == 10000)
			fail("%zu of %zu pages are there", resident(bed.memory), pages);
		sleep_us(1000);
	}
	good(write(bed.pair, bed.region, 0, BYTES, 1), "WRITE");
	expect_pattern("after WRITE", bed.data(), BYTES, 1);
	/* the region may go at once */
	drop_pages(bed.memory);
	for (int i = 0; i < 20; i++) {
		Region region(bed.pair.b.pd, bed.data(), BYTES, ODP);

		advise(bed.pair, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, region.sge(0, BYTES));
	}
}

void prefetch_no_fault(Bench &bench)
{
	Bed bed(bench);
	const auto sge = bed.region.sge(0, BYTES);

	if (int err = advise(bed.pair, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
			     IBV_ADVISE_MR_FLAG_FLUSH, sge))
		fail_errno("ibv_advise_mr", err);
	if (resident(bed.memory))
		fail("%zu pages were brought in", resident(bed.memory));
	pattern_fill(bed.data(), BYTES, 3, 0);
	if (int err = advise(bed.pair, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
			     IBV_ADVISE_MR_FLAG_FLUSH, sge))
		fail_errno("ibv_advise_mr", err);
	const auto before = faults(bench);
	good(read(bed.pair, bed.region, 0, BYTES), "READ");
	expect_pattern("after READ", bed.pair.a.mr.data(), BYTES, 3);
	if (faults(bench) != before)
		fail("%zu pages that were there were missed", size_t(faults(bench) - before));
}

void prefetch_refused(Bench &bench)
{
	Bed bed(bench);
	Pd other(bench.devices.b);
	Region reading(bed.pair.b.pd, bed.data(), BYTES,
		       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	Region foreign(other, bed.data(), BYTES, ODP);
	const auto read = IBV_ADVISE_MR_ADVICE_PREFETCH,
		   write = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	const uint32_t flush = IBV_ADVISE_MR_FLAG_FLUSH;
	auto sge = bed.region.sge(0, BYTES);
	auto is = [](int err, int want, const char *what) {
		if (err != want)
			fail("%s: errno %d instead of %d", what, err, want);
	};

	for (const uint32_t flags : { uint32_t{ 0 }, flush }) {
		is(advise(bed.pair, read, flags, { sge.addr, sge.length + 1, sge.lkey }), EFAULT,
		   "beyond the region");
		is(advise(bed.pair, read, flags, { sge.addr, sge.length, sge.lkey ^ 1 }), EFAULT,
		   "no such key");
		is(advise(bed.pair, write, flags, reading.sge(0, BYTES)), EFAULT,
		   "for writing, read-only");
		is(advise(bed.pair, read, flags, foreign.sge(0, BYTES)), EFAULT, "another domain");
		is(advise(bed.pair, read, flags, bed.pair.b.mr.sge(0, 8)), EFAULT, "pinned");
	}
	bed.memory.unmap();
	is(advise(bed.pair, read, flush, sge), EFAULT, "a hole");
	is(advise(bed.pair, read, 0, sge), 0, "a hole, nobody waits");
	bed.memory.map_again();
}

/* nothing is pinned, so no limit applies */
void not_pinned(Bench &bench)
{
	auto pair = bench.pair();
	Memory memory(size_t{ 1 } << 33, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	/* a page is a page; EINVAL where there are no huge ones */
	madvise(memory.data(), memory.size(), MADV_NOHUGEPAGE);
	Region region(pair.b.pd, memory.data(), memory.size(), ODP);

	for (size_t at = 0; at < memory.size(); at += memory.size() / 16) {
		good(write(pair, region, at + PAGE - 4, 8, at + 1), "WRITE");
		expect_pattern("after WRITE", memory.data(at + PAGE - 4), 8, at + 1);
	}
	if (resident(memory) > 2 * 16 + 1)
		fail("%zu pages are there", resident(memory));
}

/* bytes of kernel memory that count in the cgroup of this process */
uint64_t kernel_memory()
{
	std::string group, name;
	uint64_t bytes;

	std::getline(std::ifstream("/proc/self/cgroup"), group);
	std::ifstream stat("/sys/fs/cgroup" + group.substr(group.rfind(':') + 1) + "/memory.stat");
	while (stat >> name >> bytes)
		if (name == "kernel")
			return bytes;
	throw Tap::Skip{ "no cgroup counts memory" };
}

/*
 * A worker makes them, but it is this process that they count in. What memory.stat
 * says may be late by 64 pages for each CPU, and other memory goes meanwhile: half
 * of them is enough.
 */
void tables_counted(Bench &bench)
{
	constexpr size_t SPAN = 1 << 24, SPANS = 128, TABLE = SPAN / PAGE * sizeof(void *);
	auto pair = bench.pair();
	Region all(all_of_it(pair.b.pd), 0);
	Memory wide(SPANS * SPAN, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);

	/* the mm's own tables are there before */
	for (size_t at = 0; at < wide.size(); at += SPAN)
		*wide.data(at) = 1;
	const auto before = kernel_memory();
	for (size_t at = 0; at < wide.size(); at += SPAN)
		good(run(pair, Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 8) })
				       .remote(wide.addr(at), all.rkey())),
		     "WRITE");
	const auto after = kernel_memory();
	if (after < before + SPANS / 2 * TABLE)
		fail("kernel memory %zu before, %zu after", size_t(before), size_t(after));
}

void registered_anew(Bench &bench)
{
	auto pair = bench.pair();
	Memory one(BYTES + PAGE), two(BYTES + PAGE);
	Region region(pair.b.pd, one.data(), BYTES);
	auto must = [](int err) {
		if (err)
			fail_errno("ibv_rereg_mr", err);
	};

	must(region.rereg(IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, ODP));
	good(write(pair, region, 0, BYTES, 1), "WRITE, on demand");
	one.unmap();
	one.map_again();
	good(write(pair, region, 0, BYTES, 2), "WRITE, on demand");
	expect_pattern("after WRITE", one.data(), BYTES, 2);
	must(region.rereg(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, two.data(), BYTES, 0));
	good(write(pair, region, 0, BYTES, 3), "WRITE elsewhere");
	expect_pattern("after WRITE", two.data(), BYTES, 3);
	must(region.rereg(IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, ALL_ACCESS));
	good(write(pair, region, 0, BYTES, 4), "WRITE, pinned");
	expect_pattern("after WRITE", two.data(), BYTES, 4);
	expect_pattern("the memory before", one.data(), BYTES, 2);
	must(region.rereg(IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
			  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND));
	good(read(pair, region, 0, BYTES), "READ");
	expect_pattern("after READ", pair.a.mr.data(), BYTES, 4);
	must(region.rereg(IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, ODP));
	good(write(pair, region, 0, BYTES, 5), "WRITE, on demand again");
	expect_pattern("after WRITE", two.data(), BYTES, 5);
}

void through_a_window(Bench &bench)
{
	bench.config.access_b = ODP | IBV_ACCESS_MW_BIND;
	Bed bed(bench, ODP | IBV_ACCESS_MW_BIND);
	ibv_mw *mw = ibv_alloc_mw(bed.pair.b.pd.get(), IBV_MW_TYPE_1);
	ibv_mw_bind bind = { 7,
			     IBV_SEND_SIGNALED,
			     { bed.region.get(), bed.region.addr(PAGE), 9 * PAGE,
			       IBV_ACCESS_REMOTE_WRITE } };

	if (!mw || ibv_bind_mw(bed.pair.b.qp.get(), mw, &bind))
		fail_errno("bind a window");
	bed.pair.b.send_cq.expect(7, IBV_WC_SUCCESS);
	pattern_fill(bed.pair.a.mr.data(), 9 * PAGE, 8, 0);
	const auto status =
		run(bed.pair, Work(1, IBV_WR_RDMA_WRITE, { bed.pair.a.mr.sge(0, 9 * PAGE) })
				      .remote(bed.region.addr(PAGE), mw->rkey));
	ibv_dealloc_mw(mw);
	good(status, "WRITE");
	expect_pattern("after WRITE", bed.data(PAGE), 9 * PAGE, 8);
	expect_bytes("before the window", bed.data(), PAGE, 0);
	expect_bytes("behind the window", bed.data(10 * PAGE), BYTES - 10 * PAGE, 0);
}

/*
 * Memory that is the process's alone: the kernel has no map of it. Little enough for any
 * RLIMIT_MEMLOCK, which counts it.
 */
class Secret
{
public:
	static constexpr size_t BYTES = 4 * PAGE;
	/* what is in it: zeros, and nothing before somebody asks, or something from now on */
	explicit Secret(uint8_t content = 0, void *at = nullptr);
	Secret(const Secret &) = delete;
	~Secret() { munmap(base, BYTES); }

	uint64_t addr() const { return reinterpret_cast<uint64_t>(base); }
	/* a region over it, or over all memory: its addresses are the process's */
	Region region(const Pd &pd, bool all) const
	{
		return all ? Region(all_of_it(pd), 0) : Region(pd, base, BYTES, ODP);
	}
	void untouched() const { expect_bytes("the secret", base, BYTES, content); }

private:
	void *base;
	uint8_t content;
};

Secret::Secret(uint8_t content, void *at) : content(content)
{
	const int fd = syscall(SYS_memfd_secret, 0);

	if (fd < 0 && errno == ENOSYS)
		throw Tap::Skip{ "this kernel has no memfd_secret()" };
	if (fd < 0 || ftruncate(fd, BYTES))
		fail_errno("memfd_secret");
	base = mmap(at, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
	close(fd);
	if (base == MAP_FAILED)
		fail_errno("mmap of secret memory");
	if (content)
		memset(base, content, BYTES);
}

Work aimed(ibv_wr_opcode opcode, ibv_sge local, uint64_t addr, uint32_t rkey)
{
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return Work(1, opcode, { { local.addr, 8, local.lkey } }).atomic(addr, rkey, 1);
	return Work(1, opcode, { local }).remote(addr, rkey);
}

/* others' memory, and other memory of one's own, is what it was */
void as_usual(Bench &bench)
{
	Bed bed(bench);

	good(write(bed.pair, bed.region, 0, BYTES, 1), "WRITE elsewhere, later");
	expect_pattern("after WRITE", bed.data(), BYTES, 1);
	good(read(bed.pair, bed.region, 0, BYTES), "READ elsewhere, later");
	expect_pattern("after READ", bed.pair.a.mr.data(), BYTES, 1);
}

void secret_remote(Bench &bench, bool all)
{
	for (const uint8_t content : { 0, 0x5e })
		for (const auto opcode : { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
					   IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD }) {
			auto pair = bench.pair();
			Secret secret(content);
			const auto region = secret.region(pair.b.pd, all);

			pair.b.qp.recv(1, {});
			refused(run(pair, aimed(opcode, pair.a.mr.sge(0, 3000), secret.addr() + 16,
						region.rkey())),
				IBV_WC_REM_ACCESS_ERR, ibv_wr_opcode_str(opcode));
			if (pair.b.qp.state() != IBV_QPS_ERR)
				fail("the responder's QP is in state %d", pair.b.qp.state());
			secret.untouched();
		}
	as_usual(bench);
}

void secret_local(Bench &bench, bool all)
{
	for (const uint8_t content : { 0, 0x5e })
		for (const auto opcode : { IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
					   IBV_WR_ATOMIC_FETCH_AND_ADD }) {
			auto pair = bench.pair();
			Secret secret(content);
			const auto region = secret.region(pair.a.pd, all);

			pair.b.qp.recv(1, { pair.b.mr.sge(0, 3000) });
			refused(run(pair, aimed(opcode, { secret.addr() + 16, 3000, region.lkey() },
						pair.b.mr.addr(), pair.b.mr.rkey())),
				IBV_WC_LOC_PROT_ERR, ibv_wr_opcode_str(opcode));
			secret.untouched();
		}
	as_usual(bench);
}

void secret_received(Bench &bench, bool all)
{
	for (const uint8_t content : { 0, 0x5e }) {
		auto pair = bench.pair();
		Secret secret(content);
		const auto region = secret.region(pair.b.pd, all);

		pair.b.qp.recv(3, { { secret.addr() + 16, 3000, region.lkey() } });
		refused(run(pair, Work(1, IBV_WR_SEND, { pair.a.mr.sge(0, 3000) })),
			IBV_WC_REM_OP_ERR, "SEND");
		pair.b.recv_cq.expect(3, IBV_WC_LOC_PROT_ERR);
		secret.untouched();
	}
	as_usual(bench);
}

void secret_datagram(Bench &bench, bool all)
{
	UdEnd a(bench.devices.a, bench.config.gid), b(bench.devices.b, bench.config.gid);
	Ah ah(a.pd, a.gid_index, b.gid());
	Secret secret(0x5e);
	const auto region = secret.region(a.pd, all);

	Work(1, IBV_WR_SEND, { { secret.addr(), 100, region.lkey() } })
		.datagram(ah.get(), b.qp.num(), UdEnd::QKEY)
		.post(a.qp);
	a.send_cq.expect(1, IBV_WC_LOC_PROT_ERR);
	secret.untouched();
	as_usual(bench);
}

/* in the middle of other memory, which is as good as ever */
void secret_between(Bench &bench)
{
	constexpr size_t AT = 8 * PAGE, ALL = 2 * AT + Secret::BYTES;
	Memory memory(ALL);
	Secret secret(0x5e, memory.data(AT));

	pattern_fill(memory.data(), AT, 1, 0);
	for (const auto opcode : { IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE }) {
		auto pair = patient(bench), again = patient(bench);
		Region region(pair.b.pd, memory.data(), ALL, ODP);
		Region same(again.b.pd, memory.data(), ALL, ODP);

		refused(run(pair,
			    aimed(opcode, pair.a.mr.sge(0, ALL), region.addr(), region.rkey())),
			IBV_WC_REM_ACCESS_ERR, ibv_wr_opcode_str(opcode));
		secret.untouched();
		for (const size_t at : { size_t{ 0 }, AT + Secret::BYTES }) {
			good(write(again, same, at, AT, 2 + at), "WRITE beside it");
			expect_pattern("beside it", memory.data(at), AT, 2 + at);
			good(read(again, same, at, AT), "READ beside it");
			expect_pattern("after READ", again.a.mr.data(), AT, 2 + at);
		}
		secret.untouched();
	}
}

void secret_asked_for(Bench &bench)
{
	auto pair = bench.pair();
	Secret secret(0x5e);
	const auto region = secret.region(pair.b.pd, false);
	const ibv_sge sge = { secret.addr(), Secret::BYTES, region.lkey() };

	for (const auto advice :
	     { IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
	       IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT })
		for (const uint32_t flags : { uint32_t{ 0 }, uint32_t{ IBV_ADVISE_MR_FLAG_FLUSH } })
			advise(pair, advice, flags, sge);
	errno = 0;
	if (ibv_reg_mr(pair.b.pd.get(), reinterpret_cast<void *>(secret.addr()), Secret::BYTES,
		       ALL_ACCESS))
		fail("it was registered, pinned");
	refused(run(pair,
		    aimed(IBV_WR_RDMA_READ, pair.a.mr.sge(0, 3000), secret.addr(), region.rkey())),
		IBV_WC_REM_ACCESS_ERR, "READ");
	secret.untouched();
	as_usual(bench);
}

void capabilities(Bench &bench)
{
	const uint32_t both =
		IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
	ibv_device_attr_ex attr = {};

	if (ibv_query_device_ex(bench.devices.b.get(), nullptr, &attr))
		fail_errno("ibv_query_device_ex");
	const auto &caps = attr.odp_caps;
	const auto &per = caps.per_transport_caps;
	if (caps.general_caps != (IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT) ||
	    per.rc_odp_caps != (both | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
				IBV_ODP_SUPPORT_ATOMIC) ||
	    per.uc_odp_caps != (both | IBV_ODP_SUPPORT_WRITE) || per.ud_odp_caps != both)
		fail("general 0x%zx, RC 0x%x, UC 0x%x, UD 0x%x", size_t(caps.general_caps),
		     per.rc_odp_caps, per.uc_odp_caps, per.ud_odp_caps);
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(
		argc, argv,
		{ { "capabilities", capabilities },
		  { "WRITE to pages that are not there", write_missing },
		  { "READ of pages that are not there", read_missing },
		  { "local pages that are not there", local_missing },
		  { "atomics on pages that are not there", atomics_missing },
		  { "SEND, RC", [](Bench &b) { send_missing(b, IBV_QPT_RC); } },
		  { "SEND, UC", [](Bench &b) { send_missing(b, IBV_QPT_UC); } },
		  { "WRITE, UC", uc_write },
		  { "datagrams", datagrams },
		  { "munmap, mmap", munmap_and_map },
		  { "mremap", mremap_away },
		  { "WRITE to a hole", [](Bench &b) { unmapped_remote(b, IBV_WR_RDMA_WRITE); } },
		  { "READ of a hole", [](Bench &b) { unmapped_remote(b, IBV_WR_RDMA_READ); } },
		  { "atomic on a hole",
		    [](Bench &b) { unmapped_remote(b, IBV_WR_ATOMIC_FETCH_AND_ADD); } },
		  { "local holes", unmapped_local },
		  { "mapping that is read-only", read_only_mapping },
		  { "generations of pages", generations },
		  { "shared pages dropped during WRITE, READ, SEND", shared_dropped },
		  { "fork during WRITE and READ", forked_write_read },
		  { "fork where a READ puts its bytes", forked_read_target },
		  { "fork during atomics",
		    [](Bench &b) { atomics_under(b, fork_and_watch, MAP_PRIVATE); } },
		  { "shared pages dropped during atomics",
		    [](Bench &b) { atomics_under(b, drop_pages, MAP_SHARED); } },
		  { "deregistered under traffic", deregister_under_traffic },
		  { "QPs gone under traffic", destroy_under_traffic },
		  { "implicit", implicit },
		  { "implicit, with a hole behind", hole_behind },
		  { "implicit, where no process has memory", implicit_far },
		  { "around the end of all addresses", around_the_end },
		  { "prefetch, one waits", prefetch_sync },
		  { "prefetch, nobody waits", prefetch_async },
		  { "prefetch of what is there", prefetch_no_fault },
		  { "prefetch refused", prefetch_refused },
		  { "8 GB, nothing pinned", not_pinned },
		  { "tables count in the process's cgroup", tables_counted },
		  { "registered anew", registered_anew },
		  { "through a window", through_a_window },
		  { "secret memory of a peer", [](Bench &b) { secret_remote(b, false); } },
		  { "secret memory of a peer, implicit", [](Bench &b) { secret_remote(b, true); } },
		  { "secret memory of one's own", [](Bench &b) { secret_local(b, false); } },
		  { "secret memory of one's own, implicit",
		    [](Bench &b) { secret_local(b, true); } },
		  { "secret memory to receive in", [](Bench &b) { secret_received(b, false); } },
		  { "secret memory to receive in, implicit",
		    [](Bench &b) { secret_received(b, true); } },
		  { "secret memory in a datagram", [](Bench &b) { secret_datagram(b, false); } },
		  { "secret memory in a datagram, implicit",
		    [](Bench &b) { secret_datagram(b, true); } },
		  { "secret memory between other memory", secret_between },
		  { "secret memory that is asked for", secret_asked_for } });
}
