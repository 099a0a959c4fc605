// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Lifetime of a QP. It ends in two steps: skr_qp_shutdown() takes it away from
 * packets, posts and timers, after which rings, CQs and PD may go; the struct
 * itself stays until the last packet that counts against it has left the local stack.
 */
#include "engine.h"

#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "sched.h"

/*
 * QPs by number. One table for all devices: a packet finds its QP with one
 * look-up, and the QP knows its device. QP 1 is each device's own (dev->gsi);
 * there is no QP 0 on Ethernet, and 0xffffff is multicast (IBTA 3.2.1).
 */
static DEFINE_XARRAY_FLAGS(skr_qps, XA_FLAGS_ALLOC);
static u32 skr_next_qpn;

#define SKR_QPN_LIMIT	XA_LIMIT(2, SKR_MASK24 - 1)

/* QPs whose memory is not freed yet */
static atomic_t skr_qps_left;

void skr_qp_table_init(void)
{
	/* old packets of a former life should not find new QPs */
	skr_next_qpn = get_random_u32_below(SKR_MASK24);
}

void skr_qp_table_exit(void)
{
	/*
	 * QPs that were destroyed while they had packets in the local stack refuse an unload
	 * (skr_qp_shutdown()); what is left are those that the unload itself destroyed, whose
	 * last packets are on their way. One that is held back there holds it up.
	 */
	wait_var_event(&skr_qps_left, !atomic_read(&skr_qps_left));
	rcu_barrier();
	WARN_ON(!xa_empty(&skr_qps));
	xa_destroy(&skr_qps);
}

static void skr_qp_event_work(struct work_struct *work)
{
	struct skr_qp *qp = container_of(work, struct skr_qp, event_work);
	struct ib_qp *ibqp;
	unsigned long events;
	struct ib_event event;
	int bit;

	spin_lock_bh(&qp->lock);
	events = qp->events;
	qp->events = 0;
	ibqp = qp->ibqp;
	skr_qp_unlock(qp);

	/* skr_qp_shutdown() waits for this work: the ib_qp stays until then */
	if (!ibqp || !ibqp->event_handler)
		return;
	event.device = ibqp->device;
	event.element.qp = ibqp;
	for_each_set_bit(bit, &events, BITS_PER_LONG) {
		event.event = bit;
		ibqp->event_handler(&event, ibqp->qp_context);
	}
}

void skr_qp_for_each(struct skr_dev *dev, void (*look)(struct skr_qp *qp, void *arg), void *arg)
{
	unsigned long qpn;
	struct skr_qp *qp;

	rcu_read_lock();
	xa_for_each(&skr_qps, qpn, qp)
		if (qp->dev == dev)
			look(qp, arg);
	rcu_read_unlock();
}

void skr_qp_event(struct skr_qp *qp, enum ib_event_type event)
{
	lockdep_assert_held(&qp->lock);
	if (!qp->ibqp)
		return;
	__set_bit(event, &qp->events);
	schedule_work(&qp->event_work);
}

struct skr_qp *skr_qp_alloc(struct skr_dev *dev, struct ib_qp *ibqp)
{
	struct skr_qp *qp;
	int err;

	qp = kzalloc_obj(*qp, GFP_KERNEL_ACCOUNT);
	if (!qp)
		return ERR_PTR(-ENOMEM);

	kref_init(&qp->ref);
	spin_lock_init(&qp->lock);
	spin_lock_init(&qp->sq.post_lock);
	skb_queue_head_init(&qp->rx_req);
	skb_queue_head_init(&qp->rx_rsp);
	skb_queue_head_init(&qp->rx_cnp);
	skr_reorder_init(&qp->early_req);
	skr_reorder_init(&qp->early_rsp);
	INIT_WORK(&qp->work, skr_qp_work);
	INIT_WORK(&qp->bh_work, skr_qp_bh_work);
	INIT_WORK(&qp->event_work, skr_qp_event_work);
	INIT_LIST_HEAD(&qp->poll.node);
	skr_timer_init(qp);
	skr_fault_init(qp);
	qp->dev = dev;
	qp->stats = dev->stats;
	qp->ibqp = ibqp;
	qp->state = IB_QPS_RESET;

	atomic_inc(&skr_qps_left);
	if (ibqp->qp_type == IB_QPT_GSI) {
		qp->qpn = SKR_QPN_GSI;
		return qp;
	}
	err = xa_alloc_cyclic(&skr_qps, &qp->qpn, NULL, SKR_QPN_LIMIT, &skr_next_qpn, GFP_KERNEL);
	if (err < 0) {
		atomic_dec(&skr_qps_left);
		kfree(qp);
		return ERR_PTR(err);
	}
	return qp;
}

int skr_qp_publish(struct skr_qp *qp)
{
	if (qp->qpn == SKR_QPN_GSI)
		return unrcu_pointer(cmpxchg(&qp->dev->gsi, NULL, RCU_INITIALIZER(qp))) ?
		       -EBUSY : 0;
	/* the place is reserved: no memory is needed */
	xa_store(&skr_qps, qp->qpn, qp, GFP_KERNEL);
	return 0;
}

static void skr_qp_unpublish(struct skr_qp *qp)
{
	if (qp->qpn != SKR_QPN_GSI)
		xa_erase(&skr_qps, qp->qpn);
	else if (rcu_access_pointer(qp->dev->gsi) == qp)
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
}

static bool skr_qp_uses_cq(const struct skr_qp *qp, const struct skr_cq *cq)
{
	return qp->ibqp && (qp->ibqp->send_cq == &cq->ibcq || qp->ibqp->recv_cq == &cq->ibcq);
}

static void skr_qp_fail_cq(struct skr_qp *qp, void *arg)
{
	const struct skr_cq *cq = arg;
	bool failed = false;

	spin_lock_bh(&qp->lock);
	if (skr_qp_uses_cq(qp, cq) && qp->state != IB_QPS_RESET && qp->state != IB_QPS_ERR) {
		skr_qp_event(qp, IB_EVENT_QP_FATAL);
		skr_qp_error(qp, IB_WC_WR_FLUSH_ERR);
		failed = true;
	}
	skr_qp_unlock(qp);
	/* what is posted has to be flushed, to the CQ that still works if there is one */
	if (failed)
		skr_qp_run(qp);
}

/* Let @visit look at each QP, which it may lock. */
static void skr_qps_visit(void (*visit)(struct skr_qp *qp, void *arg), void *arg)
{
	struct skr_qp *qp;
	unsigned long qpn;

	rcu_read_lock();
	xa_for_each(&skr_qps, qpn, qp) {
		if (!kref_get_unless_zero(&qp->ref))
			continue;
		rcu_read_unlock();
		visit(qp, arg);
		skr_qp_put(qp);
		cond_resched();
		rcu_read_lock();
	}
	rcu_read_unlock();
}

void skr_qps_fail_cq(struct skr_cq *cq)
{
	skr_qps_visit(skr_qp_fail_cq, cq);
}

static void skr_qp_path_changed(struct skr_qp *qp, void *arg)
{
	/* constant */
	if (qp->dev != arg || !skr_qp_reliable(qp))
		return;
	set_bit(SKR_QP_PATH, &qp->run_flags);
	skr_qp_run(qp);
}

void skr_qps_path_changed(struct skr_dev *dev)
{
	skr_qps_visit(skr_qp_path_changed, dev);
}

static void skr_qp_forget_srq(struct skr_qp *qp, void *arg)
{
	/* constant: most QPs need not be locked */
	if (!qp->xrcd)
		return;
	spin_lock_bh(&qp->lock);
	if (qp->recv.srq == arg) {
		qp->recv.busy = false;
		qp->recv.srq = NULL;
	}
	skr_qp_unlock(qp);
}

void skr_qps_forget_srq(struct skr_srq *srq)
{
	skr_qps_visit(skr_qp_forget_srq, srq);
}

void skr_qp_shutdown(struct skr_qp *qp)
{
	skr_qp_unpublish(qp);

	spin_lock_bh(&qp->lock);
	WRITE_ONCE(qp->state, IB_QPS_RESET);
	qp->ibqp = NULL;
	/* a process that has the rings mapped still learns that they are dead */
	if (qp->sq.ring.hdr)
		skr_ring_want_kick(&qp->sq.ring, 0);
	if (qp->rq.ring.hdr)
		skr_ring_want_kick(&qp->rq.ring, 0);
	/* packets in the local stack may stay for long: no unload until then */
	qp->pins_module = atomic_read(&qp->tx_units) && try_module_get(THIS_MODULE);
	spin_unlock_bh(&qp->lock);

	/* who takes the lock from now on sees a QP without ib_qp: nothing to do */
	skr_poll_forget(qp);
	skr_timer_stop(qp);
	cancel_work_sync(&qp->event_work);
	skr_rx_forget(qp);
	kfree_skb(qp->cur_req);
	kfree_skb(qp->cur_rsp);
	skr_reorder_purge(&qp->early_req);
	skr_reorder_purge(&qp->early_rsp);
}

static void skr_qp_free(struct rcu_head *rcu)
{
	struct skr_qp *qp = container_of(rcu, struct skr_qp, rcu);

	/* packets that were about to be queued when the QP was shut down */
	skr_rx_forget(qp);
	if (qp->pins_module)
		module_put(THIS_MODULE);
	kfree(qp);
	if (atomic_dec_and_test(&skr_qps_left))
		wake_up_var(&skr_qps_left);
}

static void skr_qp_release(struct kref *ref)
{
	call_rcu(&container_of(ref, struct skr_qp, ref)->rcu, skr_qp_free);
}

void skr_qp_put(struct skr_qp *qp)
{
	kref_put(&qp->ref, skr_qp_release);
}

struct skr_qp *skr_qp_hold(struct ib_qp *ibqp)
{
	struct skr_qp *qp;

	rcu_read_lock();
	qp = READ_ONCE(container_of(ibqp, struct skr_ibqp, ibqp)->qp);
	if (qp && !kref_get_unless_zero(&qp->ref))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

struct skr_qp *skr_qp_find(struct skr_dev *dev, u32 qpn)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(), "a QP without RCU");
	if (qpn == SKR_QPN_GSI)
		return dev ? rcu_dereference(dev->gsi) : NULL;
	return xa_load(&skr_qps, qpn);
}
