// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The longest message, 2 GiB: WRITE and READ of 2^31 bytes, or --bytes, and one
 * byte more refused. The memory is a few megabytes mapped over and over, so that a small
 * machine can do it.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/pair.hh"
#include "lib/pattern.hh"
#include "lib/tap.hh"

using namespace st;

namespace
{

constexpr size_t LIMIT = 1UL << 31;

/* a file of `period` bytes, mapped again and again over `bytes` */
class Folded
{
public:
	Folded(const Pd &pd, size_t period, size_t bytes) : bytes(bytes)
	{
		int fd = memfd_create("folded", 0);

		if (fd < 0 || ftruncate(fd, period))
			fail_errno("memfd");
		auto *area = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (area == MAP_FAILED)
			fail_errno("mmap");
		base = static_cast<uint8_t *>(area);
		for (size_t at = 0; at < bytes; at += period)
			if (mmap(base + at, std::min(period, bytes - at), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
				fail_errno("mmap of the same again");
		close(fd);
		mr = ibv_reg_mr(pd.get(), base, bytes, ALL_ACCESS);
		if (!mr)
			fail_errno("ibv_reg_mr");
	}
	~Folded()
	{
		if (mr)
			ibv_dereg_mr(mr);
		munmap(base, bytes);
	}

	uint8_t *base;
	size_t bytes;
	ibv_mr *mr;
};

void transfer(Pair &pair, ibv_wr_opcode opcode, Folded &a, Folded &b, size_t bytes, int err)
{
	ibv_sge sge = { reinterpret_cast<uint64_t>(a.base), static_cast<uint32_t>(bytes),
			a.mr->lkey };
	auto start = now_ns();
	int got = Work(1, opcode, { sge })
			  .remote(reinterpret_cast<uint64_t>(b.base), b.mr->rkey)
			  .try_post(pair.a.qp);

	if (got != err) {
		/* a device may also take it and complete it in error */
		if (!got && pair.a.send_cq.expect(1, IBV_WC_LOC_LEN_ERR, 5000).status)
			return;
		fail_errno("post", got);
	}
	if (err)
		return;
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS, 500000);
	Tap::note("%zu bytes in %.1f s", bytes, (now_ns() - start) / 1e9);
}

} // namespace

int main(int argc, char **argv)
{
	constexpr size_t PERIOD_A = 3 << 20, PERIOD_B = 4 << 20;
	Tap tap(4);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);
		size_t bytes = opt.number("bytes", LIMIT);

		opt.done();
		config.link_a.mtu = config.link_b.mtu = IBV_MTU_4096;
		config.link_a.timeout = config.link_b.timeout = 17;
		Devices devices(config);
		Pair pair(devices, config);
		Folded a(pair.a.pd, PERIOD_A, bytes + 4096), b(pair.b.pd, PERIOD_B, bytes + 4096);
		/* the last period's bytes are what remains at the other side */
		auto check = [&](Folded &from, Folded &to) {
			size_t period = std::min(PERIOD_A, PERIOD_B);
			auto *end_from = from.base + bytes - period,
			     *end_to = to.base + bytes - period;

			if (std::memcmp(end_from, end_to, period))
				fail("wrong data at the end");
		};

		pattern_fill(a.base, PERIOD_A, 1, 0);
		tap.run(format("WRITE of %zu bytes", bytes), [&] {
			transfer(pair, IBV_WR_RDMA_WRITE, a, b, bytes, 0);
			check(a, b);
		});
		pattern_fill(b.base, PERIOD_B, 2, 0);
		tap.run(format("READ of %zu bytes", bytes), [&] {
			transfer(pair, IBV_WR_RDMA_READ, a, b, bytes, 0);
			check(b, a);
		});
		tap.run("WRITE of one byte more than 2 GiB",
			[&] { transfer(pair, IBV_WR_RDMA_WRITE, a, b, LIMIT + 1, EINVAL); });
		tap.run("a new pair works", [&] {
			Pair fresh(devices, config);

			Work(1, IBV_WR_RDMA_WRITE, { fresh.a.mr.sge(0, 4096) })
				.remote(fresh.b.mr.addr(), fresh.b.mr.rkey())
				.post(fresh.a.qp);
			fresh.a.send_cq.expect(1, IBV_WC_SUCCESS);
		});
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
