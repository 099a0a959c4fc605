// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A process at war with its own rings: it finds the mappings that the provider
 * made of the device's queues, and one thread scribbles on them while another
 * posts and polls. The kernel may answer with error completions; it must not
 * crash, hang or hurt anybody else.
 *
 *	s37_rings --a sk0 --b sk1 [--rounds N] [--ms N] [--seed N]
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#include "lib/fail.hh"
#include "lib/pair.hh"
#include "lib/rings.hh"
#include "lib/rng.hh"
#include "lib/tap.hh"

using namespace st;

namespace
{

/* what an attacker writes: single bits, edge values, whole indices far away */
void scribble(const std::vector<Area> &areas, Rng &rng)
{
	static const uint32_t edges[] = { 0,	      1,	  2,
					  0x7fffffff, 0x80000000, 0xffffffff,
					  0xfffffffe, 0x00010000, 0x40000000 };
	auto &area = areas[rng.below(areas.size())];
	/* headers and first entries more often than the rest */
	size_t reach = rng.percent(60) ? std::min<size_t>(area.bytes, 512) : area.bytes;
	auto *word = reinterpret_cast<volatile uint32_t *>(area.start) + rng.below(reach / 4);

	switch (rng.below(4)) {
	case 0:
		*word = *word ^ (1U << rng.below(32));
		break;
	case 1:
		*word = edges[rng.below(std::size(edges))];
		break;
	case 2:
		*word = rng.next();
		break;
	default:
		*word = *word + rng.below(100000);
	}
}

void post_and_poll(Pair &pair, Rng &rng)
{
	static const ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND,	      IBV_WR_RDMA_WRITE,	  IBV_WR_RDMA_READ,
		IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_ATOMIC_FETCH_AND_ADD
	};
	ibv_recv_wr recv = {}, *bad;
	ibv_sge sge = pair.a.mr.sge(8192, 4096);
	ibv_wc wc[4];

	recv.sg_list = &sge;
	recv.num_sge = 1;
	ibv_post_recv(pair.a.qp.get(), &recv, &bad);
	auto opcode = opcodes[rng.below(std::size(opcodes))];
	Work work(1, opcode,
		  { pair.a.mr.sge(0, opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : 1000) });
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		work.atomic(pair.b.mr.addr(), pair.b.mr.rkey(), 1);
	else
		work.remote(pair.b.mr.addr(), pair.b.mr.rkey());
	work.try_post(pair.a.qp);
	for (auto *cq : { &pair.a.send_cq, &pair.a.recv_cq }) {
		ibv_poll_cq(cq->get(), 4, wc);
		ibv_req_notify_cq(cq->get(), 0);
	}
}

/* in a child, which may die of what it does to itself */
[[noreturn]] void attack(const PairConfig &config, uint64_t seed, unsigned int ms)
{
	try {
		/* the parent's rings came along with the fork */
		auto parents = find_rings();
		Devices devices(config);
		Pair pair(devices, config);
		auto areas = find_rings(parents);
		std::atomic<bool> stop = false;

		if (areas.empty())
			_exit(42);
		for (int i = 0; i < 16; i++)
			pair.b.qp.recv(i, { pair.b.mr.sge(0, 4096) });
		std::thread vandal([&] {
			Rng rng(seed);

			/* a storm, or single strokes between which things work */
			while (!stop) {
				scribble(areas, rng);
				if (seed % 2)
					sleep_us(rng.below(500));
			}
		});
		Rng rng(seed + 1);
		for (auto end = now_ns() + ms * 1000000ULL; now_ns() < end;) {
			post_and_poll(pair, rng);
			sleep_us(50);
		}
		stop = true;
		vandal.join();
		/* leave it to the kernel to clean up: destroying trusts the rings */
		_exit(0);
	} catch (const std::exception &e) {
		std::printf("# attacker: %s\n", e.what());
		std::fflush(stdout);
		_exit(43);
	}
}

/* somebody who only wants to work */
void work_on(Pair &pair, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		std::memset(pair.a.mr.data(), i + 1, 4096);
		Work(i, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 4096) })
			.remote(pair.b.mr.addr(), pair.b.mr.rkey())
			.post(pair.a.qp);
		pair.a.send_cq.expect(i, IBV_WC_SUCCESS);
		if (std::memcmp(pair.a.mr.data(), pair.b.mr.data(), 4096))
			fail("wrong data");
	}
}

} // namespace

int main(int argc, char **argv)
{
	Tap tap(3);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);
		unsigned int rounds = opt.number("rounds", 20), ms = opt.number("ms", 500);
		uint64_t seed = opt.number("seed", 1);
		int died = 0, worked = 0;

		opt.done();
		Devices devices(config);
		Pair bystander(devices, config);
		work_on(bystander, 10);
		for (unsigned int i = 0; i < rounds; i++) {
			auto child = fork();
			int status;

			if (!child)
				attack(config, seed + i, ms);
			work_on(bystander, 20);
			waitpid(child, &status, 0);
			if (WIFEXITED(status) && WEXITSTATUS(status) == 42) {
				for (int n = 0; n < 3; n++)
					tap.skip("rings", "no mapping of the device was found");
				return 0;
			}
			if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
				worked++;
			else
				died++;
		}
		Tap::note("%d attackers came to their end, %d died on the way", worked, died);
		tap.check(worked > 0, "rings under fire: the kernel lives");
		tap.run("the bystander has worked all the time and still does",
			[&] { work_on(bystander, 100); });
		tap.run("a new process can work", [&] {
			Pair fresh(devices, config);

			work_on(fresh, 100);
		});
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
