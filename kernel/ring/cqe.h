/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Completion queues: writing entries, raising events, and reading for the
 * kernel's own consumers.
 */
#ifndef SKR_RING_CQE_H
#define SKR_RING_CQE_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "ring.h"
#include "shm.h"

/**
 * struct skr_cq - a completion queue
 * @ibcq: ib_core's part; freed by it after destruction
 * @lock: protects @prod, @overrun and, for a queue of the kernel's own, the
 *	consumer index in the ring header
 * @ring: entries are struct skerry_cqe
 * @shm: its memory
 * @user: user space consumes it
 * @overrun: it overran; nothing is written to it any more
 * @prod: index of the next entry to be written
 * @users: one for existing, and one for each event being raised
 * @unused: completed when @users falls to zero
 * @error_work: raises IB_EVENT_CQ_ERR
 */
struct skr_cq {
	struct ib_cq		ibcq;
	spinlock_t		lock;
	struct skr_ring		ring;
	struct skr_shm		*shm;
	bool			user;
	bool			overrun;
	u32			prod;
	refcount_t		users;
	struct completion	unused;
	struct work_struct	error_work;
};

/**
 * skr_cq() - our completion queue
 * @ibcq: ib_core's view of it
 *
 * Return: the queue that contains @ibcq.
 */
static inline struct skr_cq *skr_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct skr_cq, ibcq);
}

/**
 * enum skr_push - what became of an entry
 * @SKR_PUSH_OK: written
 * @SKR_PUSH_FIRE: written, and the consumer waits for an event
 * @SKR_PUSH_OVERRUN: not written: the queue is full and is dead from now on
 */
enum skr_push {
	SKR_PUSH_OK,
	SKR_PUSH_FIRE,
	SKR_PUSH_OVERRUN,
};

/**
 * skr_cq_push() - write an entry
 * @cq: queue
 * @cqe: the entry; timestamp is filled in
 * @qp: the QP for ib_wc.qp; shown to kernel consumers only
 * @solicited: a solicited completion, or an error
 *
 * Context: any; takes @cq->lock.
 * Return: what became of it. On SKR_PUSH_FIRE the caller raises the event with
 *	skr_cq_get() now and skr_cq_fire() when it holds no lock any more.
 */
enum skr_push skr_cq_push(struct skr_cq *cq, struct skerry_cqe *cqe, struct ib_qp *qp,
			  bool solicited);

/**
 * skr_cq_get() - keep a queue until skr_cq_fire()
 * @cq: queue that cannot be destroyed at the moment of the call
 *
 * Context: any.
 */
void skr_cq_get(struct skr_cq *cq);

/**
 * skr_cq_fire() - call the completion handler and drop skr_cq_get()'s hold
 * @cq: queue
 *
 * Context: any, with no lock of ours held.
 */
void skr_cq_fire(struct skr_cq *cq);

/**
 * skr_cq_init() - set up the parts that need no memory
 * @cq: zeroed queue
 *
 * Context: any.
 */
void skr_cq_init(struct skr_cq *cq);

/**
 * skr_cq_drain() - wait until nobody raises an event of the queue
 * @cq: queue that no QP uses any more
 *
 * Context: process; waits for completion handlers, which do not sleep.
 */
void skr_cq_drain(struct skr_cq *cq);

/**
 * skr_poll_cq() - ib_device_ops.poll_cq, for kernel consumers
 * @ibcq: queue
 * @num_entries: room in @wc
 * @wc: where completions go
 *
 * Context: any.
 * Return: completions written to @wc.
 */
int skr_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);

/**
 * skr_req_notify_cq() - ib_device_ops.req_notify_cq, for kernel consumers
 * @ibcq: queue
 * @flags: which completions to wait for, and whether to report missed ones
 *
 * Context: any.
 * Return: 1 if IB_CQ_REPORT_MISSED_EVENTS is asked for and entries wait, else 0.
 */
int skr_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* SKR_RING_CQE_H */
