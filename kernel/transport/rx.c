// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * From the door to the QP: format, number, transport, P_Key, ICRC. What needs
 * the QP's lock is checked when its turn comes (sched.c).
 */
#include "qp.h"

#include <rdma/ib_addr.h>

#include "../net/netns.h"
#include "../net/rocev2.h"
#include "../net/xmit.h"
#include "../trace.h"
#include "mgroup.h"

static bool skr_rx_pkey_ok(u16 pkey)
{
	/* ours is a full member of the default partition: any member may talk */
	return (pkey & ~SKR_PKEY_MEMBER) == (SKR_PKEY_FULL & ~SKR_PKEY_MEMBER);
}

/* What does not need the QP's lock; all of it drops in silence. */
static enum skr_drop skr_rx_check_qp(const struct skr_qp *qp, const struct skr_pkt *pkt)
{
	enum ib_qp_state state = READ_ONCE(qp->state);

	if ((pkt->opcode & SKR_TRANS_MASK) != qp->trans &&
	    (pkt->opcode != SKR_OPCODE_CNP || qp->trans == SKR_TRANS_UD))
		return SKR_DROP_TYPE;
	if (state < IB_QPS_RTR || state > IB_QPS_SQE)
		return SKR_DROP_STATE;
	return skr_rx_pkey_ok(pkt->pkey) ? SKR_DROP_NONE : SKR_DROP_PKEY;
}

static void skr_rx_queue(struct skr_qp *qp, struct sk_buff *skb, bool response)
{
	struct sk_buff_head *queue = response ? &qp->rx_rsp : &qp->rx_req;

	if (skb_queue_len_lockless(queue) >= SKR_RX_BACKLOG) {
		skr_count(qp->dev, SKR_CNT_RX_DROP + SKR_DROP_BUSY);
		trace_skr_rx_drop(qp->dev, NULL, SKR_DROP_BUSY);
		kfree_skb(skb);
		return;
	}
	skb_queue_tail(queue, skb);
	skr_qp_run(qp);
}

/* It may wait beyond this softirq: let go of route, socket and filter. */
static void skr_rx_detach(struct sk_buff *skb, const struct skr_pkt *pkt)
{
	skr_rx_cb(skb)->psn = pkt->psn;
	skb_dst_drop(skb);
	skb_orphan(skb);
	nf_reset_ct(skb);
}

static enum skr_drop skr_rx_unicast(struct sk_buff *skb, const struct skr_pkt *pkt,
				    struct skr_qp **found)
{
	struct skr_rx_cb *cb = skr_rx_cb(skb);
	struct in6_addr gid;
	enum skr_drop drop;
	struct skr_qp *qp;

	skr_rx_dgid(skb, &gid);
	/* QP 1 of a host that talks to itself, through the loopback device */
	if (pkt->qpn == SKR_QPN_GSI && !cb->dev)
		cb->dev = skr_netns_find_address(dev_net(skb->dev), &gid);
	qp = skr_qp_find(cb->dev, pkt->qpn);
	if (!qp || !net_eq(qp->dev->net, dev_net(skb->dev)))
		return SKR_DROP_QPN;
	cb->dev = qp->dev;
	drop = skr_rx_check_qp(qp, pkt);
	if (drop)
		return drop;
	/* a group's traffic goes to QP 0xffffff and nowhere else (9.6.1.4) */
	if (rdma_is_multicast_addr(&gid))
		return SKR_DROP_ADDR;
	*found = qp;
	return SKR_DROP_NONE;
}

/* One member's copy; a member that cannot take it does not hurt the others. */
static void skr_rx_copy(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	enum skr_drop drop = skr_rx_check_qp(qp, pkt);

	if (!drop) {
		skr_rx_queue(qp, skb, false);
		return;
	}
	skr_count(qp->dev, SKR_CNT_RX_DROP + drop);
	trace_skr_rx_drop(qp->dev, pkt, drop);
	kfree_skb(skb);
}

static enum skr_drop skr_rx_multicast(struct sk_buff *skb, const struct skr_pkt *pkt)
{
	struct skr_dev *dev = skr_rx_cb(skb)->dev;
	struct in6_addr gid;

	if ((pkt->opcode & SKR_TRANS_MASK) != SKR_TRANS_UD)
		return SKR_DROP_TYPE;
	skr_rx_dgid(skb, &gid);
	if (!rdma_is_multicast_addr(&gid))
		return SKR_DROP_ADDR;
	if (!skr_rx_icrc_ok(skb, pkt->hdr_bytes))
		return SKR_DROP_ICRC;
	skr_rx_detach(skb, pkt);
	if (!dev || !skr_group_deliver(dev, &gid, skb, pkt, skr_rx_copy))
		return SKR_DROP_QPN;
	consume_skb(skb);
	return SKR_DROP_NONE;
}

static enum skr_drop skr_rx_dispatch(struct sk_buff *skb, struct skr_pkt *pkt)
{
	u32 len = skr_rx_cb(skb)->len;
	u8 buf[SKR_MAX_HDR_BYTES];
	enum skr_drop drop;
	struct skr_qp *qp;
	u32 avail = min_t(u32, len, sizeof(buf));

	drop = skr_parse(pkt, skb_header_pointer(skb, 0, avail, buf), avail, len);
	if (drop)
		return drop;
	if (pkt->qpn == SKR_QPN_MULTICAST)
		return skr_rx_multicast(skb, pkt);

	/* the cheap checks come before the ICRC */
	drop = skr_rx_unicast(skb, pkt, &qp);
	if (drop)
		return drop;
	if (!skr_rx_icrc_ok(skb, pkt->hdr_bytes))
		return SKR_DROP_ICRC;
	skr_rx_detach(skb, pkt);
	skr_rx_queue(qp, skb, pkt->flags & SKR_IS_RESPONSE);
	return SKR_DROP_NONE;
}

static void skr_rx_count_drop(struct skr_dev *dev, const struct skr_pkt *pkt, enum skr_drop drop)
{
	skr_count(dev, SKR_CNT_RX_DROP + drop);
	if (pkt->opcode == SKR_OPCODE_CNP)
		skr_count(dev, SKR_CNT_RP_CNP_IGNORED);
}

void skr_rx(struct sk_buff *skb)
{
	struct skr_pkt pkt = {};
	enum skr_drop drop;

	drop = skr_rx_dispatch(skb, &pkt);
	if (!drop)
		return;
	if (skr_rx_cb(skb)->dev)
		skr_rx_count_drop(skr_rx_cb(skb)->dev, &pkt, drop);
	trace_skr_rx_drop(skr_rx_cb(skb)->dev, &pkt, drop);
	kfree_skb(skb);
}
