// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The requester: cuts send requests into packets, as far as the window, the
 * peer's resources and the local stack allow (IBTA 9.7.3).
 */
#include "engine.h"
#include "send.h"
#include "unreliable.h"

#include "../mem/bind.h"
#include "../trace.h"
#include "../wire/psn.h"

/* What the requester does next */
enum skr_req_verdict {
	SKR_REQ_SENT,		/* a packet left, or a request is done; go on */
	SKR_REQ_BLOCKED,	/* something else will wake us */
	SKR_REQ_IDLE,		/* the ring is empty */
};

static u32 skr_req_packets(const struct skr_qp *qp, const struct skr_swqe *wqe)
{
	if (qp->trans == SKR_TRANS_UD)
		return 1;
	return max(1U, DIV_ROUND_UP(wqe->length, qp->attr.mtu));
}

static u8 skr_rd_outstanding(const struct skr_requester *req)
{
	return req->rd_tail - req->rd_head;
}

/* The request to send next: being sent, or fresh from the ring. */
static struct skr_swqe *skr_req_next(struct skr_qp *qp)
{
	struct skr_sq *sq = &qp->sq;
	struct skr_swqe *wqe;
	u32 ready;

	if (sq->cur != sq->taken)
		return skr_swqe(qp, sq->cur);

	ready = skr_ring_ready(&sq->ring, sq->una, sq->taken);
	if (!ready)
		return NULL;
	if (ready == SKR_RING_BROKEN) {
		skr_qp_event(qp, IB_EVENT_QP_FATAL);
		skr_qp_error(qp, IB_WC_WR_FLUSH_ERR);
		return NULL;
	}
	wqe = skr_swqe(qp, sq->taken);
	skr_wqe_take_send(&sq->ring, sq->taken, &sq->limits, wqe);
	WRITE_ONCE(sq->taken, sq->taken + 1);
	trace_skr_wqe(qp->dev, qp->qpn, wqe->req.wr_id, wqe->req.opcode, wqe->length);
	return wqe;
}

static bool skr_req_may_start(const struct skr_qp *qp, const struct skr_swqe *wqe)
{
	/* SQD: what has begun is finished, nothing new begins (10.3.1) */
	return qp->state == IB_QPS_RTS &&
	       !(wqe->req.flags & SKERRY_SEND_FENCE && skr_rd_outstanding(&qp->req));
}

static bool skr_req_start(struct skr_qp *qp, struct skr_swqe *wqe)
{
	struct skr_requester *req = &qp->req;

	if (wqe->started)
		return true;
	if (!skr_req_may_start(qp, wqe))
		return false;
	wqe->started = true;
	wqe->first_psn = req->psn;
	wqe->last_psn = skr_psn_add(req->psn, skr_req_packets(qp, wqe) - 1);
	return true;
}

static bool skr_req_window_open(const struct skr_qp *qp, const struct skr_swqe *wqe)
{
	const struct skr_requester *req = &qp->req;

	if (!skr_qp_reliable(qp))
		return true;
	if (wqe->op->flags & SKR_SOP_ANSWERED &&
	    skr_rd_outstanding(req) >= qp->attr.max_rd_atomic)
		return false;
	/* responses count as well: they are what fills the path of a READ */
	return skr_psn_diff(req->psn, req->una_psn) < req->window;
}

static u8 skr_req_opcode(const struct skr_swqe *wqe, bool first, bool last)
{
	u16 flags = wqe->op->flags;
	bool write = flags & SKR_SOP_WRITE;

	if (!last) {
		if (first)
			return write ? SKR_WRITE_FIRST : SKR_SEND_FIRST;
		return write ? SKR_WRITE_MIDDLE : SKR_SEND_MIDDLE;
	}
	if (flags & SKR_SOP_IMM) {
		if (first)
			return write ? SKR_WRITE_ONLY_IMM : SKR_SEND_ONLY_IMM;
		return write ? SKR_WRITE_LAST_IMM : SKR_SEND_LAST_IMM;
	}
	if (flags & SKR_SOP_INV)
		return first ? SKR_SEND_ONLY_INV : SKR_SEND_LAST_INV;
	if (first)
		return write ? SKR_WRITE_ONLY : SKR_SEND_ONLY;
	return write ? SKR_WRITE_LAST : SKR_SEND_LAST;
}

bool skr_req_payload(struct skr_qp *qp, const struct skr_swqe *wqe, u32 offset, void *to,
		     u32 bytes)
{
	struct skr_sges sges = skr_qp_sges(qp, wqe->sge, wqe->req.num_sge);

	if (wqe->req.flags & SKERRY_SEND_INLINE) {
		memcpy(to, wqe->data + offset, bytes);
		return true;
	}
	return skr_sges_read(&sges, offset, to, bytes);
}

/*
 * An ACK is asked for by the last packet of a message, every now and then, and
 * before the window closes; by each packet of a slow flow, whose next one may come
 * later than the ACK timeout.
 */
static bool skr_req_ackreq(const struct skr_qp *qp, bool last)
{
	const struct skr_requester *req = &qp->req;

	return last || qp->flow.cc.rate < SKR_ACKREQ_SLOW || !(req->psn & (SKR_ACKREQ_EVERY - 1)) ||
	       skr_psn_diff(req->psn, req->una_psn) + 1 >= req->window;
}

/*
 * Large payloads of those who wait for an answer leave as the pages they lie in. Nobody
 * waits for a datagram, and its memory is its owner's again when it has left. A repeat
 * may still be on its way when the answer to the first comes, and is a copy therefore, or
 * its ICRC would not fit what the owner has written since.
 */
static bool skr_req_lends(const struct skr_qp *qp, const struct skr_swqe *wqe, u32 bytes)
{
	return bytes >= SKR_LEND_MIN && skr_qp_reliable(qp) &&
	       skr_psn_diff(qp->req.psn, qp->req.top_psn) >= 0 &&
	       !(wqe->req.flags & SKERRY_SEND_INLINE) && READ_ONCE(skr_tune.zero_copy);
}

/* Return: 0 or a negative errno; -EOPNOTSUPP: this payload must be copied. */
static int skr_req_lend_data(struct skr_qp *qp, struct skr_batch *out,
			     const struct skr_swqe *wqe, u32 offset, struct skr_pkt *pkt)
{
	struct skr_sges sges = skr_qp_sges(qp, wqe->sge, wqe->req.num_sge);
	struct skr_loan loan __uninitialized;
	int err;

	err = skr_sges_lend(&sges, offset, pkt->payload_bytes, &loan);
	if (err)
		return err;
	err = skr_send_begin_lent(qp, out, pkt, &loan);
	skr_loan_end(&loan);
	return err;
}

static int skr_req_copy_data(struct skr_qp *qp, struct skr_batch *out,
			     const struct skr_swqe *wqe, u32 offset, struct skr_pkt *pkt)
{
	void *payload = skr_send_begin(qp, out, pkt);

	if (IS_ERR(payload))
		return PTR_ERR(payload);
	if (skr_req_payload(qp, wqe, offset, payload, pkt->payload_bytes))
		return 0;
	skr_batch_cancel(out);
	return -EFAULT;
}

/* A packet of a SEND or WRITE. Return: 0 or a negative errno. */
static int skr_req_send_data(struct skr_qp *qp, struct skr_batch *out, struct skr_swqe *wqe,
			     u32 offset)
{
	u32 bytes = min(wqe->length - offset, qp->attr.mtu);
	bool last = offset + bytes == wqe->length;
	struct skr_pkt pkt = {
		.opcode = qp->trans | skr_req_opcode(wqe, offset == 0, last),
		.psn = qp->req.psn,
		.ackreq = skr_qp_reliable(qp) && skr_req_ackreq(qp, last),
		.srqn = wqe->req.srqn,
		.payload_bytes = bytes,
		.va = wqe->req.rdma.remote_addr,
		.rkey = wqe->req.rdma.rkey,
		.dmalen = wqe->length,
		.imm = wqe->req.imm,
		.ieth = wqe->req.inv_rkey,
	};
	int err = -EOPNOTSUPP;

	if (last && wqe->req.flags & SKERRY_SEND_SOLICITED)
		pkt.bth_flags = SKR_BTH_SE;
	if (skr_req_lends(qp, wqe, bytes))
		err = skr_req_lend_data(qp, out, wqe, offset, &pkt);
	if (err == -EOPNOTSUPP)
		err = skr_req_copy_data(qp, out, wqe, offset, &pkt);
	if (err == -EFAULT && skr_qp_missed(qp)) {
		skr_fault_ahead(qp, wqe->length - offset - bytes);
		return -EINPROGRESS;
	}
	if (!err)
		skr_send_end(out, &pkt);
	return err;
}

/*
 * A long READ is asked for in pieces of SKR_READ_CHUNK packets. What is asked
 * for again reaches to the end of its piece, never beyond: the responder
 * compares it with the requests that it remembers, and may not have seen the
 * first one.
 */
static u32 skr_req_read_packets(const struct skr_qp *qp, const struct skr_swqe *wqe, u32 done)
{
	u32 piece = SKR_READ_CHUNK - done % SKR_READ_CHUNK;

	return min(skr_req_packets(qp, wqe) - done, piece);
}

/* A READ request from @offset on. */
static int skr_req_send_read(struct skr_qp *qp, struct skr_batch *out, struct skr_swqe *wqe,
			     u32 offset, u32 packets)
{
	struct skr_pkt pkt = {
		.opcode = qp->trans | SKR_READ_REQUEST,
		.psn = qp->req.psn,
		.srqn = wqe->req.srqn,
		.ackreq = 1,
		.va = wqe->req.rdma.remote_addr + offset,
		.rkey = wqe->req.rdma.rkey,
		.dmalen = min_t(u64, wqe->length - offset, (u64)packets * qp->attr.mtu),
	};

	return skr_send_batched(qp, out, &pkt);
}

static int skr_req_send_atomic(struct skr_qp *qp, struct skr_batch *out, struct skr_swqe *wqe)
{
	bool cas = wqe->req.opcode == IB_WR_ATOMIC_CMP_AND_SWP;
	struct skr_pkt pkt = {
		.opcode = qp->trans | (cas ? SKR_COMPARE_SWAP : SKR_FETCH_ADD),
		.psn = qp->req.psn,
		.srqn = wqe->req.srqn,
		.ackreq = 1,
		.va = wqe->req.atomic.remote_addr,
		.rkey = wqe->req.atomic.rkey,
		.swap_add = cas ? wqe->req.atomic.swap : wqe->req.atomic.compare_add,
		.compare = cas ? wqe->req.atomic.compare_add : 0,
	};

	return skr_send_batched(qp, out, &pkt);
}

static int skr_req_send_flush(struct skr_qp *qp, struct skr_batch *out, struct skr_swqe *wqe)
{
	struct skr_pkt pkt = {
		.opcode = qp->trans | SKR_FLUSH,
		.psn = qp->req.psn,
		.srqn = wqe->req.srqn,
		.ackreq = 1,
		.feth = wqe->req.flush.type | wqe->req.flush.level << SKR_FETH_SEL_SHIFT,
		.va = wqe->req.flush.remote_addr,
		.rkey = wqe->req.flush.rkey,
		.dmalen = wqe->req.flush.length,
	};

	return skr_send_batched(qp, out, &pkt);
}

static int skr_req_send_atomic_write(struct skr_qp *qp, struct skr_batch *out,
				     struct skr_swqe *wqe)
{
	struct skr_pkt pkt = {
		.opcode = qp->trans | SKR_ATOMIC_WRITE,
		.psn = qp->req.psn,
		.srqn = wqe->req.srqn,
		.ackreq = 1,
		.va = wqe->req.atomic.remote_addr,
		.rkey = wqe->req.atomic.rkey,
		.dmalen = SKR_ATOMIC_WRITE_BYTES,
		.payload_bytes = SKR_ATOMIC_WRITE_BYTES,
	};
	void *payload = skr_send_begin(qp, out, &pkt);

	if (IS_ERR(payload))
		return PTR_ERR(payload);
	memcpy(payload, &wqe->req.atomic.swap, SKR_ATOMIC_WRITE_BYTES);
	skr_send_end(out, &pkt);
	return 0;
}

/* Nobody answers: what the local stack took is done. */
static void skr_req_sent_unreliable(struct skr_qp *qp, struct skr_swqe *wqe)
{
	struct skr_requester *req = &qp->req;
	bool last = req->psn == wqe->last_psn;

	req->psn = skr_psn_add(req->psn, 1);
	req->una_psn = req->psn;
	if (!last)
		return;
	qp->sq.cur++;
	skr_complete_send(qp, IB_WC_SUCCESS, 0);
}

/* A packet waits to leave: @packets PSNs are used. */
static void skr_req_sent(struct skr_qp *qp, const struct skr_batch *out, struct skr_swqe *wqe,
			 u32 packets)
{
	struct skr_requester *req = &qp->req;

	if (out->packets == 1)
		req->mark = (struct skr_req_mark) {
			.psn = req->psn,
			.top_psn = req->top_psn,
			.cur = qp->sq.cur,
			.rd_tail = req->rd_tail,
		};
	if (skr_psn_diff(req->psn, req->top_psn) < 0)
		skr_qp_count(qp, SKR_CNT_RETRANSMITS);
	if (req->psn == req->una_psn)
		skr_timer_ack(qp);
	req->psn = skr_psn_add(req->psn, packets);
	if (skr_psn_diff(req->psn, req->top_psn) > 0)
		req->top_psn = req->psn;
	if (wqe->op->flags & SKR_SOP_ANSWERED)
		req->rd_end[req->rd_tail++ % SKR_MAX_RD_ATOMIC] = req->psn;
	if (skr_psn_diff(req->psn, wqe->last_psn) > 0)
		qp->sq.cur++;
}

/* Back-pressure: the packets that waited did not leave. The same again, shortly. */
static void skr_req_refused(struct skr_qp *qp)
{
	struct skr_requester *req = &qp->req;

	req->psn = req->mark.psn;
	req->top_psn = req->mark.top_psn;
	req->rd_tail = req->mark.rd_tail;
	qp->sq.cur = req->mark.cur;
	skr_timer_wait(qp, SKR_CONGESTED_NS);
	skr_timer_waiting(qp);
}

/* The request cannot go on. Those before it complete first. */
static enum skr_req_verdict skr_req_fail(struct skr_qp *qp, struct skr_swqe *wqe, u8 status)
{
	wqe->status = status;
	if (qp->sq.una == qp->sq.cur)
		skr_qp_send_failed(qp, status);
	return SKR_REQ_BLOCKED;
}

static bool skr_req_execute(struct skr_qp *qp, const struct skr_swqe *wqe)
{
	struct skr_who who = skr_qp_who(qp);

	switch (wqe->req.opcode) {
	case IB_WR_BIND_MW:
		return skr_bind(&who, &wqe->req);
	case IB_WR_REG_MR:
		return skr_reg(&who, &wqe->req);
	default:
		return skr_invalidate(&who, wqe->req.inv_rkey);
	}
}

/*
 * A request that is ours alone to execute, once, when its turn comes. What is
 * invalidated may be needed to repeat an earlier request: these complete first.
 */
static enum skr_req_verdict skr_req_local(struct skr_qp *qp, struct skr_swqe *wqe)
{
	struct skr_sq *sq = &qp->sq;

	if (!wqe->started) {
		if (wqe->op->flags & SKR_SOP_INV && sq->una != sq->cur)
			return SKR_REQ_BLOCKED;
		if (!skr_req_may_start(qp, wqe))
			return SKR_REQ_BLOCKED;
		if (!skr_req_execute(qp, wqe))
			return skr_req_fail(qp, wqe, IB_WC_MW_BIND_ERR);
		wqe->started = true;
	}
	if (sq->una == sq->cur)
		skr_complete_send(qp, IB_WC_SUCCESS, 0);
	else
		sq->cur++;
	return SKR_REQ_SENT;
}

/* The next packet of a request that has PSNs. Return: 0 or a negative errno. */
static int skr_req_send(struct skr_qp *qp, struct skr_batch *out, struct skr_swqe *wqe,
			u32 *packets)
{
	u32 done = skr_psn_diff(qp->req.psn, wqe->first_psn);
	int err;

	*packets = 1;
	if (qp->trans == SKR_TRANS_UD)
		return skr_datagram_send(qp, wqe);
	if (wqe->op->flags & SKR_SOP_READ) {
		*packets = skr_req_read_packets(qp, wqe, done);
		return skr_req_send_read(qp, out, wqe, done * qp->attr.mtu, *packets);
	}
	if (wqe->op->flags & SKR_SOP_ATOMIC)
		return skr_req_send_atomic(qp, out, wqe);
	if (wqe->op->flags & SKR_SOP_FLUSH)
		return skr_req_send_flush(qp, out, wqe);
	if (wqe->op->flags & SKR_SOP_ATOMIC_WRITE)
		return skr_req_send_atomic_write(qp, out, wqe);
	err = skr_req_send_data(qp, out, wqe, done * qp->attr.mtu);
	/* what nobody acknowledges is done when it has left, not before */
	if (!err && !skr_qp_reliable(qp))
		err = skr_send_flush(qp, out);
	return err;
}

static enum skr_req_verdict skr_req_one(struct skr_qp *qp, struct skr_batch *out)
{
	struct skr_swqe *wqe = skr_req_next(qp);
	u32 packets;
	int err;

	if (!wqe)
		return SKR_REQ_IDLE;
	if (wqe->status)
		return skr_req_fail(qp, wqe, wqe->status);
	if (wqe->op->flags & SKR_SOP_LOCAL)
		return skr_req_local(qp, wqe);
	if (!skr_req_start(qp, wqe) || !skr_req_window_open(qp, wqe) || skr_tx_full(qp) ||
	    skr_flow_blocked(qp, skr_batch_waiting(out)))
		return SKR_REQ_BLOCKED;

	err = skr_req_send(qp, out, wqe, &packets);
	switch (err) {
	case 0:
		if (skr_qp_reliable(qp))
			skr_req_sent(qp, out, wqe, packets);
		else
			skr_req_sent_unreliable(qp, wqe);
		return SKR_REQ_SENT;
	case -EFAULT:
		return skr_req_fail(qp, wqe, IB_WC_LOC_PROT_ERR);
	case -ENXIO:
		return skr_req_fail(qp, wqe, IB_WC_LOC_QP_OP_ERR);
	case -EINPROGRESS:
		return SKR_REQ_BLOCKED;
	case -EAGAIN:
		if (skr_qp_reliable(qp)) {
			skr_req_refused(qp);
			return SKR_REQ_BLOCKED;
		}
		fallthrough;
	default:
		skr_timer_wait(qp, SKR_CONGESTED_NS);
		skr_timer_waiting(qp);
		return SKR_REQ_BLOCKED;
	}
}

static void skr_req_drained(struct skr_qp *qp)
{
	struct skr_sq *sq = &qp->sq;

	if (qp->state != IB_QPS_SQD || qp->sq_drained)
		return;
	if (sq->una != sq->taken && skr_swqe(qp, sq->una)->started)
		return;
	qp->sq_drained = true;
	if (qp->attr.sqd_event)
		skr_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

/*
 * Is so much under way that an answer comes before the peer has worked it off? Then the
 * ring is looked at, as when the window was closed, and whoever posts until then need not
 * enter the kernel. Small messages that wait for an answer would wait for too long.
 */
static bool skr_req_answer_soon(const struct skr_qp *qp)
{
	const struct skr_requester *req = &qp->req;
	u32 packets = skr_psn_diff(req->psn, req->una_psn);

	return skr_qp_reliable(qp) && qp->state == IB_QPS_RTS && qp->attr.timeout &&
	       skr_qp_bulk(qp) && packets * qp->attr.mtu >= SKR_QUIET_BYTES;
}

/* Collect packets. Return: true if more could be sent at once. */
static bool skr_req_collect(struct skr_qp *qp, struct skr_batch *out, int budget)
{
	struct skr_sq *sq = &qp->sq;
	enum skr_req_verdict verdict;

	while (budget--) {
		verdict = skr_req_one(qp, out);
		if (verdict == SKR_REQ_BLOCKED)
			return false;
		if (verdict == SKR_REQ_SENT)
			continue;
		if (qp->state == IB_QPS_ERR)
			return false;
		if (skr_poll_drained(qp) || skr_req_answer_soon(qp))
			return false;
		if (!skr_ring_want_kick(&sq->ring, sq->taken)) {
			sq->idle = true;
			return false;
		}
		skr_ring_no_kick(&sq->ring);
	}
	return true;
}

/* Nothing to send, nothing new, whoever posts has been asked to say so, and nobody watches? */
static bool skr_req_idle(const struct skr_qp *qp)
{
	const struct skr_sq *sq = &qp->sq;

	return sq->idle && sq->cur == sq->taken && qp->state == IB_QPS_RTS &&
	       skr_ring_produced(&sq->ring) == sq->taken &&
	       !test_bit(SKR_QP_WATCHED, &qp->run_flags);
}

bool skr_requester(struct skr_qp *qp, int budget)
{
	struct skr_batch out __uninitialized;
	struct skr_sq *sq = &qp->sq;
	bool more;
	u32 psn;
	int err;

	lockdep_assert_held(&qp->lock);
	if (skr_req_idle(qp))
		return false;
	skr_req_drained(qp);
	if (skr_timer_waiting(qp))
		return false;
	if (sq->idle) {
		sq->idle = false;
		skr_ring_no_kick(&sq->ring);
		skr_poll_kicked(qp);
	}
	skr_batch_init(&out, qp->dev, qp->stats, &qp->av);
	psn = qp->req.psn;
	more = skr_req_collect(qp, &out, budget);
	err = skr_send_flush(qp, &out);
	if (qp->req.psn != psn)
		qp->req.tx_mark = qp->tx_total;
	if (err) {
		skr_req_refused(qp);
		return false;
	}
	return more;
}

void skr_requester_rewind(struct skr_qp *qp)
{
	struct skr_requester *req = &qp->req;

	lockdep_assert_held(&qp->lock);
	req->psn = req->una_psn;
	qp->sq.cur = qp->sq.una;
	req->rd_head = req->rd_tail;
}
