// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The responder: executes requests in PSN order and answers them
 * (IBTA 9.7.4, 9.7.5.1).
 */
#include "engine.h"
#include "send.h"

#include "../mem/bind.h"
#include "../net/rocev2.h"
#include "../wire/aeth.h"
#include "../wire/psn.h"

/* Verdict: NAK, status of the receive request in use, event, counter */
static const struct {
	u8			nak;
	enum ib_wc_status	status;
	int			event;
	int			counter;
} skr_verdicts[] = {
	[SKR_INV_REQ] = { SKR_NAK_INV_REQ, IB_WC_REM_INV_REQ_ERR, IB_EVENT_QP_REQ_ERR,
			  SKR_CNT_RESP_REMOTE_INVALID_REQUEST },
	[SKR_REM_ACCESS] = { SKR_NAK_REM_ACCESS, IB_WC_LOC_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR,
			     SKR_CNT_RESP_REMOTE_ACCESS_ERRORS },
	[SKR_REM_OP] = { SKR_NAK_REM_OP, IB_WC_LOC_PROT_ERR, IB_EVENT_QP_FATAL, -1 },
	[SKR_LOCAL_LEN] = { SKR_NAK_INV_REQ, IB_WC_LOC_LEN_ERR, IB_EVENT_QP_REQ_ERR,
			    SKR_CNT_RESP_LOCAL_LENGTH_ERROR },
};

static int skr_resp_answer(struct skr_qp *qp, u8 syndrome, u32 psn)
{
	struct skr_pkt pkt = {
		.opcode = qp->trans | SKR_ACKNOWLEDGE,
		.psn = psn,
		.syndrome = syndrome,
		.msn = qp->resp.msn,
	};

	return skr_send_plain(qp, &pkt);
}

void skr_responder_ack(struct skr_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	if (!qp->resp.ack_due || skr_tx_overtakes(qp))
		return;
	if (skr_resp_answer(qp, SKR_AETH_ACK_UNLIMITED, qp->resp.ack_psn))
		skr_timer_pause(qp);
	else
		qp->resp.ack_due = false;
}

/* Where the packet stands in its message, and how long it may be there */
static enum skr_verdict skr_resp_check_sequence(const struct skr_qp *qp,
						const struct skr_pkt *pkt)
{
	u32 kind = pkt->flags & (SKR_IS_SEND | SKR_IS_WRITE);

	if (qp->resp.msg != (pkt->flags & SKR_IS_FIRST ? 0 : kind))
		return SKR_INV_REQ;
	if (!kind)
		return SKR_OK;
	if (!(pkt->flags & SKR_IS_LAST))
		return pkt->payload_bytes == qp->attr.mtu ? SKR_OK : SKR_INV_REQ;
	if (pkt->payload_bytes > qp->attr.mtu)
		return SKR_INV_REQ;
	/* only a message of one packet may be empty */
	if (!pkt->payload_bytes && !(pkt->flags & SKR_IS_FIRST))
		return SKR_INV_REQ;
	return SKR_OK;
}

/*
 * XRC: whose receive request a message uses, and whose domain its keys are of,
 * stands in each of its packets, and they must agree. An SRQ that there is not,
 * or that is of another XRC domain, is out of reach as memory of another domain is.
 */
static void skr_resp_find_srq(struct skr_qp *qp, u32 srqn)
{
	if (qp->xrcd)
		qp->xrc_srq = skr_srq_find(qp->dev, qp->xrcd, srqn);
}

static enum skr_verdict skr_resp_check_srq(struct skr_qp *qp, const struct skr_pkt *pkt)
{
	if (!qp->xrcd)
		return SKR_OK;
	if (pkt->flags & SKR_IS_FIRST)
		qp->resp.srqn = pkt->srqn;
	else if (pkt->srqn != qp->resp.srqn)
		return SKR_INV_REQ;
	/* inside a SEND: its receive request has gone with an SRQ of this number */
	if (!qp->xrc_srq || (qp->resp.msg == SKR_IS_SEND && !qp->recv.busy))
		return SKR_REM_ACCESS;
	return SKR_OK;
}

static enum skr_verdict skr_resp_get_recv(struct skr_qp *qp)
{
	switch (skr_take_recv(qp)) {
	case 1:
		return SKR_OK;
	case 0:
		return SKR_RNR;
	default:
		return SKR_REM_OP;
	}
}

static void skr_resp_recv_done(struct skr_qp *qp, const struct skr_pkt *pkt, u8 opcode)
{
	struct skerry_cqe cqe = {
		.opcode = opcode,
		.byte_len = qp->resp.received,
		.src_qp = qp->attr.dest_qpn,
	};

	if (pkt->flags & SKR_HAS_IMM) {
		cqe.flags = SKERRY_CQE_IMM;
		cqe.imm = pkt->imm;
	} else if (pkt->flags & SKR_HAS_IETH) {
		cqe.flags = SKERRY_CQE_INV;
		cqe.inv_rkey = pkt->ieth;
	}
	skr_complete_recv(qp, &cqe, pkt->bth_flags & SKR_BTH_SE);
}

static enum skr_verdict skr_resp_send(struct skr_qp *qp, struct sk_buff *skb,
				      const struct skr_pkt *pkt)
{
	struct skr_source from = skr_rx_payload(skb, pkt);
	struct skr_responder *resp = &qp->resp;
	enum skr_verdict verdict;
	struct skr_sges sges;

	if (pkt->flags & SKR_IS_FIRST) {
		verdict = skr_resp_get_recv(qp);
		if (verdict)
			return verdict;
		resp->received = 0;
	}
	if (pkt->payload_bytes > qp->recv.wqe->length - resp->received)
		return SKR_LOCAL_LEN;
	sges = skr_qp_sges(qp, qp->recv.wqe->sge, qp->recv.wqe->num_sge);
	if (!skr_sges_write_skb(&sges, resp->received, &from, pkt->payload_bytes))
		return skr_qp_missed(qp) ? SKR_ABSENT : SKR_REM_OP;
	if (pkt->flags & SKR_HAS_IETH && !skr_invalidate(&sges.who, pkt->ieth))
		return SKR_REM_ACCESS;
	resp->received += pkt->payload_bytes;
	if (pkt->flags & SKR_IS_LAST)
		skr_resp_recv_done(qp, pkt, IB_WC_RECV);
	return SKR_OK;
}

/* A remote access failed; @behind bytes of its message were to follow. */
static enum skr_verdict skr_resp_inaccessible(struct skr_qp *qp, u32 behind)
{
	if (!skr_qp_missed(qp))
		return SKR_REM_ACCESS;
	skr_fault_ahead(qp, behind);
	return SKR_ABSENT;
}

static enum skr_verdict skr_resp_write_begin(struct skr_qp *qp, const struct skr_pkt *pkt)
{
	struct skr_responder *resp = &qp->resp;
	struct skr_who who = skr_qp_who(qp);
	bool whole;

	if (!(qp->attr.access & IB_ACCESS_REMOTE_WRITE) || pkt->dmalen > SKR_MAX_MSG_BYTES)
		return SKR_INV_REQ;
	/*
	 * C9-88: without data neither key nor address is looked at. What comes in one packet,
	 * and needs nothing else, is about to be written: then they are.
	 */
	whole = (pkt->flags & (SKR_IS_LAST | SKR_HAS_IMM)) == SKR_IS_LAST &&
		pkt->payload_bytes == pkt->dmalen;
	if (pkt->dmalen && !whole &&
	    !skr_access_ok(&who, pkt->rkey, IB_ACCESS_REMOTE_WRITE, pkt->va, pkt->dmalen))
		return SKR_REM_ACCESS;
	resp->va = pkt->va;
	resp->rkey = pkt->rkey;
	resp->left = pkt->dmalen;
	resp->received = 0;
	return SKR_OK;
}

static enum skr_verdict skr_resp_write(struct skr_qp *qp, struct sk_buff *skb,
				       const struct skr_pkt *pkt)
{
	struct skr_source from = skr_rx_payload(skb, pkt);
	struct skr_responder *resp = &qp->resp;
	struct skr_who who = skr_qp_who(qp);
	enum skr_verdict verdict;

	if (pkt->flags & SKR_IS_FIRST) {
		verdict = skr_resp_write_begin(qp, pkt);
		if (verdict)
			return verdict;
	}
	/* the packets must carry what the RETH announced, neither more nor less */
	if (pkt->flags & SKR_IS_LAST ? pkt->payload_bytes != resp->left :
				       pkt->payload_bytes >= resp->left)
		return SKR_INV_REQ;
	if (pkt->flags & SKR_HAS_IMM) {
		verdict = skr_resp_get_recv(qp);
		if (verdict)
			return verdict;
	}
	if (pkt->payload_bytes &&
	    !skr_remote_write_skb(&who, resp->rkey, resp->va, &from, pkt->payload_bytes))
		return skr_resp_inaccessible(qp, resp->left - pkt->payload_bytes);
	resp->va += pkt->payload_bytes;
	resp->left -= pkt->payload_bytes;
	resp->received += pkt->payload_bytes;
	if (pkt->flags & SKR_HAS_IMM)
		skr_resp_recv_done(qp, pkt, IB_WC_RECV_RDMA_WITH_IMM);
	return SKR_OK;
}

void skr_responder_begin_read(struct skr_qp *qp, const struct skr_pkt *pkt)
{
	lockdep_assert_held(&qp->lock);
	qp->resp.reading = (struct skr_reading) {
		.active = true,
		.first = true,
		.va = pkt->va,
		.rkey = pkt->rkey,
		.srqn = pkt->srqn,
		.left = pkt->dmalen,
		.psn = pkt->psn,
	};
}

static enum skr_verdict skr_resp_read(struct skr_qp *qp, const struct skr_pkt *pkt, u32 *packets)
{
	struct skr_saved saved = {
		.first_psn = pkt->psn,
		.va = pkt->va,
		.rkey = pkt->rkey,
		.length = pkt->dmalen,
		.kind = SKR_IS_READ,
	};
	struct skr_who who = skr_qp_who(qp);

	if (!(qp->attr.access & IB_ACCESS_REMOTE_READ) || !qp->attr.max_dest_rd_atomic ||
	    pkt->dmalen > SKR_MAX_MSG_BYTES)
		return SKR_INV_REQ;
	if (pkt->dmalen && !skr_access_ok(&who, pkt->rkey, IB_ACCESS_REMOTE_READ, pkt->va,
					  pkt->dmalen))
		return SKR_REM_ACCESS;

	*packets = max(1U, DIV_ROUND_UP(pkt->dmalen, qp->attr.mtu));
	saved.last_psn = skr_psn_add(pkt->psn, *packets - 1);
	skr_replay_save(qp, &saved);
	skr_responder_begin_read(qp, pkt);
	return SKR_OK;
}

static enum skr_verdict skr_resp_atomic(struct skr_qp *qp, const struct skr_pkt *pkt)
{
	struct skr_saved saved = {
		.first_psn = pkt->psn,
		.last_psn = pkt->psn,
		.kind = SKR_IS_ATOMIC,
	};
	struct skr_atomic atomic = {
		.addr = pkt->va,
		.rkey = pkt->rkey,
		.op = pkt->opcode == (qp->trans | SKR_COMPARE_SWAP) ? SKR_ATOMIC_CAS :
								      SKR_ATOMIC_ADD,
		.swap_add = pkt->swap_add,
		.compare = pkt->compare,
	};
	struct skr_who who = skr_qp_who(qp);

	if (!(qp->attr.access & IB_ACCESS_REMOTE_ATOMIC) || !qp->attr.max_dest_rd_atomic ||
	    pkt->va & (sizeof(u64) - 1))
		return SKR_INV_REQ;
	if (!skr_remote_atomic(&who, &atomic))
		return skr_resp_inaccessible(qp, 0);

	saved.orig = atomic.orig;
	skr_replay_save(qp, &saved);
	return SKR_OK;
}

/* It was done once; a duplicate is told so. */
static void skr_resp_save_done(struct skr_qp *qp, const struct skr_pkt *pkt)
{
	struct skr_saved saved = {
		.first_psn = pkt->psn,
		.last_psn = pkt->psn,
		.kind = pkt->flags & SKR_IS_ANSWERED,
	};

	skr_replay_save(qp, &saved);
}

static enum skr_verdict skr_resp_atomic_write(struct skr_qp *qp, struct sk_buff *skb,
					      const struct skr_pkt *pkt)
{
	struct skr_atomic atomic = {
		.addr = pkt->va,
		.rkey = pkt->rkey,
		.op = SKR_ATOMIC_STORE,
	};
	struct skr_who who = skr_qp_who(qp);

	/* oA19-28: eight bytes, aligned */
	if (!(qp->attr.access & IB_ACCESS_REMOTE_WRITE) || !qp->attr.max_dest_rd_atomic ||
	    pkt->dmalen != SKR_ATOMIC_WRITE_BYTES ||
	    pkt->payload_bytes != SKR_ATOMIC_WRITE_BYTES || pkt->pad ||
	    pkt->va & (SKR_ATOMIC_WRITE_BYTES - 1))
		return SKR_INV_REQ;
	/* as the bytes lie: nobody counts with them */
	if (skb_copy_bits(skb, skr_rx_payload(skb, pkt).offset, &atomic.swap_add,
			  SKR_ATOMIC_WRITE_BYTES))
		return SKR_INV_REQ;
	if (!skr_remote_atomic(&who, &atomic))
		return skr_resp_inaccessible(qp, 0);
	skr_resp_save_done(qp, pkt);
	return SKR_OK;
}

/* What was written before is in memory: only the order remains to be seen to. */
static enum skr_verdict skr_resp_flush(struct skr_qp *qp, const struct skr_pkt *pkt)
{
	u32 placement = pkt->feth & SKR_FETH_PLACEMENT;
	u32 sel = pkt->feth >> SKR_FETH_SEL_SHIFT & SKR_FETH_SEL_MASK;
	struct skr_who who = skr_qp_who(qp);
	int access = 0;
	bool ok;

	if (placement & SKR_FETH_GLOBAL)
		access |= IB_ACCESS_FLUSH_GLOBAL;
	if (placement & SKR_FETH_PERSISTENT)
		access |= IB_ACCESS_FLUSH_PERSISTENT;
	if (!access || placement & ~(SKR_FETH_GLOBAL | SKR_FETH_PERSISTENT) ||
	    sel > SKR_FETH_REGION || pkt->dmalen > SKR_MAX_MSG_BYTES ||
	    (qp->attr.access & access) != access || !qp->attr.max_dest_rd_atomic)
		return SKR_INV_REQ;
	/* a range of nothing still names a region; no region grants persistence */
	if (sel == SKR_FETH_REGION || !pkt->dmalen)
		ok = skr_access_all_ok(&who, pkt->rkey, access);
	else
		ok = skr_access_ok(&who, pkt->rkey, access, pkt->va, pkt->dmalen);
	if (!ok)
		return SKR_REM_ACCESS;
	/* visible to other processors and to devices before the answer is */
	wmb();
	skr_resp_save_done(qp, pkt);
	return SKR_OK;
}

/*
 * A request failed for good: answer the PSN, tell our side by the receive request
 * in use or else by an event, fail the QP.
 */
static void skr_resp_fail(struct skr_qp *qp, enum skr_verdict verdict, u32 psn)
{
	struct skerry_cqe cqe = {
		.status = skr_verdicts[verdict].status,
		.opcode = IB_WC_RECV,
	};

	if (skr_verdicts[verdict].counter >= 0)
		skr_qp_count(qp, skr_verdicts[verdict].counter);
	skr_resp_answer(qp, skr_verdicts[verdict].nak, psn);
	if (qp->recv.busy)
		skr_complete_recv(qp, &cqe, false);
	else
		skr_qp_event(qp, skr_verdicts[verdict].event);
	skr_qp_error(qp, IB_WC_WR_FLUSH_ERR);
}

enum skr_verdict skr_responder_execute(struct skr_qp *qp, struct sk_buff *skb,
				       const struct skr_pkt *pkt, u32 *packets)
{
	enum skr_verdict verdict = skr_resp_check_sequence(qp, pkt);

	lockdep_assert_held(&qp->lock);
	skr_resp_find_srq(qp, pkt->srqn);
	if (!verdict)
		verdict = skr_resp_check_srq(qp, pkt);
	if (verdict)
		return verdict;
	if (pkt->flags & SKR_IS_SEND)
		return skr_resp_send(qp, skb, pkt);
	if (pkt->flags & SKR_IS_WRITE)
		return skr_resp_write(qp, skb, pkt);
	if (pkt->flags & SKR_IS_READ)
		return skr_resp_read(qp, pkt, packets);
	if (pkt->flags & SKR_IS_ATOMIC)
		return skr_resp_atomic(qp, pkt);
	if (pkt->flags & SKR_IS_ATOMIC_WRITE)
		return skr_resp_atomic_write(qp, skb, pkt);
	if (pkt->flags & SKR_IS_FLUSH)
		return skr_resp_flush(qp, pkt);
	return SKR_INV_REQ;
}

/* The request was executed: count it, and see to its acknowledgment. */
static void skr_resp_advance(struct skr_qp *qp, const struct skr_pkt *pkt, u32 packets)
{
	struct skr_responder *resp = &qp->resp;

	resp->nak_sent = false;
	resp->rnr_sent = false;
	skr_reorder_moved(&qp->early_req);
	resp->epsn = skr_psn_add(resp->epsn, packets);
	if (pkt->flags & SKR_IS_LAST) {
		resp->msg = 0;
		resp->msn = (resp->msn + 1) & SKR_MASK24;
	} else {
		resp->msg = pkt->flags & (SKR_IS_SEND | SKR_IS_WRITE);
	}
	if (pkt->flags & SKR_IS_READ) {
		resp->ack_due = false;	/* the responses acknowledge */
	} else if (pkt->flags & SKR_IS_ANSWERED) {
		resp->ack_due = false;
		skr_replay(qp, pkt);
	} else {
		resp->ack_psn = pkt->psn;
		resp->ack_due |= pkt->ackreq;
	}
	if (qp->state == IB_QPS_RTR && !resp->comm_est) {
		resp->comm_est = true;
		skr_qp_event(qp, IB_EVENT_COMM_EST);
	}
}

void skr_responder_gap(struct skr_qp *qp)
{
	struct skr_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->lock);
	/* one NAK for a gap; the requester's timer covers its loss */
	if (!qp->early_req.arrived || resp->nak_sent)
		return;
	if (skr_reorder_lost(&qp->early_req))
		resp->nak_sent = !skr_resp_answer(qp, SKR_NAK_PSN_SEQ, resp->epsn);
	else
		skr_timer_pause(qp);
}

bool skr_responder(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	struct skr_responder *resp = &qp->resp;
	s32 ahead = skr_psn_diff(pkt->psn, resp->epsn);
	enum skr_verdict verdict;
	u32 packets = 1;

	lockdep_assert_held(&qp->lock);
	if (ahead < 0) {
		skr_qp_count(qp, SKR_CNT_DUPLICATE_REQUEST);
		skr_replay(qp, pkt);
		return true;
	}
	if (ahead > 0) {
		skr_qp_count(qp, SKR_CNT_OUT_OF_SEQUENCE);
		/* after an RNR NAK what follows is dropped (9.7.5.2.8) */
		if (!resp->rnr_sent)
			skr_reorder_hold(&qp->early_req, skb, ahead);
		return false;
	}

	verdict = skr_responder_execute(qp, skb, pkt, &packets);
	if (qp->state == IB_QPS_ERR)
		return true;	/* a completion queue overran */
	if (verdict == SKR_ABSENT)
		return true;	/* it stays the packet at hand */
	if (verdict == SKR_RNR) {
		skr_qp_count(qp, SKR_CNT_OUT_OF_BUFFER);
		skr_resp_answer(qp, SKR_AETH_RNR | qp->attr.min_rnr_timer, resp->epsn);
		resp->rnr_sent = true;
		skr_reorder_purge(&qp->early_req);
	} else if (verdict) {
		/* a WRITE with immediate tells by the receive request it would use */
		if (pkt->flags & SKR_IS_WRITE && pkt->flags & SKR_HAS_IMM && !qp->recv.busy &&
		    (!qp->xrcd || qp->xrc_srq))
			skr_take_recv(qp);
		skr_resp_fail(qp, verdict, resp->epsn);
	} else {
		skr_resp_advance(qp, pkt, packets);
	}
	return true;
}

static u8 skr_resp_read_opcode(bool first, bool last)
{
	if (first)
		return last ? SKR_READ_RESP_ONLY : SKR_READ_RESP_FIRST;
	return last ? SKR_READ_RESP_LAST : SKR_READ_RESP_MIDDLE;
}

/*
 * One response. Return: 0, -EAGAIN or -ENOMEM to try again, -EINPROGRESS if a page
 * was missed, -EACCES.
 */
static int skr_resp_read_one(struct skr_qp *qp, struct skr_batch *out)
{
	struct skr_reading *reading = &qp->resp.reading;
	u32 bytes = min(reading->left, qp->attr.mtu);
	struct skr_pkt pkt = {
		.opcode = qp->trans | skr_resp_read_opcode(reading->first, bytes == reading->left),
		.psn = reading->psn,
		.payload_bytes = bytes,
		.syndrome = SKR_AETH_ACK_UNLIMITED,
		.msn = qp->resp.msn,
	};
	struct skr_who who = skr_qp_who(qp);
	void *payload;

	payload = skr_send_begin(qp, out, &pkt);
	if (IS_ERR(payload))
		return PTR_ERR(payload);
	/* a copy: the peer's user may change the memory at any time */
	if (bytes && !skr_remote_read(&who, reading->rkey, reading->va, payload, bytes)) {
		skr_batch_cancel(out);
		if (skr_resp_inaccessible(qp, reading->left - bytes) == SKR_ABSENT)
			return -EINPROGRESS;
		return -EACCES;
	}
	skr_send_end(out, &pkt);

	if (out->packets == 1)
		qp->resp.reading_mark = *reading;
	reading->first = false;
	reading->va += bytes;
	reading->left -= bytes;
	reading->psn = skr_psn_add(reading->psn, 1);
	reading->active = reading->left;
	return 0;
}

/* Collect responses. Return: 0, 1 if more could be sent at once, or an error. */
static int skr_resp_read_collect(struct skr_qp *qp, struct skr_batch *out, int *budget)
{
	int err = 0;

	skr_resp_find_srq(qp, qp->resp.reading.srqn);
	if (qp->xrcd && !qp->xrc_srq)
		return -EACCES;
	while (qp->resp.reading.active && !err) {
		if (*budget <= 0)
			return 1;
		--*budget;
		if (skr_tx_full(qp) || skr_flow_blocked(qp, skr_batch_waiting(out)))
			return 0;
		err = skr_resp_read_one(qp, out);
	}
	return err;
}

bool skr_responder_read(struct skr_qp *qp, int *budget)
{
	struct skr_batch out __uninitialized;
	int ret;

	lockdep_assert_held(&qp->lock);
	skr_batch_init(&out, qp->dev, qp->stats, &qp->av);
	ret = skr_resp_read_collect(qp, &out, budget);
	if (ret == -EAGAIN || skr_send_flush(qp, &out)) {
		/* those that waited did not leave */
		qp->resp.reading = qp->resp.reading_mark;
		ret = -EAGAIN;
	}
	qp->resp.tx_mark = qp->tx_total;
	if (ret == -EACCES)
		/* the region went away under the READ */
		skr_resp_fail(qp, SKR_REM_ACCESS, qp->resp.reading.psn);
	else if (ret < 0 && ret != -EINPROGRESS)
		skr_timer_pause(qp);
	return ret == 1;
}
