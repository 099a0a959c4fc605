// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * From the door to the QP: format, number, transport, P_Key, ICRC. What needs
 * the QP's lock is checked when its turn comes (sched.c).
 */
#include "qp.h"

#include <rdma/ib_addr.h>

#include "../net/netns.h"
#include "../net/rocev1.h"
#include "../net/rocev2.h"
#include "../net/xmit.h"
#include "../trace.h"
#include "mgroup.h"
#include "sched.h"

static bool skr_rx_pkey_ok(u16 pkey)
{
	/* ours is a full member of the default partition: any member may talk */
	return (pkey & ~SKR_PKEY_MEMBER) == (SKR_PKEY_FULL & ~SKR_PKEY_MEMBER);
}

enum skr_drop skr_rx_fits(const struct skr_qp *qp, const struct skr_pkt *pkt)
{
	enum ib_qp_state state = READ_ONCE(qp->state);

	if (pkt->opcode == SKR_OPCODE_CNP ? qp->trans == SKR_TRANS_UD :
					    (pkt->opcode & SKR_TRANS_MASK) != qp->trans ||
					    !(pkt->flags & qp->takes))
		return SKR_DROP_TYPE;
	if (state < IB_QPS_RTR || state > IB_QPS_SQE)
		return SKR_DROP_STATE;
	return skr_rx_pkey_ok(pkt->pkey) ? SKR_DROP_NONE : SKR_DROP_PKEY;
}

/* @qp: of the packet before in the same super-packet, or NULL; then its own. */
static enum skr_drop skr_rx_check_unicast(struct sk_buff *skb, const struct skr_pkt *pkt,
					  struct skr_qp **qp)
{
	struct skr_rx_cb *cb = skr_rx_cb(skb);
	struct skr_qp *found = *qp;
	struct in6_addr gid;
	enum skr_drop drop;

	skr_rx_dgid(skb, &gid);
	/* QP 1 of a host that talks to itself, through the loopback device */
	if (pkt->qpn == SKR_QPN_GSI && !cb->dev)
		cb->dev = skr_netns_find_address(dev_net(skb->dev), &gid);
	if (!found || found->qpn != pkt->qpn)
		found = skr_qp_find(cb->dev, pkt->qpn);
	if (!found || !net_eq(found->dev->net, dev_net(skb->dev)))
		return SKR_DROP_QPN;
	cb->dev = found->dev;
	drop = skr_rx_fits(found, pkt);
	if (drop)
		return drop;
	if (found->trans == SKR_TRANS_UD && !skr_rocev1_is_ours(found->dev, skb))
		return SKR_DROP_ADDR;
	/* a group's traffic goes to QP 0xffffff and nowhere else (9.6.1.4) */
	if (rdma_is_multicast_addr(&gid))
		return SKR_DROP_ADDR;
	*qp = found;
	return SKR_DROP_NONE;
}

static enum skr_drop skr_rx_check_multicast(struct sk_buff *skb, const struct skr_pkt *pkt)
{
	struct in6_addr gid;

	if ((pkt->opcode & SKR_TRANS_MASK) != SKR_TRANS_UD)
		return SKR_DROP_TYPE;
	skr_rx_dgid(skb, &gid);
	return rdma_is_multicast_addr(&gid) ? SKR_DROP_NONE : SKR_DROP_ADDR;
}

/* The packet at hand, but for its ICRC: the cheap checks come first. */
static enum skr_drop skr_rx_check(struct sk_buff *skb, struct skr_pkt *pkt, struct skr_qp **qp)
{
	enum skr_drop drop = skr_rx_parse(skb, pkt);

	if (drop)
		return drop;
	if (pkt->qpn == SKR_QPN_MULTICAST)
		return skr_rx_check_multicast(skb, pkt);
	return skr_rx_check_unicast(skb, pkt, qp);
}

static void skr_rx_drop(struct sk_buff *skb, const struct skr_pkt *pkt, enum skr_drop drop,
			u32 packets)
{
	struct skr_dev *dev = skr_rx_cb(skb)->dev;

	trace_skr_rx_drop(dev, pkt, drop);
	if (!dev)
		return;
	skr_count_add(dev, SKR_CNT_RX_DROP + drop, packets);
	if (pkt->opcode == SKR_OPCODE_CNP)
		skr_count(dev, SKR_CNT_RP_CNP_IGNORED);
}

/* The packets from @from up to @to by themselves; @skb itself if these are the last. */
static struct sk_buff *skr_rx_piece(struct sk_buff *skb, u32 from, u32 to)
{
	struct sk_buff *piece = skb;

	if (to != skr_rx_cb(skb)->len)
		piece = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
	if (piece) {
		skr_rx_cb(piece)->at = from;
		skr_rx_cb(piece)->len = to;
	}
	return piece;
}

struct sk_buff_head *skr_rx_queue_for(struct skr_qp *qp, const struct skr_pkt *pkt)
{
	if (pkt->opcode == SKR_OPCODE_CNP)
		return &qp->rx_cnp;
	return pkt->flags & SKR_IS_RESPONSE ? &qp->rx_rsp : &qp->rx_req;
}

/*
 * A softirq that has checked much data goes on with what comes next, and another CPU
 * copies it meanwhile. On one machine the softirq is the sender's. What follows is left to
 * the CPU that is about to come, too, or this one would do the work before it. And what
 * makes a QP send more bulk is left to another CPU, since this one may copy bulk.
 */
static bool skr_rx_aside(const struct skr_qp *qp, const struct sk_buff_head *queue, u32 bytes)
{
	/* where softirqs are threads, one would have to wait for whoever polls there */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || !READ_ONCE(skr_tune.rx_aside) ||
	    num_online_cpus() == 1 || queue == &qp->rx_cnp)
		return false;
	return bytes >= SKR_RX_ASIDE || test_bit(SKR_QP_ASIDE, &qp->run_flags) ||
	       skr_qp_bulk(qp);
}

struct sk_buff *skr_rx_dequeue(struct skr_qp *qp, struct sk_buff_head *queue)
{
	struct sk_buff *skb = skb_dequeue(queue);

	if (skb)
		atomic_sub(skb->truesize, &qp->rx_waiting);
	return skb;
}

void skr_rx_forget(struct skr_qp *qp)
{
	struct sk_buff_head *queues[] = { &qp->rx_req, &qp->rx_rsp, &qp->rx_cnp };
	struct sk_buff *skb;
	int i;

	for (i = 0; i < ARRAY_SIZE(queues); i++)
		while ((skb = skr_rx_dequeue(qp, queues[i])))
			kfree_skb(skb);
}

static void skr_rx_queue(struct skr_qp *qp, struct sk_buff_head *queue, struct sk_buff *piece,
			 const struct skr_pkt *pkt)
{
	struct skr_rx_cb *cb = skr_rx_cb(piece);
	u32 bytes = cb->len - cb->at;
	u32 limit = SKR_RX_BACKLOG, waiting;

	cb->psn = pkt->psn;
	if (cb->len > cb->seg)
		limit /= SKR_RX_SUPER;
	waiting = skb_queue_len_lockless(queue);
	/* small packets in large buffers, and pieces that each hold on to the whole */
	if (waiting >= limit || atomic_read(&qp->rx_waiting) >= SKR_RX_BACKLOG_BYTES) {
		skr_rx_drop(piece, pkt, SKR_DROP_BUSY, skr_rx_left(piece));
		kfree_skb(piece);
		return;
	}
	atomic_add(piece->truesize, &qp->rx_waiting);
	skb_queue_tail(queue, piece);
	/* a CPU that does not come in time is not waited for */
	if (waiting < limit / 4 && skr_rx_aside(qp, queue, bytes) && skr_qp_run_aside(qp))
		return;
	if (bytes >= SKR_RX_AT_ONCE)
		skr_qp_run(qp);
	else
		skr_qp_run_soon(qp, &qp->lone_rx);
}

/**
 * struct skr_rx_run - good packets in a row for one queue of one QP
 * @qp: the QP, or NULL: there is none
 * @queue: its queue
 * @pkt: facts of the first one
 * @from: offset of the first one
 * @late: who copies them checks the ICRC of all but the first one
 */
struct skr_rx_run {
	struct skr_qp		*qp;
	struct sk_buff_head	*queue;
	struct skr_pkt		pkt;
	u32			from;
	bool			late;
};

/* Queue the packets from @run->from up to @to. */
static void skr_rx_run_end(struct sk_buff *skb, struct skr_rx_run *run, u32 to)
{
	struct sk_buff *piece = skr_rx_piece(skb, run->from, to);
	struct skr_qp *qp = run->qp;

	run->qp = NULL;
	if (piece)
		skr_rx_cb(piece)->good = run->late ? run->from + skr_rx_cb(piece)->seg : to;
	if (piece)
		skr_rx_queue(qp, run->queue, piece, &run->pkt);
	else
		skr_rx_drop(skb, &run->pkt, SKR_DROP_NOMEM,
			    DIV_ROUND_UP(to - run->from, skr_rx_cb(skb)->seg));
}

/*
 * Is it better to let another CPU check the ICRCs as well, when it copies? It is, as long
 * as it has not much to do. The first packet's is checked here, so that what it tells
 * (CE) may be used before.
 */
static bool skr_rx_late(const struct skr_qp *qp, const struct sk_buff_head *queue, u32 bytes)
{
	return bytes >= SKR_RX_ASIDE && qp->trans != SKR_TRANS_UD &&
	       skb_queue_len_lockless(queue) < SKR_RX_LATE && skr_rx_aside(qp, queue, bytes);
}

/* One member's copy; a member that cannot take it does not hurt the others. */
static void skr_rx_copy(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	enum skr_drop drop = skr_rx_fits(qp, pkt);

	skr_rx_cb(skb)->dev = qp->dev;
	if (!drop) {
		skr_rx_queue(qp, &qp->rx_req, skb, pkt);
		return;
	}
	skr_rx_drop(skb, pkt, drop, 1);
	kfree_skb(skb);
}

/* The packet at hand, to all members of its group. */
static void skr_rx_group(struct sk_buff *skb, const struct skr_pkt *pkt)
{
	struct skr_rx_cb *cb = skr_rx_cb(skb);
	u32 at = cb->at, len = cb->len;
	struct in6_addr gid;

	skr_rx_dgid(skb, &gid);
	/* copies are made of it as it is now */
	cb->len = at + skr_rx_bytes(skb);
	cb->good = cb->len;
	if (!cb->dev || !skr_group_deliver(cb->dev, &gid, skb, pkt, skr_rx_copy))
		skr_rx_drop(skb, pkt, SKR_DROP_QPN, 1);
	cb->len = len;
}

/*
 * Does the packet at hand belong to the run that is being collected, as far as its BTH
 * tells? Then it is parsed and checked once, when its turn comes. One that must have its
 * ICRC checked here, and has a wrong one, does not.
 */
static bool skr_rx_follows(struct sk_buff *skb, const struct skr_rx_run *run)
{
	const struct skr_opcode *op;
	struct skr_bth bth __uninitialized;

	if (!run->qp || run->queue == &run->qp->rx_cnp || !skr_rx_look(skb, &bth))
		return false;
	op = &skr_opcodes[bth.opcode];
	if ((get_unaligned_be32(&bth.qpn) & SKR_MASK24) != run->pkt.qpn ||
	    bth.opcode == SKR_OPCODE_CNP || !op->flags ||
	    (op->flags ^ run->pkt.flags) & SKR_IS_RESPONSE)
		return false;
	return run->late || (skr_rx_bytes(skb) >= op->hdr_bytes + SKR_ICRC_BYTES &&
			     skr_rx_icrc_ok(skb, op->hdr_bytes));
}

void skr_rx(struct sk_buff *skb)
{
	struct skr_rx_cb *cb = skr_rx_cb(skb);
	struct sk_buff_head *queue;
	struct skr_qp *qp = NULL;
	struct skr_rx_run run __uninitialized;
	struct skr_pkt pkt __uninitialized;
	enum skr_drop drop;
	u32 at;

	/* the rest is set with it; they are large */
	run.qp = NULL;

	/* it may wait beyond this softirq: let go of route, socket and filter */
	skb_dst_drop(skb);
	skb_orphan(skb);
	nf_reset_ct(skb);
	do {
		if (skr_rx_follows(skb, &run))
			continue;
		drop = skr_rx_check(skb, &pkt, &qp);
		queue = NULL;
		if (!drop && pkt.qpn != SKR_QPN_MULTICAST)
			queue = skr_rx_queue_for(qp, &pkt);
		if (!drop && !skr_rx_icrc_ok(skb, pkt.hdr_bytes)) {
			drop = SKR_DROP_ICRC;
			queue = NULL;
		}
		at = cb->at;
		if (run.qp && queue != run.queue) {
			skr_rx_run_end(skb, &run, at);
			cb->at = at;
		}
		if (drop) {
			skr_rx_drop(skb, &pkt, drop, 1);
		} else if (!queue) {
			skr_rx_group(skb, &pkt);
		} else if (!run.qp) {
			run.qp = qp;
			run.queue = queue;
			run.pkt = pkt;
			run.from = at;
			run.late = skr_rx_late(qp, queue, cb->len - at);
		}
	} while (skr_rx_next(skb));

	if (run.qp)
		skr_rx_run_end(skb, &run, cb->len);
	else
		kfree_skb(skb);
}
