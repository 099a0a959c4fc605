// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Making and destroying objects: MR, MW, AH, XRCD, QP.
 *
 * An object that the kernel refuses to destroy stays as it is. Once the device
 * has gone the kernel lets everything be destroyed, so the memory of ours
 * goes too; the rings stay mapped until then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ccan/minmax.h>

#include "skerry.h"

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

struct ibv_mr *skerry_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				    size_t length, uint64_t iova, int fd,
				    int access)
{
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	if (ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr,
				  NULL)) {
		free(vmr);
		return NULL;
	}

	return &vmr->ibv_mr;
}

int skerry_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		    void *addr, size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ibv_rereg_mr cmd = {};

	return ibv_cmd_rereg_mr(vmr, flags, addr, length, (uintptr_t)addr,
				access, pd, &cmd, sizeof(cmd), &resp,
				sizeof(resp));
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

/* The region stays the other process's; this is another name for it */
struct ibv_mr *skerry_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	if (ibv_cmd_query_mr(pd, vmr, handle)) {
		free(vmr);
		return NULL;
	}

	return &vmr->ibv_mr;
}

void skerry_unimport_mr(struct ibv_mr *mr)
{
	free(verbs_get_mr(mr));
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

struct ibv_xrcd *skerry_open_xrcd(struct ibv_context *ibctx,
				  struct ibv_xrcd_init_attr *attr)
{
	struct ib_uverbs_open_xrcd_resp resp;
	struct ibv_open_xrcd cmd = {};
	struct verbs_xrcd *xrcd;

	xrcd = calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return NULL;

	if (ibv_cmd_open_xrcd(ibctx, xrcd, sizeof(*xrcd), attr, &cmd,
			      sizeof(cmd), &resp, sizeof(resp))) {
		free(xrcd);
		return NULL;
	}

	return &xrcd->xrcd;
}

int skerry_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct verbs_xrcd *xrcd = container_of(ibxrcd, struct verbs_xrcd, xrcd);
	int ret;

	ret = ibv_cmd_close_xrcd(xrcd);
	if (ret)
		return ret;

	free(xrcd);
	return 0;
}

static void init_locks(struct skerry_qp *qp)
{
	skerry_lock_init(&qp->sq.lock, !skerry_single_threaded(qp->home));
	skerry_lock_init(&qp->rq.lock, !skerry_single_threaded(qp->home));
}

/*
 * The queues of a QP, by the answer of the kernel: an XRC QP has one at most.
 * Return 0 or errno.
 */
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
	init_locks(qp);
	return 0;
}

static void unmap_queues(struct skerry_qp *qp)
{
	skerry_unmap_ring(&qp->sq.ring);
	skerry_unmap_ring(&qp->rq.ring);
}

/*
 * Is this a QP that can be asked for? Whether the device has one of this type
 * and with these create_flags the kernel knows. Return 0 or errno.
 */
static int check_init_attr(const struct ibv_qp_init_attr_ex *attr)
{
	bool target = attr->qp_type == IBV_QPT_XRC_RECV;

	if (!check_comp_mask(attr->comp_mask,
			     IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
			     IBV_QP_INIT_ATTR_CREATE_FLAGS |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;
	if (!(attr->comp_mask & (target ? IBV_QP_INIT_ATTR_XRCD :
					  IBV_QP_INIT_ATTR_PD)))
		return EINVAL;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
	    !skerry_wr_supported(attr->qp_type, attr->send_ops_flags))
		return EOPNOTSUPP;
	return 0;
}

/*
 * Whoever starts a program may decide for it, so this is no matter of its
 * source: flags of struct skerry_create_qp_req.
 */
static uint32_t congestion_control(struct ibv_context *ibctx)
{
	const char *env = getenv("SKERRY_CONGESTION_CONTROL");

	if (!env)
		return 0;
	if (!strcmp(env, "on"))
		return SKERRY_CREATE_QP_CC_ON;
	if (!strcmp(env, "off"))
		return SKERRY_CREATE_QP_CC_OFF;

	verbs_warn(verbs_get_ctx(ibctx),
		   "SKERRY_CONGESTION_CONTROL is neither on nor off: %s\n",
		   env);
	return 0;
}

struct ibv_qp *skerry_create_qp_ex(struct ibv_context *ibctx,
				   struct ibv_qp_init_attr_ex *attr)
{
	struct uskerry_create_qp_ex_resp resp = {};
	struct uskerry_create_qp_ex cmd = {};
	struct skerry_home home;
	struct skerry_qp *qp;
	struct ibv_pd *pd;
	int ret;

	ret = check_init_attr(attr);
	if (ret)
		goto err;

	pd = attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
	qp = skerry_object_alloc(pd, sizeof(*qp), SKERRY_RESOURCE_QP, &home);
	if (!qp) {
		ret = errno;
		goto err;
	}
	qp->home = home;

	cmd.flags = congestion_control(ibctx);
	ret = ibv_cmd_create_qp_ex2(ibctx, &qp->vqp, attr, &cmd.ibv_cmd,
				    sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (ret)
		goto err_free;

	ret = map_queues(qp, attr, &resp.drv_payload);
	if (ret)
		goto err_destroy;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		skerry_wr_init(qp, attr->send_ops_flags);
	return &qp->vqp.qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
	unmap_queues(qp);
err_free:
	skerry_object_free(qp, SKERRY_RESOURCE_QP, home);
err:
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

/* A target that another process has made: it has no queues here or there */
struct ibv_qp *skerry_open_qp(struct ibv_context *ibctx,
			      struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp;
	struct ibv_open_qp cmd = {};
	struct skerry_qp *qp;
	int ret;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;

	ret = ibv_cmd_open_qp(ibctx, &qp->vqp, sizeof(qp->vqp), attr, &cmd,
			      sizeof(cmd), &resp, sizeof(resp));
	if (ret) {
		free(qp);
		errno = ret;
		return NULL;
	}

	init_locks(qp);
	return &qp->vqp.qp;
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

	skerry_lock(&wq->lock);
	skerry_ring_restart(&wq->ring);
	skerry_unlock(&wq->lock);
}

/* The command that there always was knows no rate limit */
static int modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		     int attr_mask)
{
	struct ib_uverbs_ex_modify_qp_resp resp = {};
	struct ibv_modify_qp_ex cmd_ex = {};
	struct ibv_modify_qp cmd = {};

	if (attr_mask & IBV_QP_RATE_LIMIT)
		return ibv_cmd_modify_qp_ex(ibqp, attr, attr_mask, &cmd_ex,
					    sizeof(cmd_ex), &resp,
					    sizeof(resp));
	return ibv_cmd_modify_qp(ibqp, attr, attr_mask, &cmd, sizeof(cmd));
}

int skerry_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		     int attr_mask)
{
	struct skerry_qp *qp = to_sqp(ibqp);
	int ret;

	ret = modify_qp(ibqp, attr, attr_mask);
	if (ret)
		return ret;

	/*
	 * What was posted before is gone without a completion, and what had
	 * one is not to be taken for what is posted from now on
	 */
	if ((attr_mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET) {
		if (ibqp->recv_cq)
			skerry_cq_forget(ibqp->recv_cq, ibqp->qp_num);
		if (ibqp->send_cq && ibqp->send_cq != ibqp->recv_cq)
			skerry_cq_forget(ibqp->send_cq, ibqp->qp_num);
		restart_wq(&qp->sq);
		restart_wq(&qp->rq);
	}

	return 0;
}

/* Bursts are the device's own affair: a size for them cannot be asked for */
int skerry_modify_qp_rate_limit(struct ibv_qp *ibqp,
				struct ibv_qp_rate_limit_attr *attr)
{
	struct ibv_qp_attr qp_attr = { .rate_limit = attr->rate_limit };

	if (attr->comp_mask || attr->max_burst_sz || attr->typical_pkt_sz)
		return EINVAL;

	return modify_qp(ibqp, &qp_attr, IBV_QP_RATE_LIMIT);
}

int skerry_destroy_qp(struct ibv_qp *ibqp)
{
	struct skerry_qp *qp = to_sqp(ibqp);
	int ret;

	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret)
		return ret;

	unmap_queues(qp);
	skerry_lock_destroy(&qp->sq.lock);
	skerry_lock_destroy(&qp->rq.lock);
	skerry_object_free(qp, SKERRY_RESOURCE_QP, qp->home);
	return 0;
}
