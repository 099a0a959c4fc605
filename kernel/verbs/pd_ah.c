// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "verbs.h"

#include <linux/etherdevice.h>
#include <rdma/uverbs_ioctl.h>

int skr_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return skr_object_get(skr_dev(ibpd->device), SKR_OBJ_PD, SKR_MAX_PD);
}

int skr_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	skr_object_put(skr_dev(ibpd->device), SKR_OBJ_PD);
	return 0;
}

int skr_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	gfp_t gfp = init->flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL : GFP_ATOMIC;
	struct skr_dev *dev = skr_dev(ibah->device);
	struct skerry_create_ah_resp resp = {};
	struct skr_ah *ah = skr_ah(ibah);
	int err;

	if (udata && udata->outlen < sizeof(resp))
		return -EINVAL;
	if (udata)
		gfp = GFP_KERNEL_ACCOUNT;
	ah->dest = skr_dest_create(dev, ibah->pd, init->ah_attr, gfp);
	if (IS_ERR(ah->dest))
		return PTR_ERR(ah->dest);
	if (!udata)
		return 0;

	resp.ah_num = ah->dest->num;
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		skr_dest_destroy(dev, ah->dest);
	return err;
}

int skr_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	const struct skr_av *av = &skr_ah(ibah)->dest->av;
	union ib_gid dgid;

	memcpy(&dgid, &av->daddr, sizeof(dgid));
	attr->type = ibah->type;
	rdma_ah_set_sl(attr, av->sl);
	rdma_ah_set_port_num(attr, SKR_PORT);
	rdma_ah_set_grh(attr, &dgid, av->flow_label,
			ibah->sgid_attr ? ibah->sgid_attr->index : 0, av->hop_limit, av->tclass);
	if (attr->type == RDMA_AH_ATTR_TYPE_ROCE)
		ether_addr_copy(attr->roce.dmac, av->dmac);
	return 0;
}

int skr_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	skr_dest_destroy(skr_dev(ibah->device), skr_ah(ibah)->dest);
	return 0;
}
