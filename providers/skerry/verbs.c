// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Making and destroying objects: PD, MR, MW, AH, CQ, QP.
 *
 * An object that the kernel refuses to destroy stays as it is. Once the device
 * has gone the kernel lets everything be destroyed, so the memory of ours
 * goes too; the rings stay mapped until then.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <ccan/minmax.h>

#include "skerry.h"

struct ibv_pd *skerry_alloc_pd(struct ibv_context *ibctx)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd = {};
	struct ibv_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	if (ibv_cmd_alloc_pd(ibctx, pd, &cmd, sizeof(cmd), &resp,
			     sizeof(resp))) {
		free(pd);
		return NULL;
	}

	return pd;
}

int skerry_dealloc_pd(struct ibv_pd *pd)
{
	int ret;

	ret = ibv_cmd_dealloc_pd(pd);
	if (ret)
		return ret;

	free(pd);
	return 0;
}

struct ibv_mr *skerry_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			     uint64_t hca_va, int access)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct ibv_reg_mr cmd = {};
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	if (ibv_cmd_reg_mr(pd, addr, length, hca_va, access, vmr, &cmd,
			   sizeof(cmd), &resp, sizeof(resp))) {
		free(vmr);
		return NULL;
	}

	return &vmr->ibv_mr;
}

int skerry_dereg_mr(struct verbs_mr *vmr)
{
	int ret;

	ret = ibv_cmd_dereg_mr(vmr);
	if (ret)
		return ret;

	free(vmr);
	return 0;
}

struct ibv_mw *skerry_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct ibv_alloc_mw cmd = {};
	struct ibv_mw *mw;

	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;

	if (ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp,
			     sizeof(resp))) {
		free(mw);
		return NULL;
	}

	return mw;
}

int skerry_dealloc_mw(struct ibv_mw *mw)
{
	int ret;

	ret = ibv_cmd_dealloc_mw(mw);
	if (ret)
		return ret;

	free(mw);
	return 0;
}

struct ibv_ah *skerry_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct uskerry_create_ah_resp resp = {};
	struct skerry_ah *ah;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;

	if (ibv_cmd_create_ah(pd, &ah->ibv_ah, attr, &resp.ibv_resp,
			      sizeof(resp))) {
		free(ah);
		return NULL;
	}

	ah->ah_num = resp.ah_num;
	return &ah->ibv_ah;
}

int skerry_destroy_ah(struct ibv_ah *ibah)
{
	int ret;

	ret = ibv_cmd_destroy_ah(ibah);
	if (ret)
		return ret;

	free(container_of(ibah, struct skerry_ah, ibv_ah));
	return 0;
}

int skerry_map_ring(struct ibv_context *ibctx, struct skerry_ring *ring,
		    const struct skerry_ring_info *info, size_t min_entry)
{
	void *map;

	if (!info->mmap_bytes)
		return 0;

	if (!skerry_ring_info_ok(info, min_entry)) {
		verbs_err(verbs_get_ctx(ibctx),
			  "ring of %u bytes with %u entries of %u makes no sense\n",
			  info->mmap_bytes, info->depth, info->entry_bytes);
		return EINVAL;
	}

	map = mmap(NULL, info->mmap_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		   ibctx->cmd_fd, info->mmap_offset);
	if (map == MAP_FAILED) {
		int ret = errno;

		verbs_err(verbs_get_ctx(ibctx), "cannot map a ring: %d\n", ret);
		return ret;
	}

	skerry_ring_init(ring, map, info);
	return 0;
}

void skerry_unmap_ring(struct skerry_ring *ring)
{
	if (ring->hdr)
		munmap(ring->hdr, ring->map_bytes);
}

static struct skerry_cq *create_cq(struct ibv_context *ibctx, int cqe,
				   struct ibv_comp_channel *channel,
				   int comp_vector)
{
	struct uskerry_create_cq_resp resp = {};
	struct ibv_create_cq cmd = {};
	struct skerry_cq *cq;
	int ret;

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;

	ret = ibv_cmd_create_cq(ibctx, cqe, channel, comp_vector, &cq->vcq.cq,
				&cmd, sizeof(cmd), &resp.ibv_resp,
				sizeof(resp));
	if (ret)
		goto err_free;

	ret = skerry_map_ring(ibctx, &cq->ring, &resp.ring, sizeof(struct skerry_cqe));
	if (!ret && !cq->ring.hdr)
		ret = EINVAL;
	if (ret)
		goto err_destroy;

	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	return cq;

err_destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free:
	free(cq);
	errno = ret;
	return NULL;
}

struct ibv_cq *skerry_create_cq(struct ibv_context *ibctx, int cqe,
				struct ibv_comp_channel *channel,
				int comp_vector)
{
	struct skerry_cq *cq;

	cq = create_cq(ibctx, cqe, channel, comp_vector);
	return cq ? &cq->vcq.cq : NULL;
}

/*
 * The same CQ as any other to the kernel: every CQE has all fields in it, the
 * time among them, and how they are read is settled here.
 */
struct ibv_cq_ex *skerry_create_cq_ex(struct ibv_context *ibctx,
				      struct ibv_cq_init_attr_ex *attr)
{
	struct skerry_cq *cq;
	uint32_t flags = 0;

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		flags = attr->flags;

	if (!check_comp_mask(attr->comp_mask, IBV_CQ_INIT_ATTR_MASK_FLAGS) ||
	    !check_comp_mask(flags, IBV_CREATE_CQ_ATTR_SINGLE_THREADED) ||
	    !check_comp_mask(attr->wc_flags, SKERRY_WC_FLAGS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	cq = create_cq(ibctx, attr->cqe, attr->channel, attr->comp_vector);
	if (!cq)
		return NULL;

	skerry_cq_set_readers(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

int skerry_destroy_cq(struct ibv_cq *ibcq)
{
	struct skerry_cq *cq = to_scq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;

	skerry_unmap_ring(&cq->ring);
	pthread_spin_destroy(&cq->lock);
	free(cq);
	return 0;
}

/* The queues of a QP, by the answer of the kernel. Return 0 or errno. */
static int map_queues(struct skerry_qp *qp,
		      const struct ibv_qp_init_attr_ex *attr,
		      const struct skerry_create_qp_resp *resp)
{
	struct ibv_context *ibctx = qp->vqp.qp.context;
	const struct ibv_qp_cap *cap = &attr->cap;
	size_t send_data = cap->max_send_sge * sizeof(struct skerry_sge);
	size_t recv_data = cap->max_recv_sge * sizeof(struct skerry_sge);
	int ret;

	if (send_data < cap->max_inline_data)
		send_data = cap->max_inline_data;

	ret = skerry_map_ring(ibctx, &qp->sq.ring, &resp->sq,
		       sizeof(struct skerry_send_wqe) + send_data);
	if (ret)
		return ret;

	ret = skerry_map_ring(ibctx, &qp->rq.ring, &resp->rq,
		       sizeof(struct skerry_recv_wqe) + recv_data);
	if (ret)
		return ret;

	qp->sq.cap = (struct skerry_wq_cap) {
		.max_wr = min_t(uint32_t, cap->max_send_wr, resp->sq.depth),
		.max_sge = cap->max_send_sge,
		.max_inline = cap->max_inline_data,
		.flags = attr->sq_sig_all ? SKERRY_SEND_SIGNALED : 0,
		.qp_type = attr->qp_type,
	};
	qp->rq.cap = (struct skerry_wq_cap) {
		.max_wr = min_t(uint32_t, cap->max_recv_wr, resp->rq.depth),
		.max_sge = cap->max_recv_sge,
	};
	pthread_spin_init(&qp->sq.lock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_init(&qp->rq.lock, PTHREAD_PROCESS_PRIVATE);
	return 0;
}

static void unmap_queues(struct skerry_qp *qp)
{
	skerry_unmap_ring(&qp->sq.ring);
	skerry_unmap_ring(&qp->rq.ring);
}

struct ibv_qp *skerry_create_qp_ex(struct ibv_context *ibctx,
				   struct ibv_qp_init_attr_ex *attr)
{
	struct uskerry_create_qp_ex_resp resp = {};
	struct ibv_create_qp_ex cmd = {};
	struct skerry_qp *qp;
	int ret;

	if (!check_comp_mask(attr->comp_mask,
			     IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;

	ret = ibv_cmd_create_qp_ex2(ibctx, &qp->vqp, attr, &cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
	if (ret)
		goto err_free;

	ret = map_queues(qp, attr, &resp.drv_payload);
	if (ret)
		goto err_destroy;

	return &qp->vqp.qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
	unmap_queues(qp);
err_free:
	free(qp);
	errno = ret;
	return NULL;
}

struct ibv_qp *skerry_create_qp(struct ibv_pd *pd,
				struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex attr_ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *ibqp;

	ibqp = skerry_create_qp_ex(pd->context, &attr_ex);
	if (ibqp)
		attr->cap = attr_ex.cap;

	return ibqp;
}

int skerry_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		    int attr_mask, struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd = {};

	return ibv_cmd_query_qp(ibqp, attr, attr_mask, init_attr, &cmd,
				sizeof(cmd));
}

static void restart_wq(struct skerry_wq *wq)
{
	if (!wq->ring.hdr)
		return;

	pthread_spin_lock(&wq->lock);
	skerry_ring_restart(&wq->ring);
	pthread_spin_unlock(&wq->lock);
}

int skerry_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		     int attr_mask)
{
	struct skerry_qp *qp = to_sqp(ibqp);
	struct ibv_modify_qp cmd = {};
	int ret;

	ret = ibv_cmd_modify_qp(ibqp, attr, attr_mask, &cmd, sizeof(cmd));
	if (ret)
		return ret;

	/* What was posted before is gone without a completion */
	if ((attr_mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET) {
		restart_wq(&qp->sq);
		restart_wq(&qp->rq);
	}

	return 0;
}

int skerry_destroy_qp(struct ibv_qp *ibqp)
{
	struct skerry_qp *qp = to_sqp(ibqp);
	int ret;

	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret)
		return ret;

	unmap_queues(qp);
	pthread_spin_destroy(&qp->sq.lock);
	pthread_spin_destroy(&qp->rq.lock);
	free(qp);
	return 0;
}
