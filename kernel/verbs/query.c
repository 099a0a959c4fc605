// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "verbs.h"

#include <linux/ethtool.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/uverbs_ioctl.h>

#include "../wire/iba.h"

/* On-demand paging: for whatever a QP does with memory */
#define SKR_ODP_CAP	(IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING) ? \
			 IBK_ON_DEMAND_PAGING : 0)

#define SKR_ODP_RELIABLE	(IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | \
				 IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ | \
				 IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_SRQ_RECV)

static const struct ib_odp_caps skr_odp_caps = {
	.general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT,
	.per_transport_caps = {
		.rc_odp_caps = SKR_ODP_RELIABLE,
		.xrc_odp_caps = SKR_ODP_RELIABLE,
		.uc_odp_caps = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
			       IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_SRQ_RECV,
		.ud_odp_caps = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
			       IB_ODP_SUPPORT_SRQ_RECV,
	},
};

/* What the provider tells of rate limits */
static int skr_query_pacing(struct skr_dev *dev, struct ib_udata *udata)
{
	u64 most = mul_u32_u32(READ_ONCE(dev->cc.mbps), 1000);
	struct skerry_query_device_resp resp = {
		.rate_limit_min = SKR_RATE_LIMIT_MIN,
		.rate_limit_max = min(most, (u64)U32_MAX),
		.rate_limit_qpts = BIT(IB_QPT_RC) | BIT(IB_QPT_UC) | BIT(IB_QPT_UD) |
				   BIT(IB_QPT_XRC_INI) | BIT(IB_QPT_XRC_TGT),
	};

	return ib_copy_to_udata(udata, &resp, min(udata->outlen, sizeof(resp)));
}

int skr_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		     struct ib_udata *udata)
{
	if (udata && udata->inlen)
		return -EINVAL;

	*attr = (struct ib_device_attr) {
		.sys_image_guid = ibdev->node_guid,
		.vendor_id = SKR_VENDOR_ID,
		.vendor_part_id = 1,
		.hw_ver = 1,
		.timestamp_mask = U64_MAX,
		.hca_core_clock = 1000 * 1000,	/* kHz: time stamps are nanoseconds */
		.max_mr_size = SKR_MAX_MR_BYTES,
		.page_size_cap = SKR_PAGE_SIZES,
		.max_qp = SKR_MAX_QP,
		.max_qp_wr = SKR_MAX_QP_WR,
		.device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_MEM_MGT_EXTENSIONS |
				    IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B |
				    IB_DEVICE_SRQ_RESIZE | IB_DEVICE_XRC |
				    IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_ATOMIC_WRITE,
		.kernel_cap_flags = IBK_ALLOW_USER_UNREG | IBK_BLOCK_MULTICAST_LOOPBACK |
				    SKR_ODP_CAP,
		.max_send_sge = SKR_MAX_SGE,
		.max_recv_sge = SKR_MAX_SGE,
		.max_sge_rd = SKR_MAX_SGE,
		.max_srq = SKR_MAX_SRQ,
		.max_srq_wr = SKR_MAX_SRQ_WR,
		.max_srq_sge = SKR_MAX_SGE,
		.max_cq = SKR_MAX_CQ,
		.max_cqe = SKR_MAX_CQE,
		.max_mr = SKR_MAX_MR,
		.max_mw = SKR_MAX_MW,
		.max_fast_reg_page_list_len = SKR_MAX_FAST_PAGES,
		.max_pd = SKR_MAX_PD,
		.max_ah = SKR_MAX_AH,
		.max_mcast_grp = SKR_MAX_GROUPS,
		.max_mcast_qp_attach = SKR_MAX_GROUP_QPS,
		.max_total_mcast_qp_attach = SKR_MAX_GROUPS * SKR_MAX_GROUP_QPS,
		.max_qp_rd_atom = SKR_MAX_RD_ATOMIC,
		.max_qp_init_rd_atom = SKR_MAX_RD_ATOMIC,
		.max_res_rd_atom = SKR_MAX_RD_ATOMIC * SKR_MAX_QP,
		.atomic_cap = IB_ATOMIC_GLOB,
		.max_dm_size = SKR_MAX_DM_BYTES,
		.max_pkeys = 1,
		.cq_caps.max_cq_moderation_count = U16_MAX,
		.cq_caps.max_cq_moderation_period = U16_MAX,
		.local_ca_ack_delay = 15,
	};
	if (IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING))
		attr->odp_caps = skr_odp_caps;
	return udata && udata->outlen ? skr_query_pacing(skr_dev(ibdev), udata) : 0;
}

/* A netdev that knows of no speed has the least there is, and nothing is logged. */
static int skr_query_speed(struct skr_dev *dev, u16 *speed, u8 *width)
{
	const struct ethtool_ops *ops = dev->ndev->ethtool_ops;

	if (ops && ops->get_link_ksettings)
		return ib_get_eth_speed(&dev->ibdev, SKR_PORT, speed, width);
	*speed = IB_SPEED_SDR;
	*width = IB_WIDTH_1X;
	return 0;
}

int skr_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct skr_dev *dev = skr_dev(ibdev);
	int err;

	/* the core has zeroed attr and set gid_tbl_len */
	/* the core asks whenever the port has changed */
	skr_device_read_speed(dev);
	err = skr_query_speed(dev, &attr->active_speed, &attr->active_width);
	if (err)
		return err;
	attr->state = ib_get_curr_port_state(dev->ndev);
	attr->phys_state = attr->state == IB_PORT_ACTIVE ? IB_PORT_PHYS_STATE_LINK_UP :
							   IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = iboe_get_mtu(READ_ONCE(dev->ndev->mtu));
	attr->max_msg_sz = SKR_MAX_MSG_BYTES;
	attr->pkey_tbl_len = 1;
	attr->gid_tbl_len = SKR_GIDS;
	attr->max_vl_num = 1;
	attr->ip_gids = true;
	return 0;
}

int skr_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = SKR_PKEY_FULL;
	return 0;
}

int skr_get_port_immutable(struct ib_device *ibdev, u32 port, struct ib_port_immutable *imm)
{
	imm->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE | RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	imm->max_mad_size = IB_MGMT_MAD_SIZE;
	imm->pkey_tbl_len = 1;
	imm->gid_tbl_len = SKR_GIDS;
	return 0;
}

enum rdma_link_layer skr_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}
