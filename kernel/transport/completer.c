// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The completer: takes ACKs, NAKs, READ responses and atomic ACKs, and
 * completes send requests in order (IBTA 9.7.5, 9.9.2).
 */
#include "engine.h"
#include "send.h"

#include "../net/rocev2.h"
#include "../wire/aeth.h"
#include "../wire/psn.h"

static struct skr_swqe *skr_comp_oldest(struct skr_qp *qp)
{
	struct skr_swqe *wqe;

	if (qp->sq.una == qp->sq.taken)
		return NULL;
	wqe = skr_swqe(qp, qp->sq.una);
	return wqe->started ? wqe : NULL;
}

static bool skr_comp_has_response(const struct skr_swqe *wqe)
{
	return wqe->op->flags & SKR_SOP_ANSWERED;
}

/* The peer has everything before @psn: forward progress. */
static void skr_comp_progress(struct skr_qp *qp, u32 psn)
{
	struct skr_requester *req = &qp->req;

	req->window = min_t(u32, req->window + skr_psn_diff(psn, req->una_psn), SKR_WINDOW_MAX);
	req->una_psn = psn;
	skr_reorder_moved(&qp->early_rsp);
	req->timeouts = 0;
	req->hurry = 0;
	req->retry = qp->attr.retry_cnt;
	req->rnr_retry = qp->attr.rnr_retry;
	req->rewound = false;
	while (req->rd_head != req->rd_tail &&
	       skr_psn_diff(req->rd_end[req->rd_head % SKR_MAX_RD_ATOMIC], psn) <= 0)
		req->rd_head++;
	/* an old packet was acknowledged while it is being sent again */
	if (skr_psn_diff(req->psn, psn) < 0)
		req->psn = psn;
	if (req->psn != psn)
		skr_timer_ack(qp);
}

/*
 * Acknowledge everything before @end. A READ or atomic completes by its own
 * response only.
 * Return: false if such a response is missing: it got lost.
 */
static bool skr_comp_ack(struct skr_qp *qp, u32 end)
{
	struct skr_swqe *wqe;

	while (qp->state != IB_QPS_ERR && (wqe = skr_comp_oldest(qp))) {
		/* within the oldest, which may be a READ that is answered so far */
		if (skr_psn_diff(qp->req.una_psn, end) >= 0)
			break;
		if (skr_comp_has_response(wqe))
			return false;
		if (skr_psn_diff(wqe->last_psn, end) >= 0) {
			if (skr_psn_diff(end, qp->req.una_psn) > 0)
				skr_comp_progress(qp, end);
			break;
		}
		skr_comp_progress(qp, skr_psn_add(wqe->last_psn, 1));
		skr_complete_send(qp, IB_WC_SUCCESS, 0);
	}
	return true;
}

/* Send again from the oldest unacknowledged packet, or give up. */
static void skr_comp_retry(struct skr_qp *qp, u32 window)
{
	qp->req.window = max_t(u32, window, SKR_WINDOW_MIN);
	if (!qp->req.retry) {
		skr_qp_count(qp, SKR_CNT_RETRY_EXC_ERR);
		skr_qp_error(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	qp->req.retry--;
	skr_requester_rewind(qp);
}

/* A response is missing: ask for it once, then leave it to the timer. */
static void skr_comp_implied_nak(struct skr_qp *qp)
{
	if (qp->req.rewound)
		return;
	skr_qp_count(qp, SKR_CNT_IMPLIED_NAK_SEQ_ERR);
	skr_comp_retry(qp, qp->req.window / 2);
	qp->req.rewound = true;
}

static void skr_comp_rnr(struct skr_qp *qp, u8 code)
{
	skr_qp_count(qp, SKR_CNT_RNR_NAK);
	if (!qp->req.rnr_retry) {
		skr_qp_count(qp, SKR_CNT_RNR_NAK_RETRY_ERR);
		skr_qp_error(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (qp->req.rnr_retry != 7)
		qp->req.rnr_retry--;
	skr_requester_rewind(qp);
	skr_timer_wait(qp, skr_rnr_ns(code));
}

/* What the peer refused, by NAK code (IBTA table 58) */
static const struct {
	enum ib_wc_status	status;
	int			counter;
} skr_nak_errors[] = {
	[SKR_NAK_INV_REQ & SKR_AETH_VALUE_MASK] = {
		IB_WC_REM_INV_REQ_ERR, SKR_CNT_REQ_REMOTE_INVALID_REQUEST },
	[SKR_NAK_REM_ACCESS & SKR_AETH_VALUE_MASK] = {
		IB_WC_REM_ACCESS_ERR, SKR_CNT_REQ_REMOTE_ACCESS_ERRORS },
	[SKR_NAK_REM_OP & SKR_AETH_VALUE_MASK] = { IB_WC_REM_OP_ERR, -1 },
	[SKR_NAK_INV_RD_REQ & SKR_AETH_VALUE_MASK] = { IB_WC_REM_INV_RD_REQ_ERR, -1 },
};

static void skr_comp_nak(struct skr_qp *qp, u8 syndrome)
{
	u8 code = syndrome & SKR_AETH_VALUE_MASK;

	if (syndrome == SKR_NAK_PSN_SEQ) {
		skr_qp_count(qp, SKR_CNT_PACKET_SEQ_ERR);
		skr_comp_retry(qp, qp->req.window / 2);
		return;
	}
	if (code >= ARRAY_SIZE(skr_nak_errors))
		return;		/* reserved */
	if (skr_nak_errors[code].counter >= 0)
		skr_qp_count(qp, skr_nak_errors[code].counter);
	skr_qp_error(qp, skr_nak_errors[code].status);
}

static void skr_comp_acknowledge(struct skr_qp *qp, const struct skr_pkt *pkt)
{
	u8 class = pkt->syndrome & SKR_AETH_CLASS_MASK;
	u32 end = class == SKR_AETH_ACK ? skr_psn_add(pkt->psn, 1) : pkt->psn;

	/* a NAK, positive only for what comes before the packet that it names */
	if (!skr_comp_ack(qp, end)) {
		skr_comp_implied_nak(qp);
		return;
	}
	if (qp->state == IB_QPS_ERR || class == SKR_AETH_ACK)
		return;
	/* nothing of that kind is under way: an old NAK */
	if (pkt->psn != qp->req.una_psn || !skr_comp_oldest(qp))
		return;
	if (class == SKR_AETH_RNR)
		skr_comp_rnr(qp, pkt->syndrome & SKR_AETH_VALUE_MASK);
	else if (class == SKR_AETH_NAK)
		skr_comp_nak(qp, pkt->syndrome);
}

/* Is this payload what the READ expects next? Pieces end with full packets. */
static bool skr_comp_read_fits(const struct skr_qp *qp, const struct skr_pkt *pkt, u32 left)
{
	if (pkt->payload_bytes == qp->attr.mtu && left > pkt->payload_bytes)
		return true;
	return pkt->flags & SKR_IS_LAST && pkt->payload_bytes == left;
}

/* The response waits for a page, or the request named memory that it must not. */
static void skr_comp_unwritten(struct skr_qp *qp, u32 behind)
{
	if (skr_qp_missed(qp))
		skr_fault_ahead(qp, behind);
	else
		skr_qp_error(qp, IB_WC_LOC_PROT_ERR);
}

/* FLUSH and ATOMIC WRITE are answered as READs of nothing are. */
static void skr_comp_read(struct skr_qp *qp, struct skr_swqe *wqe, struct sk_buff *skb,
			  const struct skr_pkt *pkt)
{
	struct skr_sges sges = skr_qp_sges(qp, wqe->sge, wqe->req.num_sge);
	u32 offset = skr_psn_diff(pkt->psn, wqe->first_psn) * qp->attr.mtu;
	struct skr_source from = skr_rx_payload(skb, pkt);

	if (!skr_comp_read_fits(qp, pkt, wqe->length - offset)) {
		skr_qp_error(qp, IB_WC_BAD_RESP_ERR);
		return;
	}
	if (!skr_sges_write_skb(&sges, offset, &from, pkt->payload_bytes)) {
		skr_comp_unwritten(qp, wqe->length - offset - pkt->payload_bytes);
		return;
	}
	skr_comp_progress(qp, skr_psn_add(pkt->psn, 1));
	if (pkt->psn == wqe->last_psn)
		skr_complete_send(qp, IB_WC_SUCCESS, wqe->length);
}

static void skr_comp_atomic(struct skr_qp *qp, struct skr_swqe *wqe, const struct skr_pkt *pkt)
{
	struct skr_sges sges = skr_qp_sges(qp, wqe->sge, wqe->req.num_sge);

	/* the value before, in the host's byte order */
	if (!skr_sges_write(&sges, 0, &pkt->orig, sizeof(pkt->orig))) {
		skr_comp_unwritten(qp, 0);
		return;
	}
	skr_comp_progress(qp, skr_psn_add(pkt->psn, 1));
	skr_complete_send(qp, IB_WC_SUCCESS, sizeof(pkt->orig));
}

static bool skr_comp_response(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	bool atomic = pkt->flags & SKR_IS_ATOMIC;
	u16 wanted = atomic ? SKR_SOP_ATOMIC : SKR_SOP_ANSWERED & ~SKR_SOP_ATOMIC;
	struct skr_swqe *wqe;
	s32 ahead;

	/* a response acknowledges the SENDs and WRITEs before it */
	skr_comp_ack(qp, pkt->psn);
	if (qp->state == IB_QPS_ERR)
		return true;
	wqe = skr_comp_oldest(qp);
	ahead = skr_psn_diff(pkt->psn, qp->req.una_psn);
	if (!wqe || ahead < 0)
		return true;
	if (ahead) {
		skr_reorder_hold(&qp->early_rsp, skb, ahead);
		return false;
	}
	if (!(wqe->op->flags & wanted))
		skr_qp_error(qp, IB_WC_BAD_RESP_ERR);
	else if (atomic)
		skr_comp_atomic(qp, wqe, pkt);
	else
		skr_comp_read(qp, wqe, skb, pkt);
	return true;
}

bool skr_completer(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	lockdep_assert_held(&qp->lock);
	/* only what was sent can be answered: [una_psn - 2^23, top_psn) */
	if (skr_psn_diff(pkt->psn, qp->req.top_psn) >= 0)
		return true;
	if (skr_psn_diff(pkt->psn, qp->req.una_psn) < 0)
		return true;
	if (pkt->opcode != (qp->trans | SKR_ACKNOWLEDGE))
		return skr_comp_response(qp, skb, pkt);
	skr_comp_acknowledge(qp, pkt);
	return true;
}

void skr_completer_gap(struct skr_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	if (!qp->early_rsp.arrived || qp->req.rewound)
		return;
	if (skr_reorder_lost(&qp->early_rsp))
		skr_comp_implied_nak(qp);
	else
		skr_timer_pause(qp);
}

/*
 * A page is being brought in that a response needs, or the requester: the packets
 * that it has sent so far may not ask for an answer.
 */
static bool skr_comp_faulting(const struct skr_qp *qp)
{
	return qp->faults[SKR_FAULT_RESPONSES].busy || qp->faults[SKR_FAULT_SENDS].busy;
}

void skr_completer_timeout(struct skr_qp *qp)
{
	struct skr_requester *req = &qp->req;

	lockdep_assert_held(&qp->lock);
	/* nothing under way: sending starts the timer again */
	if (req->psn == req->una_psn)
		return;
	/* held back by ourselves, or by a port that is paused: no answer is late */
	if (req->waiting || skr_comp_faulting(qp) || skr_tx_held(qp)) {
		skr_timer_ack(qp);
		return;
	}
	if (ktime_before(ktime_get(), req->ack_deadline)) {
		hrtimer_start(&qp->ack_timer, req->ack_deadline, HRTIMER_MODE_ABS_SOFT);
		return;
	}
	/* early, so it is no time-out, and the peer is not to blame */
	if (req->hurry) {
		req->hurry--;
		skr_requester_rewind(qp);
		return;
	}
	skr_qp_count(qp, SKR_CNT_LOCAL_ACK_TIMEOUT_ERR);
	if (req->timeouts < SKR_TIMEOUT_BACKOFF)
		req->timeouts++;
	skr_comp_retry(qp, SKR_WINDOW_MIN);
}

void skr_completer_path_changed(struct skr_qp *qp)
{
	struct skr_requester *req = &qp->req;

	lockdep_assert_held(&qp->lock);
	/* nothing under way, or a page is missing: it will be sent by the new path */
	if (req->psn == req->una_psn || skr_comp_faulting(qp))
		return;
	/* one change is told more than once */
	if (req->hurry < SKR_HURRIES)
		req->window = max_t(u32, req->window / 2, SKR_WINDOW_MIN);
	req->timeouts = 0;
	req->hurry = SKR_HURRIES;
	skr_requester_rewind(qp);
	skr_tx_restart(qp);
}
