// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "region.h"

#include <linux/random.h>

/* A key is an index into dev->mrs and, in the low byte, a number to vary. */
#define SKR_KEY_SHIFT	8

int skr_mr_alloc_key(struct skr_dev *dev, struct skr_mr *mr)
{
	u32 index;
	int err;

	/* Index 0 is left out: key 0 means "none" to many consumers. */
	err = xa_alloc_cyclic(&dev->mrs, &index, NULL, XA_LIMIT(1, SKR_MAX_MR), &dev->mr_next,
			      GFP_KERNEL);
	if (err < 0)
		return err;

	mr->ibmr.lkey = index << SKR_KEY_SHIFT | get_random_u8();
	mr->ibmr.rkey = mr->ibmr.lkey;
	return xa_err(xa_store(&dev->mrs, index, mr, GFP_KERNEL));
}

void skr_mr_free_key(struct skr_dev *dev, struct skr_mr *mr)
{
	xa_erase(&dev->mrs, mr->ibmr.lkey >> SKR_KEY_SHIFT);
	synchronize_srcu_expedited(&dev->mr_srcu);
}

static bool skr_mr_covers(const struct skr_mr *mr, u64 addr, u64 length)
{
	u64 offset = addr - mr->iova;

	if (mr->kind == SKR_MR_DMA)
		return length <= U64_MAX - addr;
	/* Subtractions only: iova + length may be 2^64. */
	return addr >= mr->iova && offset <= mr->length && length <= mr->length - offset;
}

struct skr_mr *skr_mr_find(struct skr_dev *dev, struct ib_pd *pd, u32 key, int access,
			   u64 addr, u64 length)
{
	struct skr_mr *mr = xa_load(&dev->mrs, key >> SKR_KEY_SHIFT);

	if (!mr || mr->ibmr.lkey != key || mr->ibmr.pd != pd)
		return NULL;
	if ((mr->access & access) != access || !skr_mr_covers(mr, addr, length))
		return NULL;
	return mr;
}
