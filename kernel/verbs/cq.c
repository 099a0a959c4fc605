// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "../ring/cqe.h"

#include <linux/log2.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "../transport/qp.h"
#include "verbs.h"

int skr_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct ib_ucontext *ucontext = skr_udata_ucontext(udata);
	struct skr_dev *dev = skr_dev(ibcq->device);
	struct skerry_create_cq_resp resp = {};
	struct skr_cq *cq = skr_cq(ibcq);
	int err;

	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > SKR_MAX_CQE)
		return -EINVAL;
	if (udata && udata->outlen < sizeof(resp))
		return -EINVAL;
	err = skr_object_get(dev, SKR_OBJ_CQ, SKR_MAX_CQ);
	if (err)
		return err;

	skr_cq_init(cq, skr_qps_fail_cq);
	cq->user = ucontext;
	cq->shm = skr_shm_create(&cq->ring, ucontext, roundup_pow_of_two(attr->cqe),
				 sizeof(struct skerry_cqe), &resp.ring);
	if (IS_ERR(cq->shm)) {
		err = PTR_ERR(cq->shm);
		goto err_put_object;
	}
	ibcq->cqe = cq->ring.depth;
	if (udata) {
		err = ib_copy_to_udata(udata, &resp, sizeof(resp));
		if (err)
			goto err_free_ring;
	}
	return 0;

err_free_ring:
	skr_shm_destroy(cq->shm);
err_put_object:
	skr_object_put(dev, SKR_OBJ_CQ);
	return err;
}

/* The ring that a larger or smaller queue will have; nothing changes yet */
static int skr_resize_prepare(struct skr_cq *cq, u32 cqe, struct ib_udata *udata)
{
	struct skerry_resize_cq_resp resp = {};
	struct skr_ring ring;
	struct skr_shm *shm;
	int err;

	if (skr_cq_waiting(cq) > cqe)
		return -EINVAL;
	shm = skr_shm_create(&ring, skr_udata_ucontext(udata), roundup_pow_of_two(cqe),
			     sizeof(struct skerry_cqe), &resp.ring);
	if (IS_ERR(shm))
		return PTR_ERR(shm);
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		skr_shm_destroy(shm);
	else
		skr_cq_prepare(cq, &ring, shm);
	return err;
}

int skr_resize_cq(struct ib_cq *ibcq, SKR_CQE_TYPE cqe, struct ib_udata *udata)
{
	struct skr_cq *cq = skr_cq(ibcq);
	struct skerry_resize_cq_req req;
	int err;

	if (!cq->user)
		return -EOPNOTSUPP;
	if (cqe < 1 || cqe > SKR_MAX_CQE || udata->inlen < sizeof(req) ||
	    udata->outlen < sizeof(struct skerry_resize_cq_resp))
		return -EINVAL;
	err = ib_copy_from_udata(&req, udata, sizeof(req));
	if (err)
		return err;
	switch (req.step) {
	case SKERRY_RESIZE_PREPARE:
		return skr_resize_prepare(cq, cqe, udata);
	case SKERRY_RESIZE_COMMIT:
		return skr_cq_commit(cq, cqe);
	default:
		return -EINVAL;
	}
}

int skr_modify_cq(struct ib_cq *ibcq, u16 count, u16 usec)
{
	skr_cq_moderate(skr_cq(ibcq), count, usec);
	return 0;
}

int skr_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct skr_cq *cq = skr_cq(ibcq);

	skr_cq_drain(cq);
	/* who only wants to show it may still come (restrack.c) */
	spin_lock_irq(&cq->lock);
	cq->ring.hdr = NULL;
	spin_unlock_irq(&cq->lock);
	skr_shm_destroy(cq->next);
	skr_shm_destroy(cq->shm);
	skr_object_put(skr_dev(ibcq->device), SKR_OBJ_CQ);
	return 0;
}
