// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "../ring/rq_shared.h"

#include <linux/uaccess.h>
#include <rdma/uverbs_ioctl.h>

#include "../transport/qp.h"
#include "verbs.h"

static int skr_srq_check(u32 max_wr, u32 max_sge, u32 limit)
{
	if (!max_wr || max_wr > SKR_MAX_SRQ_WR || max_sge > SKR_MAX_SGE || limit > max_wr)
		return -EINVAL;
	return 0;
}

int skr_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct ib_ucontext *ucontext = skr_udata_ucontext(udata);
	struct skr_dev *dev = skr_dev(ibsrq->device);
	struct skerry_create_srq_resp resp = {};
	struct skr_srq *srq = skr_srq(ibsrq);
	int err;

	/* the kernel's own requests have no room for the number of an SRQ */
	if (init->srq_type != IB_SRQT_BASIC && (init->srq_type != IB_SRQT_XRC || !udata))
		return -EOPNOTSUPP;
	err = skr_srq_check(init->attr.max_wr, init->attr.max_sge, init->attr.srq_limit);
	if (err)
		return err;
	if (udata && udata->outlen < sizeof(resp))
		return -EINVAL;
	err = skr_object_get(dev, SKR_OBJ_SRQ, SKR_MAX_SRQ);
	if (err)
		return err;
	skr_srq_init(srq);
	err = skr_rq_create(&srq->rq, ucontext, init->attr.max_wr, init->attr.max_sge, &resp.ring);
	if (err)
		goto err_put_object;
	srq->limit = init->attr.srq_limit;
	if (udata) {
		err = ib_copy_to_udata(udata, &resp, sizeof(resp));
		if (err)
			goto err_destroy_rq;
	}
	if (init->srq_type == IB_SRQT_XRC) {
		err = skr_srq_publish(dev, srq);
		if (err)
			goto err_destroy_rq;
	}
	return 0;

err_destroy_rq:
	skr_rq_destroy(&srq->rq);
err_put_object:
	skr_object_put(dev, SKR_OBJ_SRQ);
	return err;
}

/*
 * A new ring with what is posted in it. The command has no answer: user space
 * says where it wants to read about the ring, and keeps still meanwhile.
 */
static int skr_resize_srq(struct skr_srq *srq, u32 max_wr, struct ib_udata *udata)
{
	struct ib_ucontext *ucontext = skr_udata_ucontext(udata);
	struct skerry_modify_srq_req req = {};
	struct skerry_ring_info info = {};
	struct skr_rq rq;
	int err;

	if (udata) {
		if (udata->inlen < sizeof(req))
			return -EINVAL;
		err = ib_copy_from_udata(&req, udata, sizeof(req));
		if (err)
			return err;
	}
	err = skr_rq_create(&rq, ucontext, max_wr, srq->rq.max_sge, &info);
	if (err)
		return err;
	if (udata && copy_to_user(u64_to_user_ptr(req.ring_info_addr), &info, sizeof(info)))
		err = -EFAULT;
	else
		err = skr_srq_swap(srq, &rq);
	skr_rq_destroy(&rq);
	return err;
}

static u32 skr_srq_max_wr(struct skr_srq *srq)
{
	u32 max_wr;

	/* somebody else may be giving it another ring */
	spin_lock_bh(&srq->lock);
	max_wr = srq->rq.max_wr;
	spin_unlock_bh(&srq->lock);
	return max_wr;
}

int skr_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		   struct ib_udata *udata)
{
	struct skr_srq *srq = skr_srq(ibsrq);
	u32 max_wr = mask & IB_SRQ_MAX_WR ? attr->max_wr : skr_srq_max_wr(srq);
	int err;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	err = skr_srq_check(max_wr, srq->rq.max_sge, mask & IB_SRQ_LIMIT ? attr->srq_limit : 0);
	if (!err && mask & IB_SRQ_MAX_WR)
		err = skr_resize_srq(srq, max_wr, udata);
	if (!err && mask & IB_SRQ_LIMIT)
		skr_srq_set_limit(srq, attr->srq_limit);
	return err;
}

int skr_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct skr_srq *srq = skr_srq(ibsrq);

	spin_lock_bh(&srq->lock);
	attr->max_wr = srq->rq.max_wr;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_bh(&srq->lock);
	return 0;
}

int skr_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct skr_dev *dev = skr_dev(ibsrq->device);
	struct skr_srq *srq = skr_srq(ibsrq);
	struct skr_rq rq = {};

	/* ib_core does not let it go while a QP uses it, but knows of no user on XRC */
	if (ibsrq->srq_type == IB_SRQT_XRC) {
		skr_srq_withdraw(dev, srq);
		skr_qps_forget_srq(srq);
	}
	cancel_work_sync(&srq->event_work);
	/* who only wants to show it may still come (restrack.c) */
	spin_lock_bh(&srq->lock);
	rq = srq->rq;
	srq->rq.ring.hdr = NULL;
	spin_unlock_bh(&srq->lock);
	skr_rq_destroy(&rq);
	skr_object_put(dev, SKR_OBJ_SRQ);
	return 0;
}

int skr_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr)
{
	if (wr && ibsrq->uobject) {
		*bad_wr = wr;
		return -EINVAL;
	}
	return wr ? skr_rq_post(&skr_srq(ibsrq)->rq, wr, bad_wr) : 0;
}
