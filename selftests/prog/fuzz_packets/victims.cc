// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "victims.hh"

#include "../lib/fail.hh"

namespace st
{

static PairConfig hasty(PairConfig config, ibv_qp_type type)
{
	config.depth.type = type;
	config.bytes = 1 << 16;
	config.link_a.timeout = config.link_b.timeout = 10;
	config.link_a.retry = config.link_b.retry = 3;
	config.link_a.rnr_retry = config.link_b.rnr_retry = 3;
	config.link_a.min_rnr = config.link_b.min_rnr = 1;
	config.cq_depth = 1024;
	return config;
}

/* where A is as B sees it */
static Path path_of(const std::string &gid)
{
	const bool v1 = gid.rfind("v1-", 0) == 0, v4 = gid.substr(v1 ? 3 : 0) == "v4";
	Path path;

	path.source_mac = Path::mac("02:00:00:77:01:01");
	path.dest_mac = Path::mac("02:00:00:77:01:02");
	path.addresses(v4 ? "10.77.1.1" : "fd77:1::1", v4 ? "10.77.1.2" : "fd77:1::2");
	return v1 ? path.as_v1() : path;
}

Victims::Victims(const PairConfig &cfg, uint64_t seed)
	: rng(seed), config(hasty(cfg, IBV_QPT_RC)), devices(cfg), rc(devices, config),
	  uc(devices, hasty(cfg, IBV_QPT_UC)), ud_a(devices.a, cfg.gid), ud_b(devices.b, cfg.gid),
	  to_a(ud_b.pd, ud_b.gid_index, ud_a.gid()), to_b(ud_a.pd, ud_a.gid_index, ud_b.gid()),
	  domain(devices.b), srq(rc.b.pd, rc.b.recv_cq, domain),
	  xrc_target(devices.b, make_target(devices.b, domain)),
	  xrc_initiator(devices.a, make_initiator(rc.a.pd, rc.a.send_cq)), a_to_b(path_of(cfg.gid))
{
	config.link_a.gid_index = rc.config.link_a.gid_index;
	config.link_b.gid_index = rc.config.link_b.gid_index;
	xrc_target.connect(config.link_b, xrc_initiator.address(config.link_a));
	xrc_initiator.connect(config.link_a, xrc_target.address(config.link_b));
}

/* whatever it is, and whether or not it can be */
void Victims::post(const Qp &qp, const End &from, const End &to)
{
	static const ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
						 IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
						 IBV_WR_ATOMIC_FETCH_AND_ADD };
	const bool reliable = qp.get()->qp_type != IBV_QPT_UC;
	const auto opcode = opcodes[rng.below(reliable ? std::size(opcodes) : 3)];
	const bool atomic = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	Work work(1, opcode, { from.mr.sge(0, atomic ? 8 : rng.below(4000)) });

	if (atomic)
		work.atomic(to.mr.addr(), to.mr.rkey(), 1);
	else
		work.remote(to.mr.addr(4096), to.mr.rkey());
	if (qp.get()->qp_type == IBV_QPT_XRC_SEND)
		work.xrc(srq.num());
	work.try_post(qp);
}

void Victims::poll(const Cq &cq)
{
	ibv_wc wc[16];

	for (int n; (n = ibv_poll_cq(cq.get(), 16, wc)) > 0;)
		for (int i = 0; i < n; i++)
			(wc[i].status ? bad : good)++;
}

void Victims::work()
{
	ibv_recv_wr recv = {}, *unused;
	ibv_sge sge;

	recv.sg_list = &sge;
	recv.num_sge = 1;
	for (auto *end : { &rc.a, &rc.b, &uc.a, &uc.b }) {
		sge = end->mr.sge(16384, rng.percent(80) ? 8192 : 100);
		ibv_post_recv(end->qp.get(), &recv, &unused);
	}
	for (auto *end : { &ud_a, &ud_b }) {
		sge = end->mr.sge(0, 4096);
		ibv_post_recv(end->qp.get(), &recv, &unused);
	}
	sge = rc.b.mr.sge(32768, 8192);
	ibv_post_srq_recv(srq.get(), &recv, &unused);
	post(rc.a.qp, rc.a, rc.b);
	post(rc.b.qp, rc.b, rc.a);
	post(uc.a.qp, uc.a, uc.b);
	post(xrc_initiator, rc.a, rc.b);
	ud_a.work(1, rng.below(900), 1)
		.datagram(to_b.get(), ud_b.qp.num(), UdEnd::QKEY)
		.try_post(ud_a.qp);
	for (auto *end : { &rc.a, &rc.b, &uc.a, &uc.b }) {
		poll(end->send_cq);
		poll(end->recv_cq);
	}
	for (auto *end : { &ud_a, &ud_b }) {
		poll(end->send_cq);
		poll(end->recv_cq);
	}
}

unsigned int Victims::revive()
{
	unsigned int failed = 0;
	auto again = [&](const Qp &a, const Qp &b) {
		if (a.state() == IBV_QPS_RTS && b.state() == IBV_QPS_RTS)
			return;
		for (const auto *qp : { &a, &b })
			if (int err = qp->try_state(IBV_QPS_RESET))
				fail_errno("modify to RESET", err);
		a.connect(config.link_a, b.address(config.link_b));
		b.connect(config.link_b, a.address(config.link_a));
		failed++;
	};

	again(rc.a.qp, rc.b.qp);
	again(uc.a.qp, uc.b.qp);
	again(xrc_initiator, xrc_target);
	for (auto *end : { &ud_a, &ud_b })
		if (end->qp.state() != IBV_QPS_RTS) {
			end->qp.try_state(IBV_QPS_RESET);
			end->qp.to_datagram(UdEnd::QKEY, 0x333333);
			failed++;
		}
	devices.drain();
	return failed;
}

Target Victims::target(const Qp &qp, const End &end, const Qp &peer, uint8_t transport) const
{
	const auto attr = qp.query(IBV_QP_RQ_PSN | IBV_QP_SQ_PSN);
	Target t;

	t.transport = transport;
	t.on_b = end.dev.get() == devices.b.get();
	t.qpn = qp.num();
	t.peer_qpn = peer.num();
	t.expected = attr.rq_psn;
	t.next = attr.sq_psn;
	t.va = end.mr.addr();
	t.rkey = end.mr.rkey();
	t.bytes = end.mr.size();
	t.qkey = UdEnd::QKEY;
	t.srqn = srq.num();
	t.path = t.on_b ? a_to_b : a_to_b.reversed();
	return t;
}

std::vector<Target> Victims::targets() const
{
	return {
		target(rc.a.qp, rc.a, rc.b.qp, TRANSPORT_RC),
		target(rc.b.qp, rc.b, rc.a.qp, TRANSPORT_RC),
		target(uc.a.qp, uc.a, uc.b.qp, TRANSPORT_UC),
		target(uc.b.qp, uc.b, uc.a.qp, TRANSPORT_UC),
		target(ud_a.qp, rc.a, ud_b.qp, TRANSPORT_UD),
		target(ud_b.qp, rc.b, ud_a.qp, TRANSPORT_UD),
		target(xrc_initiator, rc.a, xrc_target, TRANSPORT_XRC),
		target(xrc_target, rc.b, xrc_initiator, TRANSPORT_XRC),
	};
}

} // namespace st
