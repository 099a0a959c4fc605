// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Finding the device, opening it, and what it says of itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <util/util.h>

#include "skerry.h"

static int skerry_query_device_ex(struct ibv_context *ibctx,
				  const struct ibv_query_device_ex_input *input,
				  struct ibv_device_attr_ex *attr,
				  size_t attr_size)
{
	struct uskerry_query_device_ex_resp resp = {};
	size_t resp_size = sizeof(resp);
	uint64_t fw_ver;
	int ret;

	ret = ibv_cmd_query_device_any(ibctx, input, attr, attr_size,
				       &resp.ibv_resp, &resp_size);
	if (ret)
		return ret;

	if (attr_size >= offsetofend(struct ibv_device_attr_ex,
				     packet_pacing_caps)) {
		attr->packet_pacing_caps.qp_rate_limit_min = resp.rate_limit_min;
		attr->packet_pacing_caps.qp_rate_limit_max = resp.rate_limit_max;
		attr->packet_pacing_caps.supported_qpts = resp.rate_limit_qpts;
	}

	fw_ver = resp.ibv_resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%u", (unsigned int)(fw_ver >> 32) & 0xffff,
		 (unsigned int)(fw_ver >> 16) & 0xffff,
		 (unsigned int)fw_ver & 0xffff);
	return 0;
}

static int skerry_query_port(struct ibv_context *ibctx, uint8_t port,
			     struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd = {};

	return ibv_cmd_query_port(ibctx, port, attr, &cmd, sizeof(cmd));
}

/*
 * The device's clock is CLOCK_MONOTONIC_RAW in nanoseconds, and a raw clock is
 * given in ticks: all of them in tv_nsec.
 */
static int skerry_query_rt_values(struct ibv_context *ibctx,
				  struct ibv_values_ex *values)
{
	struct timespec now;

	if (!check_comp_mask(values->comp_mask, IBV_VALUES_MASK_RAW_CLOCK))
		return EINVAL;
	if (!(values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK))
		return 0;

	if (clock_gettime(CLOCK_MONOTONIC_RAW, &now))
		return errno;

	values->raw_clock.tv_sec = 0;
	values->raw_clock.tv_nsec = now.tv_sec * 1000000000LL + now.tv_nsec;
	return 0;
}

static void skerry_free_context(struct ibv_context *ibctx)
{
	struct skerry_context *ctx = to_sctx(ibctx);

	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

/*
 * Asynchronous events need nothing from the provider: libibverbs reads them
 * from the kernel and finds the object by itself.
 */
static const struct verbs_context_ops skerry_ctx_ops = {
	.advise_mr = ibv_cmd_advise_mr,
	.alloc_dm = skerry_alloc_dm,
	.alloc_mw = skerry_alloc_mw,
	.alloc_parent_domain = skerry_alloc_parent_domain,
	.alloc_pd = skerry_alloc_pd,
	.attach_mcast = ibv_cmd_attach_mcast,
	.alloc_td = skerry_alloc_td,
	.bind_mw = skerry_bind_mw,
	.close_xrcd = skerry_close_xrcd,
	.create_ah = skerry_create_ah,
	.create_cq = skerry_create_cq,
	.create_cq_ex = skerry_create_cq_ex,
	.create_qp = skerry_create_qp,
	.create_qp_ex = skerry_create_qp_ex,
	.create_srq = skerry_create_srq,
	.create_srq_ex = skerry_create_srq_ex,
	.dealloc_mw = skerry_dealloc_mw,
	.dealloc_pd = skerry_dealloc_pd,
	.dealloc_td = skerry_dealloc_td,
	.dereg_mr = skerry_dereg_mr,
	.destroy_ah = skerry_destroy_ah,
	.destroy_cq = skerry_destroy_cq,
	.destroy_qp = skerry_destroy_qp,
	.destroy_srq = skerry_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = skerry_free_context,
	.free_dm = skerry_free_dm,
	.get_srq_num = skerry_get_srq_num,
	.import_dm = skerry_import_dm,
	.import_mr = skerry_import_mr,
	.import_pd = skerry_import_pd,
	.modify_cq = skerry_modify_cq,
	.modify_qp = skerry_modify_qp,
	.modify_qp_rate_limit = skerry_modify_qp_rate_limit,
	.modify_srq = skerry_modify_srq,
	.open_qp = skerry_open_qp,
	.open_xrcd = skerry_open_xrcd,
	.poll_cq = skerry_poll_cq,
	.post_recv = skerry_post_recv,
	.post_send = skerry_post_send,
	.post_srq_recv = skerry_post_srq_recv,
	.query_device_ex = skerry_query_device_ex,
	.query_port = skerry_query_port,
	.query_qp = skerry_query_qp,
	.query_srq = skerry_query_srq,
	.query_rt_values = skerry_query_rt_values,
	.reg_dm_mr = skerry_reg_dm_mr,
	.reg_dmabuf_mr = skerry_reg_dmabuf_mr,
	.reg_mr = skerry_reg_mr,
	.req_notify_cq = skerry_req_notify_cq,
	.rereg_mr = skerry_rereg_mr,
	.resize_cq = skerry_resize_cq,
	.unimport_dm = skerry_unimport_dm,
	.unimport_mr = skerry_unimport_mr,
	.unimport_pd = skerry_unimport_pd,
};

static struct verbs_context *skerry_alloc_context(struct ibv_device *ibdev,
						  int cmd_fd,
						  void *private_data)
{
	struct uskerry_get_context_resp resp = {};
	struct ibv_get_context cmd = {};
	struct skerry_context *ctx;

	ctx = verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, vctx,
					   SKERRY_DRIVER_ID);
	if (!ctx)
		return NULL;

	if (ibv_cmd_get_context(&ctx->vctx, &cmd, sizeof(cmd), &resp.ibv_resp,
				sizeof(resp)))
		goto err_free_context;

	verbs_set_ops(&ctx->vctx, &skerry_ctx_ops);
	return &ctx->vctx;

err_free_context:
	skerry_free_context(&ctx->vctx.context);
	return NULL;
}

/* The other process opened the device: all that it was told can be asked again */
static struct verbs_context *skerry_import_context(struct ibv_device *ibdev,
						   int cmd_fd)
{
	struct skerry_context *ctx;

	ctx = verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, vctx,
					   SKERRY_DRIVER_ID);
	if (!ctx)
		return NULL;

	if (ibv_cmd_query_context(&ctx->vctx.context, NULL))
		goto err_free_context;

	verbs_set_ops(&ctx->vctx, &skerry_ctx_ops);
	return &ctx->vctx;

err_free_context:
	skerry_free_context(&ctx->vctx.context);
	return NULL;
}

static struct verbs_device *skerry_alloc_device(struct verbs_sysfs_dev *unused)
{
	struct skerry_device *dev;

	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return NULL;

	return &dev->vdev;
}

static void skerry_uninit_device(struct verbs_device *vdev)
{
	free(container_of(vdev, struct skerry_device, vdev));
}

static const struct verbs_match_ent skerry_match_table[] = {
	VERBS_DRIVER_ID(SKERRY_DRIVER_ID),
	{},
};

static const struct verbs_device_ops skerry_dev_ops = {
	.name = "skerry",
	.match_min_abi_version = SKERRY_ABI_VERSION,
	.match_max_abi_version = SKERRY_ABI_VERSION,
	.match_table = skerry_match_table,
	.alloc_device = skerry_alloc_device,
	.uninit_device = skerry_uninit_device,
	.alloc_context = skerry_alloc_context,
	.import_context = skerry_import_context,
};

PROVIDER_DRIVER(skerry, skerry_dev_ops);
