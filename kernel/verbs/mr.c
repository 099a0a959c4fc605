// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "../mem/region.h"

#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "../ring/shm.h"
#include "../transport/fault.h"
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

static bool skr_range_ok(u64 start, u64 length, u64 iova, int access)
{
	/* all that the process has: implicit on-demand paging */
	if (access & IB_ACCESS_ON_DEMAND && !start && length == U64_MAX)
		return !iova;
	if (!length)
		return true;
	return length <= SKR_MAX_MR_BYTES && start <= U64_MAX - (length - 1) &&
	       iova <= U64_MAX - (length - 1);
}

/* A region over memory that is there already; the memory is let go if it fails. */
static struct ib_mr *skr_mr_create(struct ib_pd *ibpd, struct skr_memory *mem, u64 start,
				   int access)
{
	struct skr_mr *mr;
	int err;

	mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);
	if (!mr) {
		err = -ENOMEM;
		goto err_put_memory;
	}
	mr->mem = *mem;
	mr->key.kind = SKR_MR_USER;
	mr->key.access = access;
	mr->key.valid = true;
	mr->key.start = start;
	mr->key.length = mem->length;
	err = skr_mr_publish(mr, ibpd);
	if (err)
		goto err_free;
	return &mr->ibmr;

err_free:
	kfree(mr);
err_put_memory:
	skr_memory_put(mem);
	return ERR_PTR(err);
}

/* Memory on demand needs somebody to bring it in. */
static int skr_mr_need_lane(int access, struct ib_udata *udata)
{
	struct ib_ucontext *ucontext = skr_udata_ucontext(udata);

	if (!(access & IB_ACCESS_ON_DEMAND) || !ucontext)
		return 0;
	return skr_fault_lane_open(&skr_ucontext(ucontext)->lane);
}

struct ib_mr *skr_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			      SKR_DMAH_PARAM struct ib_udata *udata)
{
	struct skr_memory mem;
	int err;

	if (SKR_DMAH)
		return ERR_PTR(-EOPNOTSUPP);
	if (!skr_range_ok(start, length, iova, access))
		return ERR_PTR(-EINVAL);
	err = skr_mr_need_lane(access, udata);
	if (err)
		return ERR_PTR(err);
	err = skr_memory_get(&mem, skr_dev(ibpd->device), start, length, access);
	if (err)
		return ERR_PTR(err);
	return skr_mr_create(ibpd, &mem, iova, access);
}

struct ib_mr *skr_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				     int access, SKR_DMAH_PARAM struct uverbs_attr_bundle *attrs)
{
	struct skr_memory mem;
	int err;

	if (SKR_DMAH)
		return ERR_PTR(-EOPNOTSUPP);
	if (!length || !skr_range_ok(offset, length, iova, 0))
		return ERR_PTR(-EINVAL);
	err = skr_memory_attach(&mem, fd, offset, length, access);
	if (err)
		return ERR_PTR(err);
	return skr_mr_create(ibpd, &mem, iova, access);
}

struct ib_mr *skr_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm, struct ib_dm_mr_attr *attr,
			    struct uverbs_attr_bundle *attrs)
{
	struct skr_memory mem;

	/* the core has checked the range; addresses count from 0 */
	skr_memory_borrow(&mem, skr_dm(ibdm)->shm->pages, attr->offset, attr->length);
	return skr_mr_create(ibpd, &mem, 0, attr->access_flags & ~IB_ZERO_BASED);
}

/**
 * struct skr_rereg - what a region becomes
 * @mem: its memory
 * @pd: its protection domain
 * @access: IB_ACCESS_*
 * @start: first address
 * @length: bytes
 */
struct skr_rereg {
	struct skr_memory	mem;
	struct ib_pd		*pd;
	int			access;
	u64			start;
	u64			length;
};

/* Change a region that nobody can find. Return: what it was. */
static struct skr_rereg skr_mr_change(struct skr_mr *mr, const struct skr_rereg *to)
{
	struct skr_rereg from = {
		.mem = mr->mem,
		.pd = mr->key.pd,
		.access = mr->key.access,
		.start = mr->key.start,
		.length = mr->key.length,
	};

	/* but shown it may be meanwhile (restrack.c) */
	write_lock_bh(&mr->key.lock);
	mr->mem = to->mem;
	mr->key.pd = to->pd;
	mr->key.access = to->access;
	mr->key.start = to->start;
	mr->key.length = to->length;
	write_unlock_bh(&mr->key.lock);
	return from;
}

/*
 * As if the region were deregistered and registered again: requests that arrive
 * meanwhile are refused, and windows must not be bound to it. It keeps its keys.
 * What can fail comes first: a region that is not changed is as it was.
 */
struct ib_mr *skr_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				int access, struct ib_pd *pd, struct ib_udata *udata)
{
	struct skr_dev *dev = skr_dev(ibmr->device);
	struct skr_mr *mr = skr_mr(ibmr);
	struct skr_rereg to = {
		.pd = flags & IB_MR_REREG_PD ? pd : mr->key.pd,
		.access = flags & IB_MR_REREG_ACCESS ? access : mr->key.access,
		.start = flags & IB_MR_REREG_TRANS ? iova : mr->key.start,
		.length = flags & IB_MR_REREG_TRANS ? length : mr->key.length,
	};
	struct skr_rereg from;
	int err;

	if (!(flags & IB_MR_REREG_TRANS))
		start = mr->mem.start;
	if (!skr_range_ok(start, to.length, to.start, to.access))
		return ERR_PTR(-EINVAL);
	err = skr_mr_need_lane(to.access, udata);
	if (err)
		return ERR_PTR(err);
	if (flags & IB_MR_REREG_TRANS)
		err = skr_memory_get(&to.mem, dev, start, length, to.access);
	else
		err = skr_memory_renew(&to.mem, dev, &mr->mem, to.access);
	if (err)
		return ERR_PTR(err);
	if (atomic_cmpxchg(&mr->windows, 0, INT_MIN)) {
		if (!skr_memory_same(&to.mem, &mr->mem))
			skr_memory_put(&to.mem);
		return ERR_PTR(-EBUSY);
	}

	skr_key_hide(dev, &mr->key);
	from = skr_mr_change(mr, &to);
	skr_key_show(dev, &mr->key);
	atomic_set(&mr->windows, 0);
	if (!skr_memory_same(&from.mem, &mr->mem))
		skr_memory_put(&from.mem);
	return NULL;
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
	skr_memory_put(&mr->mem);
	kvfree(mr->list.addr);
	kvfree(mr->next.addr);
	kfree(mr);
	return 0;
}
