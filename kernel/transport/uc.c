// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The unreliable connection's receiving side: a message that misses a packet
 * is dropped in silence, and the next one may begin with any PSN (IBTA 9.8.2).
 * Packets that overtake others are held for a moment here as on RC, or a path
 * that reorders would lose messages that were not lost.
 */
#include "engine.h"
#include "unreliable.h"

#include "../wire/psn.h"

/* The receive request in use, if any, is left for the next message. */
static void skr_uc_abandon(struct skr_qp *qp)
{
	qp->resp.msg = 0;
}

static void skr_uc_refused(struct skr_qp *qp, enum skr_verdict verdict)
{
	static const int counters[] = {
		[SKR_RNR] = SKR_CNT_OUT_OF_BUFFER,
		[SKR_INV_REQ] = SKR_CNT_RESP_REMOTE_INVALID_REQUEST,
		[SKR_REM_ACCESS] = SKR_CNT_RESP_REMOTE_ACCESS_ERRORS,
		[SKR_LOCAL_LEN] = SKR_CNT_RESP_LOCAL_LENGTH_ERROR,
	};

	if (verdict == SKR_REM_OP) {
		skr_qp_recv_failed(qp);
		return;
	}
	skr_qp_count(qp, counters[verdict]);
	skr_uc_abandon(qp);
}

static void skr_uc_execute(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	struct skr_responder *resp = &qp->resp;
	enum skr_verdict verdict;
	u32 packets = 1;

	/* a new message ends an old one; the rest of a lost one is lost, too */
	if (pkt->flags & SKR_IS_FIRST)
		skr_uc_abandon(qp);
	else if (!resp->msg)
		return;

	verdict = skr_responder_execute(qp, skb, pkt, &packets);
	if (qp->state == IB_QPS_ERR)
		return;		/* a completion queue overran */
	if (verdict == SKR_ABSENT) {
		/* it is expected once more */
		resp->epsn = pkt->psn;
		return;
	}
	if (verdict) {
		skr_uc_refused(qp, verdict);
		return;
	}
	resp->msg = pkt->flags & SKR_IS_LAST ? 0 : pkt->flags & (SKR_IS_SEND | SKR_IS_WRITE);
	if (qp->state == IB_QPS_RTR && !resp->comm_est) {
		resp->comm_est = true;
		skr_qp_event(qp, IB_EVENT_COMM_EST);
	}
}

bool skr_uc_receive(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	struct skr_responder *resp = &qp->resp;
	s32 ahead = skr_psn_diff(pkt->psn, resp->epsn);

	lockdep_assert_held(&qp->lock);
	if (ahead)
		skr_qp_count(qp, ahead > 0 ? SKR_CNT_OUT_OF_SEQUENCE : SKR_CNT_DUPLICATE_REQUEST);
	if (ahead > 0 && ahead <= SKR_REORDER_SPAN) {
		skr_reorder_hold(&qp->early_req, skb, ahead);
		return false;
	}
	if (ahead < 0 && ahead >= -SKR_REORDER_MAX)
		return true;	/* late, or a copy */
	if (ahead) {
		/* a sender that began anew, or of whom nothing has come for long */
		skr_reorder_purge(&qp->early_req);
		skr_uc_abandon(qp);
	}
	resp->epsn = skr_psn_add(pkt->psn, 1);
	skr_reorder_moved(&qp->early_req);
	skr_uc_execute(qp, skb, pkt);
	return true;
}

bool skr_uc_gap(struct skr_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	switch (skr_reorder_wait(&qp->early_req)) {
	case SKR_REORDER_EMPTY:
		return false;
	case SKR_REORDER_WAIT:
		skr_timer_pause(qp);
		return false;
	case SKR_REORDER_GIVE_UP:
		break;
	}
	skr_uc_abandon(qp);
	qp->resp.epsn = skr_reorder_first(&qp->early_req);
	skr_reorder_moved(&qp->early_req);
	return true;
}
