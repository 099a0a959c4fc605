// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "rq.h"

#include <linux/log2.h>

int skr_rq_create(struct skr_rq *rq, struct ib_ucontext *ucontext, u32 max_wr, u32 max_sge,
		  struct skerry_ring_info *info)
{
	struct skr_shm *shm;

	spin_lock_init(&rq->post_lock);
	shm = skr_shm_create(&rq->ring, ucontext, skr_ring_depth(max_wr),
			     sizeof(struct skerry_recv_wqe) + max_sge * sizeof(struct skerry_sge),
			     info);
	if (IS_ERR(shm))
		return PTR_ERR(shm);
	rq->shm = shm;
	rq->max_wr = max_wr;
	rq->max_sge = max_sge;
	return 0;
}

void skr_rq_destroy(struct skr_rq *rq)
{
	if (!rq->ring.hdr)
		return;
	skr_ring_want_kick(&rq->ring, 0);
	skr_shm_destroy(rq->shm);
	rq->ring.hdr = NULL;
}

static int skr_rq_post_one(struct skr_rq *rq, const struct ib_recv_wr *wr)
{
	struct skerry_recv_wqe *wqe;

	lockdep_assert_held(&rq->post_lock);
	/*
	 * Nobody else writes to the header of a ring that is not mapped. Pairs with
	 * skr_ring_publish(): who was in this place has been copied.
	 */
	if (rq->posted - smp_load_acquire(&rq->ring.hdr->kernel_index) >= rq->max_wr)
		return -ENOMEM;
	if (wr->num_sge > rq->max_sge)
		return -EINVAL;
	wqe = skr_ring_entry(&rq->ring, rq->posted);
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	skr_wqe_put_sges((struct skerry_sge *)(wqe + 1), wr->sg_list, wr->num_sge);
	rq->posted++;
	return 0;
}

int skr_rq_post(struct skr_rq *rq, const struct ib_recv_wr *wr,
		const struct ib_recv_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&rq->post_lock, flags);
	for (; wr; wr = wr->next) {
		err = skr_rq_post_one(rq, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	/* pairs with the load-acquire of skr_ring_ready(): requests first */
	smp_store_release(&rq->ring.hdr->user_index, rq->posted);
	spin_unlock_irqrestore(&rq->post_lock, flags);
	return err;
}

int skr_rq_take(struct skr_rq *rq, struct skr_rwqe *wqe, bool *taken)
{
	u32 ready = skr_ring_ready(&rq->ring, rq->cons, rq->cons);
	bool ok;

	*taken = false;
	if (!ready)
		return 0;
	if (ready == SKR_RING_BROKEN)
		return -EINVAL;
	ok = skr_wqe_take_recv(&rq->ring, rq->cons, rq->max_sge, wqe);
	rq->cons++;
	*taken = true;
	return ok ? 1 : -EINVAL;
}
