// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * From the door to the QP: format, number, transport, P_Key, ICRC. What needs
 * the QP's lock is checked when its turn comes (sched.c).
 */
#include "qp.h"

#include "../net/rocev2.h"
#include "../net/xmit.h"
#include "../trace.h"

static bool skr_rx_pkey_ok(u16 pkey)
{
	/* ours is a full member of the default partition: any member may talk */
	return (pkey & ~SKR_PKEY_MEMBER) == (SKR_PKEY_FULL & ~SKR_PKEY_MEMBER);
}

/* The packet at hand. @qp: of the one before, or NULL; on success its own. */
static enum skr_drop skr_rx_check(struct sk_buff *skb, struct skr_pkt *pkt, struct skr_qp **qp)
{
	struct skr_rx_cb *cb = skr_rx_cb(skb);
	enum skr_drop drop = skr_rx_parse(skb, pkt);
	struct skr_qp *found = *qp;

	if (drop)
		return drop;
	/* the cheap checks come before the ICRC; all of them drop in silence */
	if (!found || found->qpn != pkt->qpn)
		found = skr_qp_find(pkt->qpn);
	if (!found || !net_eq(found->dev->net, dev_net(skb->dev)))
		return SKR_DROP_QPN;
	cb->dev = found->dev;
	if ((pkt->opcode & SKR_TRANS_MASK) != SKR_TRANS_RC)
		return SKR_DROP_TYPE;
	if (READ_ONCE(found->state) < IB_QPS_RTR || READ_ONCE(found->state) > IB_QPS_SQD)
		return SKR_DROP_STATE;
	if (!skr_rx_pkey_ok(pkt->pkey))
		return SKR_DROP_PKEY;
	if (!skr_rx_icrc_ok(skb, pkt->hdr_bytes))
		return SKR_DROP_ICRC;
	*qp = found;
	return SKR_DROP_NONE;
}

static void skr_rx_drop(struct sk_buff *skb, const struct skr_pkt *pkt, enum skr_drop drop,
			u32 packets)
{
	struct skr_dev *dev = skr_rx_cb(skb)->dev;

	if (dev)
		skr_count_add(dev, SKR_CNT_RX_DROP + drop, packets);
	trace_skr_rx_drop(dev, pkt, drop);
}

/**
 * struct skr_rx_run - good packets in a row for one queue of one QP
 * @qp: the QP, or NULL: there is none
 * @queue: its queue
 * @pkt: facts of the first one
 * @from: offset of the first one
 */
struct skr_rx_run {
	struct skr_qp		*qp;
	struct sk_buff_head	*queue;
	struct skr_pkt		pkt;
	u32			from;
};

/* Queue the packets from @run->from up to @to; @skb itself if it is not needed again. */
static void skr_rx_queue(struct sk_buff *skb, struct skr_rx_run *run, u32 to)
{
	struct skr_rx_cb *cb = skr_rx_cb(skb);
	bool last = to == cb->len;
	struct sk_buff *piece = last ? skb : skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
	struct skr_qp *qp = run->qp;
	u32 bytes = to - run->from;
	u32 limit = SKR_RX_BACKLOG;

	run->qp = NULL;
	if (!piece) {
		skr_rx_drop(skb, &run->pkt, SKR_DROP_NOMEM, DIV_ROUND_UP(bytes, cb->seg));
		return;
	}
	cb = skr_rx_cb(piece);
	cb->at = run->from;
	cb->len = to;
	cb->psn = run->pkt.psn;
	if (cb->len > cb->seg)
		limit /= SKR_RX_SUPER;
	if (skb_queue_len_lockless(run->queue) >= limit) {
		skr_rx_drop(piece, &run->pkt, SKR_DROP_BUSY, skr_rx_left(piece));
		kfree_skb(piece);
		return;
	}
	skb_queue_tail(run->queue, piece);
	if (bytes >= SKR_RX_AT_ONCE)
		skr_qp_run(qp);
	else
		skr_qp_run_soon(qp, &qp->lone_rx);
}

void skr_rx(struct sk_buff *skb)
{
	struct skr_rx_cb *cb = skr_rx_cb(skb);
	struct skr_rx_run run = {};
	struct sk_buff_head *queue;
	struct skr_qp *qp = NULL;
	struct skr_pkt pkt = {};
	enum skr_drop drop;
	u32 at;

	/* it may wait beyond this softirq: let go of route, socket and filter */
	skb_dst_drop(skb);
	skb_orphan(skb);
	nf_reset_ct(skb);
	do {
		drop = skr_rx_check(skb, &pkt, &qp);
		queue = NULL;
		if (!drop)
			queue = pkt.flags & SKR_IS_RESPONSE ? &qp->rx_rsp : &qp->rx_req;
		at = cb->at;
		if (run.qp && queue != run.queue) {
			skr_rx_queue(skb, &run, at);
			cb->at = at;
		}
		if (drop) {
			skr_rx_drop(skb, &pkt, drop, 1);
		} else if (!run.qp) {
			run.qp = qp;
			run.queue = queue;
			run.pkt = pkt;
			run.from = at;
		}
	} while (skr_rx_next(skb));

	if (run.qp)
		skr_rx_queue(skb, &run, cb->len);
	else
		kfree_skb(skb);
}
