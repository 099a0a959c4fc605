// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "fault.h"

#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "qp.h"
#include "sched.h"

/* Workers of a lane: more would wait for the same disk */
#define SKR_FAULT_WORKERS	32

/* For those who have no lane; and where lanes end */
static struct workqueue_struct *skr_fault_wq;

static void skr_fault_lane_end(struct work_struct *work)
{
	struct skr_fault_lane *lane = container_of(work, struct skr_fault_lane, end);

	destroy_workqueue(lane->wq);
	kfree(lane);
}

static void skr_fault_lane_release(struct kref *ref)
{
	queue_work(skr_fault_wq, &container_of(ref, struct skr_fault_lane, ref)->end);
}

void skr_fault_lane_put(struct skr_fault_lane *lane)
{
	if (lane)
		kref_put(&lane->ref, skr_fault_lane_release);
}

int skr_fault_lane_open(struct skr_fault_lane **slot)
{
	struct skr_fault_lane *lane;

	if (READ_ONCE(*slot))
		return 0;
	lane = kzalloc_obj(*lane, GFP_KERNEL);
	if (!lane)
		return -ENOMEM;
	lane->wq = alloc_workqueue("skerry_fault", WQ_UNBOUND, SKR_FAULT_WORKERS);
	if (!lane->wq) {
		kfree(lane);
		return -ENOMEM;
	}
	kref_init(&lane->ref);
	INIT_WORK(&lane->end, skr_fault_lane_end);
	/* another thread may have been faster */
	if (cmpxchg(slot, NULL, lane))
		skr_fault_lane_put(lane);
	return 0;
}

void skr_fault_queue(struct skr_dev *dev, struct skr_fault_lane **slot,
		     struct work_struct *work, struct skr_fault_ticket *ticket)
{
	struct skr_fault_lane *lane = slot ? READ_ONCE(*slot) : NULL;

	if (lane)
		kref_get(&lane->ref);
	ticket->dev = dev;
	ticket->lane = lane;
	atomic_inc(&dev->faults);
	queue_work(lane ? lane->wq : skr_fault_wq, work);
}

void skr_fault_done(struct skr_fault_ticket ticket)
{
	/* before the device, without which the module may go: it waits for lanes that end */
	skr_fault_lane_put(ticket.lane);
	atomic_dec_and_wake_up(&ticket.dev->faults);
}

void skr_fault_drain(struct skr_dev *dev)
{
	wait_var_event(&dev->faults, !atomic_read(&dev->faults));
}

/* What is no more than in the way, now, is tried again. */
static bool skr_fault_hopeless(int err)
{
	return err && err != -EBUSY && err != -EAGAIN;
}

static void skr_fault_work(struct work_struct *work)
{
	struct skr_fault *fault = container_of(work, struct skr_fault, work);
	struct skr_fault_ticket ticket = fault->ticket;
	struct skr_qp *qp = fault->qp;
	int err = skr_mr_bring(qp->dev, &fault->want);

	spin_lock_bh(&qp->lock);
	fault->busy = false;
	fault->miss.hopeless = skr_fault_hopeless(err);
	fault->miss.gone = fault->want;
	spin_unlock_bh(&qp->lock);
	skr_qp_run(qp);
	skr_qp_put(qp);
	skr_fault_done(ticket);
}

void skr_fault_init(struct skr_qp *qp)
{
	int kind;

	for (kind = 0; kind < SKR_FAULT_KINDS; kind++) {
		qp->faults[kind].qp = qp;
		INIT_WORK(&qp->faults[kind].work, skr_fault_work);
	}
	qp->fault = qp->faults;
}

void skr_fault_wait(struct skr_qp *qp)
{
	struct skr_fault *fault = qp->fault;

	lockdep_assert_held(&qp->lock);
	if (fault->busy)
		return;
	fault->busy = true;
	fault->want = fault->miss.what;
	skr_qp_count(qp, SKR_CNT_PAGE_FAULTS);
	kref_get(&qp->ref);
	skr_fault_queue(qp->dev, qp->lane, &fault->work, &fault->ticket);
}

void skr_fault_ahead(struct skr_qp *qp, u64 behind)
{
	struct skr_absent *what = &qp->fault->miss.what;
	u64 bytes = min3(what->length + behind, what->most, (u64)SKR_FAULT_AHEAD);

	lockdep_assert_held(&qp->lock);
	what->length = max(what->length, bytes);
}

int skr_fault_create(void)
{
	skr_fault_wq = alloc_workqueue("skerry_fault", WQ_UNBOUND, 0);
	return skr_fault_wq ? 0 : -ENOMEM;
}

void skr_fault_destroy(void)
{
	destroy_workqueue(skr_fault_wq);
}
