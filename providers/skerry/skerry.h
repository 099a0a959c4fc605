/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * skerry: RoCE for any Ethernet port, in software. The verbs provider.
 */
#ifndef SKERRY_H
#define SKERRY_H

#include <pthread.h>
#include <stdint.h>

#include <infiniband/driver.h>
#include <infiniband/kern-abi.h>
#include <rdma/skerry-abi.h>
#include <kernel-abi/skerry-abi.h>

#include "ring.h"
#include "wqe.h"

DECLARE_DRV_CMD(uskerry_get_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		empty, skerry_alloc_ucontext_resp);
DECLARE_DRV_CMD(uskerry_create_ah, IB_USER_VERBS_CMD_CREATE_AH,
		empty, skerry_create_ah_resp);
DECLARE_DRV_CMD(uskerry_create_cq, IB_USER_VERBS_CMD_CREATE_CQ,
		empty, skerry_create_cq_resp);
DECLARE_DRV_CMD(uskerry_create_srq, IB_USER_VERBS_CMD_CREATE_SRQ,
		empty, skerry_create_srq_resp);
DECLARE_DRV_CMD(uskerry_modify_srq, IB_USER_VERBS_CMD_MODIFY_SRQ,
		skerry_modify_srq_req, empty);
DECLARE_DRV_CMD(uskerry_create_qp_ex, IB_USER_VERBS_EX_CMD_CREATE_QP,
		empty, skerry_create_qp_resp);

struct skerry_device {
	struct verbs_device	vdev;
};

struct skerry_context {
	struct verbs_context	vctx;
};

/**
 * struct skerry_cq - completion queue, plain and extended
 * @vcq: the base
 * @lock: protects @ring and @cqe; held from start_poll to end_poll. Thread
 *	domains and IBV_CREATE_CQ_ATTR_SINGLE_THREADED, which could do without,
 *	take it too
 * @ring: entries are struct skerry_cqe
 * @cqe: the completion that the read_ functions look at
 */
struct skerry_cq {
	struct verbs_cq		vcq;
	pthread_spinlock_t	lock;
	struct skerry_ring	ring;
	const struct skerry_cqe	*cqe;
};

/**
 * struct skerry_wq - send or receive queue of a QP
 * @lock: protects @ring; not held while entering the kernel
 * @ring: entries are struct skerry_send_wqe or struct skerry_recv_wqe
 * @cap: what can be posted
 */
struct skerry_wq {
	pthread_spinlock_t	lock;
	struct skerry_ring	ring;
	struct skerry_wq_cap	cap;
};

struct skerry_srq {
	struct verbs_srq	vsrq;
	struct skerry_wq	rq;
};

struct skerry_qp {
	struct verbs_qp		vqp;
	struct skerry_wq	sq;
	struct skerry_wq	rq;
};

static inline struct skerry_context *to_sctx(struct ibv_context *ibctx)
{
	return container_of(ibctx, struct skerry_context, vctx.context);
}

static inline struct skerry_cq *to_scq(struct ibv_cq *ibcq)
{
	return container_of(ibcq, struct skerry_cq, vcq.cq);
}

static inline struct skerry_qp *to_sqp(struct ibv_qp *ibqp)
{
	return container_of(ibqp, struct skerry_qp, vqp.qp);
}

static inline struct skerry_srq *to_ssrq(struct ibv_srq *ibsrq)
{
	return container_of(ibsrq, struct skerry_srq, vsrq.srq);
}

/* Return 0 or errno; a ring that the kernel did not make is left out */
int skerry_map_ring(struct ibv_context *ibctx, struct skerry_ring *ring,
		    const struct skerry_ring_info *info, size_t min_entry);
void skerry_unmap_ring(struct skerry_ring *ring);

/* srq.c */
struct ibv_srq *skerry_create_srq(struct ibv_pd *pd,
				  struct ibv_srq_init_attr *attr);
int skerry_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		      int attr_mask);
int skerry_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int skerry_destroy_srq(struct ibv_srq *ibsrq);

/* verbs.c */
struct ibv_pd *skerry_alloc_pd(struct ibv_context *ibctx);
int skerry_dealloc_pd(struct ibv_pd *pd);

struct ibv_mr *skerry_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			     uint64_t hca_va, int access);
int skerry_dereg_mr(struct verbs_mr *vmr);

struct ibv_mw *skerry_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int skerry_dealloc_mw(struct ibv_mw *mw);

struct ibv_ah *skerry_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int skerry_destroy_ah(struct ibv_ah *ibah);

struct ibv_cq *skerry_create_cq(struct ibv_context *ibctx, int cqe,
				struct ibv_comp_channel *channel,
				int comp_vector);
struct ibv_cq_ex *skerry_create_cq_ex(struct ibv_context *ibctx,
				      struct ibv_cq_init_attr_ex *attr);
int skerry_destroy_cq(struct ibv_cq *ibcq);

struct ibv_qp *skerry_create_qp(struct ibv_pd *pd,
				struct ibv_qp_init_attr *attr);
struct ibv_qp *skerry_create_qp_ex(struct ibv_context *ibctx,
				   struct ibv_qp_init_attr_ex *attr);
int skerry_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		    int attr_mask, struct ibv_qp_init_attr *init_attr);
int skerry_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		     int attr_mask);
int skerry_destroy_qp(struct ibv_qp *ibqp);

/* post.c */
int skerry_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		   struct ibv_mw_bind *bind);
int skerry_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad_wr);
int skerry_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr);
int skerry_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad_wr);

/* cq.c */
#define SKERRY_WC_FLAGS							       \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |	       \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

void skerry_cq_set_readers(struct skerry_cq *cq, uint64_t wc_flags);
int skerry_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc);
int skerry_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);

#endif /* SKERRY_H */
