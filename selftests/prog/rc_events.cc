// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Asynchronous events of RC queue pairs, draining of the send queue, CQ
 * notification, CQ overflow.
 */
#include <endian.h>

#include "lib/bench.hh"

using namespace st;

namespace
{

Work write_to(Pair &pair, uint64_t id, uint32_t bytes = 64)
{
	return Work(id, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, bytes) })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey());
}

void communication_established(Bench &b)
{
	Pair pair(b.devices, b.config, false);
	auto &l = pair.config;

	pair.a.qp.connect(l.link_a, pair.b.qp.address(l.link_b));
	pair.b.qp.to_init(l.link_b);
	pair.b.qp.to_rtr(l.link_b, pair.a.qp.address(l.link_a));
	write_to(pair, 1).post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
	if (!b.devices.b.wait_event(IBV_EVENT_COMM_EST, 2000))
		fail("no event");
	write_to(pair, 2).post(pair.a.qp);
	pair.a.send_cq.expect(2, IBV_WC_SUCCESS);
	if (b.devices.b.wait_event(IBV_EVENT_COMM_EST, 100))
		fail("a second event");
}

int to_sqd(const Qp &qp)
{
	ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_SQD;
	attr.en_sqd_async_notify = 1;
	return ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
}

/* what is under way ends, what is posted afterwards waits for RTS */
void drain(Bench &b)
{
	auto pair = b.pair();

	b.wire.rule(
		[](const Packet &p, Bytes &) { return p.to_b ? Verdict::PASS : Verdict::HOLD; });
	write_to(pair, 1, 5000).post(pair.a.qp);
	while (b.wire.held() < 1)
		sleep_us(500);
	if (int err = to_sqd(pair.a.qp))
		fail_errno("modify to SQD", err);
	write_to(pair, 2).post(pair.a.qp);
	if (b.devices.a.wait_event(IBV_EVENT_SQ_DRAINED, 100))
		fail("drained before the answer came");
	if (pair.a.qp.query(IBV_QP_STATE).sq_draining != 1)
		Tap::note("sq_draining is not 1 while it drains");
	b.wire.no_rule();
	b.wire.release();
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
	if (!b.devices.a.wait_event(IBV_EVENT_SQ_DRAINED, 2000))
		fail("no event");
	if (auto wc = pair.a.send_cq.next(100))
		fail("work posted in SQD was done: %llu",
		     static_cast<unsigned long long>(wc->wr_id));
	if (int err = pair.a.qp.try_state(IBV_QPS_RTS))
		fail_errno("modify to RTS", err);
	pair.a.send_cq.expect(2, IBV_WC_SUCCESS);
}

void drain_idle(Bench &b)
{
	auto pair = b.pair();

	if (int err = to_sqd(pair.a.qp))
		fail_errno("modify to SQD", err);
	if (!b.devices.a.wait_event(IBV_EVENT_SQ_DRAINED, 2000))
		fail("no event");
	/* the receive side goes on */
	Work(1, IBV_WR_RDMA_WRITE, { pair.b.mr.sge(0, 64) })
		.remote(pair.a.mr.addr(), pair.a.mr.rkey())
		.post(pair.b.qp);
	pair.b.send_cq.expect(1, IBV_WC_SUCCESS);
}

void notification(Bench &b)
{
	b.config.channel = true;
	auto pair = b.pair();
	auto &cq = pair.a.send_cq;

	write_to(pair, 1).post(pair.a.qp);
	if (cq.wait(200))
		fail("an event that nobody asked for");
	cq.expect(1, IBV_WC_SUCCESS);
	for (int i = 0; i < 50; i++) {
		cq.arm();
		write_to(pair, i).post(pair.a.qp);
		if (!cq.wait(2000))
			fail("event %d did not come", i);
		cq.expect(i, IBV_WC_SUCCESS);
	}
	/* armed once, one event, however many completions */
	cq.arm();
	for (int i = 0; i < 10; i++)
		write_to(pair, i).post(pair.a.qp);
	for (int i = 0; i < 10; i++)
		cq.expect(i, IBV_WC_SUCCESS);
	if (!cq.wait(2000))
		fail("no event");
	if (cq.wait(100))
		fail("two events");
}

/* an error completion counts as solicited */
void solicited_error(Bench &b)
{
	b.config.channel = true;
	auto pair = b.pair();

	pair.b.qp.recv(9, { pair.b.mr.sge(0, 64) });
	pair.b.recv_cq.arm(true);
	if (int err = pair.b.qp.try_state(IBV_QPS_ERR))
		fail_errno("modify to ERR", err);
	if (!pair.b.recv_cq.wait(2000))
		fail("no event");
	pair.b.recv_cq.expect(9, IBV_WC_WR_FLUSH_ERR);
}

/* more completions than a CQ holds: said once, its QPs are done for */
void overflow(Bench &b)
{
	b.config.cq_depth = 1;
	b.config.depth.send = 128;
	auto pair = b.pair();
	int posted = 0, fatal = 0, cq_errors = 0;

	/* the CQ may have been made larger than asked for */
	while (posted < 100 && !write_to(pair, posted).try_post(pair.a.qp))
		posted++;
	for (int i = 0; i < 60; i++)
		if (auto e = b.devices.a.event(50)) {
			cq_errors += e->event_type == IBV_EVENT_CQ_ERR;
			fatal += e->event_type == IBV_EVENT_QP_FATAL;
		}
	if (cq_errors != 1)
		fail("%d CQ errors", cq_errors);
	if (auto s = pair.a.qp.state(); s != IBV_QPS_ERR)
		fail("the QP is in state %d", s);
	Tap::note("%d posted, %d QP_FATAL events", posted, fatal);
}

/* messages are delivered in the order of their sending, and complete so */
void order(Bench &b)
{
	constexpr unsigned int N = 500, RECVS = 64;
	/* 1 s: the cable is a program, and may be slow */
	b.config.link_a.timeout = 18;
	auto pair = b.pair();
	unsigned int sent = 0, done = 0, got = 0, recvs = 0;
	auto last = now_ns();
	ibv_wc wc;

	auto post_recv = [&] {
		pair.b.qp.recv(recvs, { pair.b.mr.sge(4096 * (recvs % RECVS), 4096) });
		recvs++;
	};
	while (recvs < RECVS)
		post_recv();
	while (done < N || got < N) {
		for (; sent < N && sent - done < 32; sent++)
			Work(sent, IBV_WR_SEND_WITH_IMM, { pair.a.mr.sge(0, 8 + sent % 3000) })
				.imm(sent)
				.post(pair.a.qp);
		for (; pair.a.send_cq.poll(&wc, 1); done++, last = now_ns())
			if (wc.status || wc.wr_id != done)
				fail("completion %llu (%s) instead of %u",
				     static_cast<unsigned long long>(wc.wr_id),
				     ibv_wc_status_str(wc.status), done);
		for (; pair.b.recv_cq.poll(&wc, 1); got++, last = now_ns()) {
			if (wc.status || be32toh(wc.imm_data) != got ||
			    wc.byte_len != 8 + got % 3000)
				fail("message %u: %s, number %u, %u bytes", got,
				     ibv_wc_status_str(wc.status), be32toh(wc.imm_data),
				     wc.byte_len);
			post_recv();
		}
		sleep_us(100);
		if (now_ns() - last > 20000000000)
			fail("%u sent, %u done, %u received, then nothing", sent, done, got);
	}
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "communication established", communication_established },
			   { "SQ drain with work under way", drain },
			   { "SQ drain when idle", drain_idle },
			   { "CQ notification: asked for once, comes once", notification },
			   { "an error completion is a solicited event", solicited_error },
			   { "CQ overflow", overflow },
			   { "messages in order", order } });
}
