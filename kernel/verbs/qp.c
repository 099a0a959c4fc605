// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "../transport/qp.h"
#include "../transport/sched.h"

#include <linux/math64.h>
#include <linux/slab.h>

#include "verbs.h"

/*
 * What serves a type of QP; SKR_SOP_* is what work requests are checked by, none
 * if there is no send queue; then the packets that it takes
 */
static const struct {
	u8	trans;
	u16	sop;
	u32	takes;
} skr_transports[] = {
	[IB_QPT_GSI] = { SKR_TRANS_UD, SKR_SOP_UD, SKR_IS_REQUEST },
	[IB_QPT_RC] = { SKR_TRANS_RC, SKR_SOP_RC, SKR_IS_REQUEST | SKR_IS_RESPONSE },
	[IB_QPT_UC] = { SKR_TRANS_UC, SKR_SOP_UC, SKR_IS_REQUEST },
	[IB_QPT_UD] = { SKR_TRANS_UD, SKR_SOP_UD, SKR_IS_REQUEST },
	[IB_QPT_XRC_INI] = { SKR_TRANS_XRC, SKR_SOP_XRC, SKR_IS_RESPONSE },
	[IB_QPT_XRC_TGT] = { SKR_TRANS_XRC, 0, SKR_IS_REQUEST },
};

static bool skr_qp_type_known(enum ib_qp_type type)
{
	return type < ARRAY_SIZE(skr_transports) && skr_transports[type].takes;
}

/* The core makes XRC targets itself, for all processes of the domain. */
static bool skr_qp_queues_given(const struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	switch (init->qp_type) {
	case IB_QPT_XRC_INI:
		return init->send_cq && udata;
	case IB_QPT_XRC_TGT:
		return init->xrcd;
	default:
		return init->send_cq && init->recv_cq;
	}
}

static int skr_qp_check_init(const struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (!skr_qp_type_known(init->qp_type))
		return -EOPNOTSUPP;
	/* QP 1 is the kernel's: its datagrams configure connections */
	if (init->qp_type == IB_QPT_GSI && (udata || init->port_num != SKR_PORT))
		return -EINVAL;
	if (init->create_flags & ~(init->qp_type == IB_QPT_UD ?
				   IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0))
		return -EOPNOTSUPP;
	if (!skr_qp_queues_given(init, udata))
		return -EINVAL;
	if (cap->max_send_wr > SKR_MAX_QP_WR || cap->max_recv_wr > SKR_MAX_QP_WR ||
	    cap->max_send_sge > SKR_MAX_SGE || cap->max_recv_sge > SKR_MAX_SGE ||
	    cap->max_inline_data > SKR_MAX_INLINE)
		return -EINVAL;
	return 0;
}

/* What user space asks for beyond the attributes; it may ask for nothing. */
static int skr_qp_take_request(struct ib_udata *udata, enum skr_flow_wish *wish)
{
	struct skerry_create_qp_req req = {};
	int err;

	*wish = SKR_WISH_NONE;
	if (!udata)
		return 0;
	err = ib_copy_from_udata(&req, udata, min(udata->inlen, sizeof(req)));
	if (err)
		return err;
	if (udata->inlen > sizeof(req) &&
	    !ib_is_udata_cleared(udata, sizeof(req), udata->inlen - sizeof(req)))
		return -EOPNOTSUPP;
	if (req.rsvd)
		return -EOPNOTSUPP;
	switch (req.flags) {
	case 0:
		return 0;
	case SKERRY_CREATE_QP_CC_ON:
		*wish = SKR_WISH_ON;
		return 0;
	case SKERRY_CREATE_QP_CC_OFF:
		*wish = SKR_WISH_OFF;
		return 0;
	case SKERRY_CREATE_QP_CC_ON | SKERRY_CREATE_QP_CC_OFF:
		return -EINVAL;
	default:
		return -EOPNOTSUPP;
	}
}

static int skr_qp_create_sq(struct skr_qp *qp, const struct ib_qp_init_attr *init,
			    struct ib_ucontext *ucontext, struct skerry_ring_info *info)
{
	u32 data = max_t(u32, init->cap.max_send_sge * sizeof(struct skerry_sge),
			 init->cap.max_inline_data);
	u32 depth = skr_ring_depth(init->cap.max_send_wr);
	struct skr_sq *sq = &qp->sq;

	if (init->qp_type == IB_QPT_XRC_TGT)
		return 0;
	data = ALIGN(data, sizeof(struct skerry_sge));
	sq->limits.transport = skr_transports[init->qp_type].sop;
	if (!ucontext && init->qp_type == IB_QPT_RC)
		sq->limits.transport |= SKR_SOP_KERNEL_RC;
	sq->limits.max_sge = init->cap.max_send_sge;
	sq->limits.max_inline = init->cap.max_inline_data;
	sq->max_wr = init->cap.max_send_wr;
	sq->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	sq->wqe_bytes = ALIGN(sizeof(struct skr_swqe) + data, L1_CACHE_BYTES);
	sq->wqes = kvcalloc(depth, sq->wqe_bytes, GFP_KERNEL_ACCOUNT);
	if (!sq->wqes)
		return -ENOMEM;
	sq->shm = skr_shm_create(&sq->ring, ucontext, depth, sizeof(struct skerry_send_wqe) + data,
				 info);
	if (IS_ERR(sq->shm)) {
		kvfree(sq->wqes);
		return PTR_ERR(sq->shm);
	}
	sq->idle = true;
	skr_ring_want_kick(&sq->ring, 0);
	return 0;
}

static void skr_qp_destroy_sq(struct skr_qp *qp)
{
	skr_shm_destroy(qp->sq.shm);
	qp->sq.ring.hdr = NULL;
	kvfree(qp->sq.wqes);
}

static int skr_qp_create_rq(struct skr_qp *qp, const struct ib_qp_init_attr *init,
			    struct ib_ucontext *ucontext, struct skerry_ring_info *info)
{
	u32 max_sge = init->cap.max_recv_sge;
	bool own = !init->srq && !qp->xrcd;
	int err = 0;

	if (init->qp_type == IB_QPT_XRC_INI)
		return 0;
	if (init->srq) {
		qp->srq = skr_srq(init->srq);
		max_sge = qp->srq->rq.max_sge;
	} else if (qp->xrcd) {
		/* requests come from any SRQ of the domain */
		max_sge = SKR_MAX_SGE;
	}
	qp->recv.wqe = kzalloc(struct_size(qp->recv.wqe, sge, max_sge), GFP_KERNEL_ACCOUNT);
	if (!qp->recv.wqe)
		return -ENOMEM;
	if (own)
		err = skr_rq_create(&qp->rq, ucontext, init->cap.max_recv_wr, max_sge, info);
	if (err)
		kfree(qp->recv.wqe);
	return err;
}

static void skr_qp_destroy_rq(struct skr_qp *qp)
{
	skr_rq_destroy(&qp->rq);
	kfree(qp->recv.wqe);
}

int skr_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct ib_ucontext *ucontext = skr_udata_ucontext(udata);
	struct skr_dev *dev = skr_dev(ibqp->device);
	struct skerry_create_qp_resp resp = {};
	enum skr_flow_wish wish;
	struct skr_qp *qp;
	int err;

	if (init->qp_type == IB_QPT_XRC_TGT)
		init->cap = (struct ib_qp_cap) {};
	if (init->srq || init->qp_type == IB_QPT_XRC_INI) {
		init->cap.max_recv_wr = 0;
		init->cap.max_recv_sge = 0;
	}
	err = skr_qp_check_init(init, udata);
	if (err)
		return err;
	if (udata && udata->outlen < sizeof(resp))
		return -EINVAL;
	err = skr_qp_take_request(udata, &wish);
	if (err)
		return err;
	err = skr_object_get(dev, SKR_OBJ_QP, SKR_MAX_QP);
	if (err)
		return err;

	qp = skr_qp_alloc(dev, ibqp);
	if (IS_ERR(qp)) {
		err = PTR_ERR(qp);
		goto err_put_object;
	}
	qp->trans = skr_transports[init->qp_type].trans;
	qp->takes = skr_transports[init->qp_type].takes;
	if (init->qp_type == IB_QPT_XRC_TGT)
		qp->xrcd = init->xrcd;
	else if (ucontext)
		qp->lane = &skr_ucontext(ucontext)->lane;
	qp->flow.wish = wish;
	qp->no_loopback = init->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	err = skr_qp_create_sq(qp, init, ucontext, &resp.sq);
	if (err)
		goto err_put_qp;
	err = skr_qp_create_rq(qp, init, ucontext, &resp.rq);
	if (err)
		goto err_destroy_sq;
	if (udata) {
		err = ib_copy_to_udata(udata, &resp, sizeof(resp));
		if (err)
			goto err_destroy_rq;
	}
	container_of(ibqp, struct skr_ibqp, ibqp)->qp = qp;
	ibqp->qp_num = qp->qpn;
	err = skr_qp_publish(qp);
	if (err)
		goto err_destroy_rq;
	return 0;

err_destroy_rq:
	skr_qp_destroy_rq(qp);
err_destroy_sq:
	skr_qp_destroy_sq(qp);
err_put_qp:
	skr_qp_shutdown(qp);
	skr_qp_put(qp);
err_put_object:
	skr_object_put(dev, SKR_OBJ_QP);
	return err;
}

int skr_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct skr_qp *qp = skr_qp(ibqp);

	skr_qp_shutdown(qp);
	/* who only wants to show it may still come (restrack.c) */
	WRITE_ONCE(container_of(ibqp, struct skr_ibqp, ibqp)->qp, NULL);
	skr_qp_destroy_rq(qp);
	skr_qp_destroy_sq(qp);
	kfree(qp->resp.saved);
	skr_av_release(&qp->av);
	skr_qp_put(qp);
	skr_object_put(skr_dev(ibqp->device), SKR_OBJ_QP);
	return 0;
}

int skr_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	/* older cores list it while it is being destroyed, too: EAGAIN leaves it out */
	struct skr_qp *qp = skr_qp_hold(ibqp);

	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	if (!qp)
		return -EAGAIN;
	spin_lock_bh(&qp->lock);
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->path_mtu = ib_mtu_int_to_enum(qp->attr.mtu);
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->qkey = qp->attr.qkey;
	attr->rq_psn = qp->resp.epsn;
	attr->sq_psn = qp->req.psn;
	attr->dest_qp_num = qp->attr.dest_qpn;
	attr->qp_access_flags = qp->attr.access;
	attr->ah_attr = qp->attr.ah;
	attr->pkey_index = qp->attr.pkey_index;
	attr->sq_draining = qp->state == IB_QPS_SQD && !qp->sq_drained;
	attr->max_rd_atomic = qp->attr.max_rd_atomic;
	attr->max_dest_rd_atomic = qp->attr.max_dest_rd_atomic;
	attr->min_rnr_timer = qp->attr.min_rnr_timer;
	attr->port_num = SKR_PORT;
	attr->timeout = qp->attr.timeout;
	attr->rate_limit = div_u64(qp->flow.allowed, SKR_CC_KBPS);
	attr->retry_cnt = qp->attr.retry_cnt;
	attr->rnr_retry = qp->attr.rnr_retry;
	skr_qp_unlock(qp);

	attr->cap.max_send_wr = qp->sq.max_wr;
	attr->cap.max_recv_wr = qp->rq.max_wr;
	attr->cap.max_send_sge = qp->sq.limits.max_sge;
	attr->cap.max_recv_sge = qp->rq.max_sge;
	attr->cap.max_inline_data = qp->sq.limits.max_inline;
	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->xrcd = qp->xrcd;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sq.sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	if (qp->no_loopback)
		init->create_flags = IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	skr_qp_put(qp);
	return 0;
}
