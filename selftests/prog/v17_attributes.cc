// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What verbs refuse, and how: a positive errno, bad_wr at the request that was
 * not taken, those before it done; limits that hold and are what the device
 * says; every forbidden transition of a QP refused.
 */
#include <cstring>

#include "lib/bench.hh"
#include "lib/pattern.hh"

using namespace st;

namespace
{

void expect(const char *what, int got, int wanted)
{
	if (got != wanted)
		fail("%s: %s (%d), not %s", what, std::strerror(got), got, std::strerror(wanted));
}

void expect_errno(const char *what, bool made, int wanted)
{
	int err = errno;

	if (made)
		fail("%s was accepted", what);
	expect(what, err, wanted);
}

int try_recv(const Qp &qp, std::vector<ibv_sge> sges)
{
	ibv_recv_wr wr = {}, *bad = nullptr;

	wr.sg_list = sges.data();
	wr.num_sge = sges.size();
	int err = ibv_post_recv(qp.get(), &wr, &bad);
	if (err && bad != &wr)
		fail("bad_wr was not set");
	return err;
}

int try_write(Pair &pair, std::vector<ibv_sge> sges, unsigned int flags = IBV_SEND_SIGNALED)
{
	return Work(1, IBV_WR_RDMA_WRITE, std::move(sges), flags)
		.remote(pair.b.mr.addr(), pair.b.mr.rkey())
		.try_post(pair.a.qp);
}

void posts_in_early_states(Bench &b)
{
	Pair pair(b.devices, b.config, false);
	auto one = pair.a.mr.sge(0, 64);

	expect("post_recv in RESET", try_recv(pair.a.qp, { one }), EINVAL);
	expect("post_send in RESET", try_write(pair, { one }), EINVAL);
	pair.a.qp.to_init(pair.config.link_a);
	expect("post_recv in INIT", try_recv(pair.a.qp, { one }), 0);
	expect("post_send in INIT", try_write(pair, { one }), EINVAL);
	pair.a.qp.to_rtr(pair.config.link_a, pair.b.qp.address(pair.config.link_b));
	expect("post_recv in RTR", try_recv(pair.a.qp, { one }), 0);
	expect("post_send in RTR", try_write(pair, { one }), EINVAL);
}

void full_queues(Bench &b)
{
	b.wire.rule([](const Packet &, Bytes &) { return Verdict::DROP; });
	auto pair = b.pair();
	auto one = pair.a.mr.sge(0, 64);
	uint32_t sends = 0, recvs = 0;
	int err;

	while (!(err = try_write(pair, { one })) && sends <= pair.a.qp.cap().max_send_wr)
		sends++;
	expect("post_send to a full queue", err, ENOMEM);
	while (!(err = try_recv(pair.a.qp, { one })) && recvs <= pair.a.qp.cap().max_recv_wr)
		recvs++;
	expect("post_recv to a full queue", err, ENOMEM);
	if (sends != pair.a.qp.cap().max_send_wr || recvs != pair.a.qp.cap().max_recv_wr)
		fail("the queues took %u and %u, they promised %u and %u", sends, recvs,
		     pair.a.qp.cap().max_send_wr, pair.a.qp.cap().max_recv_wr);
}

/* a chain whose third link is wrong: two are done, the third is pointed at */
void bad_wr(Bench &b)
{
	auto pair = b.pair();
	std::vector<Work> chain;
	ibv_send_wr *bad = nullptr;

	for (int i = 0; i < 5; i++)
		chain.push_back(Work(i, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 64) })
					.remote(pair.b.mr.addr(), pair.b.mr.rkey()));
	for (int i = 4; i >= 0; i--)
		chain[i].get().next = i < 4 ? &chain[i + 1].get() : nullptr;
	auto &first = chain[0].get();
	first.next->next->num_sge = pair.a.qp.cap().max_send_sge + 1;
	expect("a chain with too many pieces", ibv_post_send(pair.a.qp.get(), &first, &bad),
	       EINVAL);
	if (!bad || bad->wr_id != 2)
		fail("bad_wr is not the third");
	pair.a.send_cq.expect(0, IBV_WC_SUCCESS);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
	if (pair.a.send_cq.next(50))
		fail("more than two were done");
}

void too_much(Bench &b)
{
	b.config.depth.inline_bytes = 128;
	auto pair = b.pair();
	auto cap = pair.a.qp.cap();
	std::vector<ibv_sge> many(cap.max_send_sge + 1, pair.a.mr.sge(0, 8));

	expect("too many pieces to send", try_write(pair, many), EINVAL);
	many.assign(cap.max_recv_sge + 1, pair.a.mr.sge(0, 8));
	expect("too many pieces to receive", try_recv(pair.a.qp, many), EINVAL);
	expect("too much inline data",
	       try_write(pair, { pair.a.mr.sge(0, cap.max_inline_data + 1) }, IBV_SEND_INLINE),
	       EINVAL);
	expect("as much inline data as promised",
	       try_write(pair, { pair.a.mr.sge(0, cap.max_inline_data) },
			 IBV_SEND_INLINE | IBV_SEND_SIGNALED),
	       0);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
	Work odd(1, static_cast<ibv_wr_opcode>(77), { pair.a.mr.sge(0, 8) });
	expect("an opcode that does not exist", odd.try_post(pair.a.qp), EINVAL);
}

/* inline data is read when posted, and needs no key */
void inline_is_taken(Bench &b)
{
	b.config.depth.inline_bytes = 512;
	auto pair = b.pair();
	auto bytes = pair.a.qp.cap().max_inline_data;
	std::vector<uint8_t> text(bytes);

	if (bytes < 512)
		fail("asked for 512 bytes of inline data, got %u", bytes);
	pattern_fill(text.data(), bytes, 3, 0);
	expect("inline",
	       try_write(pair, { { reinterpret_cast<uint64_t>(text.data()), bytes, 0xdead } },
			 IBV_SEND_INLINE | IBV_SEND_SIGNALED),
	       0);
	std::memset(text.data(), 0, bytes);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
	if (pattern_check(pair.b.mr.data(), bytes, 3, 0) != bytes)
		fail("wrong data");
}

void limits(Bench &b)
{
	auto &dev = b.devices.a;
	auto &attr = dev.attr();
	auto port = dev.port();
	Pd pd(dev);
	Cq cq(dev, 16);
	auto qp_with = [&](auto change) {
		ibv_qp_init_attr init = {};

		init.send_cq = init.recv_cq = cq.get();
		init.qp_type = IBV_QPT_RC;
		init.cap = { 1, 1, 1, 1, 0 };
		change(init.cap);
		auto *qp = ibv_create_qp(pd.get(), &init);
		int err = errno;
		if (qp)
			ibv_destroy_qp(qp);
		errno = err;
		return qp != nullptr;
	};

	if (!attr.sys_image_guid || !attr.node_guid)
		fail("no GUID");
	if (port.max_msg_sz < 1U << 30 || attr.max_sge < 32 || attr.max_qp_wr < 1024)
		fail("max_msg_sz %u, max_sge %d, max_qp_wr %d", port.max_msg_sz, attr.max_sge,
		     attr.max_qp_wr);
	expect_errno("CQ of 0", ibv_create_cq(dev.get(), 0, nullptr, nullptr, 0), EINVAL);
	expect_errno("CQ of more than max_cqe",
		     ibv_create_cq(dev.get(), attr.max_cqe + 1, nullptr, nullptr, 0), EINVAL);
	auto more = [](auto member, int value) {
		return [=](ibv_qp_cap &c) { c.*member = value; };
	};
	expect_errno("too long a send queue",
		     qp_with(more(&ibv_qp_cap::max_send_wr, attr.max_qp_wr + 1)), EINVAL);
	expect_errno("too long a receive queue",
		     qp_with(more(&ibv_qp_cap::max_recv_wr, attr.max_qp_wr + 1)), EINVAL);
	expect_errno("too many pieces to send",
		     qp_with(more(&ibv_qp_cap::max_send_sge, attr.max_sge + 1)), EINVAL);
	expect_errno("too many pieces to receive",
		     qp_with(more(&ibv_qp_cap::max_recv_sge, attr.max_sge + 1)), EINVAL);
	expect_errno("too much inline data", qp_with(more(&ibv_qp_cap::max_inline_data, 1 << 20)),
		     EINVAL);
	if (!qp_with([&](ibv_qp_cap &c) { c.max_send_wr = c.max_recv_wr = attr.max_qp_wr; }))
		fail("queues of max_qp_wr: %s", std::strerror(errno));
	if (!qp_with([&](ibv_qp_cap &c) { c.max_send_sge = c.max_recv_sge = attr.max_sge; }))
		fail("QP of max_sge: %s", std::strerror(errno));
	/* applications probe for the longest inline data by bisection */
	for (uint32_t bytes : { 220, 256, 512 })
		if (!qp_with([&](ibv_qp_cap &c) { c.max_inline_data = bytes; }))
			fail("inline data of %u: %s", bytes, std::strerror(errno));
}

void memory_regions(Bench &b)
{
	Pd pd(b.devices.a);
	Mr keeper(pd, 8192);

	expect_errno("REMOTE_WRITE without LOCAL_WRITE",
		     ibv_reg_mr(pd.get(), keeper.data(), 4096, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	expect_errno("REMOTE_ATOMIC without LOCAL_WRITE",
		     ibv_reg_mr(pd.get(), keeper.data(), 4096, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
	expect_errno("memory that is not there",
		     ibv_reg_mr(pd.get(), reinterpret_cast<void *>(4096), 4096, ALL_ACCESS),
		     EFAULT);
	auto *mr =
		ibv_reg_mr(pd.get(), keeper.data(), 4096, ALL_ACCESS | IBV_ACCESS_RELAXED_ORDERING);
	if (!mr)
		fail("RELAXED_ORDERING must be ignored, not refused: %s", std::strerror(errno));
	expect("dealloc_pd with a region in it", ibv_dealloc_pd(pd.get()), EBUSY);
	ibv_dereg_mr(mr);
}

int to_rtr_with(Bench &b, const std::function<void(ibv_qp_attr &)> &change)
{
	Pair pair(b.devices, b.config, false);
	ibv_qp_attr attr = {};

	pair.a.qp.to_init(pair.config.link_a);
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = pair.b.qp.num();
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = b.devices.b.gid(pair.config.link_b.gid_index);
	attr.ah_attr.grh.sgid_index = pair.config.link_a.gid_index;
	attr.ah_attr.grh.hop_limit = 64;
	change(attr);
	return ibv_modify_qp(pair.a.qp.get(), &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

void bad_attributes(Bench &b)
{
	auto max = b.devices.a.attr().max_qp_rd_atom;

	expect("all is well", to_rtr_with(b, [](ibv_qp_attr &) {}), 0);
	expect("no GRH", to_rtr_with(b, [](ibv_qp_attr &a) { a.ah_attr.is_global = 0; }), EINVAL);
	if (!to_rtr_with(b, [](ibv_qp_attr &a) { a.ah_attr.grh.sgid_index = 200; }))
		fail("a GID index that is empty was accepted");
	expect("port 2", to_rtr_with(b, [](ibv_qp_attr &a) { a.ah_attr.port_num = 2; }), EINVAL);
	expect("path MTU 0",
	       to_rtr_with(b, [](ibv_qp_attr &a) { a.path_mtu = static_cast<ibv_mtu>(0); }),
	       EINVAL);
	expect("path MTU 8192",
	       to_rtr_with(b, [](ibv_qp_attr &a) { a.path_mtu = static_cast<ibv_mtu>(6); }),
	       EINVAL);
	expect("too many READs to answer",
	       to_rtr_with(b, [=](ibv_qp_attr &a) { a.max_dest_rd_atomic = max + 1; }), EINVAL);
	expect("RNR timer 32", to_rtr_with(b, [](ibv_qp_attr &a) { a.min_rnr_timer = 32; }),
	       EINVAL);
}

/* all that was set comes back */
void query(Bench &b)
{
	auto &l = b.config.link_a;

	l.timeout = 17;
	l.retry = 5;
	l.rnr_retry = 3;
	l.min_rnr = 9;
	l.rd_atomic = 3;
	l.access = IBV_ACCESS_REMOTE_READ;
	auto pair = b.pair();
	auto q = pair.a.qp.query(IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN |
				 IBV_QP_DEST_QPN | IBV_QP_ACCESS_FLAGS | IBV_QP_AV |
				 IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC |
				 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_PORT | IBV_QP_CAP);
	auto gid = b.devices.b.gid(pair.config.link_b.gid_index);

	if (q.qp_state != IBV_QPS_RTS || q.path_mtu != l.mtu ||
	    q.rq_psn != pair.config.link_b.psn || q.sq_psn != l.psn ||
	    q.dest_qp_num != pair.b.qp.num() || q.port_num != 1)
		fail("state %d, path MTU %d, PSNs %x %x, peer %x, port %d", q.qp_state, q.path_mtu,
		     q.rq_psn, q.sq_psn, q.dest_qp_num, q.port_num);
	if (q.timeout != 17 || q.retry_cnt != 5 || q.rnr_retry != 3 || q.min_rnr_timer != 9 ||
	    q.max_rd_atomic != 3 || q.max_dest_rd_atomic != 3)
		fail("timeout %d, retries %d %d, RNR timer %d, READs %d %d", q.timeout, q.retry_cnt,
		     q.rnr_retry, q.min_rnr_timer, q.max_rd_atomic, q.max_dest_rd_atomic);
	if ((q.qp_access_flags & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)) !=
	    IBV_ACCESS_REMOTE_READ)
		fail("access %x", q.qp_access_flags);
	if (std::memcmp(&q.ah_attr.grh.dgid, &gid, sizeof(gid)) ||
	    q.ah_attr.grh.sgid_index != pair.config.link_a.gid_index ||
	    q.ah_attr.grh.hop_limit != 64)
		fail("another address comes back");
	if (q.cap.max_send_wr < 64 || q.cap.max_recv_wr < 64 || q.cap.max_send_sge < 4)
		fail("queues of %u and %u, %u pieces", q.cap.max_send_wr, q.cap.max_recv_wr,
		     q.cap.max_send_sge);
}

void forbidden_transitions(Bench &b)
{
	static const struct {
		ibv_qp_state from, to;
	} forbidden[] = { { IBV_QPS_RESET, IBV_QPS_RTR }, { IBV_QPS_RESET, IBV_QPS_RTS },
			  { IBV_QPS_RESET, IBV_QPS_SQD }, { IBV_QPS_INIT, IBV_QPS_RTS },
			  { IBV_QPS_INIT, IBV_QPS_SQD },  { IBV_QPS_RTR, IBV_QPS_INIT },
			  { IBV_QPS_RTR, IBV_QPS_SQD },	  { IBV_QPS_RTS, IBV_QPS_INIT },
			  { IBV_QPS_RTS, IBV_QPS_RTR },	  { IBV_QPS_ERR, IBV_QPS_RTS },
			  { IBV_QPS_ERR, IBV_QPS_INIT },  { IBV_QPS_ERR, IBV_QPS_RTR } };

	for (auto &f : forbidden) {
		Pair pair(b.devices, b.config, false);
		auto &qp = pair.a.qp;

		if (f.from != IBV_QPS_RESET)
			qp.to_init(pair.config.link_a);
		if (f.from == IBV_QPS_RTR || f.from == IBV_QPS_RTS)
			qp.to_rtr(pair.config.link_a, pair.b.qp.address(pair.config.link_b));
		if (f.from == IBV_QPS_RTS)
			qp.to_rts(pair.config.link_a);
		if (f.from == IBV_QPS_ERR)
			expect("to ERR", qp.try_state(IBV_QPS_ERR), 0);
		if (int err = qp.try_state(f.to); err != EINVAL)
			fail("from state %d to %d: %s", f.from, f.to, std::strerror(err));
		if (auto s = qp.state(); s != f.from)
			fail("from state %d to %d refused, but it is in %d", f.from, f.to, s);
	}
}

void busy_objects(Bench &b)
{
	auto pair = b.pair();

	expect("destroy a CQ in use", ibv_destroy_cq(pair.a.send_cq.get()), EBUSY);
	expect("free a PD in use", ibv_dealloc_pd(pair.a.pd.get()), EBUSY);
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "posting before the QP is ready", posts_in_early_states },
			   { "queues take what they promised, then ENOMEM", full_queues },
			   { "bad_wr in the middle of a chain", bad_wr },
			   { "too many pieces, too much inline data, no such opcode", too_much },
			   { "512 bytes of inline data, taken when posted", inline_is_taken },
			   { "limits are those of ibv_query_device", limits },
			   { "memory regions", memory_regions },
			   { "attributes that make no sense", bad_attributes },
			   { "ibv_query_qp says what was set", query },
			   { "forbidden transitions", forbidden_transitions },
			   { "objects in use are not destroyed", busy_objects } });
}
