// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Who works for a QP, and when.
 *
 * Whoever brings work sets SKR_QP_PENDING and tries the lock. Getting it, he
 * does all the work there is; else the holder, who looks at SKR_QP_PENDING
 * after he has released the lock, does. Pairs of full barriers make sure that
 * one of the two sees the other:
 *
 *	bringer				holder
 *	set PENDING			unlock
 *	barrier				barrier
 *	trylock fails: done		test PENDING: start over
 */
#include "qp.h"

#include "../net/rocev2.h"
#include "../trace.h"

static struct workqueue_struct *skr_wq;

int skr_sched_init(void)
{
	skr_wq = alloc_workqueue("skerry", WQ_UNBOUND | WQ_HIGHPRI, 0);
	return skr_wq ? 0 : -ENOMEM;
}

void skr_sched_exit(void)
{
	destroy_workqueue(skr_wq);
}

void skr_qp_run_later(struct skr_qp *qp)
{
	set_bit(SKR_QP_PENDING, &qp->run_flags);
	kref_get(&qp->ref);
	if (!queue_work(skr_wq, &qp->work))
		skr_qp_put(qp);
}

void skr_qp_work(struct work_struct *work)
{
	struct skr_qp *qp = container_of(work, struct skr_qp, work);

	skr_qp_run(qp);
	skr_qp_put(qp);
}

/* May the QP take this packet in the state that it is in? */
static enum skr_drop skr_rx_admit(struct skr_qp *qp, struct sk_buff *skb,
				  const struct skr_pkt *pkt)
{
	switch (qp->state) {
	case IB_QPS_RTR:
		if (pkt->flags & SKR_IS_RESPONSE)
			return SKR_DROP_STATE;
		break;
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		break;
	default:
		return SKR_DROP_STATE;
	}
	if (qp->trans == SKR_TRANS_UD)
		return skr_datagram_admit(qp, skb, pkt);
	return skr_rx_matches(skb, &qp->av) ? SKR_DROP_NONE : SKR_DROP_ADDR;
}

static void skr_rx_take(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	if (pkt->opcode == SKR_OPCODE_CNP)
		skr_flow_cnp(qp);
	else if (qp->trans == SKR_TRANS_UD)
		skr_datagram_receive(qp, skb, pkt);
	else if (qp->trans == SKR_TRANS_UC)
		skr_uc_receive(qp, skb, pkt);
	else if (pkt->flags & SKR_IS_RESPONSE)
		skr_completer(qp, skb, pkt);
	else
		skr_responder(qp, skb, pkt);
}

/*
 * The packet was parsed at the door; it waited, and its facts are read again.
 * @fresh: it comes from the door, not from those that came too early.
 */
static void skr_rx_one(struct skr_qp *qp, struct sk_buff *skb, bool fresh)
{
	u32 len = skr_rx_cb(skb)->len;
	u8 buf[SKR_MAX_HDR_BYTES];
	enum skr_drop drop;
	struct skr_pkt pkt;
	u32 avail = min_t(u32, len, sizeof(buf));

	drop = skr_parse(&pkt, skb_header_pointer(skb, 0, avail, buf), avail, len);
	if (WARN_ON_ONCE(drop))
		goto free;

	drop = skr_rx_admit(qp, skb, &pkt);
	if (drop || fresh)
		skr_count(qp->dev, SKR_CNT_RX_DROP + drop);
	if (drop) {
		trace_skr_rx_drop(qp->dev, &pkt, drop);
		if (pkt.opcode == SKR_OPCODE_CNP)
			skr_count(qp->dev, SKR_CNT_RP_CNP_IGNORED);
		goto free;
	}
	if (fresh) {
		skr_cnp_look(qp, skb, &pkt);
		skr_count_add(qp->dev, SKR_CNT_RX_BYTES, len);
		trace_skr_rx(qp->dev, &pkt);
	}
	skr_rx_take(qp, skb, &pkt);
free:
	consume_skb(skb);
}

static bool skr_step_responses(struct skr_qp *qp)
{
	int budget = SKR_STEP_BUDGET;
	bool fresh;
	struct sk_buff *skb;

	while (budget--) {
		skb = skr_reorder_next(&qp->early_rsp, qp->req.una_psn);
		fresh = !skb;
		if (fresh)
			skb = skb_dequeue(&qp->rx_rsp);
		if (!skb) {
			skr_completer_gap(qp);
			return false;
		}
		skr_rx_one(qp, skb, fresh);
	}
	return true;
}

/* Nothing more has come. Return: true if what was held may be taken now. */
static bool skr_step_gap(struct skr_qp *qp)
{
	if (qp->trans == SKR_TRANS_UC)
		return skr_uc_gap(qp);
	skr_responder_gap(qp);
	return false;
}

/* Requests wait while a READ is being answered: its responses come first. */
static bool skr_step_requests(struct skr_qp *qp)
{
	int budget = SKR_STEP_BUDGET;
	bool more = true;
	struct sk_buff *skb;
	bool fresh;

	while (budget--) {
		if (qp->resp.reading.active) {
			more = skr_responder_read(qp, SKR_STEP_BUDGET);
			if (qp->resp.reading.active)
				return more;
			more = true;
		}
		skb = skr_reorder_next(&qp->early_req, qp->resp.epsn);
		fresh = !skb;
		if (fresh)
			skb = skb_dequeue(&qp->rx_req);
		if (!skb) {
			if (skr_step_gap(qp))
				continue;
			more = false;
			break;
		}
		skr_rx_one(qp, skb, fresh);
	}
	skr_responder_ack(qp);
	return more;
}

static bool skr_step(struct skr_qp *qp)
{
	bool more = false;
	int idx;

	/* destroyed, or everything was forgotten */
	if (!qp->ibqp || qp->state == IB_QPS_RESET || qp->state == IB_QPS_INIT)
		return false;

	idx = srcu_read_lock(&qp->dev->mr_srcu);
	if (qp->state != IB_QPS_ERR)
		more = skr_step_responses(qp);
	if (qp->state != IB_QPS_ERR)
		more |= skr_step_requests(qp);
	if (test_and_clear_bit(SKR_QP_TIMER_ACK, &qp->run_flags) && qp->state != IB_QPS_ERR)
		skr_completer_timeout(qp);
	if (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD)
		more |= skr_requester(qp, SKR_STEP_BUDGET);
	/* not else: what comes before may have failed the QP */
	if (qp->state == IB_QPS_ERR)
		more = skr_flush(qp, SKR_STEP_BUDGET);
	else if (qp->state == IB_QPS_SQE)
		more |= skr_flush(qp, SKR_STEP_BUDGET);
	srcu_read_unlock(&qp->dev->mr_srcu, idx);
	return more;
}

/**
 * struct skr_fire - completion events to raise once the lock is released
 * @send: send CQ, or NULL
 * @recv: receive CQ, or NULL
 */
struct skr_fire {
	struct skr_cq *send;
	struct skr_cq *recv;
};

static struct skr_fire skr_fire_take(struct skr_qp *qp)
{
	struct skr_fire fire = {};

	if (qp->fire_send && qp->ibqp) {
		fire.send = skr_cq(qp->ibqp->send_cq);
		skr_cq_get(fire.send);
	}
	if (qp->fire_recv && qp->ibqp) {
		fire.recv = skr_cq(qp->ibqp->recv_cq);
		skr_cq_get(fire.recv);
	}
	qp->fire_send = false;
	qp->fire_recv = false;
	return fire;
}

/*
 * Set while a CPU calls completion handlers: what a handler posts is left to a
 * worker, or handlers could nest without end.
 */
static DEFINE_PER_CPU(int, skr_firing);

static void skr_fire(struct skr_fire fire)
{
	this_cpu_inc(skr_firing);
	if (fire.send)
		skr_cq_fire(fire.send);
	if (fire.recv)
		skr_cq_fire(fire.recv);
	this_cpu_dec(skr_firing);
}

void skr_qp_run(struct skr_qp *qp)
{
	int steps = SKR_RUN_STEPS;
	struct skr_fire fire;
	bool more;

	if (irqs_disabled() || raw_cpu_read(skr_firing)) {
		skr_qp_run_later(qp);
		return;
	}

	set_bit(SKR_QP_PENDING, &qp->run_flags);
	/* the bringer's barrier, see above */
	smp_mb__after_atomic();
	local_bh_disable();
	while (spin_trylock(&qp->lock)) {
		clear_bit(SKR_QP_PENDING, &qp->run_flags);
		/* skr_step() sees all work brought so far; later work sets it again */
		smp_mb__after_atomic();
		more = skr_step(qp);
		fire = skr_fire_take(qp);
		spin_unlock(&qp->lock);
		skr_fire(fire);
		/* pairs with the bringer's barrier, see above */
		smp_mb();
		if (!more && !test_bit(SKR_QP_PENDING, &qp->run_flags))
			break;
		if (!--steps) {
			skr_qp_run_later(qp);
			break;
		}
	}
	local_bh_enable();
}
