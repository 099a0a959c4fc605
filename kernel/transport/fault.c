// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "fault.h"

#include "qp.h"
#include "sched.h"

static struct workqueue_struct *skr_fault_queue;

/* What is no more than in the way, now, is tried again. */
static bool skr_fault_hopeless(int err)
{
	return err && err != -EBUSY && err != -EAGAIN;
}

static void skr_fault_work(struct work_struct *work)
{
	struct skr_fault *fault = container_of(work, struct skr_fault, work);
	struct skr_qp *qp = fault->qp;
	int err = skr_mr_bring(qp->dev, &fault->want);

	spin_lock_bh(&qp->lock);
	fault->busy = false;
	fault->miss.hopeless = skr_fault_hopeless(err);
	fault->miss.gone = fault->want;
	spin_unlock_bh(&qp->lock);
	skr_qp_run(qp);
	skr_qp_put(qp);
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
	queue_work(skr_fault_queue, &fault->work);
}

void skr_fault_ahead(struct skr_qp *qp, u64 behind)
{
	struct skr_absent *what = &qp->fault->miss.what;
	u64 bytes = min3(what->length + behind, what->most, (u64)SKR_FAULT_AHEAD);

	lockdep_assert_held(&qp->lock);
	what->length = max(what->length, bytes);
}

struct workqueue_struct *skr_fault_wq(void)
{
	return skr_fault_queue;
}

void skr_fault_drain(void)
{
	flush_workqueue(skr_fault_queue);
}

int skr_fault_create(void)
{
	skr_fault_queue = alloc_workqueue("skerry_fault", WQ_UNBOUND, 0);
	return skr_fault_queue ? 0 : -ENOMEM;
}

void skr_fault_destroy(void)
{
	destroy_workqueue(skr_fault_queue);
}
