// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Errors that the responder finds (class C and the like): the NAK comes at
 * once, each side gets the status that the standard names, the responder's QP
 * goes to the error state and its owner hears of it.
 */
#include "lib/bench.hh"

using namespace st;

namespace
{

constexpr int AT_ONCE_MS = 1000; /* the timers are set to far more */

struct Fault {
	ibv_wc_status requester;
	uint8_t nak;
	ibv_event_type event; /* at the responder; IBV_EVENT_CQ_ERR: none is needed */
	ibv_wc_status responder = IBV_WC_SUCCESS; /* of the receive request in use, if any */
};

constexpr Fault ACCESS = { IBV_WC_REM_ACCESS_ERR, 0x62, IBV_EVENT_QP_ACCESS_ERR };
constexpr Fault REQUEST = { IBV_WC_REM_INV_REQ_ERR, 0x61, IBV_EVENT_QP_REQ_ERR };

void check_nak(Bench &bench, uint8_t expected)
{
	auto packets = bench.wire.take();

	for (auto &p : packets)
		if (!p.to_b && p.bth.opcode == RC_ACK && p.syndrome() >> 5 == 3 &&
		    p.syndrome() != 0x60) {
			if (p.syndrome() != expected)
				fail("NAK %02x, expected %02x", p.syndrome(), expected);
			return;
		}
	fail("no NAK on the wire\n%s", describe(packets).c_str());
}

/* the work request must bring about the fault */
void provoke(Bench &bench, Pair &pair, Work work, const Fault &fault)
{
	auto start = now_ns();

	work.post(pair.a.qp);
	pair.a.send_cq.expect(work.get().wr_id, fault.requester, AT_ONCE_MS);
	auto ms = (now_ns() - start) / 1000000;
	if (ms > AT_ONCE_MS)
		fail("it took %llu ms", static_cast<unsigned long long>(ms));
	check_nak(bench, fault.nak);
	if (pair.a.qp.state() != IBV_QPS_ERR)
		fail("the requester's QP is in state %d", pair.a.qp.state());
	if (pair.b.qp.state() != IBV_QPS_ERR)
		fail("the responder's QP is in state %d", pair.b.qp.state());
	if (fault.event != IBV_EVENT_CQ_ERR && !bench.devices.b.wait_event(fault.event, 2000))
		fail("the responder got no event %s", ibv_event_type_str(fault.event));
	if (fault.responder)
		pair.b.recv_cq.expect(9, fault.responder, AT_ONCE_MS);
}

/* no timer of ours may bring the end */
Pair long_timers(Bench &bench)
{
	bench.config.link_a.timeout = bench.config.link_b.timeout = 20; /* 4.3 s */
	return bench.pair();
}

Work work(Pair &pair, ibv_wr_opcode opcode, uint64_t addr, uint32_t rkey, uint32_t bytes = 64)
{
	return Work(1, opcode, { pair.a.mr.sge(0, bytes) }).remote(addr, rkey);
}

void bad_rkey(Bench &bench, ibv_wr_opcode opcode)
{
	auto pair = long_timers(bench);

	provoke(bench, pair, work(pair, opcode, pair.b.mr.addr(), pair.b.mr.rkey() ^ 1), ACCESS);
}

void beyond_end(Bench &bench, ibv_wr_opcode opcode)
{
	auto pair = long_timers(bench);
	auto end = pair.b.mr.addr(pair.b.mr.size());

	provoke(bench, pair, work(pair, opcode, end - 63, pair.b.mr.rkey()), ACCESS);
}

void before_start(Bench &bench)
{
	auto pair = long_timers(bench);

	provoke(bench, pair, work(pair, IBV_WR_RDMA_WRITE, pair.b.mr.addr() - 1, pair.b.mr.rkey()),
		ACCESS);
}

/* only the second packet is out of bounds; the RETH tells at the first */
void beyond_end_long(Bench &bench)
{
	auto pair = long_timers(bench);
	auto end = pair.b.mr.addr(pair.b.mr.size());

	provoke(bench, pair, work(pair, IBV_WR_RDMA_WRITE, end - 4096, pair.b.mr.rkey(), 4097),
		ACCESS);
}

void mr_without(Bench &bench, ibv_wr_opcode opcode, int access)
{
	bench.config.access_b = access;
	auto pair = long_timers(bench);
	auto w = work(pair, opcode, pair.b.mr.addr(), pair.b.mr.rkey(), 8);

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		w.atomic(pair.b.mr.addr(), pair.b.mr.rkey(), 1);
	provoke(bench, pair, w, ACCESS);
}

void mr_deregistered(Bench &bench)
{
	auto pair = long_timers(bench);
	auto w = work(pair, IBV_WR_RDMA_WRITE, pair.b.mr.addr(), pair.b.mr.rkey());

	pair.b.mr.deregister();
	provoke(bench, pair, w, ACCESS);
}

void mr_of_other_pd(Bench &bench)
{
	auto pair = long_timers(bench);
	Pd pd(bench.devices.b);
	Mr mr(pd, 4096);

	provoke(bench, pair, work(pair, IBV_WR_RDMA_WRITE, mr.addr(), mr.rkey()), ACCESS);
}

void misaligned(Bench &bench, ibv_wr_opcode opcode)
{
	auto pair = long_timers(bench);

	provoke(bench, pair,
		Work(1, opcode, { pair.a.mr.sge(0, 8) })
			.atomic(pair.b.mr.addr(4), pair.b.mr.rkey(), 1),
		REQUEST);
}

/* the QP itself does not allow it */
void qp_without(Bench &bench, ibv_wr_opcode opcode, int allowed)
{
	bench.config.link_b.access = allowed;
	auto pair = long_timers(bench);
	auto w = work(pair, opcode, pair.b.mr.addr(), pair.b.mr.rkey(), 8);

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		w.atomic(pair.b.mr.addr(), pair.b.mr.rkey(), 1);
	provoke(bench, pair, w, REQUEST);
}

void write_imm_bad_rkey(Bench &bench)
{
	auto pair = long_timers(bench);

	pair.b.qp.recv(9, { pair.b.mr.sge(0, 4096) });
	auto w = work(pair, IBV_WR_RDMA_WRITE_WITH_IMM, pair.b.mr.addr(), pair.b.mr.rkey() ^ 1);
	provoke(bench, pair, w, { IBV_WC_REM_ACCESS_ERR, 0x62, IBV_EVENT_CQ_ERR });
	/* the receive request says so itself, or there is an event and it is flushed */
	auto wc = pair.b.recv_cq.next(AT_ONCE_MS);
	if (!wc || wc->wr_id != 9 || !wc->status)
		fail("the responder's receive request did not end in error");
	if (wc->status == IBV_WC_WR_FLUSH_ERR &&
	    !bench.devices.b.wait_event(IBV_EVENT_QP_ACCESS_ERR, 1000))
		fail("flushed, but no event");
}

/* longer than the receive buffer */
void send_too_long(Bench &bench, uint32_t bytes, uint32_t room)
{
	auto pair = long_timers(bench);

	pair.b.qp.recv(9, { pair.b.mr.sge(0, room) });
	provoke(bench, pair, Work(1, IBV_WR_SEND, { pair.a.mr.sge(0, bytes) }),
		{ IBV_WC_REM_INV_REQ_ERR, 0x61, IBV_EVENT_CQ_ERR, IBV_WC_LOC_LEN_ERR });
	for (uint32_t i = room; i < room + 64; i++)
		if (pair.b.mr.data()[i])
			fail("byte %u behind the buffer was written", i - room);
}

/* the responder's own buffer is at fault */
void recv_bad_lkey(Bench &bench)
{
	auto pair = long_timers(bench);
	auto sge = pair.b.mr.sge(0, 4096);

	sge.lkey ^= 1;
	pair.b.qp.recv(9, { sge });
	provoke(bench, pair, Work(1, IBV_WR_SEND, { pair.a.mr.sge(0, 64) }),
		{ IBV_WC_REM_OP_ERR, 0x63, IBV_EVENT_CQ_ERR, IBV_WC_LOC_PROT_ERR });
}

/* what was posted behind the failed one is flushed, in order, on both sides */
void others_flushed(Bench &bench)
{
	auto pair = long_timers(bench);

	for (int i = 0; i < 4; i++)
		pair.b.qp.recv(20 + i, { pair.b.mr.sge(0, 4096) });
	Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 64) })
		.remote(pair.b.mr.addr(8192), pair.b.mr.rkey())
		.post(pair.a.qp);
	work(pair, IBV_WR_RDMA_WRITE, pair.b.mr.addr(), pair.b.mr.rkey() ^ 1).post(pair.a.qp);
	for (int i = 2; i < 6; i++)
		Work(i, IBV_WR_SEND, { pair.a.mr.sge(0, 64) }).post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS, AT_ONCE_MS);
	pair.a.send_cq.expect(1, IBV_WC_REM_ACCESS_ERR, AT_ONCE_MS);
	for (int i = 2; i < 6; i++)
		pair.a.send_cq.expect(i, IBV_WC_WR_FLUSH_ERR, AT_ONCE_MS);
	for (int i = 0; i < 4; i++)
		pair.b.recv_cq.expect(20 + i, IBV_WC_WR_FLUSH_ERR, AT_ONCE_MS);
	if (pair.a.send_cq.next(100) || pair.b.recv_cq.next(100))
		fail("a completion too many");
}

constexpr auto WRITE = IBV_WR_RDMA_WRITE;
constexpr auto READ = IBV_WR_RDMA_READ;
constexpr auto ADD = IBV_WR_ATOMIC_FETCH_AND_ADD;
constexpr int L = IBV_ACCESS_LOCAL_WRITE, RW = IBV_ACCESS_REMOTE_WRITE, RR = IBV_ACCESS_REMOTE_READ,
	      RA = IBV_ACCESS_REMOTE_ATOMIC;

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "WRITE, wrong rkey", [](Bench &b) { bad_rkey(b, WRITE); } },
			   { "READ, wrong rkey", [](Bench &b) { bad_rkey(b, READ); } },
			   { "WRITE beyond the end", [](Bench &b) { beyond_end(b, WRITE); } },
			   { "READ beyond the end", [](Bench &b) { beyond_end(b, READ); } },
			   { "WRITE before the start", before_start },
			   { "WRITE of several packets beyond the end", beyond_end_long },
			   { "WRITE, region without REMOTE_WRITE",
			     [](Bench &b) { mr_without(b, WRITE, L | RR | RA); } },
			   { "READ, region without REMOTE_READ",
			     [](Bench &b) { mr_without(b, READ, L | RW | RA); } },
			   { "atomic, region without REMOTE_ATOMIC",
			     [](Bench &b) { mr_without(b, ADD, L | RW | RR); } },
			   { "WRITE to a deregistered region", mr_deregistered },
			   { "WRITE to a region of another PD", mr_of_other_pd },
			   { "FETCH_ADD, misaligned", [](Bench &b) { misaligned(b, ADD); } },
			   { "CMP_SWAP, misaligned",
			     [](Bench &b) { misaligned(b, IBV_WR_ATOMIC_CMP_AND_SWP); } },
			   { "WRITE, QP without REMOTE_WRITE",
			     [](Bench &b) { qp_without(b, WRITE, RR | RA); } },
			   { "READ, QP without REMOTE_READ",
			     [](Bench &b) { qp_without(b, READ, RW | RA); } },
			   { "atomic, QP without REMOTE_ATOMIC",
			     [](Bench &b) { qp_without(b, ADD, RW | RR); } },
			   { "WRITE with immediate, wrong rkey", write_imm_bad_rkey },
			   { "SEND longer than the buffer, one packet",
			     [](Bench &b) { send_too_long(b, 101, 100); } },
			   { "SEND longer than the buffer, several packets",
			     [](Bench &b) { send_too_long(b, 5000, 4000); } },
			   { "SEND into a buffer with a wrong lkey", recv_bad_lkey },
			   { "what stands behind it is flushed, in order", others_flushed } });
}
