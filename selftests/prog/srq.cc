// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Shared receive queues: order, limit event, resizing with requests in it, what
 * happens when it runs dry and when one of its QPs fails.
 */
#include "lib/bench.hh"

#include <atomic>
#include <thread>

using namespace st;

namespace
{

constexpr uint32_t PIECE = 4096;

class Srq
{
public:
	Srq(const Pd &pd, uint32_t max_wr, uint32_t limit = 0, uint32_t max_sge = 4)
	{
		ibv_srq_init_attr init = {};

		init.attr = { max_wr, max_sge, limit };
		srq = ibv_create_srq(pd.get(), &init);
		if (!srq)
			fail_errno("ibv_create_srq");
	}
	Srq(const Srq &) = delete;
	~Srq()
	{
		if (srq)
			ibv_destroy_srq(srq);
	}

	ibv_srq *get() const { return srq; }
	/* 0 or an errno */
	int try_post(uint64_t id, std::vector<ibv_sge> sges) const
	{
		ibv_recv_wr wr = {}, *bad = nullptr;

		wr.wr_id = id;
		wr.sg_list = sges.data();
		wr.num_sge = static_cast<int>(sges.size());
		const int err = ibv_post_srq_recv(srq, &wr, &bad);
		if (err && bad != &wr)
			fail("bad_wr is wrong");
		return err;
	}
	void post(uint64_t id, std::vector<ibv_sge> sges) const
	{
		if (int err = try_post(id, std::move(sges)))
			fail_errno("ibv_post_srq_recv", err);
	}
	int modify(uint32_t max_wr, uint32_t limit, int mask) const
	{
		ibv_srq_attr attr = { max_wr, 0, limit };

		return ibv_modify_srq(srq, &attr, mask);
	}
	ibv_srq_attr query() const
	{
		ibv_srq_attr attr = {};

		if (int err = ibv_query_srq(srq, &attr))
			fail_errno("ibv_query_srq", err);
		return attr;
	}
	int destroy()
	{
		const int err = ibv_destroy_srq(srq);

		if (!err)
			srq = nullptr;
		return err;
	}

private:
	ibv_srq *srq;
};

QpDepth with(const Srq &srq)
{
	QpDepth depth;

	depth.srq = srq.get();
	return depth;
}

/* two QPs of b share a queue; each has a peer at a */
struct Shared {
	explicit Shared(Bench &bench, uint32_t max_wr = 16, uint32_t limit = 0)
		: bench(bench), pd_a(bench.devices.a), pd_b(bench.devices.b),
		  cq_a(bench.devices.a, 256), cq_b(bench.devices.b, 256), mr_a(pd_a, 1 << 20),
		  mr_b(pd_b, 1 << 20), srq(pd_b, max_wr, limit),
		  from{ { bench.devices.a, pd_a, cq_a, cq_a },
			{ bench.devices.a, pd_a, cq_a, cq_a } },
		  to{ { bench.devices.b, pd_b, cq_b, cq_b, with(srq) },
		      { bench.devices.b, pd_b, cq_b, cq_b, with(srq) } }
	{
		auto link_a = bench.config.link_a, link_b = bench.config.link_b;

		link_a.gid_index = bench.devices.a.gid_index(bench.config.gid);
		link_b.gid_index = bench.devices.b.gid_index(bench.config.gid);
		for (int i = 0; i < 2; i++) {
			from[i].connect(link_a, to[i].address(link_b));
			to[i].connect(link_b, from[i].address(link_a));
		}
	}

	void post(uint64_t id) { srq.post(id, { mr_b.sge(id % 128 * PIECE, PIECE) }); }
	void send(int which, uint32_t bytes = 64)
	{
		Work(1, IBV_WR_SEND, { mr_a.sge(0, bytes) }).post(from[which]);
	}
	/* a message from this peer arrives in the request with this id */
	void deliver(int which, uint64_t id)
	{
		send(which);
		cq_a.expect(1, IBV_WC_SUCCESS);
		const auto wc = cq_b.expect(id, IBV_WC_SUCCESS);
		if (wc.qp_num != to[which].num())
			fail("the completion names another QP");
	}

	Bench &bench;
	Pd pd_a, pd_b;
	Cq cq_a, cq_b;
	Mr mr_a, mr_b;
	Srq srq;
	Qp from[2], to[2];
};

void in_order(Bench &bench)
{
	Shared s(bench);

	for (uint64_t i = 0; i < 16; i++)
		s.post(i);
	for (uint64_t i = 0; i < 200; i++) {
		s.deliver(i % 3 == 0, i);
		s.post(i + 16);
	}
}

void no_event(Bench &bench, ibv_event_type type, const char *when)
{
	if (bench.devices.b.wait_event(type, 200))
		fail("%s %s", ibv_event_type_str(type), when);
}

void limit(Bench &bench)
{
	Shared s(bench);
	constexpr auto EVENT = IBV_EVENT_SRQ_LIMIT_REACHED;

	for (uint64_t i = 0; i < 5; i++)
		s.post(i);
	if (int err = s.srq.modify(0, 3, IBV_SRQ_LIMIT))
		fail_errno("ibv_modify_srq", err);
	if (s.srq.query().srq_limit != 3)
		fail("the limit is %u", s.srq.query().srq_limit);
	s.deliver(0, 0);
	s.deliver(1, 1);
	no_event(bench, EVENT, "with as many left as the limit says");
	s.deliver(0, 2);
	if (!bench.devices.b.wait_event(EVENT, 5000))
		fail("no event with fewer left");
	if (s.srq.query().srq_limit)
		fail("it is still armed");
	s.deliver(1, 3);
	no_event(bench, EVENT, "a second time");
	/* armed when it is too late already */
	if (int err = s.srq.modify(0, 2, IBV_SRQ_LIMIT))
		fail_errno("ibv_modify_srq", err);
	if (!bench.devices.b.wait_event(EVENT, 5000))
		fail("no event for a limit above what is posted");
}

void limit_at_creation(Bench &bench)
{
	Shared s(bench, 8, 1);

	s.post(0);
	s.deliver(0, 0);
	if (!bench.devices.b.wait_event(IBV_EVENT_SRQ_LIMIT_REACHED, 5000))
		fail("no event");
}

void resize(Bench &bench)
{
	Shared s(bench, 8);

	for (uint64_t i = 0; i < 8; i++)
		s.post(i);
	if (s.srq.try_post(9, { s.mr_b.sge(0, 64) }) != ENOMEM)
		fail("a full queue takes more");
	if (int err = s.srq.modify(4, 0, IBV_SRQ_MAX_WR); err != EINVAL)
		fail("smaller than what is posted: %d", err);
	if (int err = s.srq.modify(1000, 0, IBV_SRQ_MAX_WR))
		fail_errno("larger", err);
	if (s.srq.query().max_wr != 1000)
		fail("max_wr is %u", s.srq.query().max_wr);
	for (uint64_t i = 8; i < 100; i++)
		s.post(i);
	for (uint64_t i = 0; i < 95; i++)
		s.deliver(i % 2, i);
	if (int err = s.srq.modify(5, 0, IBV_SRQ_MAX_WR))
		fail_errno("smaller", err);
	if (s.srq.try_post(9, { s.mr_b.sge(0, 64) }) != ENOMEM)
		fail("a full queue takes more");
	for (uint64_t i = 95; i < 100; i++)
		s.deliver(i % 2, i);
}

/* one thread resizes, this one posts and sends */
void resize_under_traffic(Bench &bench)
{
	Shared s(bench, 64);
	std::atomic<bool> stop = false;
	std::atomic<int> resized = 0, bad = 0;
	std::thread other([&] {
		for (int i = 0; !stop || resized < 20; i++) {
			if (int err = s.srq.modify(i % 2 ? 64 : 500, 0, IBV_SRQ_MAX_WR))
				bad = err;
			resized++;
			sleep_us(500);
		}
	});

	for (uint64_t i = 0; i < 32; i++)
		s.post(i);
	try {
		for (uint64_t i = 0; i < 1000; i++) {
			s.deliver(i % 2, i);
			s.post(i + 32);
		}
	} catch (...) {
		stop = true;
		resized = 20;
		other.join();
		throw;
	}
	stop = true;
	other.join();
	if (bad)
		fail_errno("ibv_modify_srq", bad);
}

void runs_dry(Bench &bench)
{
	Shared s(bench);

	s.send(0);
	s.send(1);
	if (s.cq_a.next(200))
		fail("a SEND completed without a receive request");
	s.post(7);
	s.post(8);
	s.cq_a.expect(1, IBV_WC_SUCCESS);
	s.cq_a.expect(1, IBV_WC_SUCCESS);
	const auto one = s.cq_b.good(), two = s.cq_b.good();
	if (one.wr_id + two.wr_id != 15)
		fail("not these requests");
}

/* the failed QP says that it is done; the other goes on with what is posted */
void one_fails(Bench &bench)
{
	Shared s(bench);

	for (uint64_t i = 0; i < 6; i++)
		s.post(i);
	s.deliver(0, 0);
	if (int err = s.to[0].try_state(IBV_QPS_ERR))
		fail_errno("to ERR", err);
	if (!bench.devices.b.wait_event(IBV_EVENT_QP_LAST_WQE_REACHED, 5000))
		fail("no LAST_WQE_REACHED");
	no_event(bench, IBV_EVENT_QP_LAST_WQE_REACHED, "a second time");
	if (s.cq_b.next(100))
		fail("a request that the others may use was flushed");
	for (uint64_t i = 1; i < 6; i++)
		s.deliver(1, i);
}

/* a request that its QP has begun to fill is flushed */
void fails_inside(Bench &bench)
{
	Shared s(bench);

	s.post(0);
	s.post(1);
	/* the second packet goes beyond the buffer */
	s.send(0, PIECE + 1);
	s.cq_a.expect(1, IBV_WC_REM_INV_REQ_ERR);
	s.cq_b.expect(0, IBV_WC_LOC_LEN_ERR);
	if (!bench.devices.b.wait_event(IBV_EVENT_QP_LAST_WQE_REACHED, 5000))
		fail("no LAST_WQE_REACHED");
	s.deliver(1, 1);
}

void refused(Bench &bench)
{
	Shared s(bench, 4);
	ibv_srq_init_attr init = {};
	const auto &caps = bench.devices.b.attr();
	ibv_recv_wr wr = {}, *bad = nullptr;

	init.attr = { static_cast<uint32_t>(caps.max_srq_wr) + 1, 1, 0 };
	if (ibv_create_srq(s.pd_b.get(), &init) || errno != EINVAL)
		fail("more requests than the device says");
	init.attr = { 1, static_cast<uint32_t>(caps.max_srq_sge) + 1, 0 };
	if (ibv_create_srq(s.pd_b.get(), &init) || errno != EINVAL)
		fail("more pieces than the device says");
	if (s.srq.modify(0, 5, IBV_SRQ_LIMIT) != EINVAL)
		fail("a limit above max_wr");
	if (s.srq.modify(0, 0, IBV_SRQ_MAX_WR) != EINVAL)
		fail("no requests at all");
	if (s.srq.try_post(1, std::vector<ibv_sge>(5, s.mr_b.sge(0, 8))) != EINVAL)
		fail("more pieces than the queue has");
	if (int err = ibv_post_recv(s.to[0].get(), &wr, &bad); err != EINVAL || bad != &wr)
		fail("ibv_post_recv on a QP with an SRQ: %d", err);
	if (int err = s.srq.destroy(); err != EBUSY)
		fail("destroying it under its QPs: %d", err);
}

void bad_memory(Bench &bench)
{
	Shared s(bench);
	auto sge = s.mr_b.sge(0, PIECE);

	sge.lkey ^= 1;
	s.srq.post(3, { sge });
	s.send(0);
	s.cq_a.expect(1, IBV_WC_REM_OP_ERR);
	s.cq_b.expect(3, IBV_WC_LOC_PROT_ERR);
}

/* a request may have room beyond its region as long as no message needs it */
void room_beyond(Bench &bench)
{
	Shared s(bench);
	auto sge = s.mr_b.sge((1 << 20) - 64, PIECE);

	s.srq.post(3, { sge });
	s.deliver(0, 3);
	s.srq.post(4, { sge });
	s.send(0, 65);
	s.cq_a.expect(1, IBV_WC_REM_OP_ERR);
	s.cq_b.expect(4, IBV_WC_LOC_PROT_ERR);
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "requests are taken in the order of posting", in_order },
			   { "limit event, once", limit },
			   { "limit event, armed at creation", limit_at_creation },
			   { "resize with requests in it", resize },
			   { "resize under traffic", resize_under_traffic },
			   { "runs dry: RNR until something is posted", runs_dry },
			   { "one QP fails, the other goes on", one_fails },
			   { "a QP fails inside a message", fails_inside },
			   { "a request with a wrong key", bad_memory },
			   { "a request with room beyond its region", room_beyond },
			   { "what must be refused", refused } });
}
