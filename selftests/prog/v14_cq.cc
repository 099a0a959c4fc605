// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A CQ changes its size with entries in it and loses none; events wait as long
 * as they were told to; a queue that overran says so, once, and takes the QPs
 * that use it along (IBTA 10.10.2).
 */
#include <unistd.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/skerry-abi.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <thread>

#include "lib/bench.hh"

using namespace st;

namespace
{

void write_to(Pair &pair, uint64_t id)
{
	Work(id, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 0) })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey())
		.post(pair.a.qp);
}

/*
 * Until n completions are there, none of which was polled. Nothing else tells
 * of them than a READ that comes after: when the second one's bytes arrive, the
 * first one is complete, and with it all that was posted before it.
 */
void written(Pair &pair, uint64_t first, int n)
{
	auto *flag = reinterpret_cast<volatile uint64_t *>(pair.a.mr.data() + 4096);
	const uint64_t mark = first + 1;

	*flag = 0;
	*reinterpret_cast<uint64_t *>(pair.b.mr.data() + 4096) = mark;
	for (int i = 0; i < n; i++)
		write_to(pair, first + i);
	for (int offset : { 8192, 4096 })
		Work(0, IBV_WR_RDMA_READ, { pair.a.mr.sge(offset, 8) }, 0)
			.remote(pair.b.mr.addr(4096), pair.b.mr.rkey())
			.post(pair.a.qp);
	for (int ms = 0; *flag != mark; ms++) {
		if (ms > 10000)
			fail("the READ has not come");
		sleep_us(1000);
	}
}

void taken(const Cq &cq, uint64_t first, int n)
{
	for (int i = 0; i < n; i++)
		cq.expect(first + i, IBV_WC_SUCCESS);
}

void empty(const Cq &cq)
{
	ibv_wc wc;

	if (cq.poll(&wc, 1))
		fail("an entry too many: %llu", static_cast<unsigned long long>(wc.wr_id));
}

void resize(const Cq &cq, int cqe, int wanted = 0)
{
	const int before = cq.get()->cqe;
	const int ret = ibv_resize_cq(cq.get(), cqe);

	if (ret != wanted)
		fail("ibv_resize_cq to %d: %s instead of %s", cqe, strerror(ret), strerror(wanted));
	if (!ret && cq.get()->cqe < cqe)
		fail("%d entries instead of %d", cq.get()->cqe, cqe);
	if (ret && cq.get()->cqe != before)
		fail("%d entries after a refusal, %d before", cq.get()->cqe, before);
}

void too_small(Bench &bench)
{
	auto pair = bench.pair();

	written(pair, 0, 20);
	for (int cqe : { 1, 2, 8, 16, 19 })
		resize(pair.a.send_cq, cqe, EINVAL);
	taken(pair.a.send_cq, 0, 20);
	empty(pair.a.send_cq);
	resize(pair.a.send_cq, 1);
	resize(pair.a.send_cq, 64);
	written(pair, 100, 20);
	taken(pair.a.send_cq, 100, 20);
}

/* entries before, entries after, and some that were polled already */
void in_place(Bench &bench)
{
	auto pair = bench.pair();
	uint64_t next = 0;

	for (int cqe : { 64, 20, 1000, 21, 32, 33, 256, 20 }) {
		written(pair, next, 15);
		taken(pair.a.send_cq, next, 5);
		resize(pair.a.send_cq, cqe);
		taken(pair.a.send_cq, next + 5, 2);
		resize(pair.a.send_cq, cqe);
		written(pair, next + 15, 5);
		taken(pair.a.send_cq, next + 7, 13);
		empty(pair.a.send_cq);
		next += 20;
	}
}

void to_the_last_place(Bench &bench)
{
	auto pair = bench.pair();

	written(pair, 0, 16);
	resize(pair.a.send_cq, 16);
	taken(pair.a.send_cq, 0, 16);
	written(pair, 100, 16);
	taken(pair.a.send_cq, 100, 16);
	if (bench.devices.a.wait_event(IBV_EVENT_CQ_ERR, 50))
		fail("the queue overran");
}

void limits(Bench &bench)
{
	Cq cq(bench.devices.a, 16);
	const int max = bench.devices.a.attr().max_cqe;

	for (int cqe : { 0, -1, max + 1, INT32_MAX })
		resize(cq, cqe, EINVAL);
	resize(cq, max);
	resize(cq, 1);
}

/* four QPs complete to one queue while it is resized again and again */
void under_load(Bench &bench)
{
	constexpr int QPS = 4, WINDOW = 16;
	constexpr uint64_t EACH = 300;
	auto &dev = bench.devices;
	Pd pd_a(dev.a), pd_b(dev.b);
	Mr mr_a(pd_a, 4096), mr_b(pd_b, 4096);
	Cq cq(dev.a, QPS * WINDOW), peer(dev.b, 16);
	std::deque<Qp> a, b;
	uint64_t posted[QPS] = {}, seen[QPS] = {};
	std::atomic<bool> done = false;
	std::atomic<int> resized = 0, bad = 0;

	bench.config.link_a.timeout = 16; /* 0.3 s */
	for (int i = 0; i < QPS; i++)
		join(dev, bench.config, a.emplace_back(dev.a, pd_a, cq, cq),
		     b.emplace_back(dev.b, pd_b, peer, peer));
	std::jthread resizer([&] {
		for (int i = 0; !done; i++) {
			if (int err = ibv_resize_cq(cq.get(), QPS * WINDOW << (i % 5)))
				bad = err;
			resized++;
			/* those who complete need a CPU, too, or ACKs are late */
			sleep_us(1000);
		}
	});
	for (uint64_t left = QPS * EACH; left; left--) {
		for (int i = 0; i < QPS; i++)
			for (; posted[i] < EACH && posted[i] < seen[i] + WINDOW; posted[i]++)
				Work(uint64_t(i) << 32 | posted[i], IBV_WR_RDMA_WRITE,
				     { mr_a.sge(0, 8) })
					.remote(mr_b.addr(), mr_b.rkey())
					.post(a[i]);
		const uint64_t id = cq.good(30000).wr_id;
		auto &expected = seen[(id >> 32) % QPS];

		if (uint32_t(id) != expected++) {
			done = true;
			fail("QP %d: entry %u instead of %llu", int(id >> 32), uint32_t(id),
			     static_cast<unsigned long long>(expected - 1));
		}
	}
	done = true;
	resizer.join();
	empty(cq);
	if (bad)
		fail_errno("ibv_resize_cq", bad);
	if (resized < 3)
		fail("resized %d times only", resized.load());
}

/* who waits for an event waits in the new ring as well */
void armed_across(Bench &bench)
{
	bench.config.channel = true;
	auto pair = bench.pair();

	for (int cqe : { 64, 512, 32 }) {
		pair.a.send_cq.arm();
		resize(pair.a.send_cq, cqe);
		write_to(pair, cqe);
		if (!pair.a.send_cq.wait(10000))
			fail("no event after resizing to %d", cqe);
		taken(pair.a.send_cq, cqe, 1);
		/* and not twice */
		write_to(pair, 1);
		taken(pair.a.send_cq, 1, 1);
		if (pair.a.send_cq.wait(50))
			fail("an event that nobody asked for");
	}
}

/* the command as it is, for orders in which the provider never gives it */
int raw_step(const Device &dev, const Cq &cq, uint32_t cqe, uint32_t step,
	     skerry_ring_info *ring = nullptr)
{
	constexpr size_t REQ = sizeof(ib_uverbs_cmd_hdr) + sizeof(ib_uverbs_resize_cq);
	constexpr size_t RESP = sizeof(ib_uverbs_resize_cq_resp);
	alignas(8) std::array<uint8_t, REQ + sizeof(skerry_resize_cq_req)> cmd = {};
	alignas(8) std::array<uint8_t, RESP + sizeof(skerry_resize_cq_resp)> resp = {};
	const ib_uverbs_cmd_hdr hdr = { IB_USER_VERBS_CMD_RESIZE_CQ, cmd.size() / 4,
					resp.size() / 4 };
	ib_uverbs_resize_cq core = {};
	const skerry_resize_cq_req req = { step, 0 };

	core.response = reinterpret_cast<uintptr_t>(resp.data());
	core.cq_handle = cq.get()->handle;
	core.cqe = cqe;
	memcpy(cmd.data(), &hdr, sizeof(hdr));
	memcpy(cmd.data() + sizeof(hdr), &core, sizeof(core));
	memcpy(cmd.data() + REQ, &req, sizeof(req));
	if (write(dev.get()->cmd_fd, cmd.data(), cmd.size()) != ssize_t(cmd.size()))
		return errno;
	if (ring)
		memcpy(ring, resp.data() + RESP, sizeof(*ring));
	return 0;
}

void out_of_order(Bench &bench)
{
	auto pair = bench.pair();
	const auto &dev = bench.devices.a;
	const auto &cq = pair.a.send_cq;
	skerry_ring_info first = {}, second = {};

	if (int err = raw_step(dev, cq, 64, SKERRY_RESIZE_COMMIT); err != EINVAL)
		fail("COMMIT without PREPARE: %s", strerror(err));
	if (int err = raw_step(dev, cq, 64, 2); err != EINVAL)
		fail("an unknown step: %s", strerror(err));
	if (int err = raw_step(dev, cq, 64, SKERRY_RESIZE_PREPARE, &first))
		fail_errno("PREPARE", err);
	if (int err = raw_step(dev, cq, 128, SKERRY_RESIZE_PREPARE, &second))
		fail_errno("a second PREPARE", err);
	if (second.depth != 128 || first.mmap_offset == second.mmap_offset)
		fail("the second ring is not another one");
	/* nothing has changed yet */
	written(pair, 0, 11);
	taken(cq, 0, 11);
	/* a ring that was set aside is no obstacle, nor is one left at the end */
	resize(cq, 64);
	written(pair, 0, 11);
	taken(cq, 0, 11);
	if (int err = raw_step(dev, cq, 1 << 16, SKERRY_RESIZE_PREPARE))
		fail_errno("PREPARE", err);
	/* more entries than the ring that was set aside has places */
	if (int err = raw_step(dev, cq, 8, SKERRY_RESIZE_PREPARE))
		fail_errno("PREPARE", err);
	written(pair, 0, 11);
	if (int err = raw_step(dev, cq, 64, SKERRY_RESIZE_COMMIT); err != EINVAL)
		fail("COMMIT to a ring that is too small: %s", strerror(err));
	taken(cq, 0, 11);
}

void moderate(const Cq &cq, uint16_t count, uint16_t usec)
{
	ibv_modify_cq_attr attr = {};

	attr.attr_mask = IBV_CQ_ATTR_MODERATE;
	attr.moderate = { count, usec };
	if (int err = ibv_modify_cq(cq.get(), &attr))
		fail_errno("ibv_modify_cq", err);
}

constexpr uint16_t LONGEST_USEC = UINT16_MAX;

/* ms from now until the event for n WRITEs; they are taken, too */
double event_after(Pair &pair, int n)
{
	pair.a.send_cq.arm();
	const uint64_t from = now_ns();

	for (int i = 0; i < n; i++)
		write_to(pair, i);
	if (!pair.a.send_cq.wait(10000))
		fail("no event");
	const double ms = (now_ns() - from) / 1e6;

	taken(pair.a.send_cq, 0, n);
	return ms;
}

void held_back(Bench &bench)
{
	bench.config.channel = true;
	auto pair = bench.pair();

	moderate(pair.a.send_cq, 100, LONGEST_USEC);
	for (int n : { 1, 5 })
		if (double ms = event_after(pair, n); ms < LONGEST_USEC / 1e3)
			fail("the event for %d completions came after %.1f ms", n, ms);
	/* without a number time alone counts */
	moderate(pair.a.send_cq, 0, LONGEST_USEC);
	if (double ms = event_after(pair, 5); ms < LONGEST_USEC / 1e3)
		fail("the event came after %.1f ms", ms);
}

/* soon, at least once: the machine may be busy, but hardly every time */
void soon(Pair &pair, int n, const char *what)
{
	double ms = 0;

	for (int i = 0; i < 50; i++) {
		ms = event_after(pair, n);
		if (ms < LONGEST_USEC / 1e3)
			return;
	}
	fail("%s: the event came after %.1f ms", what, ms);
}

void number_reached(Bench &bench)
{
	bench.config.channel = true;
	auto pair = bench.pair();

	moderate(pair.a.send_cq, 4, LONGEST_USEC);
	soon(pair, 4, "four completions");
	soon(pair, 8, "eight completions");
	moderate(pair.a.send_cq, 1, LONGEST_USEC);
	soon(pair, 1, "one completion");
	moderate(pair.a.send_cq, 100, 0);
	soon(pair, 1, "no time to wait");
	moderate(pair.a.send_cq, 0, 0);
	soon(pair, 1, "moderation is off");
}

/* a new setting lets go what waits under the old one */
void let_go(Bench &bench)
{
	bench.config.channel = true;
	auto pair = bench.pair();

	for (int i = 0; i < 50; i++) {
		moderate(pair.a.send_cq, 100, LONGEST_USEC);
		pair.a.send_cq.arm();
		const uint64_t from = now_ns();

		write_to(pair, 0);
		taken(pair.a.send_cq, 0, 1);
		moderate(pair.a.send_cq, 0, 0);
		if (!pair.a.send_cq.wait(10000))
			fail("no event");
		if (now_ns() - from < LONGEST_USEC * 1000ULL)
			return;
	}
	fail("the event always waited for its time");
}

/* destroyed while an event waits */
void destroyed_meanwhile(Bench &bench)
{
	bench.config.channel = true;
	for (int i = 0; i < 20; i++) {
		auto pair = bench.pair();

		moderate(pair.a.send_cq, 100, 1 + i * 100);
		pair.a.send_cq.arm();
		write_to(pair, 0);
		taken(pair.a.send_cq, 0, 1);
	}
}

void moderation_limits(Bench &bench)
{
	ibv_device_attr_ex attr = {};

	if (int err = ibv_query_device_ex(bench.devices.a.get(), nullptr, &attr))
		fail_errno("ibv_query_device_ex", err);
	if (attr.cq_mod_caps.max_cq_count != UINT16_MAX ||
	    attr.cq_mod_caps.max_cq_period != LONGEST_USEC)
		fail("%u completions, %u us", attr.cq_mod_caps.max_cq_count,
		     attr.cq_mod_caps.max_cq_period);
	Cq cq(bench.devices.a, 16);

	moderate(cq, attr.cq_mod_caps.max_cq_count, attr.cq_mod_caps.max_cq_period);
}

/* how often each event came */
struct Events {
	int cq_err = 0, qp_fatal = 0, other = 0;

	Events(const Device &dev, int ms)
	{
		while (auto event = dev.event(ms)) {
			if (event->event_type == IBV_EVENT_CQ_ERR)
				cq_err++;
			else if (event->event_type == IBV_EVENT_QP_FATAL)
				qp_fatal++;
			else
				other++;
		}
	}
};

void overrun(Bench &bench)
{
	auto &dev = bench.devices;
	Pd pd_a(dev.a), pd_b(dev.b);
	Mr mr_a(pd_a, 4096), mr_b(pd_b, 4096);
	Cq small(dev.a, 1), large(dev.a, 256), peer(dev.b, 256);
	/* one that overruns it, one that uses it for receiving only, one that does not */
	Qp busy(dev.a, pd_a, small, large), idle(dev.a, pd_a, large, small),
		other(dev.a, pd_a, large, large), fresh(dev.a, pd_a, small, small);
	Qp b1(dev.b, pd_b, peer, peer), b2(dev.b, pd_b, peer, peer), b3(dev.b, pd_b, peer, peer);

	join(dev, bench.config, busy, b1);
	join(dev, bench.config, idle, b2);
	join(dev, bench.config, other, b3);
	idle.recv(77, { mr_a.sge(0, 64) });
	for (int i = 0; i < 64; i++)
		Work(i, IBV_WR_RDMA_WRITE, { mr_a.sge(0, 8) })
			.remote(mr_b.addr(), mr_b.rkey())
			.post(busy);

	const Events events(dev.a, 500);

	if (events.cq_err != 1 || events.qp_fatal != 2 || events.other)
		fail("%d CQ errors, %d fatal errors of QPs, %d other events", events.cq_err,
		     events.qp_fatal, events.other);
	for (const auto *qp : { &busy, &idle })
		if (qp->state() != IBV_QPS_ERR)
			fail("a QP of the queue is in state %d", qp->state());
	if (other.state() != IBV_QPS_RTS || fresh.state() != IBV_QPS_RESET)
		fail("another QP is in state %d, one in RESET in %d", other.state(), fresh.state());
	Work(5, IBV_WR_RDMA_WRITE, { mr_a.sge(0, 8) }).remote(mr_b.addr(), mr_b.rkey()).post(other);
	large.expect(5, IBV_WC_SUCCESS);
	/* what was in it can be had */
	small.expect(0, IBV_WC_SUCCESS);
	empty(small);
}

/* a QP that comes to a dead queue fails with its first completion */
void after_overrun(Bench &bench)
{
	bench.config.cq_depth = 1;
	auto pair = bench.pair();

	for (int i = 0; i < 3; i++)
		write_to(pair, i);
	if (!bench.devices.a.wait_event(IBV_EVENT_CQ_ERR, 10000))
		fail("no overrun");
	pair.a.send_cq.expect(0, IBV_WC_SUCCESS);
	bench.devices.drain();

	Pd pd(bench.devices.a);
	Mr mr(pd, 4096);
	Qp qp(bench.devices.a, pd, pair.a.send_cq, pair.a.send_cq);
	Qp peer(bench.devices.b, pair.b.pd, pair.b.send_cq, pair.b.recv_cq);

	join(bench.devices, bench.config, qp, peer);
	Work(9, IBV_WR_RDMA_WRITE, { mr.sge(0, 8) })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey())
		.post(qp);
	if (!bench.devices.a.wait_event(IBV_EVENT_QP_FATAL, 10000))
		fail("the QP lost a completion in silence");
	if (qp.state() != IBV_QPS_ERR)
		fail("the QP is in state %d", qp.state());
	const Events events(bench.devices.a, 100);

	if (events.cq_err)
		fail("the queue reports its error again");
	empty(pair.a.send_cq);
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "smaller than what waits: refused, nothing lost", too_small },
			   { "entries stay, in order", in_place },
			   { "resized to exactly what waits", to_the_last_place },
			   { "limits of the size", limits },
			   { "resized while four QPs complete", under_load },
			   { "armed before, event after", armed_across },
			   { "steps out of order", out_of_order },
			   { "events wait for their time", held_back },
			   { "events do not wait for more than their number", number_reached },
			   { "a new setting lets go what waits", let_go },
			   { "destroyed while an event waits", destroyed_meanwhile },
			   { "limits of moderation", moderation_limits },
			   { "overrun: said once, and the QPs fail", overrun },
			   { "a dead queue stays dead", after_overrun } });
}
