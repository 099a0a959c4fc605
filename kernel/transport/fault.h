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
 */
#ifndef SKR_TRANSPORT_FAULT_H
#define SKR_TRANSPORT_FAULT_H

#include <linux/workqueue.h>

#include "../mem/region.h"

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
 * struct skr_fault - one kind's wait
 * @qp: QP; held while @busy
 * @miss: what accesses of this kind have found
 * @busy: a worker brings @want in
 * @want: constant while @busy
 * @work: the worker
 *
 * Protected by the QP's lock.
 */
struct skr_fault {
	struct skr_qp		*qp;
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
 * skr_fault_wq() - where pages are brought in
 *
 * Context: any.
 * Return: the workqueue.
 */
struct workqueue_struct *skr_fault_wq(void);

/**
 * skr_fault_drain() - wait until nobody brings pages in
 *
 * Context: process; for devices that have no QPs and contexts any more.
 */
void skr_fault_drain(void);

/**
 * skr_fault_create() - make the workqueue
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
