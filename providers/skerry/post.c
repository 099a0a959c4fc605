// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Posting work: write entries, publish them together, and enter the kernel
 * only if it asked for that.
 */
#include <errno.h>

#include <util/compiler.h>

#include "skerry.h"

static_assert(SKERRY_SEND_FENCE == IBV_SEND_FENCE &&
	      SKERRY_SEND_SIGNALED == IBV_SEND_SIGNALED &&
	      SKERRY_SEND_SOLICITED == IBV_SEND_SOLICITED &&
	      SKERRY_SEND_INLINE == IBV_SEND_INLINE,
	      "send flags are passed on as they are");
static_assert(IB_UVERBS_WR_RDMA_WRITE == (int)IBV_WR_RDMA_WRITE &&
	      IB_UVERBS_WR_SEND_WITH_INV == (int)IBV_WR_SEND_WITH_INV &&
	      IB_UVERBS_WR_LOCAL_INV == (int)IBV_WR_LOCAL_INV &&
	      SKERRY_OP_FLUSH == (int)IBV_WR_FLUSH &&
	      SKERRY_OP_ATOMIC_WRITE == (int)IBV_WR_ATOMIC_WRITE,
	      "opcodes are passed on as they are");
static_assert(sizeof(struct ibv_sge) == sizeof(struct skerry_sge) &&
	      offsetof(struct ibv_sge, addr) == offsetof(struct skerry_sge, addr) &&
	      offsetof(struct ibv_sge, length) == offsetof(struct skerry_sge, length) &&
	      offsetof(struct ibv_sge, lkey) == offsetof(struct skerry_sge, lkey),
	      "SGEs are copied as they are");

/*
 * Publish what was added to the ring since @start. Return whether the kernel
 * has to be told.
 *
 * A queue found full is worth a look, too: if the kernel is idle although
 * nothing fits any more, entering it does no harm, and it is the only way to
 * learn that the device has gone and that the queue will never drain.
 */
static bool publish(struct skerry_wq *wq, uint32_t start, int ret)
{
	if (wq->ring.index != start)
		skerry_ring_publish(&wq->ring);
	else if (ret != ENOMEM)
		return false;

	return skerry_ring_need_kick(&wq->ring);
}

/*
 * The kernel could not be entered. What was published cannot be taken back, as
 * the kernel may already have looked; but nobody vouches for it either. The
 * one cause that is to be expected is that the device has gone: then nothing
 * is executed any more, memory of the application is not touched, and no
 * completion comes. Say that none of the call's requests was accepted, and say
 * EIO whatever the cause, as other verbs do for a device that has gone: ENOMEM
 * would invite the application to post the same work again.
 */
static int kick_failed(struct ibv_context *ibctx, const char *what,
		       uint32_t number, int err)
{
	verbs_warn(verbs_get_ctx(ibctx), "%s %u: cannot enter the kernel: %d\n",
		   what, number, err);
	return EIO;
}

/*
 * The state is the one that the application last heard of. The kernel may have
 * moved the QP to the error state since; then it flushes what is posted here.
 */
bool skerry_can_send(const struct skerry_qp *qp)
{
	return qp->vqp.qp.state >= IBV_QPS_RTS && qp->sq.ring.hdr;
}

/*
 * The end of a post: show the kernel what was added since @start, unlock, and
 * enter the kernel if it asks for that. @ret is what stopped the post, if
 * anything did. Return 0 or errno if the kernel cannot be entered.
 */
int skerry_submit_sends(struct skerry_qp *qp, uint32_t start, int ret)
{
	struct ibv_send_wr *none;
	bool kick;
	int err;

	kick = publish(&qp->sq, start, ret);
	skerry_unlock(&qp->sq.lock);
	if (!kick)
		return 0;

	err = ibv_cmd_post_send(&qp->vqp.qp, NULL, &none);
	if (unlikely(err))
		return kick_failed(qp->vqp.qp.context, "QP",
				   qp->vqp.qp.qp_num, err);
	return 0;
}

static int post_one_send(struct skerry_wq *sq, const struct ibv_send_wr *wr,
			 enum ibv_mw_type windows)
{
	int ret;

	if (unlikely(skerry_ring_full(&sq->ring, sq->cap.max_wr)))
		return ENOMEM;

	ret = skerry_put_send(skerry_ring_entry(&sq->ring, sq->ring.index), wr,
			      &sq->cap, windows);
	if (!ret)
		sq->ring.index++;
	return ret;
}

static int post_sends(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		      struct ibv_send_wr **bad_wr, enum ibv_mw_type windows)
{
	struct skerry_qp *qp = to_sqp(ibqp);
	struct ibv_send_wr *first = wr;
	uint32_t start;
	int ret = 0;
	int err;

	if (unlikely(!skerry_can_send(qp))) {
		*bad_wr = wr;
		return EINVAL;
	}

	skerry_lock(&qp->sq.lock);
	start = qp->sq.ring.index;
	for (; wr; wr = wr->next) {
		ret = post_one_send(&qp->sq, wr, windows);
		if (unlikely(ret)) {
			*bad_wr = wr;
			break;
		}
	}

	err = skerry_submit_sends(qp, start, ret);
	if (unlikely(err)) {
		*bad_wr = first;
		return err;
	}
	return ret;
}

int skerry_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad_wr)
{
	return post_sends(ibqp, wr, bad_wr, IBV_MW_TYPE_2);
}

/* The key changes with each bind; the verb, not the application, chooses it. */
int skerry_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		   struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = bind->bind_info,
		},
	};
	struct ibv_send_wr *bad_wr;
	int ret;

	ret = post_sends(ibqp, &wr, &bad_wr, IBV_MW_TYPE_1);
	if (ret)
		return ret;

	mw->rkey = wr.bind_mw.rkey;
	return 0;
}

static int post_one_recv(struct skerry_wq *rq, const struct ibv_recv_wr *wr)
{
	int ret;

	if (unlikely(skerry_ring_full(&rq->ring, rq->cap.max_wr)))
		return ENOMEM;

	ret = skerry_put_recv(skerry_ring_entry(&rq->ring, rq->ring.index), wr,
			      &rq->cap);
	if (!ret)
		rq->ring.index++;
	return ret;
}

/* Return 0 or errno; *kick: the kernel has to be told */
static int post_recvs(struct skerry_wq *rq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr, bool *kick)
{
	uint32_t start;
	int ret = 0;

	skerry_lock(&rq->lock);
	if (unlikely(!rq->ring.hdr)) {
		skerry_unlock(&rq->lock);
		*bad_wr = wr;
		*kick = false;
		return EINVAL;
	}
	start = rq->ring.index;
	for (; wr; wr = wr->next) {
		ret = post_one_recv(rq, wr);
		if (unlikely(ret)) {
			*bad_wr = wr;
			break;
		}
	}
	*kick = publish(rq, start, ret);
	skerry_unlock(&rq->lock);
	return ret;
}

int skerry_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr)
{
	struct skerry_wq *rq = &to_sqp(ibqp)->rq;
	struct ibv_recv_wr *none;
	bool kick;
	int ret;

	/* A QP with an SRQ has no receive queue, and no lock of one */
	if (unlikely(ibqp->state == IBV_QPS_RESET || ibqp->srq)) {
		*bad_wr = wr;
		return EINVAL;
	}

	ret = post_recvs(rq, wr, bad_wr, &kick);
	if (kick) {
		int err = ibv_cmd_post_recv(ibqp, NULL, &none);

		if (unlikely(err)) {
			*bad_wr = wr;
			return kick_failed(ibqp->context, "QP", ibqp->qp_num,
					   err);
		}
	}

	return ret;
}

/* The kernel needs to hear of no post; it only says so if the SRQ has gone. */
int skerry_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad_wr)
{
	struct skerry_wq *rq = &to_ssrq(ibsrq)->rq;
	struct ibv_recv_wr *none;
	bool kick;
	int ret;

	ret = post_recvs(rq, wr, bad_wr, &kick);
	if (kick) {
		int err = ibv_cmd_post_srq_recv(ibsrq, NULL, &none);

		if (unlikely(err)) {
			*bad_wr = wr;
			return kick_failed(ibsrq->context, "SRQ",
					   ibsrq->handle, err);
		}
	}

	return ret;
}
