/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * skerry: RoCE for any Ethernet port, in software. The verbs provider.
 */
#ifndef SKERRY_H
#define SKERRY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/driver.h>
#include <infiniband/kern-abi.h>
#include <rdma/skerry-abi.h>
#include <kernel-abi/skerry-abi.h>

#include "build.h"
#include "ring.h"
#include "wqe.h"

DECLARE_DRV_CMD(uskerry_get_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		empty, skerry_alloc_ucontext_resp);
DECLARE_DRV_CMD(uskerry_query_device_ex, IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
		empty, skerry_query_device_resp);
DECLARE_DRV_CMD(uskerry_create_ah, IB_USER_VERBS_CMD_CREATE_AH,
		empty, skerry_create_ah_resp);
DECLARE_DRV_CMD(uskerry_create_cq, IB_USER_VERBS_CMD_CREATE_CQ,
		empty, skerry_create_cq_resp);
DECLARE_DRV_CMD(uskerry_create_srq_ex, IB_USER_VERBS_CMD_CREATE_XSRQ,
		empty, skerry_create_srq_resp);
DECLARE_DRV_CMD(uskerry_modify_srq, IB_USER_VERBS_CMD_MODIFY_SRQ,
		skerry_modify_srq_req, empty);
DECLARE_DRV_CMD(uskerry_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ,
		skerry_resize_cq_req, skerry_resize_cq_resp);
DECLARE_DRV_CMD(uskerry_create_qp_ex, IB_USER_VERBS_EX_CMD_CREATE_QP,
		skerry_create_qp_req, skerry_create_qp_resp);

struct skerry_device {
	struct verbs_device	vdev;
};

struct skerry_context {
	struct verbs_context	vctx;
};

/**
 * struct skerry_lock - a lock that the application may do without
 * @spin: taken if it is needed
 * @needed: false: the application promised that one thread at a time comes
 *	here, by a thread domain or IBV_CREATE_CQ_ATTR_SINGLE_THREADED
 */
struct skerry_lock {
	pthread_spinlock_t	spin;
	bool			needed;
};

static inline void skerry_lock_init(struct skerry_lock *lock, bool needed)
{
	pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE);
	lock->needed = needed;
}

static inline void skerry_lock_destroy(struct skerry_lock *lock)
{
	pthread_spin_destroy(&lock->spin);
}

static inline void skerry_lock(struct skerry_lock *lock)
{
	if (lock->needed)
		pthread_spin_lock(&lock->spin);
}

static inline void skerry_unlock(struct skerry_lock *lock)
{
	if (lock->needed)
		pthread_spin_unlock(&lock->spin);
}

/**
 * struct skerry_td - thread domain: a promise, and nothing else
 * @ibv_td: what the application holds
 * @users: parent domains that refer to it
 */
struct skerry_td {
	struct ibv_td		ibv_td;
	atomic_uint		users;
};

/**
 * struct skerry_pd - protection domain or parent domain
 * @ibv_pd: what the application holds; the handle of a parent domain is that
 *	of its protection domain, so that the kernel never sees the difference
 * @users: what refers to it and nobody else counts: parent domains made of it;
 *	objects made in it, if it is a parent domain
 * @base: the protection domain that a parent domain is made of; NULL: this is
 *	a protection domain
 * @td: thread domain of a parent domain, or NULL
 * @alloc: the application's allocator, or NULL
 * @free: its counterpart
 * @context: handed to both
 */
struct skerry_pd {
	struct ibv_pd		ibv_pd;
	atomic_uint		users;
	struct skerry_pd	*base;
	struct skerry_td	*td;
	void *(*alloc)(struct ibv_pd *pd, void *context, size_t size,
		       size_t alignment, uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *context, void *ptr,
		     uint64_t resource_type);
	void			*context;
};

/* What memory is for: the resource_type of the allocators of parent domains */
enum skerry_resource {
	SKERRY_RESOURCE_QP = 1,
	SKERRY_RESOURCE_CQ = 2,
	SKERRY_RESOURCE_SRQ = 3,
};

/**
 * struct skerry_home - the parent domain that an object lives in
 * @domain: held by the object; NULL: none
 * @custom: the object's memory is from the domain's allocator
 */
struct skerry_home {
	struct skerry_pd	*domain;
	bool			custom;
};

/**
 * struct skerry_cq - completion queue, plain and extended
 * @vcq: the base
 * @home: where it lives
 * @lock: protects @ring and @cqe; held from start_poll to end_poll
 * @arm_lock: inside @lock; keeps @ring from being replaced while it is armed, which
 *	may be between start_poll and end_poll
 * @ring: entries are struct skerry_cqe
 * @cqe: the completion that the read_ functions look at
 */
struct skerry_cq {
	struct verbs_cq		vcq;
	struct skerry_home	home;
	struct skerry_lock	lock;
	struct skerry_lock	arm_lock;
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
	struct skerry_lock	lock;
	struct skerry_ring	ring;
	struct skerry_wq_cap	cap;
};

/**
 * struct skerry_srq - shared receive queue
 * @vsrq: the base
 * @home: where it lives
 * @rq: the queue
 */
struct skerry_srq {
	struct verbs_srq	vsrq;
	struct skerry_home	home;
	struct skerry_wq	rq;
};

/**
 * struct skerry_qp - queue pair, plain and extended
 * @vqp: the base
 * @home: where it lives
 * @sq: send queue; its lock is held from wr_start to wr_complete or wr_abort
 * @build: what is built meanwhile
 * @rq: receive queue
 */
struct skerry_qp {
	struct verbs_qp		vqp;
	struct skerry_home	home;
	struct skerry_wq	sq;
	struct skerry_build	build;
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

static inline struct skerry_pd *to_spd(struct ibv_pd *pd)
{
	return container_of(pd, struct skerry_pd, ibv_pd);
}

/* srq.c */
struct ibv_srq *skerry_create_srq(struct ibv_pd *pd,
				  struct ibv_srq_init_attr *attr);
struct ibv_srq *skerry_create_srq_ex(struct ibv_context *ibctx,
				     struct ibv_srq_init_attr_ex *attr);
int skerry_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num);
int skerry_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		      int attr_mask);
int skerry_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int skerry_destroy_srq(struct ibv_srq *ibsrq);

/* domain.c */
struct ibv_pd *skerry_alloc_pd(struct ibv_context *ibctx);
int skerry_dealloc_pd(struct ibv_pd *pd);
struct ibv_pd *skerry_import_pd(struct ibv_context *ibctx, uint32_t handle);
void skerry_unimport_pd(struct ibv_pd *pd);
struct ibv_td *skerry_alloc_td(struct ibv_context *ibctx,
			       struct ibv_td_init_attr *attr);
int skerry_dealloc_td(struct ibv_td *ibtd);
struct ibv_pd *
skerry_alloc_parent_domain(struct ibv_context *ibctx,
			   struct ibv_parent_domain_init_attr *attr);

void *skerry_object_alloc(struct ibv_pd *pd, size_t size,
			  enum skerry_resource type, struct skerry_home *home);
void skerry_object_free(void *object, enum skerry_resource type,
			struct skerry_home home);
bool skerry_single_threaded(struct skerry_home home);

/* dm.c */
struct ibv_dm *skerry_alloc_dm(struct ibv_context *ibctx,
			       struct ibv_alloc_dm_attr *attr);
int skerry_free_dm(struct ibv_dm *ibdm);
struct ibv_dm *skerry_import_dm(struct ibv_context *ibctx, uint32_t handle);
void skerry_unimport_dm(struct ibv_dm *ibdm);
struct ibv_mr *skerry_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm,
				uint64_t offset, size_t length,
				unsigned int access);

/* map.c */
int skerry_map_ring(struct ibv_context *ibctx, struct skerry_ring *ring,
		    const struct skerry_ring_info *info, size_t min_entry);
void skerry_unmap_ring(struct skerry_ring *ring);

/* verbs.c */
struct ibv_mr *skerry_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			     uint64_t hca_va, int access);
struct ibv_mr *skerry_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				    size_t length, uint64_t iova, int fd,
				    int access);
int skerry_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		    void *addr, size_t length, int access);
int skerry_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *skerry_import_mr(struct ibv_pd *pd, uint32_t handle);
void skerry_unimport_mr(struct ibv_mr *mr);

struct ibv_mw *skerry_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int skerry_dealloc_mw(struct ibv_mw *mw);

struct ibv_ah *skerry_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int skerry_destroy_ah(struct ibv_ah *ibah);

struct ibv_xrcd *skerry_open_xrcd(struct ibv_context *ibctx,
				  struct ibv_xrcd_init_attr *attr);
int skerry_close_xrcd(struct ibv_xrcd *ibxrcd);

struct ibv_qp *skerry_open_qp(struct ibv_context *ibctx,
			      struct ibv_qp_open_attr *attr);
struct ibv_qp *skerry_create_qp(struct ibv_pd *pd,
				struct ibv_qp_init_attr *attr);
struct ibv_qp *skerry_create_qp_ex(struct ibv_context *ibctx,
				   struct ibv_qp_init_attr_ex *attr);
int skerry_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		    int attr_mask, struct ibv_qp_init_attr *init_attr);
int skerry_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		     int attr_mask);
int skerry_modify_qp_rate_limit(struct ibv_qp *ibqp,
				struct ibv_qp_rate_limit_attr *attr);
int skerry_destroy_qp(struct ibv_qp *ibqp);

/* cq_admin.c */
struct ibv_cq *skerry_create_cq(struct ibv_context *ibctx, int cqe,
				struct ibv_comp_channel *channel,
				int comp_vector);
struct ibv_cq_ex *skerry_create_cq_ex(struct ibv_context *ibctx,
				      struct ibv_cq_init_attr_ex *attr);
int skerry_resize_cq(struct ibv_cq *ibcq, int cqe);
int skerry_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr);
int skerry_destroy_cq(struct ibv_cq *ibcq);

/* post.c */
int skerry_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		   struct ibv_mw_bind *bind);
bool skerry_can_send(const struct skerry_qp *qp);
int skerry_submit_sends(struct skerry_qp *qp, uint32_t start, int ret);
int skerry_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad_wr);
int skerry_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr);
int skerry_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad_wr);

/* wr.c */
bool skerry_wr_supported(enum ibv_qp_type type, uint64_t send_ops_flags);
void skerry_wr_init(struct skerry_qp *qp, uint64_t send_ops_flags);

/* cq.c */
#define SKERRY_WC_FLAGS							       \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |	       \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

void skerry_cq_set_readers(struct skerry_cq *cq, uint64_t wc_flags);
int skerry_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc);
void skerry_cq_forget(struct ibv_cq *ibcq, uint32_t qp_num);
int skerry_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);

#endif /* SKERRY_H */
