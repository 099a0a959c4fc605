// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * modify_qp: legality comes from ib_modify_qp_is_ok(), what a transition does
 * from the table below.
 */
#include "../transport/qp.h"
#include "../transport/sched.h"

#include <linux/slab.h>
#include <rdma/ib_addr.h>

#include "../trace.h"
#include "verbs.h"

static int skr_modify_check(struct skr_dev *dev, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_ALT_PATH)
		return -EOPNOTSUPP;
	if (mask & IB_QP_RATE_LIMIT && attr->rate_limit && attr->rate_limit < SKR_RATE_LIMIT_MIN)
		return -EINVAL;
	if (mask & IB_QP_PATH_MIG_STATE && attr->path_mig_state != IB_MIG_MIGRATED)
		return -EINVAL;
	if (mask & IB_QP_PORT && attr->port_num != SKR_PORT)
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 ||
	     attr->path_mtu > iboe_get_mtu(READ_ONCE(dev->ndev->mtu))))
		return -EINVAL;
	if (mask & IB_QP_TIMEOUT && attr->timeout > 31)
		return -EINVAL;
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7)
		return -EINVAL;
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7)
		return -EINVAL;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return -EINVAL;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > SKR_MAX_RD_ATOMIC)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > SKR_MAX_RD_ATOMIC)
		return -EINVAL;
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num > SKR_MASK24)
		return -EINVAL;
	return 0;
}

static void skr_modify_attr(struct skr_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct skr_qp_attr *to = &qp->attr;

	if (mask & IB_QP_ACCESS_FLAGS)
		to->access = attr->qp_access_flags;
	if (mask & IB_QP_PATH_MTU)
		to->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	if (mask & IB_QP_DEST_QPN)
		to->dest_qpn = attr->dest_qp_num;
	if (mask & IB_QP_PKEY_INDEX)
		to->pkey_index = attr->pkey_index;
	if (mask & IB_QP_QKEY)
		to->qkey = attr->qkey;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT) {
		to->retry_cnt = attr->retry_cnt;
		qp->req.retry = attr->retry_cnt;
	}
	if (mask & IB_QP_RNR_RETRY) {
		to->rnr_retry = attr->rnr_retry;
		qp->req.rnr_retry = attr->rnr_retry;
	}
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_SQ_PSN) {
		to->sq_psn = attr->sq_psn & SKR_MASK24;
		qp->req.psn = to->sq_psn;
		qp->req.una_psn = to->sq_psn;
		qp->req.top_psn = to->sq_psn;
		qp->req.window = SKR_WINDOW_START;
	}
	if (mask & IB_QP_RQ_PSN) {
		to->rq_psn = attr->rq_psn & SKR_MASK24;
		qp->resp.epsn = to->rq_psn;
		qp->resp.ack_psn = (to->rq_psn - 1) & SKR_MASK24;
	}
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		to->sqd_event = attr->en_sqd_async_notify;
}

/* What a transition does beyond setting attributes */
enum skr_action {
	SKR_ACT_NONE,
	SKR_ACT_RESET,
	SKR_ACT_ERROR,
	SKR_ACT_DRAIN,
	SKR_ACT_RESUME,
};

static const u8 skr_actions[IB_QPS_ERR + 1][IB_QPS_ERR + 1] = {
	[IB_QPS_RESET] = { [IB_QPS_RESET] = SKR_ACT_RESET, [IB_QPS_ERR] = SKR_ACT_ERROR },
	[IB_QPS_INIT] = { [IB_QPS_RESET] = SKR_ACT_RESET, [IB_QPS_ERR] = SKR_ACT_ERROR },
	[IB_QPS_RTR] = { [IB_QPS_RESET] = SKR_ACT_RESET, [IB_QPS_ERR] = SKR_ACT_ERROR },
	[IB_QPS_RTS] = { [IB_QPS_RESET] = SKR_ACT_RESET, [IB_QPS_ERR] = SKR_ACT_ERROR,
			 [IB_QPS_SQD] = SKR_ACT_DRAIN },
	[IB_QPS_SQD] = { [IB_QPS_RESET] = SKR_ACT_RESET, [IB_QPS_ERR] = SKR_ACT_ERROR },
	[IB_QPS_SQE] = { [IB_QPS_RESET] = SKR_ACT_RESET, [IB_QPS_ERR] = SKR_ACT_ERROR,
			 [IB_QPS_RTS] = SKR_ACT_RESUME },
	[IB_QPS_ERR] = { [IB_QPS_RESET] = SKR_ACT_RESET },
};

static void skr_modify_state(struct skr_qp *qp, enum ib_qp_state next)
{
	enum ib_qp_state cur = qp->state;

	switch (skr_actions[cur][next]) {
	case SKR_ACT_ERROR:
		skr_qp_error(qp, IB_WC_WR_FLUSH_ERR);
		return;
	case SKR_ACT_RESET:
		skr_qp_reset(qp);
		break;
	case SKR_ACT_DRAIN:
		qp->sq_drained = false;
		break;
	case SKR_ACT_RESUME:
		/* what was posted before is not executed after all */
		skr_flush(qp, qp->sq.ring.depth);
		/* its completions may have overrun the CQ: then it fails after all */
		if (qp->state == IB_QPS_ERR)
			return;
		break;
	}
	if (cur != next)
		trace_skr_qp_state(qp->dev, qp->qpn, cur, next);
	WRITE_ONCE(qp->state, next);
}

static int skr_modify_locked(struct skr_qp *qp, struct ib_qp_attr *attr, int mask,
			     const struct skr_av *av, struct skr_saved **saved)
{
	enum ib_qp_state cur = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;

	/* a rate limit goes with any transition; not all kernels' tables have it */
	if (cur != qp->state ||
	    !ib_modify_qp_is_ok(cur, next, qp->ibqp->qp_type, mask & ~IB_QP_RATE_LIMIT))
		return -EINVAL;

	skr_modify_attr(qp, attr, mask);
	if (mask & IB_QP_AV) {
		skr_av_release(&qp->av);
		qp->av = *av;
		qp->attr.ah = attr->ah_attr;
		qp->attr.ah.grh.sgid_attr = NULL;	/* the core keeps it */
	}
	if (mask & IB_QP_RATE_LIMIT)
		skr_flow_limit(qp, attr->rate_limit);
	if (mask & IB_QP_AV || (qp->trans == SKR_TRANS_UD && next == IB_QPS_RTR))
		skr_flow_start(qp);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC) {
		qp->attr.max_dest_rd_atomic = attr->max_dest_rd_atomic;
		swap(qp->resp.saved, *saved);
		qp->resp.saved_next = 0;
		qp->resp.saved_count = 0;
	}
	skr_modify_state(qp, next);
	return 0;
}

int skr_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct skr_qp *qp = skr_qp(ibqp);
	struct skr_saved *saved = NULL;
	struct skr_av av = {};
	int err;

	err = skr_modify_check(qp->dev, attr, mask);
	if (err)
		return err;
	if (mask & IB_QP_AV) {
		/* may be changed at the same time: it chooses the source port, any does */
		u32 dest = data_race(qp->attr.dest_qpn);

		if (mask & IB_QP_DEST_QPN)
			dest = attr->dest_qp_num;
		err = skr_av_init(&av, &attr->ah_attr, qp->qpn, dest);
		if (err)
			return err;
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic) {
		saved = kcalloc(attr->max_dest_rd_atomic, sizeof(*saved), GFP_KERNEL_ACCOUNT);
		if (!saved)
			return -ENOMEM;
	}

	spin_lock_bh(&qp->lock);
	err = skr_modify_locked(qp, attr, mask, &av, &saved);
	spin_unlock_bh(&qp->lock);
	kfree(saved);
	/* RTS may have work waiting; ERR has to flush */
	skr_qp_run(qp);
	return err;
}
