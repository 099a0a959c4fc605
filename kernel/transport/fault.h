/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Waiting for pages: what a QP does when memory that it needs is not there.
 *
 * The packet or request at hand stays where it is, and with it all that comes
 * behind. A worker brings the page in, and the QP runs again. What a QP does is of
 * three kinds, and each waits by itself: responses are taken, and requests
 * answered, while the requester waits for what it is to send.
 *
 * A page that cannot be brought in makes the next attempt fail as one that the
 * region does not have: the access is refused.
 *
 * A QP that goes away does not wait for the worker, which may wait for a process:
 * the worker holds the QP's struct and the memory, and finds a QP that is dead. A
 * device waits, when it goes away (skr_fault_drain()).
 *
 * A page may never come (a file system of a process that does not answer), and the
 * worker cannot be killed. So that this hurts nobody else, each open device that has
 * memory on demand has a lane: workers of its own, of a bounded number.
 */
#ifndef SKR_TRANSPORT_FAULT_H
#define SKR_TRANSPORT_FAULT_H

#include <linux/kref.h>
#include <linux/workqueue.h>

#include "../mem/region.h"

struct skr_dev;
struct skr_qp;

/* Bytes that are brought in at once, if so many will be needed */
#define SKR_FAULT_AHEAD	SZ_256K

/**
 * enum skr_fault_kind - what has to wait
 * @SKR_FAULT_RESPONSES: responses whose payload cannot be written
 * @SKR_FAULT_REQUESTS: requests whose payload cannot be written, READs that cannot
 *	be answered
 * @SKR_FAULT_SENDS: send requests whose payload cannot be read
 * @SKR_FAULT_KINDS: number of kinds
 */
enum skr_fault_kind {
	SKR_FAULT_RESPONSES,
	SKR_FAULT_REQUESTS,
	SKR_FAULT_SENDS,
	SKR_FAULT_KINDS,
};

/**
 * struct skr_fault_lane - who brings pages in for one open device
 * @ref: its context's, and one for each work item in it
 * @wq: runs them
 * @end: destroys it, which the last item cannot do itself
 */
struct skr_fault_lane {
	struct kref			ref;
	struct workqueue_struct		*wq;
	struct work_struct		end;
};

/**
 * struct skr_fault_ticket - what a work item has of device and lane while it is queued
 * @dev: device, which waits for it
 * @lane: lane, held, or NULL: that of all who have none
 */
struct skr_fault_ticket {
	struct skr_dev		*dev;
	struct skr_fault_lane	*lane;
};

/**
 * struct skr_fault - one kind's wait
 * @qp: QP; held while @busy
 * @ticket: while @busy
 * @miss: what accesses of this kind have found
 * @busy: a worker brings @want in
 * @want: constant while @busy
 * @work: the worker
 *
 * Protected by the QP's lock.
 */
struct skr_fault {
	struct skr_qp		*qp;
	struct skr_fault_ticket	ticket;
	struct skr_miss		miss;
	bool			busy;
	struct skr_absent	want;
	struct work_struct	work;
};

/**
 * skr_fault_init() - nothing waits
 * @qp: QP
 *
 * Context: process.
 */
void skr_fault_init(struct skr_qp *qp);

/**
 * skr_fault_wait() - what the QP has just worked on missed a page: have it brought in
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_fault_wait(struct skr_qp *qp);

/**
 * skr_fault_ahead() - more will be needed behind what has just been asked for
 * @qp: QP, locked, that has just missed a page
 * @behind: how many bytes more. Not one beyond what will be asked for: pages are
 *	brought in all or none, and what follows may not be there at all
 *
 * Context: BH, @qp->lock held.
 */
void skr_fault_ahead(struct skr_qp *qp, u64 behind);

/**
 * skr_fault_lane_open() - see to it that an open device has a lane
 * @slot: where it is kept
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int skr_fault_lane_open(struct skr_fault_lane **slot);

/**
 * skr_fault_lane_put() - let go of a lane
 * @lane: lane, or NULL
 *
 * Context: any.
 */
void skr_fault_lane_put(struct skr_fault_lane *lane);

/**
 * skr_fault_queue() - have pages brought in
 * @dev: device
 * @slot: where the lane is, if there is one, or NULL; its owner is there
 * @work: does it, and calls skr_fault_done() last
 * @ticket: filled in
 *
 * Context: any.
 */
void skr_fault_queue(struct skr_dev *dev, struct skr_fault_lane **slot,
		     struct work_struct *work, struct skr_fault_ticket *ticket);

/**
 * skr_fault_done() - a work item is through
 * @ticket: a copy: the item may be gone
 *
 * The device may go as soon as this is called.
 *
 * Context: a work item that was given to skr_fault_queue().
 */
void skr_fault_done(struct skr_fault_ticket ticket);

/**
 * skr_fault_drain() - wait until nobody brings pages in
 * @dev: device that has no QPs and contexts any more
 *
 * Context: process.
 */
void skr_fault_drain(struct skr_dev *dev);

/**
 * skr_fault_create() - make the workqueue of those who have no lane
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int skr_fault_create(void);

/**
 * skr_fault_destroy() - undo skr_fault_create()
 *
 * Context: module exit.
 */
void skr_fault_destroy(void);

#endif /* SKR_TRANSPORT_FAULT_H */
