// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "verbs.h"

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

static struct skr_ah *skr_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct skr_ah, ibah);
}

int skr_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct skr_dev *dev = skr_dev(ibah->device);
	struct skerry_create_ah_resp resp = {};
	struct skr_ah *ah = skr_ah(ibah);
	int err;

	if (udata && udata->outlen < sizeof(resp))
		return -EINVAL;
	err = skr_av_init(&ah->av, init->ah_attr, 0, 0);
	if (err || !udata)
		return err;

	err = xa_alloc_cyclic(&dev->ahs, &ah->num, ah, XA_LIMIT(1, SKR_MAX_AH), &dev->ah_next,
			      GFP_KERNEL);
	if (err < 0)
		return err;
	resp.ah_num = ah->num;
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		xa_erase(&dev->ahs, ah->num);
	return err;
}

int skr_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	const struct skr_av *av = &skr_ah(ibah)->av;
	union ib_gid dgid;

	memcpy(&dgid, &av->daddr, sizeof(dgid));
	attr->type = ibah->type;
	rdma_ah_set_sl(attr, av->sl);
	rdma_ah_set_port_num(attr, SKR_PORT);
	rdma_ah_set_grh(attr, &dgid, av->flow_label,
			ibah->sgid_attr ? ibah->sgid_attr->index : 0, av->hop_limit, av->tclass);
	return 0;
}

int skr_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct skr_ah *ah = skr_ah(ibah);

	if (ah->num)
		xa_erase(&skr_dev(ibah->device)->ahs, ah->num);
	skr_av_release(&ah->av);
	return 0;
}
