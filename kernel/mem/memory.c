// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "memory.h"

#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#include "dmabuf.h"
#include "odp.h"

/* The pinned pages as an array that can be indexed in softirq */
static int skr_memory_fill(struct skr_memory *mem)
{
	struct sg_page_iter iter;
	size_t n, i = 0;

	mem->offset = ib_umem_offset(mem->umem);
	n = DIV_ROUND_UP((u64)mem->offset + mem->umem->length, PAGE_SIZE);
	mem->pages = kvmalloc_array(n, sizeof(*mem->pages), GFP_KERNEL_ACCOUNT);
	if (!mem->pages)
		return -ENOMEM;
	for_each_sgtable_page(&mem->umem->sgt_append.sgt, &iter, 0) {
		if (i == n)
			break;
		mem->pages[i++] = sg_page_iter_page(&iter);
	}
	return i == n ? 0 : -EFAULT;
}

static int skr_memory_pin(struct skr_memory *mem, struct skr_dev *dev, int access)
{
	struct ib_umem *umem;

	umem = ib_umem_get_va(&dev->ibdev, mem->start, mem->length, access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	mem->umem = umem;
	return skr_memory_fill(mem);
}

static int skr_memory_name(struct skr_memory *mem, struct skr_dev *dev, int access)
{
	struct skr_odp *odp;

	odp = skr_odp_create(dev, mem->start, mem->length, access);
	if (IS_ERR(odp))
		return PTR_ERR(odp);
	mem->odp = odp;
	return 0;
}

int skr_memory_get(struct skr_memory *mem, struct skr_dev *dev, u64 start, u64 length, int access)
{
	int err;

	*mem = (struct skr_memory) {
		.start = start,
		.length = length,
		.writable = ib_access_writable(access),
	};
	if (access & IB_ACCESS_ON_DEMAND)
		err = skr_memory_name(mem, dev, access);
	else
		err = skr_memory_pin(mem, dev, access);
	if (err)
		skr_memory_put(mem);
	return err;
}

int skr_memory_attach(struct skr_memory *mem, int fd, u64 offset, u64 length, int access)
{
	struct skr_dmabuf *dmabuf;

	*mem = (struct skr_memory) {
		.length = length,
		.writable = ib_access_writable(access),
	};
	dmabuf = skr_dmabuf_get(fd, offset, length, mem->writable);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	mem->dmabuf = dmabuf;
	mem->vaddr = skr_dmabuf_vaddr(dmabuf) + offset;
	return 0;
}

void skr_memory_borrow(struct skr_memory *mem, struct page **pages, u64 offset, u64 length)
{
	*mem = (struct skr_memory) {
		.pages = pages + (offset >> PAGE_SHIFT),
		.offset = offset_in_page(offset),
		.length = length,
		.writable = true,
		.borrowed = true,
	};
}

void skr_memory_put(struct skr_memory *mem)
{
	if (!mem->borrowed)
		kvfree(mem->pages);
	if (mem->umem)
		ib_umem_release(mem->umem);
	if (mem->odp)
		skr_odp_put(mem->odp);
	if (mem->dmabuf)
		skr_dmabuf_put(mem->dmabuf);
	*mem = (struct skr_memory) {};
}

/* Whose memory is it? NULL: no process's */
static const struct mm_struct *skr_memory_mm(const struct skr_memory *mem)
{
	if (mem->dmabuf)
		return NULL;
	return mem->odp ? mem->odp->mm : mem->umem->owning_mm;
}

int skr_memory_renew(struct skr_memory *mem, struct skr_dev *dev, const struct skr_memory *old,
		     int access)
{
	bool on_demand = access & IB_ACCESS_ON_DEMAND;

	*mem = *old;
	if (on_demand == !!old->odp && (old->writable || !ib_access_writable(access)))
		return 0;
	/* taken for reading, or otherwise: to take it anew is for its owner only */
	if (skr_memory_mm(old) != current->mm)
		return -EACCES;
	return skr_memory_get(mem, dev, old->start, old->length, access);
}
