// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Who works for a QP, and when.
 *
 * Whoever brings work sets SKR_QP_PENDING and tries the lock. Getting it, he
 * does all the work there is; else the holder, who looks at SKR_QP_PENDING
 * after he has released the lock, does. That holds for each holder, also for one
 * that only looks: skr_qp_unlock(). Pairs of full barriers make sure that
 * one of the two sees the other, and the work, which is looked for without its own lock:
 *
 *	bringer				holder
 *	bring				clear PENDING
 *	barrier				barrier
 *	set PENDING			work
 *	barrier				unlock
 *	trylock fails: done		barrier
 *					test PENDING: start over
 */
#include "sched.h"

#include <linux/sched/isolation.h>

#include "engine.h"
#include "send.h"
#include "unreliable.h"

#include "../net/rocev2.h"
#include "../net/xmit.h"
#include "../trace.h"

static struct workqueue_struct *skr_wq;
static struct workqueue_struct *skr_bh_wq;

int skr_sched_init(void)
{
	skr_wq = alloc_workqueue("skerry", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!skr_wq)
		return -ENOMEM;
	skr_bh_wq = alloc_workqueue("skerry_bh", SKR_WQ_BH, 0);
	if (!skr_bh_wq) {
		destroy_workqueue(skr_wq);
		return -ENOMEM;
	}
	return 0;
}

void skr_sched_exit(void)
{
	destroy_workqueue(skr_bh_wq);
	destroy_workqueue(skr_wq);
}

/*
 * Let a work item of a QP have a reference of its own. Who found the QP under RCU has
 * none: it may have been destroyed since, and then there is nothing to do. Return:
 * false if it was, or if the item is queued already.
 */
static bool skr_qp_queue(struct skr_qp *qp, int cpu, struct workqueue_struct *wq,
			 struct work_struct *work)
{
	if (!kref_get_unless_zero(&qp->ref))
		return false;
	if (queue_work_on(cpu, wq, work))
		return true;
	skr_qp_put(qp);
	return false;
}

/* In softirq of this CPU, when it has done what it has in hand, or of another one */
static bool skr_qp_queue_bh(struct skr_qp *qp, int cpu)
{
	bool queued;

	set_bit(SKR_QP_PENDING, &qp->run_flags);
	/* none goes offline meanwhile; one that does later gets its work done before */
	preempt_disable();
	queued = skr_qp_queue(qp, cpu_online(cpu) ? cpu : smp_processor_id(), skr_bh_wq,
			      &qp->bh_work);
	preempt_enable();
	return queued;
}

int skr_other_cpu(const struct skr_qp *qp)
{
	int this = smp_processor_id();
	const struct cpumask *near = cpumask_of_node(cpu_to_node(this));
	int cpu;

	for_each_cpu_wrap(cpu, near, cpumask_nth(qp->qpn % cpumask_weight(near), near))
		if (cpu != this && housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN))
			return cpu;
	return this;
}

void skr_qp_run_later(struct skr_qp *qp)
{
	set_bit(SKR_QP_PENDING, &qp->run_flags);
	skr_qp_queue(qp, WORK_CPU_UNBOUND, skr_wq, &qp->work);
}

bool skr_qp_run_aside(struct skr_qp *qp)
{
	int cpu = skr_other_cpu(qp);

	if (cpu == smp_processor_id())
		return false;
	set_bit(SKR_QP_ASIDE, &qp->run_flags);
	skr_qp_queue_bh(qp, cpu);
	return true;
}

void skr_qp_run_on(struct skr_qp *qp, int cpu)
{
	skr_qp_queue_bh(qp, cpu);
}

/* Is more about to come? If it was not lately, then only now and then look again. */
static bool skr_soon_pays(u8 *lone)
{
	u8 n = READ_ONCE(*lone);

	if (!in_serving_softirq() || !READ_ONCE(skr_tune.batch))
		return false;
	if (n < SKR_SOON_LONE)
		return true;
	/* a race costs one guess */
	WRITE_ONCE(*lone, n + 1 < SKR_SOON_PROBE ? n + 1 : SKR_SOON_LONE - 1);
	return false;
}

void skr_qp_run_soon(struct skr_qp *qp, u8 *lone)
{
	u8 n;

	if (!skr_soon_pays(lone)) {
		skr_qp_run(qp);
		return;
	}
	/* not the first one: a batch */
	n = skr_qp_queue_bh(qp, smp_processor_id()) ? READ_ONCE(*lone) + 1 : 0;
	WRITE_ONCE(*lone, n);
}

void skr_qp_bh_work(struct work_struct *work)
{
	struct skr_qp *qp = container_of(work, struct skr_qp, bh_work);

	clear_bit(SKR_QP_ASIDE, &qp->run_flags);
	skr_qp_run(qp);
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

/* A packet from the door that may be taken: what it tells besides what it carries */
static void skr_rx_taken(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	skr_qp_count_add(qp, SKR_CNT_RX_DROP + SKR_DROP_NONE, skr_rx_left(skb));
	skr_qp_count_add(qp, SKR_CNT_RX_BYTES, skr_rx_cb(skb)->len - skr_rx_cb(skb)->at);
	skr_cnp_look(qp, skb, pkt);
}

static void skr_rx_refused(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt,
			   enum skr_drop drop)
{
	skr_qp_count_add(qp, SKR_CNT_RX_DROP + drop, skr_rx_left(skb));
	if (pkt->opcode == SKR_OPCODE_CNP)
		skr_qp_count(qp, SKR_CNT_RP_CNP_IGNORED);
	trace_skr_rx_drop(qp->dev, pkt, drop);
	kfree_skb(skb);
}

/*
 * Read the headers of the packet at hand, again. It waited, and they may lie in pages
 * that a process of this host changes meanwhile (splice(), packet rings): the facts that
 * are used are those of this reading, and must hold what the door and the queue promised.
 */
static enum skr_drop skr_rx_again(struct skr_qp *qp, struct sk_buff *skb, struct skr_pkt *pkt,
				  const struct sk_buff_head *queue)
{
	enum skr_drop drop = skr_rx_parse(skb, pkt);

	if (drop)
		return drop;
	if (skr_rx_queue_for(qp, pkt) != queue)
		return SKR_DROP_TYPE;
	return skr_rx_fits(qp, pkt);
}

/*
 * The next skb from the door that may be taken, and the facts of its first packet. Others may
 * bring what is refused faster than that takes: after so many, the rest is another step's.
 */
static struct sk_buff *skr_rx_take_new(struct skr_qp *qp, struct sk_buff_head *queue,
				       struct skr_pkt *pkt)
{
	int budget = SKR_STEP_BUDGET;
	struct sk_buff *skb;
	enum skr_drop drop;

	while ((skb = skr_rx_dequeue(qp, queue))) {
		drop = skr_rx_again(qp, skb, pkt, queue);
		if (!drop)
			drop = skr_rx_admit(qp, skb, pkt);
		if (!drop) {
			skr_rx_taken(qp, skb, pkt);
			return skb;
		}
		skr_rx_refused(qp, skb, pkt, drop);
		if (!--budget) {
			set_bit(SKR_QP_PENDING, &qp->run_flags);
			break;
		}
	}
	pkt->hdr_bytes = 0;
	return NULL;
}

/*
 * The skb whose packets are next: what came too early and is in turn now, or the
 * next one from the door. All packets of one are of one kind, from one address. The
 * facts of its first packet, or none, if that has to be read anew.
 */
static struct sk_buff *skr_rx_take(struct skr_qp *qp, struct sk_buff_head *queue,
				   struct skr_reorder *early, u32 expected, struct skr_pkt *pkt)
{
	/* what is queued later sets SKR_QP_PENDING later */
	if (skb_queue_empty(&early->held) && skb_queue_empty_lockless(queue))
		return NULL;
	return skr_reorder_next(early, expected) ?: skr_rx_take_new(qp, queue, pkt);
}

/*
 * What has to wait is asked for marks when its turn comes, but who sent it is to be
 * told now: an answer to the newest one.
 */
static void skr_rx_notice(struct skr_qp *qp, struct sk_buff_head *queue)
{
	struct skr_pkt pkt __uninitialized;
	struct sk_buff *skb;

	if (skb_queue_empty_lockless(queue))
		return;
	skb = skr_cnp_unnoticed(queue);
	if (skb && !skr_rx_again(qp, skb, &pkt, queue) && !skr_rx_admit(qp, skb, &pkt))
		skr_cnp_answer(qp, &pkt);
}

static bool skr_rx_execute(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	enum skr_drop drop;

	if (pkt->opcode == SKR_OPCODE_CNP) {
		skr_flow_cnp(qp);
		return true;
	}
	if (qp->trans == SKR_TRANS_UD) {
		/* each packet of a super-packet has a Q_Key of its own */
		drop = skr_datagram_admit(qp, skb, pkt);
		if (drop)
			skr_qp_count(qp, SKR_CNT_RX_DROP + drop);
		else
			skr_datagram_receive(qp, skb, pkt);
		return true;
	}
	if (qp->trans == SKR_TRANS_UC)
		return skr_uc_receive(qp, skb, pkt);
	if (pkt->flags & SKR_IS_RESPONSE)
		return skr_completer(qp, skb, pkt);
	return skr_responder(qp, skb, pkt);
}

/* The packet at hand was counted as taken when its skb was, but is bad. */
static void skr_rx_bad(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt,
		       enum skr_drop drop)
{
	skr_qp_count_add(qp, SKR_CNT_RX_DROP + SKR_DROP_NONE, -1);
	skr_qp_count_add(qp, SKR_CNT_RX_BYTES, -(u64)skr_rx_bytes(skb));
	skr_qp_count(qp, SKR_CNT_RX_DROP + drop);
	trace_skr_rx_drop(qp->dev, pkt, drop);
}

/*
 * @pkt: its facts, if @pkt->hdr_bytes says that they were just read
 * Return: false if it came too early: it was kept, with all that follow.
 */
static bool skr_rx_one(struct skr_qp *qp, struct sk_buff *skb, const struct sk_buff_head *queue,
		       struct skr_pkt *pkt)
{
	enum skr_drop drop = SKR_DROP_NONE;

	if (!pkt->hdr_bytes)
		drop = skr_rx_again(qp, skb, pkt, queue);
	if (!drop && skr_rx_cb(skb)->at >= skr_rx_cb(skb)->good &&
	    !skr_rx_icrc_ok(skb, pkt->hdr_bytes))
		drop = SKR_DROP_ICRC;
	if (drop) {
		skr_rx_bad(qp, skb, pkt, drop);
		return true;
	}
	trace_skr_rx(qp->dev, pkt);
	skr_rx_cb(skb)->psn = pkt->psn;
	return skr_rx_execute(qp, skb, pkt);
}

/*
 * One packet of the skb in work, which ends with its last packet or with the QP. One
 * that misses a page stays the packet at hand. @pkt is for the next one then.
 */
static void skr_rx_step(struct skr_qp *qp, struct sk_buff **cur,
			const struct sk_buff_head *queue, struct skr_pkt *pkt)
{
	struct sk_buff *skb = *cur;

	/* an error frees what is in work: not this one */
	*cur = NULL;
	if (skr_rx_one(qp, skb, queue, pkt) && qp->state != IB_QPS_ERR &&
	    (skr_qp_missed(qp) || skr_rx_next(skb)))
		*cur = skb;
	else
		consume_skb(skb);
	pkt->hdr_bytes = 0;
}

static bool skr_step_cnps(struct skr_qp *qp)
{
	struct skr_pkt pkt __uninitialized;
	int budget = SKR_STEP_BUDGET;
	struct sk_buff *skb;

	while (budget > 0 && !skb_queue_empty_lockless(&qp->rx_cnp)) {
		skb = skr_rx_take_new(qp, &qp->rx_cnp, &pkt);
		if (!skb)
			return false;
		budget -= skr_rx_left(skb);
		do {
			skr_rx_one(qp, skb, &qp->rx_cnp, &pkt);
			pkt.hdr_bytes = 0;
		} while (skr_rx_next(skb));
		consume_skb(skb);
	}
	return budget <= 0;
}

static bool skr_step_responses(struct skr_qp *qp)
{
	struct skr_pkt pkt __uninitialized;
	int budget = SKR_STEP_BUDGET;

	pkt.hdr_bytes = 0;
	while (budget--) {
		if (!qp->cur_rsp)
			qp->cur_rsp = skr_rx_take(qp, &qp->rx_rsp, &qp->early_rsp,
						  qp->req.una_psn, &pkt);
		if (!qp->cur_rsp) {
			skr_completer_gap(qp);
			return false;
		}
		skr_rx_step(qp, &qp->cur_rsp, &qp->rx_rsp, &pkt);
		if (qp->state == IB_QPS_ERR || skr_qp_missed(qp))
			return false;
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
	struct skr_pkt pkt __uninitialized;
	int budget = SKR_STEP_BUDGET;
	bool more = true;

	pkt.hdr_bytes = 0;
	while (budget-- > 0) {
		if (qp->resp.reading.active) {
			more = skr_responder_read(qp, &budget);
			if (qp->resp.reading.active)
				return more;
			more = true;
		}
		/* what is answered now must not overtake: the QP runs again when it would not */
		if (skr_qp_reliable(qp) && skr_tx_overtakes(qp))
			return false;
		if (!qp->cur_req)
			qp->cur_req = skr_rx_take(qp, &qp->rx_req, &qp->early_req,
						  qp->resp.epsn, &pkt);
		if (!qp->cur_req) {
			if (skr_step_gap(qp))
				continue;
			more = false;
			break;
		}
		skr_rx_step(qp, &qp->cur_req, &qp->rx_req, &pkt);
		if (qp->state == IB_QPS_ERR)
			return false;
		if (skr_qp_missed(qp)) {
			more = false;
			break;
		}
		/* the next request of an XRC target may be about another CQ */
		if (qp->xrcd && qp->fire_recv)
			break;
		if (!READ_ONCE(skr_tune.merge_acks))
			skr_responder_ack(qp);
	}
	skr_responder_ack(qp);
	return more;
}

/* From here on the QP works on this kind. */
static void skr_step_begin(struct skr_qp *qp, enum skr_fault_kind kind)
{
	qp->fault = &qp->faults[kind];
	qp->fault->miss.missed = false;
}

/* That is done, or has to wait: see to its going on. */
static void skr_step_end(struct skr_qp *qp)
{
	/* what was not asked for again at once may be there when it is */
	qp->fault->miss.hopeless = false;
	if (qp->fault->miss.missed)
		skr_fault_wait(qp);
}

static bool skr_step(struct skr_qp *qp)
{
	u32 sent = qp->tx_total;
	bool more = false;
	int idx;

	/* destroyed, or everything was forgotten */
	if (!qp->ibqp || qp->state == IB_QPS_RESET || qp->state == IB_QPS_INIT)
		return false;

	idx = srcu_read_lock(&qp->dev->mr_srcu);
	if (qp->state != IB_QPS_ERR) {
		more = skr_step_cnps(qp);
		skr_step_begin(qp, SKR_FAULT_RESPONSES);
		more |= skr_step_responses(qp);
		skr_step_end(qp);
	}
	if (qp->state != IB_QPS_ERR) {
		skr_step_begin(qp, SKR_FAULT_REQUESTS);
		more |= skr_step_requests(qp);
		skr_step_end(qp);
	}
	if (qp->state != IB_QPS_ERR && !more) {
		skr_rx_notice(qp, &qp->rx_rsp);
		skr_rx_notice(qp, &qp->rx_req);
	}
	if (test_and_clear_bit(SKR_QP_TIMER_ACK, &qp->run_flags) && qp->state != IB_QPS_ERR)
		skr_completer_timeout(qp);
	if (test_and_clear_bit(SKR_QP_PATH, &qp->run_flags) && qp->state != IB_QPS_ERR)
		skr_completer_path_changed(qp);
	if (skr_qp_sends(qp) && (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD)) {
		skr_step_begin(qp, SKR_FAULT_SENDS);
		more |= skr_requester(qp, SKR_STEP_BUDGET);
		skr_step_end(qp);
	}
	/* not else: what comes before may have failed the QP */
	if (qp->state == IB_QPS_ERR)
		more = skr_flush(qp, SKR_STEP_BUDGET);
	else if (qp->state == IB_QPS_SQE)
		more |= skr_flush(qp, SKR_STEP_BUDGET);
	if (qp->tx_total - sent >= SKR_TX_BULK)
		WRITE_ONCE(qp->tx_bulk, jiffies);
	qp->xrc_srq = NULL;
	qp->last_key = NULL;
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

	swap(fire.send, qp->fire_send);
	swap(fire.recv, qp->fire_recv);
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

void skr_qp_unlock(struct skr_qp *qp)
	__releases(&qp->lock)
{
	spin_unlock_bh(&qp->lock);
	/* the holder's barrier, see above */
	smp_mb();
	if (test_bit(SKR_QP_PENDING, &qp->run_flags))
		skr_qp_run(qp);
}

void skr_qp_run(struct skr_qp *qp)
{
	int steps = in_serving_softirq() ? SKR_RUN_STEPS_SOFTIRQ : SKR_RUN_STEPS;
	struct skr_fire fire;

	if (irqs_disabled() || raw_cpu_read(skr_firing)) {
		skr_qp_run_later(qp);
		return;
	}

	/* the bringer's barriers, see above: what he brings comes before the bit ... */
	smp_mb__before_atomic();
	set_bit(SKR_QP_PENDING, &qp->run_flags);
	/* ... and that before the lock is tried */
	smp_mb__after_atomic();
	local_bh_disable();
	while (spin_trylock(&qp->lock)) {
		clear_bit(SKR_QP_PENDING, &qp->run_flags);
		/* skr_step() sees all work brought so far; later work sets it again */
		smp_mb__after_atomic();
		/* what is left is work like any other: whoever gets the lock next does it */
		if (skr_step(qp))
			set_bit(SKR_QP_PENDING, &qp->run_flags);
		fire = skr_fire_take(qp);
		spin_unlock(&qp->lock);
		skr_fire(fire);
		/* pairs with the bringer's barrier, see above */
		smp_mb();
		if (!test_bit(SKR_QP_PENDING, &qp->run_flags))
			break;
		if (!--steps) {
			if (in_serving_softirq())
				skr_qp_run_on(qp, smp_processor_id());
			else
				skr_qp_run_later(qp);
			break;
		}
	}
	local_bh_enable();
}
