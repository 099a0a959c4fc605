/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The verbs: creating, changing, querying and destroying objects. Each has the
 * meaning and the errors of the ib_device_ops member of the same name.
 */
#ifndef SKR_VERBS_VERBS_H
#define SKR_VERBS_VERBS_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "../device.h"
#include "../net/dest.h"

struct skr_shm;

/** skr_device_ops - what ib_core calls us for */
extern const struct ib_device_ops skr_device_ops;

/** skr_driver_def - what our methods have beyond the common ones */
extern const struct uapi_definition skr_driver_def[];

/**
 * struct skr_ucontext - an open device
 * @ibuc: ib_core's part
 * @lane: who brings its pages in, once there is memory on demand; or NULL
 */
struct skr_ucontext {
	struct ib_ucontext	ibuc;
	struct skr_fault_lane	*lane;
};

/**
 * struct skr_pd - a protection domain
 * @ibpd: ib_core's part
 */
struct skr_pd {
	struct ib_pd ibpd;
};

/**
 * struct skr_xrcd - an XRC domain
 * @ibxrcd: ib_core's part
 */
struct skr_xrcd {
	struct ib_xrcd ibxrcd;
};

/**
 * struct skr_ah - an address handle
 * @ibah: ib_core's part
 * @dest: where it leads to; outlives it by an RCU grace period
 */
struct skr_ah {
	struct ib_ah	ibah;
	struct skr_dest	*dest;
};

/**
 * struct skr_dm - device memory
 * @ibdm: ib_core's part
 * @shm: the memory
 */
struct skr_dm {
	struct ib_dm	ibdm;
	struct skr_shm	*shm;
};

/**
 * skr_ucontext() - an open device as ours
 * @ibuc: ib_core's view of it
 *
 * Return: the context that contains @ibuc.
 */
static inline struct skr_ucontext *skr_ucontext(struct ib_ucontext *ibuc)
{
	return container_of(ibuc, struct skr_ucontext, ibuc);
}

/**
 * skr_dm() - our device memory
 * @ibdm: ib_core's view of it
 *
 * Return: the memory that contains @ibdm.
 */
static inline struct skr_dm *skr_dm(struct ib_dm *ibdm)
{
	return container_of(ibdm, struct skr_dm, ibdm);
}

/**
 * skr_ah() - our address handle
 * @ibah: ib_core's view of it
 *
 * Return: the handle that contains @ibah.
 */
static inline struct skr_ah *skr_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct skr_ah, ibah);
}

/**
 * skr_udata_ucontext() - the context behind a request of user space
 * @udata: NULL for the kernel's own
 *
 * Return: the context, or NULL.
 */
static inline struct ib_ucontext *skr_udata_ucontext(struct ib_udata *udata)
{
	return udata ? rdma_udata_to_uverbs_attr_bundle(udata)->context : NULL;
}

/* query.c */
int skr_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		     struct ib_udata *udata);
int skr_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr);
int skr_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);
int skr_get_port_immutable(struct ib_device *ibdev, u32 port, struct ib_port_immutable *imm);
enum rdma_link_layer skr_get_link_layer(struct ib_device *ibdev, u32 port);

/* gids.c */
int skr_add_gid(const struct ib_gid_attr *attr, void **context);
int skr_del_gid(const struct ib_gid_attr *attr, void **context);

/**
 * skr_others_init() - get ready to delete GIDs that are not a link's
 * @dev: device
 *
 * Context: process, before the device is registered.
 */
void skr_others_init(struct skr_dev *dev);

/**
 * skr_others_flush() - wait until those that have come so far are gone
 * @dev: device
 *
 * Context: process.
 */
void skr_others_flush(struct skr_dev *dev);

/* context.c */
int skr_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata);
void skr_dealloc_ucontext(struct ib_ucontext *ibuc);
int skr_query_ucontext(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs);
void skr_disassociate_ucontext(struct ib_ucontext *ibuc);

/* pd_ah.c */
int skr_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int skr_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int skr_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int skr_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int skr_destroy_ah(struct ib_ah *ibah, u32 flags);

/* xrcd.c */
int skr_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int skr_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/* cq.c */
int skr_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs);
int skr_resize_cq(struct ib_cq *ibcq, SKR_CQE_TYPE cqe, struct ib_udata *udata);
int skr_modify_cq(struct ib_cq *ibcq, u16 count, u16 usec);
int skr_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);

/* srq.c */
int skr_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata);
int skr_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		   struct ib_udata *udata);
int skr_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int skr_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int skr_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr);

/* qp.c */
int skr_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int skr_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
int skr_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

/* qp_modify.c */
int skr_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);

/* post.c */
int skr_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);
int skr_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);

/* mcast.c */
int skr_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int skr_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* mr.c */
struct ib_mr *skr_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *skr_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			      SKR_DMAH_PARAM struct ib_udata *udata);
struct ib_mr *skr_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				     int access, SKR_DMAH_PARAM struct uverbs_attr_bundle *attrs);
struct ib_mr *skr_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm, struct ib_dm_mr_attr *attr,
			    struct uverbs_attr_bundle *attrs);
struct ib_mr *skr_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				int access, struct ib_pd *pd, struct ib_udata *udata);
struct ib_mr *skr_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg);
int skr_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		  unsigned int *sg_offset);
int skr_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

/* dm.c */
struct ib_dm *skr_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *ibuc,
			   struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs);
int skr_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);

/* advise.c */
int skr_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		  struct ib_sge *sge, u32 num_sge, struct uverbs_attr_bundle *attrs);

/* mw.c */
int skr_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int skr_dealloc_mw(struct ib_mw *ibmw);

/* mad.c */
int skr_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		    const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index);

/* restrack.c */
int skr_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int skr_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int skr_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq);
int skr_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

/* counters.c */

/**
 * skr_counter_value() - what all QPs and the device together have counted
 * @dev: device
 * @counter: which
 *
 * Context: process.
 * Return: since the link was added.
 */
u64 skr_counter_value(struct skr_dev *dev, enum skr_counter counter);
struct rdma_hw_stats *skr_alloc_hw_port_stats(struct ib_device *ibdev, u32 port);
int skr_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);
int skr_modify_hw_stat(struct ib_device *ibdev, u32 port, unsigned int index, bool enable);
int skr_counter_bind_qp(SKR_AND_PORT(struct rdma_counter *counter, struct ib_qp *ibqp));
int skr_counter_unbind_qp(SKR_AND_PORT(struct ib_qp *ibqp));
int skr_counter_dealloc(struct rdma_counter *counter);
struct rdma_hw_stats *skr_counter_alloc_stats(struct rdma_counter *counter);
int skr_counter_update_stats(struct rdma_counter *counter);
void skr_counter_init(struct rdma_counter *counter);

#endif /* SKR_VERBS_VERBS_H */
