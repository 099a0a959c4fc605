// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Fuzzer of the mapped rings: one process changes every byte of every page that
 * the device shares with another, SQs, RQs, SRQs and CQs, over and over, while that
 * one posts and polls and brings back to life what fails. A bystander's traffic goes
 * on in the parent.
 *
 *	fuzz_rings --a sk0 --b sk1 [--mutations N] [--seed S] [--life L]
 *
 * A life is PER_LIFE mutations; with --life only that one is lived. Seed and number of
 * a life say what it writes, and in which order; when the kernel sees it is up to the
 * scheduler.
 */
#include <algorithm>
#include <exception>
#include <vector>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/bystander.hh"
#include "lib/datagram.hh"
#include "lib/fail.hh"
#include "lib/lives.hh"
#include "lib/pair.hh"
#include "lib/rings.hh"
#include "lib/rng.hh"
#include "lib/tap.hh"

using namespace st;

namespace
{

constexpr unsigned int PER_LIFE = 2000;
constexpr uint32_t DEPTH = 16, BYTES = 2000;
/* mutations for each round of posts */
constexpr unsigned int STROKES = 16;
/* milliseconds without one: long, if the machine is busy */
constexpr uint64_t PATIENCE = 2000;
/* lives for which everything that must happen may take */
constexpr uint64_t LIVES = 20;

/* what a life counts */
enum { MUTATIONS, POSTS, GOOD, BAD, REVIVALS, ROUNDS, DONE };

ibv_srq *make_srq(const Pd &pd)
{
	ibv_srq_init_attr init = {};

	init.attr = { DEPTH, 2, 0 };
	auto *srq = ibv_create_srq(pd.get(), &init);
	if (!srq)
		fail_errno("ibv_create_srq");
	return srq;
}

QpDepth small(ibv_srq *srq = nullptr)
{
	QpDepth depth;

	depth.send = depth.recv = DEPTH;
	depth.inline_bytes = 64;
	depth.srq = srq;
	return depth;
}

PairConfig small(PairConfig config, const Device &dev)
{
	config.depth = small();
	config.cq_depth = 4 * DEPTH;
	config.bytes = 1 << 16;
	/* what is lost through a mutation is soon given up */
	config.link_a.timeout = config.link_b.timeout = 8;
	config.link_a.retry = config.link_b.retry = 2;
	config.link_a.rnr_retry = config.link_b.rnr_retry = 2;
	config.link_a.min_rnr = config.link_b.min_rnr = 1;
	config.link_a.gid_index = dev.gid_index(config.gid);
	return config;
}

/* one of each kind of ring, and traffic over them */
class Victim
{
public:
	Victim(const PairConfig &cfg, uint64_t seed)
		: rng(seed), devices(cfg), config(small(cfg, devices.a)), rc(devices, config),
		  srq(make_srq(rc.b.pd)),
		  shared(devices.b, rc.b.pd, rc.b.send_cq, rc.b.recv_cq, small(srq)),
		  partner(devices.a, rc.a.pd, rc.a.send_cq, rc.a.recv_cq, small()),
		  sender(devices.a, config.gid), receiver(devices.b, config.gid),
		  ah(sender.pd, sender.gid_index, receiver.gid())
	{
		join(devices, config, partner, shared);
	}

	/* one round of everything; true if a connection has failed */
	void round(Score &score);
	/* what has failed may start again */
	void revive(Score &score);

private:
	void post(const Qp &from, Score &score);
	void poll(const Cq &cq, Score &score);
	void poll(Score &score);

	Rng rng;
	Devices devices;
	PairConfig config;
	Pair rc;
	ibv_srq *srq;
	Qp shared, partner;
	UdEnd sender, receiver;
	Ah ah;
};

/* a request of A's */
void Victim::post(const Qp &from, Score &score)
{
	static const ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ,
		IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_SEND,
	};
	const auto opcode = opcodes[rng.below(std::size(opcodes))];
	const bool atomic =
		opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	const bool inlined = opcode == IBV_WR_SEND && rng.percent(30);
	const uint32_t bytes = atomic ? 8 : inlined ? 40 : BYTES;
	unsigned int flags = IBV_SEND_SIGNALED;

	if (inlined)
		flags |= IBV_SEND_INLINE;
	Work work(1, opcode, { rc.a.mr.sge(0, bytes) }, flags);
	if (atomic)
		work.atomic(rc.b.mr.addr(), rc.b.mr.rkey(), 1);
	else
		work.remote(rc.b.mr.addr(4096), rc.b.mr.rkey());
	score.of[POSTS] += work.try_post(from) == 0;
}

void Victim::poll(const Cq &cq, Score &score)
{
	ibv_wc wc[8];
	const int n = ibv_poll_cq(cq.get(), 8, wc);

	for (int i = 0; i < n; i++)
		score.of[wc[i].status ? BAD : GOOD]++;
	ibv_req_notify_cq(cq.get(), 0);
}

void Victim::poll(Score &score)
{
	for (auto *cq : { &rc.a.send_cq, &rc.a.recv_cq, &rc.b.send_cq, &rc.b.recv_cq,
			  &sender.send_cq, &receiver.recv_cq })
		poll(*cq, score);
}

void Victim::round(Score &score)
{
	ibv_sge sge = rc.b.mr.sge(8192, 4096);
	ibv_recv_wr recv = {}, *bad;

	recv.sg_list = &sge;
	recv.num_sge = 1;
	ibv_post_recv(rc.b.qp.get(), &recv, &bad);
	ibv_post_srq_recv(srq, &recv, &bad);
	sge = receiver.mr.sge(0, 4096);
	ibv_post_recv(receiver.qp.get(), &recv, &bad);
	post(rc.a.qp, score);
	post(partner, score);
	auto work = sender.work(1, 500, 1);
	work.datagram(ah.get(), receiver.qp.num(), UdEnd::QKEY);
	score.of[POSTS] += work.try_post(sender.qp) == 0;
	poll(score);
	score.of[ROUNDS]++;
}

void Victim::revive(Score &score)
{
	auto failed = [](const Qp &qp) { return qp.state() != IBV_QPS_RTS; };
	auto connect = [&](const Qp &a, const Qp &b) {
		if (!failed(a) && !failed(b))
			return;
		/* what was posted comes back with an error */
		a.try_state(IBV_QPS_ERR);
		b.try_state(IBV_QPS_ERR);
		poll(score);
		a.try_state(IBV_QPS_RESET);
		b.try_state(IBV_QPS_RESET);
		join(devices, config, a, b);
		score.of[REVIVALS]++;
	};

	try {
		connect(rc.a.qp, rc.b.qp);
		connect(partner, shared);
		for (auto *end : { &sender, &receiver })
			if (failed(end->qp)) {
				end->qp.try_state(IBV_QPS_RESET);
				end->qp.to_datagram(UdEnd::QKEY, 0);
				score.of[REVIVALS]++;
			}
	} catch (const Failure &) {
		/* the next time, perhaps */
	}
}

/* the one who changes the bytes of a life; all lives together come to each byte in turn */
class Vandal
{
public:
	Vandal(const std::vector<Area> &areas, uint64_t seed, uint64_t first)
		: areas(areas), rng(seed), next(first)
	{
		for (const auto &area : areas)
			total += area.bytes;
	}

	void stroke();

private:
	volatile uint8_t *place();

	const std::vector<Area> &areas;
	Rng rng;
	uint64_t next;
	size_t total = 0;
};

/* bytes in an order that is not theirs, each once in a pass; the headers, first bytes
 * of each ring, more often */
volatile uint8_t *Vandal::place()
{
	/* odd and far from any ring's layout: a generator modulo the pages' bytes */
	constexpr uint64_t STRIDE = 2654435761;

	if (rng.percent(30)) {
		const auto &area = areas[rng.below(areas.size())];

		return area.start + rng.below(std::min<size_t>(area.bytes, 192));
	}
	size_t at = next++ * STRIDE % total;
	for (const auto &area : areas) {
		if (at < area.bytes)
			return area.start + at;
		at -= area.bytes;
	}
	fail("no such byte");
}

void Vandal::stroke()
{
	static const uint32_t edges[] = { 0,	      1,	  2,	      DEPTH - 1,
					  DEPTH,      DEPTH + 1,  0x7fffffff, 0x80000000,
					  0xffffffff, 0xfffffffe, 0x00010000, 0x40000000 };
	auto *byte = place();
	auto *word =
		reinterpret_cast<volatile uint32_t *>(reinterpret_cast<uintptr_t>(byte) & ~3UL);
	const uint32_t before = *word;

	switch (rng.below(6)) {
	case 0:
		*byte = *byte ^ (1U << rng.below(8));
		break;
	case 1:
		*byte = ~*byte;
		break;
	case 2:
		*byte = rng.next();
		break;
	case 3:
		*word = edges[rng.below(std::size(edges))];
		break;
	case 4:
		*word = *word + rng.between(1, 2 * DEPTH);
		break;
	default:
		*word = rng.next();
	}
	/* most are taken back, so that there is something left to harm: perhaps after the
	 * kernel has looked, perhaps between two looks of it */
	if (rng.percent(80)) {
		if (rng.percent(50))
			sleep_us(rng.below(100));
		*word = before;
	}
}

/* PER_LIFE changes, in a process of its own: threads of one process would not be at work
 * at the same time in User-mode Linux */
[[noreturn]] void vandalise(const std::vector<Area> &areas, uint64_t seed, uint64_t life,
			    Score &score)
{
	Vandal hand(areas, mix(seed) + 2 * life + 1, life * PER_LIFE);
	const uint64_t rounds = score.of[ROUNDS];
	const pid_t other = getppid();
	uint64_t before = rounds, since = now_ns();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned int i = 0; i < PER_LIFE && now_ns() - since < PATIENCE * 1000000; i++) {
		/* not much faster than there is traffic to harm */
		for (int wait = 0; wait < 20; wait++) {
			if ((score.of[ROUNDS] - rounds) * STROKES >= i)
				break;
			sleep_us(100);
		}
		if (const uint64_t now = score.of[ROUNDS]; now != before) {
			before = now;
			since = now_ns();
		}
		hand.stroke();
		score.of[MUTATIONS]++;
		score.pulse++;
	}
	score.of[DONE] = life + 1;
	/* the other one ends, and this one with it; or it runs in circles in its own rings */
	sleep_us(500000);
	kill(other, SIGKILL);
	_exit(0);
}

[[gnu::noinline]] void live(const PairConfig &config, uint64_t seed, uint64_t life, Score &score)
{
	/* the parent's rings came along with the fork */
	const auto parents = find_rings();
	Victim victim(config, mix(seed) + 2 * life);
	const auto areas = find_rings(parents);
	int status = 0;

	if (areas.empty())
		fail("no mapping of the device was found");
	const pid_t vandal = fork();
	if (vandal < 0)
		fail_errno("fork");
	if (!vandal)
		vandalise(areas, seed, life, score);
	for (unsigned int i = 0; score.of[DONE] != life + 1; i++) {
		victim.round(score);
		if (i % 8 != 0)
			continue;
		victim.revive(score);
		if (waitpid(vandal, &status, WNOHANG) == vandal)
			fail("the one who changes bytes ended with status 0x%x", status);
	}
	/* as it is: destroying would trust what has been written */
	_exit(0);
}

} // namespace

int main(int argc, char **argv)
{
	Tap tap(3);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);
		const uint64_t mutations = opt.number("mutations", 4000);
		const uint64_t seed = opt.number("seed", 1), only = opt.number("life", ~0ULL);

		opt.done();
		Tap::note("seed %llu", static_cast<unsigned long long>(seed));
		Devices devices(config);
		Bystander bystander(devices, config);
		Lives lives;
		auto &of = lives.score().of;

		bystander.work(12);
		bystander.start(5000);
		tap.run("rings under fire: the kernel lives", [&] {
			/* or it was not under fire */
			const auto fire = [&] { return of[GOOD] && of[BAD] && of[REVIVALS]; };

			for (uint64_t life = only == ~0ULL ? 0 : only;
			     of[MUTATIONS] < mutations || (!fire() && life < LIVES); life++) {
				const uint64_t before = of[MUTATIONS];

				if (!lives.run([&](Score &s) { live(config, seed, life, s); }))
					Tap::note("life %llu died",
						  static_cast<unsigned long long>(life));
				if (!bystander.trouble().empty())
					fail("life %llu of seed %llu: %s",
					     static_cast<unsigned long long>(life),
					     static_cast<unsigned long long>(seed),
					     bystander.trouble().c_str());
				if (of[MUTATIONS] == before)
					fail("a life without a mutation");
				if (only != ~0ULL)
					break;
			}
			if (!fire())
				fail("not everything has happened that must: %llu rounds, %llu "
				     "good and %llu bad completions, %llu revivals",
				     static_cast<unsigned long long>(of[ROUNDS]),
				     static_cast<unsigned long long>(of[GOOD]),
				     static_cast<unsigned long long>(of[BAD]),
				     static_cast<unsigned long long>(of[REVIVALS]));
		});
		Tap::note("%llu mutations in %u lives, %u died early; %llu posts, %llu good and "
			  "%llu bad completions, %llu revivals",
			  static_cast<unsigned long long>(of[MUTATIONS]), lives.ended(),
			  lives.died(), static_cast<unsigned long long>(of[POSTS]),
			  static_cast<unsigned long long>(of[GOOD]),
			  static_cast<unsigned long long>(of[BAD]),
			  static_cast<unsigned long long>(of[REVIVALS]));
		bystander.verdict(tap, config);
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
