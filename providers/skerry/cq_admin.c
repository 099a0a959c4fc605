// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Making, resizing, tuning and destroying completion queues.
 */
#include <errno.h>

#include "skerry.h"

/* @pd: the parent domain that the queue lives in, or NULL */
static struct skerry_cq *create_cq(struct ibv_context *ibctx, struct ibv_pd *pd,
				   int cqe, struct ibv_comp_channel *channel,
				   int comp_vector, bool single_threaded)
{
	struct uskerry_create_cq_resp resp = {};
	struct ibv_create_cq cmd = {};
	struct skerry_home home;
	struct skerry_cq *cq;
	int ret;

	cq = skerry_object_alloc(pd, sizeof(*cq), SKERRY_RESOURCE_CQ, &home);
	if (!cq)
		return NULL;
	cq->home = home;

	ret = ibv_cmd_create_cq(ibctx, cqe, channel, comp_vector, &cq->vcq.cq,
				&cmd, sizeof(cmd), &resp.ibv_resp,
				sizeof(resp));
	if (ret)
		goto err_free;

	ret = skerry_map_ring(ibctx, &cq->ring, &resp.ring,
			      sizeof(struct skerry_cqe));
	if (!ret && !cq->ring.hdr)
		ret = EINVAL;
	if (ret)
		goto err_destroy;

	single_threaded |= skerry_single_threaded(home);
	skerry_lock_init(&cq->lock, !single_threaded);
	skerry_lock_init(&cq->arm_lock, !single_threaded);
	return cq;

err_destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free:
	skerry_object_free(cq, SKERRY_RESOURCE_CQ, home);
	errno = ret;
	return NULL;
}

struct ibv_cq *skerry_create_cq(struct ibv_context *ibctx, int cqe,
				struct ibv_comp_channel *channel,
				int comp_vector)
{
	struct skerry_cq *cq;

	cq = create_cq(ibctx, NULL, cqe, channel, comp_vector, false);
	return cq ? &cq->vcq.cq : NULL;
}

/* Return 0 or errno */
static int check_init_attr(const struct ibv_cq_init_attr_ex *attr)
{
	const uint64_t known = IBV_CQ_INIT_ATTR_MASK_FLAGS |
			       IBV_CQ_INIT_ATTR_MASK_PD;

	if (!check_comp_mask(attr->comp_mask, known) ||
	    !check_comp_mask(attr->wc_flags, SKERRY_WC_FLAGS))
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	    !check_comp_mask(attr->flags, IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
		return EOPNOTSUPP;
	/* A protection domain means nothing to a CQ */
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) &&
	    (!attr->parent_domain || !to_spd(attr->parent_domain)->base))
		return EINVAL;
	return 0;
}

/*
 * The same CQ as any other to the kernel: every CQE has all fields in it, the
 * time among them, and how they are read is settled here.
 */
struct ibv_cq_ex *skerry_create_cq_ex(struct ibv_context *ibctx,
				      struct ibv_cq_init_attr_ex *attr)
{
	bool single_threaded = false;
	struct ibv_pd *pd = NULL;
	struct skerry_cq *cq;
	int ret;

	ret = check_init_attr(attr);
	if (ret) {
		errno = ret;
		return NULL;
	}

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		single_threaded = attr->flags &
				  IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD)
		pd = attr->parent_domain;

	cq = create_cq(ibctx, pd, attr->cqe, attr->channel, attr->comp_vector,
		       single_threaded);
	if (!cq)
		return NULL;

	skerry_cq_set_readers(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

/* Return 0 or errno */
static int resize_step(struct skerry_cq *cq, int cqe, uint32_t step,
		       struct skerry_ring_info *ring)
{
	struct uskerry_resize_cq_resp resp = {};
	struct uskerry_resize_cq cmd = { .step = step };
	int ret;

	ret = ibv_cmd_resize_cq(&cq->vcq.cq, cqe, &cmd.ibv_cmd, sizeof(cmd),
				&resp.ibv_resp, sizeof(resp));
	if (!ret)
		*ring = resp.ring;
	return ret;
}

/*
 * The new ring is mapped before it is used, so that whatever fails leaves the
 * queue as it was. Once the kernel writes to the new ring, what was not polled
 * in the old one is moved over; the locks keep everybody else out meanwhile.
 */
static int replace_ring(struct skerry_cq *cq, int cqe)
{
	struct skerry_ring_info info, none;
	struct skerry_ring ring = {};
	int ret;

	ret = resize_step(cq, cqe, SKERRY_RESIZE_PREPARE, &info);
	if (ret)
		return ret;

	ret = skerry_map_ring(cq->vcq.cq.context, &ring, &info,
			      sizeof(struct skerry_cqe));
	if (!ret && !ring.hdr)
		ret = EINVAL;
	if (ret)
		return ret;

	ret = resize_step(cq, cqe, SKERRY_RESIZE_COMMIT, &none);
	if (ret) {
		skerry_unmap_ring(&ring);
		return ret;
	}

	skerry_ring_move(&ring, &cq->ring);
	skerry_unmap_ring(&cq->ring);
	cq->ring = ring;
	return 0;
}

int skerry_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct skerry_cq *cq = to_scq(ibcq);
	int ret;

	skerry_lock(&cq->lock);
	skerry_lock(&cq->arm_lock);
	ret = replace_ring(cq, cqe);
	skerry_unlock(&cq->arm_lock);
	skerry_unlock(&cq->lock);
	return ret;
}

int skerry_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(ibcq, attr, &cmd, sizeof(cmd));
}

int skerry_destroy_cq(struct ibv_cq *ibcq)
{
	struct skerry_cq *cq = to_scq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;

	skerry_unmap_ring(&cq->ring);
	skerry_lock_destroy(&cq->arm_lock);
	skerry_lock_destroy(&cq->lock);
	skerry_object_free(cq, SKERRY_RESOURCE_CQ, cq->home);
	return 0;
}
