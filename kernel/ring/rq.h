/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Receive queues: where receive requests are posted, by user space into a
 * mapped ring or by kernel consumers into one of the same form. A QP has one of
 * its own or takes requests from an SRQ.
 */
#ifndef SKR_RING_RQ_H
#define SKR_RING_RQ_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "ring.h"
#include "shm.h"
#include "wqe.h"

/**
 * struct skr_rq - receive queue
 * @ring: where requests are written; hdr is NULL if there is no queue
 * @shm: its memory
 * @max_sge: entries of memory a request may have
 * @max_wr: requests the user was promised
 * @cons: index of the next request to take; under the lock of its owner
 * @post_lock: serializes post_recv() of kernel consumers; protects @posted
 * @posted: producer index of kernel consumers
 */
struct skr_rq {
	struct skr_ring		ring;
	struct skr_shm		*shm;
	u32			max_sge;
	u32			max_wr;
	u32			cons;
	spinlock_t		post_lock;
	u32			posted;
};

/**
 * skr_rq_create() - make a receive queue
 * @rq: set up on success
 * @ucontext: who may map it, NULL for a kernel consumer
 * @max_wr: requests
 * @max_sge: entries of memory in each
 * @info: where to tell user space about it
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int skr_rq_create(struct skr_rq *rq, struct ib_ucontext *ucontext, u32 max_wr, u32 max_sge,
		  struct skerry_ring_info *info);

/**
 * skr_rq_destroy() - let a receive queue go
 * @rq: from skr_rq_create(), or zeroed
 *
 * A process that has it mapped learns from need_kick that it is dead.
 *
 * Context: process.
 */
void skr_rq_destroy(struct skr_rq *rq);

/**
 * skr_rq_post() - a kernel consumer posts receive requests
 * @rq: receive queue
 * @wr: list of requests
 * @bad_wr: set to the first one that was not taken, on an error
 *
 * Context: any.
 * Return: 0, -ENOMEM if the queue is full or -EINVAL.
 */
int skr_rq_post(struct skr_rq *rq, const struct ib_recv_wr *wr,
		const struct ib_recv_wr **bad_wr);

/**
 * skr_rq_take() - take the next receive request
 * @rq: receive queue
 * @wqe: room for the copy with max_sge entries
 * @taken: set to whether @wqe is a request now
 *
 * Context: any, under the lock of @rq's owner.
 * Return: 1 if @wqe is ready to be filled, 0 if none is posted, -EINVAL if the
 *	one posted is unusable or, with @taken false, the ring makes no sense.
 */
int skr_rq_take(struct skr_rq *rq, struct skr_rwqe *wqe, bool *taken);

#endif /* SKR_RING_RQ_H */
