// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Flush completeness: every work request posted gives exactly one completion,
 * in order; the first one carries the cause, the others say that they were
 * flushed, those posted after the error included.
 */
#include <algorithm>

#include "lib/bench.hh"

using namespace st;

namespace
{

constexpr int MANY = 128;

void deep(Bench &bench)
{
	bench.config.depth.send = bench.config.depth.recv = MANY;
	bench.config.cq_depth = 4 * MANY;
}

Work write_to(Pair &pair, uint64_t id, uint32_t bytes = 64, uint32_t rkey_error = 0)
{
	return Work(id, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, bytes) })
		.remote(pair.b.mr.addr(4096), pair.b.mr.rkey() ^ rkey_error);
}

void nothing_more(const Cq &cq)
{
	if (auto wc = cq.next(100))
		fail("a completion too many: %llu, %s", static_cast<unsigned long long>(wc->wr_id),
		     ibv_wc_status_str(wc->status));
}

/* ids from .. to, all flushed, in order */
void flushed(const Cq &cq, uint64_t from, uint64_t to)
{
	for (uint64_t id = from; id <= to; id++)
		cq.expect(id, IBV_WC_WR_FLUSH_ERR);
}

void modify_to_error(Bench &bench)
{
	deep(bench);
	/* nothing of it gets through, so all of it is outstanding */
	bench.wire.rule([](const Packet &, Bytes &) { return Verdict::DROP; });
	auto pair = bench.pair();
	for (int i = 0; i < MANY; i++)
		write_to(pair, i, 32768).post(pair.a.qp);
	for (int i = 0; i < MANY; i++)
		pair.a.qp.recv(1000 + i, { pair.a.mr.sge(0, 64) });
	if (int err = pair.a.qp.try_state(IBV_QPS_ERR))
		fail_errno("modify to ERR", err);
	flushed(pair.a.send_cq, 0, MANY - 1);
	flushed(pair.a.recv_cq, 1000, 1000 + MANY - 1);
	nothing_more(pair.a.send_cq);
	nothing_more(pair.a.recv_cq);
}

/* unsignalled ones too: an error makes every request complete */
void unsignalled(Bench &bench)
{
	deep(bench);
	bench.wire.rule([](const Packet &, Bytes &) { return Verdict::DROP; });
	auto pair = bench.pair();
	for (int i = 0; i < MANY; i++) {
		auto work = write_to(pair, i);

		work.get().send_flags = 0;
		work.post(pair.a.qp);
	}
	if (int err = pair.a.qp.try_state(IBV_QPS_ERR))
		fail_errno("modify to ERR", err);
	flushed(pair.a.send_cq, 0, MANY - 1);
	nothing_more(pair.a.send_cq);
}

void posted_afterwards(Bench &bench)
{
	deep(bench);
	auto pair = bench.pair();

	if (int err = pair.a.qp.try_state(IBV_QPS_ERR))
		fail_errno("modify to ERR", err);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < MANY; i++) {
			write_to(pair, i).post(pair.a.qp);
			pair.a.qp.recv(1000 + i, { pair.a.mr.sge(0, 64) });
		}
		flushed(pair.a.send_cq, 0, MANY - 1);
		flushed(pair.a.recv_cq, 1000, 1000 + MANY - 1);
	}
	nothing_more(pair.a.send_cq);
	nothing_more(pair.a.recv_cq);
}

/* a good WRITE, then again and again a bad one on a new pair */
void cause_first(Bench &bench)
{
	for (int round = 0; round < 10; round++) {
		auto pair = bench.pair();

		write_to(pair, 0).post(pair.a.qp);
		write_to(pair, 1, 64, 1).post(pair.a.qp);
		for (int i = 2; i < 20; i++)
			write_to(pair, i).post(pair.a.qp);
		pair.a.send_cq.expect(0, IBV_WC_SUCCESS);
		pair.a.send_cq.expect(1, IBV_WC_REM_ACCESS_ERR);
		flushed(pair.a.send_cq, 2, 19);
		for (int i = 20; i < 30; i++)
			write_to(pair, i).post(pair.a.qp);
		flushed(pair.a.send_cq, 20, 29);
		nothing_more(pair.a.send_cq);
	}
}

/* the requester's own memory is at fault */
void local_fault(Bench &bench, Work (*make)(Pair &), ibv_wc_status status)
{
	auto pair = bench.pair();

	write_to(pair, 0).post(pair.a.qp);
	make(pair).post(pair.a.qp);
	for (int i = 2; i < 10; i++)
		write_to(pair, i).post(pair.a.qp);
	pair.a.send_cq.expect(0, IBV_WC_SUCCESS);
	pair.a.send_cq.expect(1, status);
	flushed(pair.a.send_cq, 2, 9);
	nothing_more(pair.a.send_cq);
	if (pair.a.qp.state() != IBV_QPS_ERR)
		fail("the QP is in state %d", pair.a.qp.state());
}

Work write_bad_lkey(Pair &pair)
{
	auto sge = pair.a.mr.sge(0, 64);

	sge.lkey ^= 1;
	return Work(1, IBV_WR_RDMA_WRITE, { sge }).remote(pair.b.mr.addr(), pair.b.mr.rkey());
}

Work second_sge_bad(Pair &pair)
{
	auto bad = pair.a.mr.sge(0, 8192);

	bad.addr += pair.a.mr.size() - 8000;
	return Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 8192), bad })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey());
}

Work atomic_bad_lkey(Pair &pair)
{
	auto sge = pair.a.mr.sge(0, 8);

	sge.lkey ^= 1;
	return Work(1, IBV_WR_ATOMIC_FETCH_AND_ADD, { sge })
		.atomic(pair.b.mr.addr(), pair.b.mr.rkey(), 1);
}

Work read_bad_lkey(Pair &pair)
{
	auto sge = pair.a.mr.sge(0, 64);

	sge.lkey ^= 1;
	return Work(1, IBV_WR_RDMA_READ, { sge }).remote(pair.b.mr.addr(), pair.b.mr.rkey());
}

/* the peer is silent: the oldest says why, the rest is flushed */
void silence(Bench &bench)
{
	bench.config.link_a.timeout = 10; /* 4 ms */
	bench.config.link_a.retry = 2;
	bench.wire.rule([](const Packet &, Bytes &) { return Verdict::DROP; });
	auto pair = bench.pair();
	for (int i = 0; i < 20; i++)
		write_to(pair, i).post(pair.a.qp);
	pair.a.send_cq.expect(0, IBV_WC_RETRY_EXC_ERR);
	flushed(pair.a.send_cq, 1, 19);
	nothing_more(pair.a.send_cq);
}

/* nothing arrives in a QP after its flush has been seen */
void quiet_afterwards(Bench &bench)
{
	auto pair = bench.pair();

	bench.wire.rule(
		[](const Packet &p, Bytes &) { return p.to_b ? Verdict::HOLD : Verdict::PASS; });
	pair.b.qp.recv(9, { pair.b.mr.sge(0, 4096) });
	Work(1, IBV_WR_SEND, { pair.a.mr.sge(0, 64) }).post(pair.a.qp);
	write_to(pair, 2).post(pair.a.qp);
	std::fill_n(pair.a.mr.data(), 64, 0x5a);
	while (bench.wire.held() < 2)
		sleep_us(1000);
	if (int err = pair.b.qp.try_state(IBV_QPS_ERR))
		fail_errno("modify to ERR", err);
	pair.b.recv_cq.expect(9, IBV_WC_WR_FLUSH_ERR);
	bench.wire.no_rule();
	bench.wire.release();
	nothing_more(pair.b.recv_cq);
	for (size_t i = 0; i < 8192; i++)
		if (pair.b.mr.data()[i])
			fail("byte %zu was written after the flush", i);
}

/* from ERR back to work by way of RESET */
void reset_and_again(Bench &bench)
{
	auto pair = bench.pair();

	for (int round = 0; round < 5; round++) {
		write_to(pair, 1, 64, 1).post(pair.a.qp);
		write_to(pair, 2).post(pair.a.qp);
		pair.a.send_cq.expect(1, IBV_WC_REM_ACCESS_ERR);
		pair.a.send_cq.expect(2, IBV_WC_WR_FLUSH_ERR);
		for (auto *end : { &pair.a, &pair.b })
			if (int err = end->qp.try_state(IBV_QPS_RESET))
				fail_errno("modify to RESET", err);
		pair.a.qp.connect(pair.config.link_a, pair.b.qp.address(pair.config.link_b));
		pair.b.qp.connect(pair.config.link_b, pair.a.qp.address(pair.config.link_a));
		write_to(pair, 3).post(pair.a.qp);
		pair.a.send_cq.expect(3, IBV_WC_SUCCESS);
	}
}

/* RESET throws work away without completions */
void reset_is_silent(Bench &bench)
{
	bench.wire.rule([](const Packet &, Bytes &) { return Verdict::DROP; });
	auto pair = bench.pair();

	for (int i = 0; i < 10; i++) {
		write_to(pair, i).post(pair.a.qp);
		pair.a.qp.recv(i, { pair.a.mr.sge(0, 64) });
	}
	if (int err = pair.a.qp.try_state(IBV_QPS_RESET))
		fail_errno("modify to RESET", err);
	nothing_more(pair.a.send_cq);
	nothing_more(pair.a.recv_cq);
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(
		argc, argv,
		{ { "128 outstanding, then modify to ERR", modify_to_error },
		  { "128 unsignalled, then modify to ERR", unsignalled },
		  { "posted in ERR, three times round the ring", posted_afterwards },
		  { "a bad rkey: the cause first, then flushed, later posts too", cause_first },
		  { "WRITE with a bad lkey",
		    [](Bench &b) { local_fault(b, write_bad_lkey, IBV_WC_LOC_PROT_ERR); } },
		  { "WRITE whose second piece is out of bounds",
		    [](Bench &b) { local_fault(b, second_sge_bad, IBV_WC_LOC_PROT_ERR); } },
		  { "atomic with a bad lkey",
		    [](Bench &b) { local_fault(b, atomic_bad_lkey, IBV_WC_LOC_PROT_ERR); } },
		  { "READ with a bad lkey",
		    [](Bench &b) { local_fault(b, read_bad_lkey, IBV_WC_LOC_PROT_ERR); } },
		  { "a silent peer: retries exceeded, the rest flushed", silence },
		  { "nothing arrives after the flush", quiet_afterwards },
		  { "through RESET to work again", reset_and_again },
		  { "RESET itself completes nothing", reset_is_silent } });
}
