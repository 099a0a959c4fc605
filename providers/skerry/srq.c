// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Shared receive queues.
 */
#include <errno.h>

#include "skerry.h"

static size_t recv_entry(uint32_t max_sge)
{
	return sizeof(struct skerry_recv_wqe) +
	       max_sge * sizeof(struct skerry_sge);
}

/* Return 0 or errno; which types of SRQ the device has the kernel knows */
static int check_init_attr(const struct ibv_srq_init_attr_ex *attr)
{
	if (!check_comp_mask(attr->comp_mask,
			     IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ))
		return EOPNOTSUPP;
	return attr->comp_mask & IBV_SRQ_INIT_ATTR_PD ? 0 : EINVAL;
}

struct ibv_srq *skerry_create_srq_ex(struct ibv_context *ibctx,
				     struct ibv_srq_init_attr_ex *attr)
{
	struct uskerry_create_srq_ex_resp resp = {};
	struct ibv_create_xsrq cmd = {};
	struct skerry_home home;
	struct skerry_srq *srq;
	int ret;

	ret = check_init_attr(attr);
	if (ret) {
		errno = ret;
		return NULL;
	}

	srq = skerry_object_alloc(attr->pd, sizeof(*srq), SKERRY_RESOURCE_SRQ,
				  &home);
	if (!srq)
		return NULL;
	srq->home = home;

	ret = ibv_cmd_create_srq_ex(ibctx, &srq->vsrq, attr, &cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
	if (ret)
		goto err_free;

	ret = skerry_map_ring(ibctx, &srq->rq.ring, &resp.ring,
			      recv_entry(attr->attr.max_sge));
	if (!ret && !srq->rq.ring.hdr)
		ret = EINVAL;
	if (ret)
		goto err_destroy;

	srq->rq.cap = (struct skerry_wq_cap) {
		.max_wr = attr->attr.max_wr,
		.max_sge = attr->attr.max_sge,
	};
	skerry_lock_init(&srq->rq.lock, !skerry_single_threaded(home));
	return &srq->vsrq.srq;

err_destroy:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
err_free:
	skerry_object_free(srq, SKERRY_RESOURCE_SRQ, home);
	errno = ret;
	return NULL;
}

struct ibv_srq *skerry_create_srq(struct ibv_pd *pd,
				  struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex attr_ex = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = pd,
	};
	struct ibv_srq *ibsrq;

	ibsrq = skerry_create_srq_ex(pd->context, &attr_ex);
	if (ibsrq)
		attr->attr = attr_ex.attr;

	return ibsrq;
}

int skerry_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num)
{
	struct skerry_srq *srq = to_ssrq(ibsrq);

	if (srq->vsrq.srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;

	*srq_num = srq->vsrq.srq_num;
	return 0;
}

/*
 * The kernel has moved to a new ring; go on there at the same index. Without
 * it nothing can be posted any more.
 */
static int change_ring(struct skerry_srq *srq,
		       const struct skerry_ring_info *info, uint32_t max_wr)
{
	struct skerry_ring old = srq->rq.ring;
	int ret;

	srq->rq.ring.hdr = NULL;
	ret = skerry_map_ring(srq->vsrq.srq.context, &srq->rq.ring, info,
			      recv_entry(srq->rq.cap.max_sge));
	if (!ret && !srq->rq.ring.hdr)
		ret = EINVAL;
	if (!ret) {
		srq->rq.ring.index = old.index;
		srq->rq.cap.max_wr = max_wr;
	}
	skerry_unmap_ring(&old);
	return ret;
}

int skerry_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		      int attr_mask)
{
	struct skerry_srq *srq = to_ssrq(ibsrq);
	struct skerry_ring_info info = {};
	struct uskerry_modify_srq cmd = {
		.ring_info_addr = (uintptr_t)&info,
	};
	int ret;

	/* Nobody may post while the kernel changes the ring */
	skerry_lock(&srq->rq.lock);
	ret = ibv_cmd_modify_srq(ibsrq, attr, attr_mask, &cmd.ibv_cmd,
				 sizeof(cmd));
	if (!ret && (attr_mask & IBV_SRQ_MAX_WR))
		ret = change_ring(srq, &info, attr->max_wr);
	skerry_unlock(&srq->rq.lock);
	return ret;
}

int skerry_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd = {};

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

int skerry_destroy_srq(struct ibv_srq *ibsrq)
{
	struct skerry_srq *srq = to_ssrq(ibsrq);
	int ret;

	ret = ibv_cmd_destroy_srq(ibsrq);
	if (ret)
		return ret;

	skerry_unmap_ring(&srq->rq.ring);
	skerry_lock_destroy(&srq->rq.lock);
	skerry_object_free(srq, SKERRY_RESOURCE_SRQ, srq->home);
	return 0;
}
