// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "../mem/region.h"

#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "verbs.h"

/* Let the region be found. From here on skr_mr_withdraw() comes before freeing it. */
static int skr_mr_publish(struct skr_mr *mr, struct ib_pd *ibpd)
{
	int err;

	mr->key.pd = ibpd;
	mr->ibmr.pd = ibpd;
	mr->ibmr.device = ibpd->device;
	err = skr_key_add(skr_dev(ibpd->device), &mr->key);
	if (err)
		return err;
	mr->ibmr.lkey = mr->key.key;
	mr->ibmr.rkey = mr->key.key;
	return 0;
}

/* Undo skr_mr_publish(), unless windows are bound to the region. */
static int skr_mr_withdraw(struct skr_mr *mr)
{
	if (atomic_cmpxchg(&mr->windows, 0, INT_MIN))
		return -EBUSY;
	skr_key_remove(skr_dev(mr->ibmr.device), &mr->key);
	return 0;
}

struct ib_mr *skr_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct skr_mr *mr;
	int err;

	mr = kzalloc_obj(*mr, GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->key.kind = SKR_MR_DMA;
	mr->key.access = access;
	mr->key.valid = true;
	err = skr_mr_publish(mr, ibpd);
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
	n = DIV_ROUND_UP((u64)mr->offset + mr->key.length, PAGE_SIZE);
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
	mr->key.kind = SKR_MR_USER;
	mr->key.access = access;
	mr->key.valid = true;
	mr->key.start = iova;
	mr->key.length = length;
	err = skr_mr_fill_pages(mr);
	if (err)
		goto err_free_pages;
	err = skr_mr_publish(mr, ibpd);
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

static int skr_page_list_alloc(struct skr_page_list *list, u32 max)
{
	list->addr = kvcalloc(max, sizeof(*list->addr), GFP_KERNEL);
	list->max = max;
	return list->addr ? 0 : -ENOMEM;
}

struct ib_mr *skr_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg)
{
	struct skr_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > SKR_MAX_FAST_PAGES)
		return ERR_PTR(-EINVAL);

	mr = kzalloc_obj(*mr, GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->key.kind = SKR_MR_FAST;
	err = skr_page_list_alloc(&mr->list, max_num_sg);
	if (!err)
		err = skr_page_list_alloc(&mr->next, max_num_sg);
	if (!err)
		err = skr_mr_publish(mr, ibpd);
	if (err)
		goto err_free;
	return &mr->ibmr;

err_free:
	kvfree(mr->list.addr);
	kvfree(mr->next.addr);
	kfree(mr);
	return ERR_PTR(err);
}

static int skr_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct skr_page_list *next = &skr_mr(ibmr)->next;

	if (next->n == next->max)
		return -ENOMEM;
	next->addr[next->n++] = addr;
	return 0;
}

int skr_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		  unsigned int *sg_offset)
{
	struct skr_page_list *next = &skr_mr(ibmr)->next;
	int n;

	if (!is_power_of_2(ibmr->page_size) || !(ibmr->page_size & SKR_PAGE_SIZES))
		return -EINVAL;
	next->n = 0;
	next->shift = ilog2(ibmr->page_size);
	n = ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, skr_set_page);
	/* the consumer may number the region as it likes: keep where it begins */
	next->offset = ibmr->iova & (ibmr->page_size - 1);
	return n;
}

int skr_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct skr_mr *mr = skr_mr(ibmr);
	int err;

	err = skr_mr_withdraw(mr);
	if (err)
		return err;
	kvfree(mr->pages);
	kvfree(mr->list.addr);
	kvfree(mr->next.addr);
	if (mr->umem)
		ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}
