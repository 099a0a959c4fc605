// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "../ring/cqe.h"

#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>

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

	skr_cq_init(cq);
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

int skr_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct skr_cq *cq = skr_cq(ibcq);

	skr_cq_drain(cq);
	skr_shm_destroy(cq->shm);
	skr_object_put(skr_dev(ibcq->device), SKR_OBJ_CQ);
	return 0;
}
