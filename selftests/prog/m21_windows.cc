// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory windows and invalidation: who may bind what, who may use it, and that
 * nobody may once it is invalidated (IBTA 10.6.7.2, 9.4.1.1.3).
 */
#include "lib/bench.hh"

#include <cstring>
#include <optional>

using namespace st;

namespace
{

constexpr int REMOTE = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr uint32_t WINDOW_BYTES = 8192;

class Mw
{
public:
	Mw(const Pd &pd, ibv_mw_type type) : mw(ibv_alloc_mw(pd.get(), type))
	{
		if (!mw)
			fail_errno("ibv_alloc_mw");
	}
	Mw(const Mw &) = delete;
	~Mw()
	{
		if (mw)
			ibv_dealloc_mw(mw);
	}

	ibv_mw *get() const { return mw; }
	uint32_t rkey() const { return mw->rkey; }
	int dealloc()
	{
		const int ret = ibv_dealloc_mw(mw);

		if (!ret)
			mw = nullptr;
		return ret;
	}

private:
	ibv_mw *mw;
};

/* what a window is bound to */
struct Bind {
	uint64_t addr;
	uint64_t length = WINDOW_BYTES;
	unsigned int access = REMOTE;
	uint32_t rkey = 0; /* 0: the next one */
};

ibv_mw_bind_info info(const Mr &mr, const Bind &bind)
{
	return { mr.get(), bind.addr, bind.length, bind.access };
}

/* the window belongs to b, whose peer a uses it */
uint32_t post_bind_2(const Qp &qp, const Mw &mw, const Mr &mr, const Bind &bind)
{
	ibv_send_wr wr = {};

	wr.wr_id = 77;
	wr.opcode = IBV_WR_BIND_MW;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.bind_mw.mw = mw.get();
	wr.bind_mw.rkey = bind.rkey ? bind.rkey : ibv_inc_rkey(mw.rkey());
	wr.bind_mw.bind_info = info(mr, bind);
	qp.post(wr);
	return wr.bind_mw.rkey;
}

uint32_t bind_2(End &end, const Mw &mw, const Bind &bind)
{
	const uint32_t rkey = post_bind_2(end.qp, mw, end.mr, bind);
	const auto wc = end.send_cq.expect(77, IBV_WC_SUCCESS);

	if (wc.opcode != IBV_WC_BIND_MW)
		fail("the completion has opcode %d", wc.opcode);
	return rkey;
}

void bind_1(End &end, const Mw &mw, const Bind &bind)
{
	ibv_mw_bind b = { 77, IBV_SEND_SIGNALED, info(end.mr, bind) };

	if (int err = ibv_bind_mw(end.qp.get(), mw.get(), &b))
		fail_errno("ibv_bind_mw", err);
	end.send_cq.expect(77, IBV_WC_SUCCESS);
}

void write_ok(Pair &pair, uint64_t addr, uint32_t rkey, uint32_t bytes = 64)
{
	Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, bytes) }).remote(addr, rkey).post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
}

/* the request must be refused as an access error */
void refused(Pair &pair, ibv_wr_opcode opcode, uint64_t addr, uint32_t rkey, uint32_t bytes = 64)
{
	auto work = Work(1, opcode, { pair.a.mr.sge(0, bytes) });

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		work.atomic(addr, rkey, 1);
	else
		work.remote(addr, rkey);
	work.post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_REM_ACCESS_ERR);
	if (pair.b.qp.state() != IBV_QPS_ERR)
		fail("the responder's QP is in state %d", pair.b.qp.state());
}

/* the region of b lets windows be bound to it, and nothing else from afar */
Pair windowed(Bench &bench, int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)
{
	bench.config.access_b = access;
	return bench.pair();
}

void through(Bench &bench, ibv_mw_type type)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, type);
	const uint64_t addr = pair.b.mr.addr(4096);
	uint32_t rkey;

	if (type == IBV_MW_TYPE_1)
		bind_1(pair.b, mw, { addr });
	rkey = type == IBV_MW_TYPE_1 ? mw.rkey() : bind_2(pair.b, mw, { addr });
	memset(pair.a.mr.data(), 0x5a, WINDOW_BYTES);
	write_ok(pair, addr, rkey, WINDOW_BYTES);
	if (memcmp(pair.a.mr.data(), pair.b.mr.data() + 4096, WINDOW_BYTES))
		fail("WRITE brought other bytes");
	if (pair.b.mr.data()[4095] || pair.b.mr.data()[4096 + WINDOW_BYTES])
		fail("WRITE went beyond the window");
	memset(pair.a.mr.data(), 0, WINDOW_BYTES);
	Work(2, IBV_WR_RDMA_READ, { pair.a.mr.sge(0, WINDOW_BYTES) })
		.remote(addr, rkey)
		.post(pair.a.qp);
	pair.a.send_cq.expect(2, IBV_WC_SUCCESS);
	if (memcmp(pair.a.mr.data(), pair.b.mr.data() + 4096, WINDOW_BYTES))
		fail("READ brought other bytes");
	Work(3, IBV_WR_ATOMIC_FETCH_AND_ADD, { pair.a.mr.sge(0, 8) })
		.atomic(addr, rkey, 1)
		.post(pair.a.qp);
	pair.a.send_cq.expect(3, IBV_WC_SUCCESS);
	/* one byte more than the window has */
	refused(pair, IBV_WR_RDMA_WRITE, addr + 1, rkey, WINDOW_BYTES);
}

/* addresses count from the start of the window */
void zero_based(Bench &bench)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_2);
	const uint32_t rkey =
		bind_2(pair.b, mw, { pair.b.mr.addr(100), 1000, REMOTE | IBV_ACCESS_ZERO_BASED });

	memset(pair.a.mr.data(), 0xa5, 64);
	write_ok(pair, 936, rkey);
	if (memcmp(pair.a.mr.data(), pair.b.mr.data() + 1036, 64) || pair.b.mr.data()[1035])
		fail("not where it belongs");
	refused(pair, IBV_WR_RDMA_WRITE, 937, rkey);
}

void without_access(Bench &bench, ibv_wr_opcode opcode, unsigned int access)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_2);
	const uint32_t rkey = bind_2(pair.b, mw, { pair.b.mr.addr(), WINDOW_BYTES, access });

	refused(pair, opcode, pair.b.mr.addr(), rkey, 8);
}

/* the bind fails, and with it the QP that asked for it */
void bind_refused(Pair &pair, const Qp &qp, const Cq &cq, const Mw &mw, const Mr &mr, Bind bind)
{
	(void)pair;
	post_bind_2(qp, mw, mr, bind);
	cq.expect(77, IBV_WC_MW_BIND_ERR);
}

void bind_refused(Bench &bench, int mr_access, Bind bind)
{
	auto pair = windowed(bench, mr_access);
	Mw mw(pair.b.pd, IBV_MW_TYPE_2);

	bind.addr += pair.b.mr.addr();
	bind_refused(pair, pair.b.qp, pair.b.send_cq, mw, pair.b.mr, bind);
}

void bind_region_of_other_pd(Bench &bench)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_2);
	Pd pd(bench.devices.b);
	Mr mr(pd, 1 << 20, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);

	bind_refused(pair, pair.b.qp, pair.b.send_cq, mw, mr, { mr.addr() });
}

void bind_window_of_other_pd(Bench &bench)
{
	auto pair = windowed(bench);
	Pd pd(bench.devices.b);
	Mw mw(pd, IBV_MW_TYPE_2);

	bind_refused(pair, pair.b.qp, pair.b.send_cq, mw, pair.b.mr, { pair.b.mr.addr() });
}

/* type 2 has to be invalidated before it is bound again */
void bind_twice(Bench &bench)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_2);
	const uint32_t rkey = bind_2(pair.b, mw, { pair.b.mr.addr() });

	bind_refused(pair, pair.b.qp, pair.b.send_cq, mw, pair.b.mr,
		     { pair.b.mr.addr(), WINDOW_BYTES, REMOTE, ibv_inc_rkey(rkey) });
}

void post_local_inv(const Qp &qp, uint32_t rkey)
{
	ibv_send_wr wr = {};

	wr.wr_id = 78;
	wr.opcode = IBV_WR_LOCAL_INV;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.invalidate_rkey = rkey;
	qp.post(wr);
}

void local_inv(Bench &bench)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_2);
	uint32_t rkey = bind_2(pair.b, mw, { pair.b.mr.addr() });

	/* any low byte will do, the same one too */
	for (int i = 0; i < 300; i++) {
		write_ok(pair, pair.b.mr.addr(), rkey);
		post_local_inv(pair.b.qp, rkey);
		pair.b.send_cq.expect(78, IBV_WC_SUCCESS);
		rkey = bind_2(pair.b, mw,
			      { pair.b.mr.addr(), WINDOW_BYTES, REMOTE,
				(rkey & ~0xffU) | ((i * 7U) & 0xffU) });
	}
	post_local_inv(pair.b.qp, rkey);
	pair.b.send_cq.expect(78, IBV_WC_SUCCESS);
	refused(pair, IBV_WR_RDMA_WRITE, pair.b.mr.addr(), rkey);
}

/* what cannot be invalidated: no such key, a region, a window of type 1, ... */
void local_inv_refused(Bench &bench, uint32_t (*key)(Pair &, Mw &one, Mw &two))
{
	auto pair = windowed(bench);
	Mw one(pair.b.pd, IBV_MW_TYPE_1), two(pair.b.pd, IBV_MW_TYPE_2);

	bind_1(pair.b, one, { pair.b.mr.addr() });
	post_local_inv(pair.b.qp, key(pair, one, two));
	pair.b.send_cq.expect(78, IBV_WC_MW_BIND_ERR);
}

void post_send_inv(Pair &pair, uint32_t rkey, uint32_t bytes)
{
	Work work(5, IBV_WR_SEND_WITH_INV, { pair.a.mr.sge(0, bytes) });

	work.get().invalidate_rkey = rkey;
	work.post(pair.a.qp);
}

void send_inv(Bench &bench, uint32_t bytes)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_2);
	uint32_t rkey = bind_2(pair.b, mw, { pair.b.mr.addr(65536) });

	for (int i = 0; i < 50; i++) {
		pair.b.qp.recv(9, { pair.b.mr.sge(0, 16384) });
		write_ok(pair, pair.b.mr.addr(65536), rkey);
		post_send_inv(pair, rkey, bytes);
		pair.a.send_cq.expect(5, IBV_WC_SUCCESS);
		const auto wc = pair.b.recv_cq.expect(9, IBV_WC_SUCCESS);
		if (!(wc.wc_flags & IBV_WC_WITH_INV) || wc.invalidated_rkey != rkey)
			fail("the completion does not name the key: flags %x, key %08x",
			     wc.wc_flags, wc.invalidated_rkey);
		if (wc.byte_len != bytes)
			fail("%u bytes, not %u", wc.byte_len, bytes);
		rkey = bind_2(pair.b, mw,
			      { pair.b.mr.addr(65536), WINDOW_BYTES, REMOTE, ibv_inc_rkey(rkey) });
	}
	pair.b.qp.recv(9, { pair.b.mr.sge(0, 16384) });
	post_send_inv(pair, rkey, bytes);
	pair.a.send_cq.expect(5, IBV_WC_SUCCESS);
	refused(pair, IBV_WR_RDMA_WRITE, pair.b.mr.addr(65536), rkey);
}

void send_inv_refused(Bench &bench, uint32_t (*key)(Pair &, Mw &one, Mw &two))
{
	auto pair = windowed(bench);
	Mw one(pair.b.pd, IBV_MW_TYPE_1), two(pair.b.pd, IBV_MW_TYPE_2);

	bind_1(pair.b, one, { pair.b.mr.addr() });
	pair.b.qp.recv(9, { pair.b.mr.sge(0, 4096) });
	post_send_inv(pair, key(pair, one, two), 64);
	pair.a.send_cq.expect(5, IBV_WC_REM_ACCESS_ERR);
	const auto wc = pair.b.recv_cq.next();
	if (!wc || wc->wr_id != 9 || !wc->status)
		fail("the receive request did not fail");
}

/* the same PD, another QP: a window of type 2 is not for it, nor its peer */
void other_qp(Bench &bench, bool invalidate)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_2);
	Cq cq(bench.devices.b, 16);
	Qp other(bench.devices.b, pair.b.pd, cq, cq);
	Qp peer(bench.devices.a, pair.a.pd, pair.a.send_cq, pair.a.recv_cq);
	uint32_t rkey;

	other.connect(bench.config.link_b, peer.address(bench.config.link_a));
	peer.connect(bench.config.link_a, other.address(bench.config.link_b));
	rkey = post_bind_2(other, mw, pair.b.mr, { pair.b.mr.addr() });
	cq.expect(77, IBV_WC_SUCCESS);
	if (invalidate) {
		post_local_inv(pair.b.qp, rkey);
		pair.b.send_cq.expect(78, IBV_WC_MW_BIND_ERR);
	} else {
		refused(pair, IBV_WR_RDMA_WRITE, pair.b.mr.addr(), rkey);
	}
	/* it works where it belongs, and after that its QP may go */
	Work(4, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 64) })
		.remote(pair.b.mr.addr(), rkey)
		.post(peer);
	pair.a.send_cq.expect(4, IBV_WC_SUCCESS);
}

/* type 1 is bound again, or, with length 0, unbound */
void rebind(Bench &bench)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_1);
	uint32_t before;

	bind_1(pair.b, mw, { pair.b.mr.addr() });
	write_ok(pair, pair.b.mr.addr(), mw.rkey());
	before = mw.rkey();
	bind_1(pair.b, mw, { pair.b.mr.addr(65536) });
	if (mw.rkey() == before)
		fail("the key has not changed");
	write_ok(pair, pair.b.mr.addr(65536), mw.rkey());
	bind_1(pair.b, mw, { 0, 0, 0 });
	if (int err = pair.b.mr.deregister())
		fail_errno("deregistering a region that has no window", err);
	refused(pair, IBV_WR_RDMA_WRITE, pair.b.mr.addr(65536), mw.rkey());
}

void old_key(Bench &bench)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_1);
	uint32_t before;

	bind_1(pair.b, mw, { pair.b.mr.addr() });
	before = mw.rkey();
	bind_1(pair.b, mw, { pair.b.mr.addr() });
	refused(pair, IBV_WR_RDMA_WRITE, pair.b.mr.addr(), before);
}

void dereg_bound(Bench &bench)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_2);
	const uint32_t rkey = bind_2(pair.b, mw, { pair.b.mr.addr() });

	const int err = pair.b.mr.deregister();
	if (err != EBUSY)
		fail("deregistering a region with a window gives %d", err);
	write_ok(pair, pair.b.mr.addr(), rkey);
	if (int ret = mw.dealloc())
		fail_errno("ibv_dealloc_mw", ret);
	if (int ret = pair.b.mr.deregister())
		fail_errno("deregistering after that", ret);
	refused(pair, IBV_WR_RDMA_WRITE, pair.b.mr.addr(), rkey);
}

/* a window is not local memory */
void as_lkey(Bench &bench)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_2);
	const uint32_t rkey = bind_2(pair.b, mw, { pair.b.mr.addr() });
	ibv_sge sge = { pair.b.mr.addr(), 64, rkey };

	Work(6, IBV_WR_SEND, { sge }).post(pair.b.qp);
	pair.b.send_cq.expect(6, IBV_WC_LOC_PROT_ERR);
}

/* post errors: type 1 by work request, a key of another window */
void post_refused(Bench &bench)
{
	auto pair = windowed(bench);
	Mw one(pair.b.pd, IBV_MW_TYPE_1), two(pair.b.pd, IBV_MW_TYPE_2);
	ibv_send_wr wr = {}, *bad = nullptr;

	wr.opcode = IBV_WR_BIND_MW;
	wr.bind_mw.mw = one.get();
	wr.bind_mw.rkey = ibv_inc_rkey(one.rkey());
	wr.bind_mw.bind_info = info(pair.b.mr, { pair.b.mr.addr() });
	int err = ibv_post_send(pair.b.qp.get(), &wr, &bad);
	if (err != EINVAL || bad != &wr)
		fail("type 1: %d", err);
	wr.bind_mw.mw = two.get();
	err = ibv_post_send(pair.b.qp.get(), &wr, &bad);
	if (err != EINVAL || bad != &wr)
		fail("the key of another window: %d", err);
	ibv_mw_bind b = { 1, IBV_SEND_SIGNALED, info(pair.b.mr, { pair.b.mr.addr() }) };
	err = ibv_bind_mw(pair.b.qp.get(), two.get(), &b);
	if (err != EINVAL)
		fail("ibv_bind_mw of type 2: %d", err);
}

/* bind, WRITE and invalidate in one chain each side: order is kept */
void in_order(Bench &bench)
{
	auto pair = windowed(bench);
	Mw mw(pair.b.pd, IBV_MW_TYPE_2);
	uint32_t rkey = mw.rkey();

	for (int i = 0; i < 100; i++) {
		Work(10, IBV_WR_SEND, { pair.b.mr.sge(0, 3000) }).post(pair.b.qp);
		rkey = post_bind_2(pair.b.qp, mw, pair.b.mr,
				   { pair.b.mr.addr(), WINDOW_BYTES, REMOTE, ibv_inc_rkey(rkey) });
		Work(11, IBV_WR_SEND, { pair.b.mr.sge(0, 3000) }).post(pair.b.qp);
		post_local_inv(pair.b.qp, rkey);
		pair.a.qp.recv(1, { pair.a.mr.sge(0, 4096) });
		pair.a.qp.recv(2, { pair.a.mr.sge(0, 4096) });
		for (const uint64_t id : { 10, 77, 11, 78 })
			pair.b.send_cq.expect(id, IBV_WC_SUCCESS);
		pair.a.recv_cq.expect(1, IBV_WC_SUCCESS);
		pair.a.recv_cq.expect(2, IBV_WC_SUCCESS);
	}
}

uint32_t no_such_key(Pair &pair, Mw &, Mw &)
{
	return pair.b.mr.rkey() + 0x123400;
}

uint32_t key_of_region(Pair &pair, Mw &, Mw &)
{
	return pair.b.mr.rkey();
}

uint32_t key_of_type_1(Pair &, Mw &one, Mw &)
{
	return one.rkey();
}

uint32_t key_not_bound(Pair &, Mw &, Mw &two)
{
	return two.rkey();
}

constexpr int L = IBV_ACCESS_LOCAL_WRITE, BIND = IBV_ACCESS_MW_BIND;

} // namespace

int main(int argc, char **argv)
{
	return run_cases(
		argc, argv,
		{ { "type 1, all operations", [](Bench &b) { through(b, IBV_MW_TYPE_1); } },
		  { "type 2, all operations", [](Bench &b) { through(b, IBV_MW_TYPE_2); } },
		  { "type 2, zero-based", zero_based },
		  { "WRITE through a window for READ",
		    [](Bench &b) {
			    without_access(b, IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_READ);
		    } },
		  { "READ through a window for WRITE",
		    [](Bench &b) {
			    without_access(b, IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_WRITE);
		    } },
		  { "atomic through a window for WRITE",
		    [](Bench &b) {
			    without_access(b, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_WRITE);
		    } },
		  { "bind beyond the region",
		    [](Bench &b) { bind_refused(b, L | BIND, { 1, 1 << 20 }); } },
		  { "bind with length 0, type 2",
		    [](Bench &b) { bind_refused(b, L | BIND, { 0, 0 }); } },
		  { "bind to a region without MW_BIND",
		    [](Bench &b) { bind_refused(b, L, { 0 }); } },
		  { "bind for WRITE to a region that is read-only",
		    [](Bench &b) { bind_refused(b, BIND, { 0, 64, IBV_ACCESS_REMOTE_WRITE }); } },
		  { "bind to a region of another PD", bind_region_of_other_pd },
		  { "bind a window of another PD", bind_window_of_other_pd },
		  { "bind what is bound, type 2", bind_twice },
		  { "bind refused when posted", post_refused },
		  { "LOCAL_INV", local_inv },
		  { "LOCAL_INV of no such key",
		    [](Bench &b) { local_inv_refused(b, no_such_key); } },
		  { "LOCAL_INV of a region",
		    [](Bench &b) { local_inv_refused(b, key_of_region); } },
		  { "LOCAL_INV of a window of type 1",
		    [](Bench &b) { local_inv_refused(b, key_of_type_1); } },
		  { "LOCAL_INV of a window that is not bound",
		    [](Bench &b) { local_inv_refused(b, key_not_bound); } },
		  { "SEND with invalidate, one packet", [](Bench &b) { send_inv(b, 64); } },
		  { "SEND with invalidate, several packets", [](Bench &b) { send_inv(b, 9001); } },
		  { "SEND with invalidate, empty", [](Bench &b) { send_inv(b, 0); } },
		  { "SEND with invalidate of no such key",
		    [](Bench &b) { send_inv_refused(b, no_such_key); } },
		  { "SEND with invalidate of a region",
		    [](Bench &b) { send_inv_refused(b, key_of_region); } },
		  { "SEND with invalidate of a window of type 1",
		    [](Bench &b) { send_inv_refused(b, key_of_type_1); } },
		  { "SEND with invalidate of a window that is not bound",
		    [](Bench &b) { send_inv_refused(b, key_not_bound); } },
		  { "type 2 used by another QP's peer", [](Bench &b) { other_qp(b, false); } },
		  { "type 2 invalidated by another QP", [](Bench &b) { other_qp(b, true); } },
		  { "type 1 bound again and unbound", rebind },
		  { "type 1 by its old key", old_key },
		  { "region with a window cannot be deregistered", dereg_bound },
		  { "a window as local memory", as_lkey },
		  { "bind and invalidate between SENDs", in_order } });
}
