// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Completions of a QP, and its way to RESET and to the error state.
 */
#include "qp.h"
#include "send.h"

#include "../trace.h"

/* @fire: NULL, or @ibcq already, or set to it if its event is to be raised */
static void skr_push(struct skr_qp *qp, struct ib_cq *ibcq, struct skerry_cqe *cqe,
		     bool solicited, struct skr_cq **fire)
{
	cqe->qp_num = qp->qpn;
	trace_skr_cqe(qp->dev, cqe);
	switch (skr_cq_push(skr_cq(ibcq), cqe, qp->ibqp, solicited)) {
	case SKR_PUSH_OK:
		break;
	case SKR_PUSH_FIRE:
		if (!*fire) {
			*fire = skr_cq(ibcq);
			skr_cq_get(*fire);
		}
		break;
	case SKR_PUSH_OVERRUN:
		/* a completion is lost: the QP must not go on as if it were not */
		if (qp->state != IB_QPS_ERR) {
			skr_qp_event(qp, IB_EVENT_QP_FATAL);
			skr_qp_error(qp, IB_WC_WR_FLUSH_ERR);
		}
		break;
	}
}

static void skr_complete_one_send(struct skr_qp *qp, enum ib_wc_status status, u32 byte_len)
{
	struct skr_sq *sq = &qp->sq;
	struct skr_swqe *wqe = skr_swqe(qp, sq->una);
	bool signaled = sq->sig_all || wqe->req.flags & SKERRY_SEND_SIGNALED;
	struct skerry_cqe cqe = {
		.wr_id = wqe->req.wr_id,
		.status = status,
		.opcode = wqe->op->wc_opcode,
		.byte_len = byte_len,
	};

	sq->una++;
	if ((s32)(sq->cur - sq->una) < 0)
		sq->cur = sq->una;
	if (status == IB_WC_WR_FLUSH_ERR)
		skr_qp_count(qp, SKR_CNT_REQ_CQE_FLUSH_ERROR);
	else if (status)
		skr_qp_count(qp, SKR_CNT_REQ_CQE_ERROR);
	/* who polls the completion may post into its place at once */
	skr_ring_publish(&sq->ring, sq->una);
	if (signaled || status)
		skr_push(qp, qp->ibqp->send_cq, &cqe, status, &qp->fire_send);
}

static bool skr_executed_locally(struct skr_qp *qp)
{
	struct skr_sq *sq = &qp->sq;
	struct skr_swqe *wqe = skr_swqe(qp, sq->una);

	return sq->una != sq->taken && wqe->op->flags & SKR_SOP_LOCAL && wqe->started;
}

void skr_complete_send(struct skr_qp *qp, enum ib_wc_status status, u32 byte_len)
{
	lockdep_assert_held(&qp->lock);
	skr_complete_one_send(qp, status, byte_len);
	while (qp->state != IB_QPS_ERR && skr_executed_locally(qp))
		skr_complete_one_send(qp, IB_WC_SUCCESS, 0);
}

void skr_complete_recv(struct skr_qp *qp, struct skerry_cqe *cqe, bool solicited)
{
	struct ib_cq *ibcq = qp->xrcd ? qp->recv.srq->ibsrq.ext.cq : qp->ibqp->recv_cq;

	lockdep_assert_held(&qp->lock);
	cqe->wr_id = qp->recv.wqe->wr_id;
	qp->recv.busy = false;
	qp->recv.srq = NULL;
	if (cqe->status == IB_WC_WR_FLUSH_ERR)
		skr_qp_count(qp, SKR_CNT_RESP_CQE_FLUSH_ERROR);
	else if (cqe->status)
		skr_qp_count(qp, SKR_CNT_RESP_CQE_ERROR);
	if (qp->rq.ring.hdr)
		skr_ring_publish(&qp->rq.ring, qp->rq.cons);
	skr_push(qp, ibcq, cqe, solicited || cqe->status, &qp->fire_recv);
}

int skr_take_recv(struct skr_qp *qp)
{
	int ret;

	lockdep_assert_held(&qp->lock);
	if (qp->recv.busy)
		return 1;
	if (qp->xrcd) {
		ret = skr_srq_take(qp->xrc_srq, qp->recv.wqe, &qp->recv.busy);
		qp->recv.srq = qp->recv.busy ? qp->xrc_srq : NULL;
		return ret;
	}
	if (qp->srq)
		return skr_srq_take(qp->srq, qp->recv.wqe, &qp->recv.busy);
	return skr_rq_take(&qp->rq, qp->recv.wqe, &qp->recv.busy);
}

static void skr_qp_forget_packets(struct skr_qp *qp)
{
	skr_rx_forget(qp);
	kfree_skb(qp->cur_req);
	kfree_skb(qp->cur_rsp);
	qp->cur_req = NULL;
	qp->cur_rsp = NULL;
	skr_reorder_purge(&qp->early_req);
	skr_reorder_purge(&qp->early_rsp);
	qp->resp.reading.active = false;
	qp->resp.ack_due = false;
	qp->req.waiting = false;
}

void skr_qp_error(struct skr_qp *qp, enum ib_wc_status status)
{
	lockdep_assert_held(&qp->lock);
	if (qp->state == IB_QPS_ERR)
		return;
	trace_skr_qp_state(qp->dev, qp->qpn, qp->state, IB_QPS_ERR);
	WRITE_ONCE(qp->state, IB_QPS_ERR);
	qp->flush_status = status;
	skr_qp_forget_packets(qp);
	/* the flush follows in the step that brought us here, or in the next */
	set_bit(SKR_QP_PENDING, &qp->run_flags);
}

void skr_qp_send_failed(struct skr_qp *qp, enum ib_wc_status status)
{
	lockdep_assert_held(&qp->lock);
	if (skr_qp_reliable(qp)) {
		skr_qp_error(qp, status);
		return;
	}
	trace_skr_qp_state(qp->dev, qp->qpn, qp->state, IB_QPS_SQE);
	WRITE_ONCE(qp->state, IB_QPS_SQE);
	qp->flush_status = status;
	set_bit(SKR_QP_PENDING, &qp->run_flags);
}

void skr_qp_recv_failed(struct skr_qp *qp)
{
	struct skerry_cqe cqe = { .status = IB_WC_LOC_PROT_ERR, .opcode = IB_WC_RECV };

	lockdep_assert_held(&qp->lock);
	if (qp->recv.busy)
		skr_complete_recv(qp, &cqe, false);
	else
		skr_qp_event(qp, IB_EVENT_QP_FATAL);
	skr_qp_error(qp, IB_WC_WR_FLUSH_ERR);
}

static void skr_qp_reset_sq(struct skr_sq *sq)
{
	sq->una = skr_ring_produced(&sq->ring);
	sq->cur = sq->una;
	WRITE_ONCE(sq->taken, sq->una);
	skr_ring_publish(&sq->ring, sq->una);
	skr_ring_want_kick(&sq->ring, sq->una);
	sq->idle = true;
}

static void skr_qp_reset_rq(struct skr_rq *rq)
{
	rq->cons = skr_ring_produced(&rq->ring);
	skr_ring_publish(&rq->ring, rq->cons);
	skr_ring_no_kick(&rq->ring);
}

void skr_qp_reset(struct skr_qp *qp)
{
	struct skr_saved *saved = qp->resp.saved;

	lockdep_assert_held(&qp->lock);
	skr_qp_forget_packets(qp);
	memset(&qp->req, 0, sizeof(qp->req));
	memset(&qp->resp, 0, sizeof(qp->resp));
	qp->resp.saved = saved;
	skr_tx_restart(qp);
	skr_av_release(&qp->av);

	/* what is posted is forgotten without a completion (IBTA 10.3.1) */
	if (skr_qp_sends(qp))
		skr_qp_reset_sq(&qp->sq);
	qp->flow.allowed = 0;
	qp->recv.busy = false;
	qp->recv.srq = NULL;
	qp->last_wqe = false;
	if (qp->rq.ring.hdr)
		skr_qp_reset_rq(&qp->rq);
}

static bool skr_flush_sq(struct skr_qp *qp, int *budget)
{
	struct skr_sq *sq = &qp->sq;
	enum ib_wc_status status;

	while (*budget > 0) {
		if (sq->una == sq->taken) {
			u32 ready = skr_ring_ready(&sq->ring, sq->una, sq->taken);

			if (!ready || ready == SKR_RING_BROKEN)
				return false;
			skr_wqe_take_send(&sq->ring, sq->taken, &sq->limits,
					  skr_swqe(qp, sq->taken));
			WRITE_ONCE(sq->taken, sq->taken + 1);
		}
		status = qp->flush_status;
		qp->flush_status = IB_WC_WR_FLUSH_ERR;
		skr_complete_send(qp, status, 0);
		--*budget;
	}
	return true;
}

/*
 * What others may still use stays in an SRQ: only the request that this QP has
 * taken is flushed, and its owner hears that there is nothing more to come
 * (IBTA 10.3.1, 11.6.3.5).
 */
static void skr_flush_srq(struct skr_qp *qp)
{
	struct skerry_cqe cqe = { .status = IB_WC_WR_FLUSH_ERR, .opcode = IB_WC_RECV };

	if (qp->recv.busy)
		skr_complete_recv(qp, &cqe, false);
	/* on XRC no SRQ is the QP's own */
	if (!qp->last_wqe && qp->srq)
		skr_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
	qp->last_wqe = true;
}

static bool skr_flush_rq(struct skr_qp *qp, int *budget)
{
	struct skerry_cqe cqe;

	if (!qp->rq.ring.hdr) {
		skr_flush_srq(qp);
		return false;
	}

	while (*budget > 0) {
		/* an unusable request is flushed like any other */
		if (!qp->recv.busy && (!skr_take_recv(qp) || !qp->recv.busy))
			return false;
		cqe = (struct skerry_cqe) { .status = IB_WC_WR_FLUSH_ERR, .opcode = IB_WC_RECV };
		skr_complete_recv(qp, &cqe, false);
		--*budget;
	}
	return true;
}

bool skr_flush(struct skr_qp *qp, int budget)
{
	bool more = false;

	lockdep_assert_held(&qp->lock);
	if (skr_qp_sends(qp))
		more = skr_flush_sq(qp, &budget);
	if (qp->state == IB_QPS_ERR)
		more |= skr_flush_rq(qp, &budget);
	if (more)
		return true;

	/* the next post must come here at once; look again for one that did not */
	if (skr_qp_sends(qp)) {
		qp->sq.idle = true;
		more = skr_ring_want_kick(&qp->sq.ring, qp->sq.taken) &&
		       skr_ring_ready(&qp->sq.ring, qp->sq.una, qp->sq.taken) != SKR_RING_BROKEN;
	}
	if (qp->state == IB_QPS_ERR && qp->rq.ring.hdr)
		more |= skr_ring_want_kick(&qp->rq.ring, qp->rq.cons) &&
			skr_ring_ready(&qp->rq.ring, qp->rq.cons, qp->rq.cons) != SKR_RING_BROKEN;
	return more;
}
