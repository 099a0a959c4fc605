// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* queue pairs and work requests */
#include <arpa/inet.h>

#include <utility>

#include "fail.hh"
#include "verbs.hh"

namespace st
{

Qp::Qp(const Device &dev, const Pd &pd, const Cq &send_cq, const Cq &recv_cq, const QpDepth &depth)
	: dev(dev)
{
	ibv_qp_init_attr_ex init = {};

	init.send_cq = send_cq.get();
	init.recv_cq = recv_cq.get();
	init.srq = depth.srq;
	init.cap = { depth.send, depth.recv, depth.send_sge, depth.recv_sge, depth.inline_bytes };
	init.qp_type = depth.type;
	init.sq_sig_all = depth.signal_all;
	init.pd = pd.get();
	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	if (depth.create_flags) {
		init.create_flags = depth.create_flags;
		init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	}
	qp = ibv_create_qp_ex(dev.get(), &init);
	if (!qp)
		fail_errno("ibv_create_qp_ex");
	caps = init.cap;
}

Qp::Qp(const Device &dev, ibv_qp *made) : dev(dev), qp(made)
{
	if (!qp)
		fail_errno("creating a QP");
}

Qp::~Qp()
{
	destroy();
}

int Qp::destroy()
{
	int err = qp ? ibv_destroy_qp(qp) : 0;

	qp = nullptr;
	return err;
}

QpAddress Qp::address(const QpLink &link) const
{
	return { qp->qp_num, link.psn, dev.gid(link.gid_index) };
}

void Qp::to_init(const QpLink &link) const
{
	ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qp_access_flags = link.access;
	if (int err = ibv_modify_qp(qp, &attr,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					    IBV_QP_ACCESS_FLAGS))
		fail_errno("modify to INIT", err);
}

void Qp::to_rtr(const QpLink &link, const QpAddress &peer) const
{
	ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = link.mtu;
	attr.dest_qp_num = peer.qpn;
	attr.rq_psn = peer.psn;
	attr.max_dest_rd_atomic = link.rd_atomic;
	attr.min_rnr_timer = link.min_rnr;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = peer.gid;
	attr.ah_attr.grh.sgid_index = link.gid_index;
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.grh.traffic_class = link.tclass;
	attr.ah_attr.sl = link.sl;
	attr.ah_attr.static_rate = link.static_rate;
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (int err = ibv_modify_qp(qp, &attr, mask))
		fail_errno("modify to RTR", err);
}

void Qp::to_rts(const QpLink &link) const
{
	ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = link.psn;
	attr.timeout = link.timeout;
	attr.retry_cnt = link.retry;
	attr.rnr_retry = link.rnr_retry;
	attr.max_rd_atomic = link.rd_atomic;
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND)
		mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	if (qp->qp_type != IBV_QPT_UC)
		mask |= IBV_QP_TIMEOUT;
	if (int err = ibv_modify_qp(qp, &attr, mask))
		fail_errno("modify to RTS", err);
}

void Qp::connect(const QpLink &link, const QpAddress &peer) const
{
	to_init(link);
	to_rtr(link, peer);
	to_rts(link);
}

void Qp::to_datagram(uint32_t qkey, uint32_t psn) const
{
	ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qkey = qkey;
	if (int err = ibv_modify_qp(qp, &attr,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		fail_errno("modify to INIT", err);
	if (int err = try_state(IBV_QPS_RTR))
		fail_errno("modify to RTR", err);
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = psn;
	if (int err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		fail_errno("modify to RTS", err);
}

int Qp::try_state(ibv_qp_state state) const
{
	ibv_qp_attr attr = {};

	attr.qp_state = state;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

ibv_qp_attr Qp::query(int mask) const
{
	ibv_qp_attr attr;
	ibv_qp_init_attr init;

	if (int err = ibv_query_qp(qp, &attr, mask, &init))
		fail_errno("ibv_query_qp", err);
	return attr;
}

ibv_qp_state Qp::state() const
{
	return query(IBV_QP_STATE).qp_state;
}

void Qp::post(ibv_send_wr &wr) const
{
	ibv_send_wr *bad = nullptr;

	if (int err = ibv_post_send(qp, &wr, &bad))
		fail_errno("ibv_post_send", err);
}

void Qp::recv(uint64_t id, std::vector<ibv_sge> sges) const
{
	ibv_recv_wr wr = {}, *bad = nullptr;

	wr.wr_id = id;
	wr.sg_list = sges.data();
	wr.num_sge = sges.size();
	if (int err = ibv_post_recv(qp, &wr, &bad))
		fail_errno("ibv_post_recv", err);
}

Work::Work(uint64_t id, ibv_wr_opcode opcode, std::vector<ibv_sge> list, unsigned int flags)
	: sges(std::move(list))
{
	wr.wr_id = id;
	wr.opcode = opcode;
	wr.send_flags = flags;
}

Work &Work::remote(uint64_t addr, uint32_t rkey)
{
	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = rkey;
	return *this;
}

Work &Work::atomic(uint64_t addr, uint32_t rkey, uint64_t compare_add, uint64_t swap)
{
	wr.wr.atomic.remote_addr = addr;
	wr.wr.atomic.rkey = rkey;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	return *this;
}

Work &Work::imm(uint32_t value)
{
	wr.imm_data = htonl(value);
	return *this;
}

Work &Work::xrc(uint32_t srqn)
{
	wr.qp_type.xrc.remote_srqn = srqn;
	return *this;
}

Work &Work::datagram(ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = qkey;
	return *this;
}

ibv_send_wr &Work::get()
{
	wr.sg_list = sges.data();
	wr.num_sge = sges.size();
	return wr;
}

int Work::try_post(const Qp &qp)
{
	ibv_send_wr *bad = nullptr;

	return ibv_post_send(qp.get(), &get(), &bad);
}

void Work::post(const Qp &qp)
{
	qp.post(get());
}

} // namespace st
