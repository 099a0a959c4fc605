// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <linux/module.h>

#include "../mem/region.h"
#include "../ring/cqe.h"
#include "../ring/shm.h"
#include "../ring/rq_shared.h"
#include "../transport/qp.h"
#include "verbs.h"

const struct ib_device_ops skr_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = SKERRY_DRIVER_ID,
	.uverbs_abi_ver = SKERRY_ABI_VERSION,

	.query_device = skr_query_device,
	.query_port = skr_query_port,
	.query_pkey = skr_query_pkey,
	.get_port_immutable = skr_get_port_immutable,
	.get_link_layer = skr_get_link_layer,
	.add_gid = skr_add_gid,
	.del_gid = skr_del_gid,

	.alloc_ucontext = skr_alloc_ucontext,
	.dealloc_ucontext = skr_dealloc_ucontext,
	.query_ucontext = skr_query_ucontext,
	.disassociate_ucontext = skr_disassociate_ucontext,
	.mmap = skr_mmap,
	.mmap_free = skr_mmap_free,

	.alloc_pd = skr_alloc_pd,
	.dealloc_pd = skr_dealloc_pd,
	.create_ah = skr_create_ah,
	.create_user_ah = skr_create_ah,
	.query_ah = skr_query_ah,
	.destroy_ah = skr_destroy_ah,

	.alloc_xrcd = skr_alloc_xrcd,
	.dealloc_xrcd = skr_dealloc_xrcd,

	.create_cq = skr_create_cq,
	.resize_user_cq = skr_resize_cq,
	.modify_cq = skr_modify_cq,
	.destroy_cq = skr_destroy_cq,
	.poll_cq = skr_poll_cq,
	.req_notify_cq = skr_req_notify_cq,

	.create_srq = skr_create_srq,
	.modify_srq = skr_modify_srq,
	.query_srq = skr_query_srq,
	.destroy_srq = skr_destroy_srq,
	.post_srq_recv = skr_post_srq_recv,

	.create_qp = skr_create_qp,
	.modify_qp = skr_modify_qp,
	.query_qp = skr_query_qp,
	.destroy_qp = skr_destroy_qp,
	.post_send = skr_post_send,
	.post_recv = skr_post_recv,

	.attach_mcast = skr_attach_mcast,
	.detach_mcast = skr_detach_mcast,

	.get_dma_mr = skr_get_dma_mr,
	.reg_user_mr = skr_reg_user_mr,
	.rereg_user_mr = skr_rereg_user_mr,
	.reg_user_mr_dmabuf = skr_reg_user_mr_dmabuf,
	.alloc_dm = skr_alloc_dm,
	.dealloc_dm = skr_dealloc_dm,
	.reg_dm_mr = skr_reg_dm_mr,
	.advise_mr = skr_advise_mr,
	.alloc_mr = skr_alloc_mr,
	.map_mr_sg = skr_map_mr_sg,
	.dereg_mr = skr_dereg_mr,
	.alloc_mw = skr_alloc_mw,
	.dealloc_mw = skr_dealloc_mw,

	.fill_res_qp_entry = skr_fill_res_qp_entry,
	.fill_res_cq_entry = skr_fill_res_cq_entry,
	.fill_res_srq_entry = skr_fill_res_srq_entry,
	.fill_res_mr_entry = skr_fill_res_mr_entry,

	.alloc_hw_port_stats = skr_alloc_hw_port_stats,
	.get_hw_stats = skr_get_hw_stats,
	.modify_hw_stat = skr_modify_hw_stat,
	.counter_bind_qp = skr_counter_bind_qp,
	.counter_unbind_qp = skr_counter_unbind_qp,
	.counter_dealloc = skr_counter_dealloc,
	.counter_alloc_stats = skr_counter_alloc_stats,
	.counter_update_stats = skr_counter_update_stats,
	SKR_COUNTER_INIT(skr_counter_init)
	.process_mad = skr_process_mad,

	INIT_RDMA_OBJ_SIZE(ib_ucontext, skr_ucontext, ibuc),
	INIT_RDMA_OBJ_SIZE(ib_pd, skr_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_ah, skr_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, skr_xrcd, ibxrcd),
	INIT_RDMA_OBJ_SIZE(ib_mw, skr_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_cq, skr_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_srq, skr_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_qp, skr_ibqp, ibqp),
};
