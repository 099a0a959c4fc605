/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Shared receive queues: several QPs take their receive requests from one.
 */
#ifndef SKR_RING_RQ_SHARED_H
#define SKR_RING_RQ_SHARED_H

#include <linux/workqueue.h>

#include "../device.h"
#include "rq.h"

/**
 * struct skr_srq - a shared receive queue
 * @ibsrq: ib_core's part; allocated and freed by it
 * @rq: the queue; @rq.cons and the choice of its ring under @lock
 * @lock: serializes QPs that take requests, and resizing. Taken inside a QP's
 *	lock
 * @limit: raise IB_EVENT_SRQ_LIMIT_REACHED once fewer requests are left; 0: do
 *	not
 * @broken: the ring made no sense; it is not looked at any more
 * @events: asynchronous events to raise, bit numbers are enum ib_event_type
 * @event_work: raises them
 */
struct skr_srq {
	struct ib_srq		ibsrq;
	struct skr_rq		rq;
	spinlock_t		lock;
	u32			limit;
	bool			broken;
	unsigned long		events;
	struct work_struct	event_work;
};

/**
 * skr_srq() - our shared receive queue
 * @ibsrq: ib_core's view of it
 *
 * Return: the queue that contains @ibsrq.
 */
static inline struct skr_srq *skr_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct skr_srq, ibsrq);
}

/**
 * skr_srq_init() - set a shared receive queue up
 * @srq: zeroed but for ib_core's part and @srq->rq
 *
 * Context: process.
 */
void skr_srq_init(struct skr_srq *srq);

/**
 * skr_srq_publish() - give an XRC SRQ its number and let requests find it
 * @dev: device
 * @srq: complete XRC SRQ
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int skr_srq_publish(struct skr_dev *dev, struct skr_srq *srq);

/**
 * skr_srq_withdraw() - make an XRC SRQ unfindable and wait for those who found it
 * @dev: device
 * @srq: SRQ from skr_srq_publish()
 *
 * Context: process.
 */
void skr_srq_withdraw(struct skr_dev *dev, struct skr_srq *srq);

/**
 * skr_srq_find() - find an XRC SRQ
 * @dev: device
 * @xrcd: the XRC domain that it must be of
 * @srqn: number
 *
 * Context: under dev->mr_srcu, until whose release the SRQ stays.
 * Return: the SRQ, or NULL.
 */
struct skr_srq *skr_srq_find(struct skr_dev *dev, const struct ib_xrcd *xrcd, u32 srqn);

/**
 * skr_srq_take() - take the next receive request
 * @srq: shared receive queue
 * @wqe: room for the copy with max_sge entries
 * @taken: set to whether @wqe is a request now
 *
 * The place in the ring is free again at once.
 *
 * Context: any.
 * Return: as skr_rq_take().
 */
int skr_srq_take(struct skr_srq *srq, struct skr_rwqe *wqe, bool *taken);

/**
 * skr_srq_set_limit() - arm the limit event
 * @srq: shared receive queue
 * @limit: requests, 0 to disarm
 *
 * Context: process. With fewer requests posted the event comes at once.
 */
void skr_srq_set_limit(struct skr_srq *srq, u32 limit);

/**
 * skr_srq_swap() - go on in another ring, with what is posted
 * @srq: shared receive queue
 * @rq: the other ring, empty; the old one on success
 *
 * The poster must be at rest: what is posted meanwhile may be lost.
 *
 * Context: process.
 * Return: 0, or -EINVAL if the other ring is too small for what is posted.
 */
int skr_srq_swap(struct skr_srq *srq, struct skr_rq *rq);

#endif /* SKR_RING_RQ_SHARED_H */
