// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The notification point: a packet that met congestion is answered with a CNP to
 * its sender (annex A17, CA17-44), and CNPs that come in go to the flow.
 */
#include "qp.h"
#include "send.h"

#include <net/inet_ecn.h>
#include <net/ipv6.h>

#include "../net/prio.h"
#include "../net/rocev2.h"

/* Reserved bytes behind the BTH */
#define SKR_CNP_RESERVED	16

/* Is it time for a CNP again? If so, this one is taken to be sent. */
static bool skr_cnp_due(atomic64_t *last, u64 now, u64 distance)
{
	u64 before = atomic64_read(last);

	return now - before >= distance && atomic64_cmpxchg(last, before, now) == before;
}

static bool skr_cnp_take_turn(struct skr_qp *qp)
{
	struct skr_congestion *cc = &qp->dev->cc;
	u64 distance = READ_ONCE(cc->params.np_min_time_between_cnps) * SKR_CC_NS_PER_US;
	u64 now = ktime_get_ns();
	u32 hash;

	switch (READ_ONCE(cc->cnp_pacing)) {
	case SKR_CNP_PER_PORT:
		return skr_cnp_due(&cc->cnp_sent[0], now, distance);
	case SKR_CNP_PER_DEST:
		hash = __ipv6_addr_jhash(&qp->av.daddr, 0);
		return skr_cnp_due(&cc->cnp_sent[hash % SKR_CNP_DESTS], now, distance);
	default:
		if (now - qp->flow.cnp_sent < distance)
			return false;
		qp->flow.cnp_sent = now;
		return true;
	}
}

static void skr_cnp_send(struct skr_qp *qp)
{
	const struct skr_cc_params *params = &qp->dev->cc.params;
	struct skr_pkt pkt = {
		.opcode = SKR_OPCODE_CNP,
		.becn = 1,
		.payload_bytes = SKR_CNP_RESERVED,
	};
	struct skr_av *av = &qp->av;
	u8 tclass = av->tclass;
	struct skr_class class;
	struct skr_batch out;
	void *payload;

	/* by the QP's own DSCP, before the CNP's takes its place */
	skr_prio_find(qp->dev, av);
	class = av->class;
	/* the QP's way, in a class of its own */
	av->tclass = READ_ONCE(params->np_cnp_dscp) << 2;
	if (!READ_ONCE(params->np_cnp_prio_mode))
		av->class = skr_prio_of(qp->dev, av, READ_ONCE(params->np_cnp_prio));
	skr_batch_init(&out, qp->dev, qp->stats, av);
	payload = skr_send_begin(qp, &out, &pkt);
	if (!IS_ERR(payload)) {
		memset(payload, 0, SKR_CNP_RESERVED);
		skr_send_end(&out, &pkt);
		if (!skr_send_uncounted(qp, &out))
			skr_qp_count(qp, SKR_CNT_NP_CNP_SENT);
	}
	av->tclass = tclass;
	av->class = class;
}

/* Does this packet belong to what can be slowed down? */
static bool skr_cnp_wanted(const struct skr_qp *qp, const struct skr_pkt *pkt)
{
	if (qp->trans == SKR_TRANS_UD || pkt->opcode == SKR_OPCODE_CNP)
		return false;
	/* the one response with data in it is a READ's */
	return !(pkt->flags & SKR_IS_RESPONSE) || pkt->flags & SKR_IS_READ;
}

void skr_cnp_answer(struct skr_qp *qp, const struct skr_pkt *pkt)
{
	lockdep_assert_held(&qp->lock);
	if (skr_cnp_wanted(qp, pkt) && qp->flow.cc.ops->marks && skr_cnp_take_turn(qp))
		skr_cnp_send(qp);
}

void skr_cnp_look(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	lockdep_assert_held(&qp->lock);
	if (skr_rx_cb(skb)->ecn != INET_ECN_CE)
		return;
	skr_qp_count_add(qp, SKR_CNT_NP_ECN_MARKED, skr_rx_left(skb));
	if (!skr_rx_cb(skb)->noticed)
		skr_cnp_answer(qp, pkt);
}

struct sk_buff *skr_cnp_unnoticed(struct sk_buff_head *queue)
{
	struct sk_buff *skb, *marked = NULL;
	int budget = SKR_STEP_BUDGET;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	skb_queue_reverse_walk(queue, skb) {
		struct skr_rx_cb *cb = skr_rx_cb(skb);

		if (cb->noticed || !budget--)
			break;
		cb->noticed = true;
		if (!marked && cb->ecn == INET_ECN_CE)
			marked = skb;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return marked;
}
