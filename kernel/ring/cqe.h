/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Completion queues: writing entries, raising events, and reading for the
 * kernel's own consumers.
 */
#ifndef SKR_RING_CQE_H
#define SKR_RING_CQE_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "ring.h"
#include "shm.h"

/**
 * struct skr_cq - a completion queue
 * @ibcq: ib_core's part; freed by it after destruction
 * @lock: protects @ring and @shm, which resizing replaces, @next_ring and @next,
 *	@prod, @overrun, what moderation keeps and, for a queue of the
 *	kernel's own, the consumer index in the ring header
 * @ring: entries are struct skerry_cqe
 * @shm: its memory
 * @next_ring: the ring to change over to
 * @next: its memory, or NULL
 * @user: user space consumes it
 * @overrun: it overran; nothing is written to it any more
 * @prod: index of the next entry to be written
 * @moderate_count: entries that an event waits for; 0: for any number
 * @moderate_usec: how long it waits for them, in microseconds; 0: not at all
 * @held: entries whose event waits
 * @moderate_timer: raises the event that waits, after @moderate_usec
 * @users: one for existing, and one for each event being raised
 * @unused: completed when @users falls to zero
 * @error_work: raises IB_EVENT_CQ_ERR and calls @fail_users
 * @fail_users: puts the QPs that use the queue into the error state
 */
struct skr_cq {
	struct ib_cq		ibcq;
	spinlock_t		lock;
	struct skr_ring		ring;
	struct skr_shm		*shm;
	struct skr_ring		next_ring;
	struct skr_shm		*next;
	bool			user;
	bool			overrun;
	u32			prod;
	u16			moderate_count;
	u16			moderate_usec;
	u32			held;
	struct hrtimer		moderate_timer;
	refcount_t		users;
	struct completion	unused;
	struct work_struct	error_work;
	void (*fail_users)(struct skr_cq *cq);
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
 * @fail_users: puts the QPs that use the queue into the error state, once, when
 *	it has overrun; called from a workqueue
 *
 * Context: any.
 */
void skr_cq_init(struct skr_cq *cq, void (*fail_users)(struct skr_cq *cq));

/**
 * skr_cq_prepare() - set a ring aside, to change over to
 * @cq: queue that user space consumes
 * @ring: the ring; empty
 * @shm: its memory; the queue's from now on
 *
 * Context: process.
 */
void skr_cq_prepare(struct skr_cq *cq, const struct skr_ring *ring, struct skr_shm *shm);

/**
 * skr_cq_commit() - change over to the ring set aside
 * @cq: queue that user space consumes, and does not consume at this moment
 * @cqe: entries that it is to hold
 *
 * Entries written so far stay in the old ring; user space moves them. Either
 * way no ring is set aside any more.
 *
 * Context: process; takes @cq->lock.
 * Return: 0, or -EINVAL if no ring is set aside or more entries than @cqe wait
 *	to be consumed.
 */
int skr_cq_commit(struct skr_cq *cq, u32 cqe);

/**
 * skr_cq_waiting() - entries that wait to be consumed
 * @cq: queue
 *
 * Context: any; takes @cq->lock.
 * Return: entries, more than the ring has if user space wrote nonsense.
 */
u32 skr_cq_waiting(struct skr_cq *cq);

/**
 * skr_cq_moderate() - let events wait for more entries
 * @cq: queue
 * @count: for how many; 0: for as many as come in time
 * @usec: for how long, in microseconds; 0: events do not wait
 *
 * An event that waits already is raised at once.
 *
 * Context: any; takes @cq->lock.
 */
void skr_cq_moderate(struct skr_cq *cq, u16 count, u16 usec);

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
