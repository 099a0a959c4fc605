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

static enum skr_drop skr_rx_check(struct sk_buff *skb, struct skr_pkt *pkt, struct skr_qp **found)
{
	struct skr_rx_cb *cb = skr_rx_cb(skb);
	u8 buf[SKR_MAX_HDR_BYTES];
	enum skr_drop drop;
	struct skr_qp *qp;
	u32 avail = min_t(u32, cb->len, sizeof(buf));

	drop = skr_parse(pkt, skb_header_pointer(skb, 0, avail, buf), avail, cb->len);
	if (drop)
		return drop;

	/* the cheap checks come before the ICRC; all of them drop in silence */
	qp = skr_qp_find(pkt->qpn);
	if (!qp || !net_eq(qp->dev->net, dev_net(skb->dev)))
		return SKR_DROP_QPN;
	cb->dev = qp->dev;
	if ((pkt->opcode & SKR_TRANS_MASK) != SKR_TRANS_RC)
		return SKR_DROP_TYPE;
	if (READ_ONCE(qp->state) < IB_QPS_RTR || READ_ONCE(qp->state) > IB_QPS_SQD)
		return SKR_DROP_STATE;
	if (!skr_rx_pkey_ok(pkt->pkey))
		return SKR_DROP_PKEY;
	if (!skr_rx_icrc_ok(skb, pkt->hdr_bytes))
		return SKR_DROP_ICRC;
	*found = qp;
	return SKR_DROP_NONE;
}

void skr_rx(struct sk_buff *skb)
{
	struct sk_buff_head *queue;
	struct skr_qp *qp = NULL;
	struct skr_pkt pkt = {};
	enum skr_drop drop;

	drop = skr_rx_check(skb, &pkt, &qp);
	if (!drop) {
		queue = pkt.flags & SKR_IS_RESPONSE ? &qp->rx_rsp : &qp->rx_req;
		if (skb_queue_len_lockless(queue) >= SKR_RX_BACKLOG)
			drop = SKR_DROP_BUSY;
	}
	if (drop) {
		if (skr_rx_cb(skb)->dev)
			skr_count(skr_rx_cb(skb)->dev, SKR_CNT_RX_DROP + drop);
		trace_skr_rx_drop(skr_rx_cb(skb)->dev, &pkt, drop);
		kfree_skb(skb);
		return;
	}

	/* it may wait beyond this softirq: let go of route, socket and filter */
	skr_rx_cb(skb)->psn = pkt.psn;
	skb_dst_drop(skb);
	skb_orphan(skb);
	nf_reset_ct(skb);
	skb_queue_tail(queue, skb);
	skr_qp_run(qp);
}
