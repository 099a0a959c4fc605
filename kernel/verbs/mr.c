// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "../mem/region.h"

#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "verbs.h"

struct ib_mr *skr_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct skr_dev *dev = skr_dev(ibpd->device);
	struct skr_mr *mr;
	int err;

	mr = kzalloc_obj(*mr, GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->kind = SKR_MR_DMA;
	mr->access = access;
	mr->ibmr.pd = ibpd;
	mr->ibmr.device = ibpd->device;
	err = skr_mr_alloc_key(dev, mr);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

/* The pinned pages as an array that can be indexed in softirq */
static int skr_mr_fill_pages(struct skr_mr *mr)
{
	struct sg_page_iter iter;
	size_t n, i = 0;

	mr->offset = ib_umem_offset(mr->umem);
	n = DIV_ROUND_UP((u64)mr->offset + mr->length, PAGE_SIZE);
	mr->pages = kvmalloc_array(n, sizeof(*mr->pages), GFP_KERNEL_ACCOUNT);
	if (!mr->pages)
		return -ENOMEM;
	for_each_sgtable_page(&mr->umem->sgt_append.sgt, &iter, 0) {
		if (i == n)
			break;
		mr->pages[i++] = sg_page_iter_page(&iter);
	}
	return i == n ? 0 : -EFAULT;
}

struct ib_mr *skr_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			      SKR_DMAH_PARAM struct ib_udata *udata)
{
	struct skr_dev *dev = skr_dev(ibpd->device);
	struct skr_mr *mr;
	int err;

	if (SKR_DMAH || access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	if (length > SKR_MAX_MR_BYTES || (length && iova > U64_MAX - (length - 1)))
		return ERR_PTR(-EINVAL);

	mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = ib_umem_get_va(ibpd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		goto err_free_mr;
	}
	mr->kind = SKR_MR_USER;
	mr->access = access;
	mr->iova = iova;
	mr->length = length;
	mr->ibmr.pd = ibpd;
	mr->ibmr.device = ibpd->device;
	err = skr_mr_fill_pages(mr);
	if (err)
		goto err_free_pages;
	err = skr_mr_alloc_key(dev, mr);
	if (err)
		goto err_free_pages;
	return &mr->ibmr;

err_free_pages:
	kvfree(mr->pages);
	ib_umem_release(mr->umem);
err_free_mr:
	kfree(mr);
	return ERR_PTR(err);
}

int skr_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct skr_mr *mr = skr_mr(ibmr);

	skr_mr_free_key(skr_dev(ibmr->device), mr);
	kvfree(mr->pages);
	if (mr->umem)
		ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}
