// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "rq_shared.h"

static void skr_srq_event_work(struct work_struct *work)
{
	struct skr_srq *srq = container_of(work, struct skr_srq, event_work);
	enum ib_event_type types[] = { IB_EVENT_SRQ_ERR, IB_EVENT_SRQ_LIMIT_REACHED };
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		event.event = types[i];
		if (test_and_clear_bit(types[i], &srq->events) && srq->ibsrq.event_handler)
			srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
	}
}

void skr_srq_init(struct skr_srq *srq)
{
	spin_lock_init(&srq->lock);
	INIT_WORK(&srq->event_work, skr_srq_event_work);
}

int skr_srq_publish(struct skr_dev *dev, struct skr_srq *srq)
{
	int err;

	err = xa_alloc_cyclic(&dev->srqs, &srq->ibsrq.ext.xrc.srq_num, srq,
			      XA_LIMIT(1, SKR_MASK24), &dev->srq_next, GFP_KERNEL);
	return min(err, 0);
}

void skr_srq_withdraw(struct skr_dev *dev, struct skr_srq *srq)
{
	xa_erase(&dev->srqs, srq->ibsrq.ext.xrc.srq_num);
	synchronize_srcu_expedited(&dev->mr_srcu);
}

struct skr_srq *skr_srq_find(struct skr_dev *dev, const struct ib_xrcd *xrcd, u32 srqn)
{
	struct skr_srq *srq = xa_load(&dev->srqs, srqn);

	RCU_LOCKDEP_WARN(!srcu_read_lock_held(&dev->mr_srcu), "an SRQ without mr_srcu");
	return srq && srq->ibsrq.ext.xrc.xrcd == xrcd ? srq : NULL;
}

static void skr_srq_event(struct skr_srq *srq, enum ib_event_type type)
{
	set_bit(type, &srq->events);
	schedule_work(&srq->event_work);
}

static void skr_srq_check_limit(struct skr_srq *srq)
{
	u32 left = skr_ring_ready(&srq->rq.ring, srq->rq.cons, srq->rq.cons);

	lockdep_assert_held(&srq->lock);
	if (!srq->limit || left >= srq->limit)
		return;
	srq->limit = 0;
	skr_srq_event(srq, IB_EVENT_SRQ_LIMIT_REACHED);
}

static int skr_srq_take_locked(struct skr_srq *srq, struct skr_rwqe *wqe, bool *taken)
{
	int ret = -EINVAL;

	lockdep_assert_held(&srq->lock);
	*taken = false;
	if (srq->broken)
		return ret;
	ret = skr_rq_take(&srq->rq, wqe, taken);
	if (*taken) {
		skr_ring_publish(&srq->rq.ring, srq->rq.cons);
		skr_srq_check_limit(srq);
	} else if (ret) {
		srq->broken = true;
		skr_srq_event(srq, IB_EVENT_SRQ_ERR);
	}
	return ret;
}

int skr_srq_take(struct skr_srq *srq, struct skr_rwqe *wqe, bool *taken)
{
	int ret;

	spin_lock(&srq->lock);
	ret = skr_srq_take_locked(srq, wqe, taken);
	spin_unlock(&srq->lock);
	return ret;
}

void skr_srq_set_limit(struct skr_srq *srq, u32 limit)
{
	spin_lock_bh(&srq->lock);
	srq->limit = limit;
	skr_srq_check_limit(srq);
	spin_unlock_bh(&srq->lock);
}

/* Copy what is posted; both rings have entries of the same size. */
static bool skr_srq_copy_entries(const struct skr_rq *from, struct skr_rq *to)
{
	u32 ready = skr_ring_ready(&from->ring, from->cons, from->cons);
	u32 i;

	if (ready == SKR_RING_BROKEN || ready > to->max_wr)
		return false;
	for (i = from->cons; i != from->cons + ready; i++)
		memcpy(skr_ring_entry(&to->ring, i), skr_ring_entry(&from->ring, i),
		       from->ring.entry_bytes);
	to->cons = from->cons;
	to->posted = from->cons + ready;
	WRITE_ONCE(to->ring.hdr->kernel_index, to->cons);
	WRITE_ONCE(to->ring.hdr->user_index, to->posted);
	return true;
}

static void skr_rq_swap(struct skr_rq *a, struct skr_rq *b)
{
	swap(a->ring, b->ring);
	swap(a->shm, b->shm);
	swap(a->max_wr, b->max_wr);
	swap(a->cons, b->cons);
	swap(a->posted, b->posted);
}

static bool skr_srq_swap_locked(struct skr_srq *srq, struct skr_rq *rq)
{
	bool ok;

	lockdep_assert_held(&srq->lock);
	ok = !srq->broken && skr_srq_copy_entries(&srq->rq, rq);
	if (ok)
		skr_rq_swap(&srq->rq, rq);
	return ok;
}

int skr_srq_swap(struct skr_srq *srq, struct skr_rq *rq)
{
	bool ok;

	/* user space has to keep still by itself; the kernel's own post from anywhere */
	if (srq->ibsrq.uobject) {
		spin_lock_bh(&srq->lock);
		ok = skr_srq_swap_locked(srq, rq);
		spin_unlock_bh(&srq->lock);
	} else {
		spin_lock_irq(&srq->rq.post_lock);
		spin_lock(&srq->lock);
		ok = skr_srq_swap_locked(srq, rq);
		spin_unlock(&srq->lock);
		spin_unlock_irq(&srq->rq.post_lock);
	}
	return ok ? 0 : -EINVAL;
}
