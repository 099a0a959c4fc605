/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The poller: looks at send rings whose users post again and again, so that they
 * need not enter the kernel for each request.
 *
 * When the kicks of a device follow close upon each other, a QP asks for it when its
 * ring is drained. While it is watched, the ring's need_kick stays 0. A worker of
 * the device watches, with preemption off: whoever relies on it never waits for a
 * thread that waits for a CPU. It therefore lets all go, and they kick again,
 *  - one of them when nothing was posted for the time that is set,
 *  - all when something else wants its CPU, and after SKR_POLL_SLICE_NS.
 * A slice begins if a CPU has been idle lately, or after one that nobody wanted the CPU
 * of for long. One in which little was found is not worth it: then none begins for a while, twice
 * as long each time.
 *
 * Locks and lifetime: a QP asks with its lock held, and poll->lock is taken inside.
 * The poller reads rings with poll->lock held, and runs QPs without it. Who is in
 * the list is held by it. A QP that goes leaves the list before its ring is freed,
 * and a device waits for the worker when its last QP is gone.
 */
#ifndef SKR_TRANSPORT_POLL_H
#define SKR_TRANSPORT_POLL_H

#include <linux/list.h>
#include <linux/time64.h>
#include <linux/types.h>

struct skr_dev;
struct skr_qp;

/* QPs that a device's poller watches at most */
#define SKR_POLL_QPS		64
/* The poller keeps its CPU no longer than this */
#define SKR_POLL_SLICE_NS	(10 * NSEC_PER_MSEC)
/* A QP asks when so many kicks in a row came soon after those before */
#define SKR_POLL_QUICK		8
/* A QP that is busy sending is watched so many times as long as an idle one */
#define SKR_POLL_BUSY		16
/* A slice that found fewer posts was not worth it ... */
#define SKR_POLL_WORTH		16
/* ... and none follows for 1 ms, or 2, 4 ... up to so many */
#define SKR_POLL_REST_MS	256
/* Somebody who wanted the poller's CPU and was done so soon does not keep it away */
#define SKR_POLL_BRIEF_NS	(2 * NSEC_PER_MSEC)
/* Idle time is looked at over so long, or up to so many times as long */
#define SKR_POLL_SAMPLE_NS	(4 * NSEC_PER_MSEC)
#define SKR_POLL_SAMPLE_MAX	64
/* How long an idle ring is watched, in microseconds, and what may be set */
#define SKR_POLL_USECS		50
#define SKR_POLL_USECS_MAX	10000

/**
 * struct skr_poll_qp - a QP as the poller sees it
 * @node: in the device's list; under its poll.lock
 * @hungry: the ring is drained: a post is news. Written with the QP's lock held, and
 *	cleared by the poller before it runs the QP; else a hint
 * @drained: nanoseconds, when that was found last. Written with the QP's lock held
 * @kicked: a post came by a kick since then; under the QP's lock
 * @seen: how many requests had been taken when the poller ran it last; the poller's own
 */
struct skr_poll_qp {
	struct list_head	node;
	bool			hungry;
	u64			drained;
	bool			kicked;
	u32			seen;
};

/**
 * skr_poll_kicked() - the requester was idle and goes to work: has a post come?
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_poll_kicked(struct skr_qp *qp);

/**
 * skr_poll_left() - the owner of a QP goes back to user space after a kick
 * @dev: the QP's device
 *
 * Context: process.
 */
void skr_poll_left(struct skr_dev *dev);

/**
 * skr_poll_drained() - the requester found its ring empty
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 * Return: true if the poller looks at the ring from now on: no kick is needed.
 */
bool skr_poll_drained(struct skr_qp *qp);

/**
 * skr_poll_forget() - the poller does not look at a QP's ring any more
 * @qp: QP that has been shut down
 *
 * Context: process, without @qp->lock.
 */
void skr_poll_forget(struct skr_qp *qp);

/**
 * skr_poll_start() - a device's poller begins its life, asleep
 * @dev: device
 *
 * Context: process.
 */
void skr_poll_start(struct skr_dev *dev);

/**
 * skr_poll_stop() - undo skr_poll_start()
 * @dev: device that has no QPs any more
 *
 * Context: process.
 */
void skr_poll_stop(struct skr_dev *dev);

/**
 * skr_poll_create() - make the workqueue
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int skr_poll_create(void);

/**
 * skr_poll_destroy() - undo skr_poll_create()
 *
 * Context: module exit.
 */
void skr_poll_destroy(void);

#endif /* SKR_TRANSPORT_POLL_H */
