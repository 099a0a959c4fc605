// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "cqe.h"

#include <linux/atomic.h>
#include <linux/ktime.h>

#include "../device.h"

static void skr_cq_error_work(struct work_struct *work)
{
	struct skr_cq *cq = container_of(work, struct skr_cq, error_work);
	struct ib_event event = {
		.device = cq->ibcq.device,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = &cq->ibcq,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
	cq->fail_users(cq);
}

static void skr_cq_call(struct skr_cq *cq)
{
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

/* In softirq. skr_cq_drain() waits for it, so the queue stays meanwhile. */
static enum hrtimer_restart skr_cq_moderate_expired(struct hrtimer *timer)
{
	struct skr_cq *cq = container_of(timer, struct skr_cq, moderate_timer);
	unsigned long flags;
	bool fire;

	spin_lock_irqsave(&cq->lock, flags);
	fire = cq->held && skr_ring_fire(&cq->ring, true);
	cq->held = 0;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (fire)
		skr_cq_call(cq);
	return HRTIMER_NORESTART;
}

void skr_cq_init(struct skr_cq *cq, void (*fail_users)(struct skr_cq *cq))
{
	cq->fail_users = fail_users;
	hrtimer_setup(&cq->moderate_timer, skr_cq_moderate_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	spin_lock_init(&cq->lock);
	refcount_set(&cq->users, 1);
	init_completion(&cq->unused);
	INIT_WORK(&cq->error_work, skr_cq_error_work);
}

void skr_cq_get(struct skr_cq *cq)
{
	refcount_inc(&cq->users);
}

static void skr_cq_put(struct skr_cq *cq)
{
	if (refcount_dec_and_test(&cq->users))
		complete(&cq->unused);
}

void skr_cq_fire(struct skr_cq *cq)
{
	skr_cq_call(cq);
	skr_cq_put(cq);
}

void skr_cq_drain(struct skr_cq *cq)
{
	/* nobody writes entries any more, and only that starts the timer */
	hrtimer_cancel(&cq->moderate_timer);
	skr_cq_put(cq);
	wait_for_completion(&cq->unused);
	cancel_work_sync(&cq->error_work);
}

/* The verbs call this a CQ error: entries are lost, so the queue is dead. */
static void skr_cq_overrun(struct skr_cq *cq)
{
	if (cq->overrun)
		return;
	cq->overrun = true;
	skr_count(skr_dev(cq->ibcq.device), SKR_CNT_CQ_OVERRUN);
	schedule_work(&cq->error_work);
}

/* Is it time for an event, after the entry just written? */
static bool skr_cq_due(struct skr_cq *cq, bool solicited)
{
	lockdep_assert_held(&cq->lock);
	if (!cq->moderate_usec)
		return skr_ring_fire(&cq->ring, solicited);
	if (!skr_ring_armed(&cq->ring, solicited))
		return false;
	cq->held++;
	if (cq->moderate_count && cq->held >= cq->moderate_count) {
		cq->held = 0;
		return skr_ring_fire(&cq->ring, solicited);
	}
	if (cq->held == 1)
		hrtimer_start(&cq->moderate_timer, ns_to_ktime(cq->moderate_usec * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
	return false;
}

enum skr_push skr_cq_push(struct skr_cq *cq, struct skerry_cqe *cqe, struct ib_qp *qp,
			  bool solicited)
{
	enum skr_push ret = SKR_PUSH_OK;
	unsigned long flags;

	cqe->timestamp = ktime_get_raw_ns();
	cqe->priv = cq->user ? 0 : (uintptr_t)qp;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->overrun || skr_ring_used(&cq->ring, cq->prod) >= cq->ring.depth) {
		skr_cq_overrun(cq);
		ret = SKR_PUSH_OVERRUN;
		goto unlock;
	}
	memcpy(skr_ring_entry(&cq->ring, cq->prod), cqe, sizeof(*cqe));
	skr_ring_publish(&cq->ring, ++cq->prod);
	if (skr_cq_due(cq, solicited))
		ret = SKR_PUSH_FIRE;
unlock:
	spin_unlock_irqrestore(&cq->lock, flags);
	return ret;
}

/* What ib_core needs to know to answer a datagram: values of enum skr_l3 */
static const u8 skr_network_types[] = {
	[SKR_L3_GRH] = RDMA_NETWORK_ROCE_V1,
	[SKR_L3_IPV4] = RDMA_NETWORK_IPV4,
	[SKR_L3_IPV6] = RDMA_NETWORK_IPV6,
};

void skr_cq_moderate(struct skr_cq *cq, u16 count, u16 usec)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->moderate_count = count;
	cq->moderate_usec = usec;
	if (cq->held)
		hrtimer_start(&cq->moderate_timer, 0, HRTIMER_MODE_REL_SOFT);
	spin_unlock_irqrestore(&cq->lock, flags);
}

u32 skr_cq_waiting(struct skr_cq *cq)
{
	unsigned long flags;
	u32 waiting;

	spin_lock_irqsave(&cq->lock, flags);
	waiting = skr_ring_used(&cq->ring, cq->prod);
	spin_unlock_irqrestore(&cq->lock, flags);
	return waiting;
}

void skr_cq_prepare(struct skr_cq *cq, const struct skr_ring *ring, struct skr_shm *shm)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->next_ring = *ring;
	swap(cq->next, shm);
	spin_unlock_irqrestore(&cq->lock, flags);
	skr_shm_destroy(shm);
}

/*
 * Both headers are user space's to write: the consumer's index is read once, and
 * what the new header says matters to user space only.
 */
static int skr_cq_change_over(struct skr_cq *cq, u32 cqe)
{
	u32 waiting = skr_ring_used(&cq->ring, cq->prod);
	struct skerry_ring_hdr *hdr = cq->next_ring.hdr;

	lockdep_assert_held(&cq->lock);
	if (waiting > min3(cqe, cq->ring.depth, cq->next_ring.depth))
		return -EINVAL;
	WRITE_ONCE(hdr->user_index, cq->prod - waiting);
	WRITE_ONCE(hdr->arm, xchg(&cq->ring.hdr->arm, 0));
	skr_ring_publish(&cq->next_ring, cq->prod);
	cq->ring = cq->next_ring;
	swap(cq->shm, cq->next);
	cq->ibcq.cqe = cq->ring.depth;
	return 0;
}

int skr_cq_commit(struct skr_cq *cq, u32 cqe)
{
	unsigned long flags;
	struct skr_shm *unused;
	int err = -EINVAL;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->next)
		err = skr_cq_change_over(cq, cqe);
	unused = cq->next;
	cq->next = NULL;
	spin_unlock_irqrestore(&cq->lock, flags);
	skr_shm_destroy(unused);
	return err;
}

static void skr_cqe_to_wc(const struct skerry_cqe *cqe, struct ib_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->qp = (struct ib_qp *)(uintptr_t)cqe->priv;
	wc->src_qp = cqe->src_qp;
	wc->pkey_index = cqe->pkey_index;
	wc->sl = cqe->sl;
	wc->port_num = SKR_PORT;
	if (cqe->flags & SKERRY_CQE_GRH) {
		wc->wc_flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = skr_network_types[cqe->net];
	}
	if (cqe->flags & SKERRY_CQE_VLAN) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = cqe->vlan;
	}
	if (cqe->flags & SKERRY_CQE_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = cqe->imm;
	}
	if (cqe->flags & SKERRY_CQE_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->inv_rkey;
	}
}

/* A kernel consumer's ring is not mapped: its header can be trusted. */
int skr_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct skr_cq *cq = skr_cq(ibcq);
	unsigned long flags;
	int n = 0;
	u32 cons;

	spin_lock_irqsave(&cq->lock, flags);
	cons = cq->ring.hdr->user_index;
	for (; n < num_entries && cons != cq->prod; cons++, n++)
		skr_cqe_to_wc(skr_ring_entry(&cq->ring, cons), &wc[n]);
	cq->ring.hdr->user_index = cons;
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

int skr_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct skr_cq *cq = skr_cq(ibcq);
	unsigned long irq;
	int missed;

	spin_lock_irqsave(&cq->lock, irq);
	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_NEXT_COMP)
		cq->ring.hdr->arm |= SKERRY_ARM_NEXT;
	else
		cq->ring.hdr->arm |= SKERRY_ARM_SOLICITED;
	missed = (flags & IB_CQ_REPORT_MISSED_EVENTS) &&
		 cq->ring.hdr->user_index != cq->prod;
	spin_unlock_irqrestore(&cq->lock, irq);
	return missed;
}
