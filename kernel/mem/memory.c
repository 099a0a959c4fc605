// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "memory.h"

#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

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

int skr_memory_get(struct skr_memory *mem, struct ib_device *ibdev, u64 start, u64 length,
		   int access)
{
	struct ib_umem *umem;
	int err;

	*mem = (struct skr_memory) {};
	umem = ib_umem_get_va(ibdev, start, length, access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	mem->umem = umem;
	err = skr_memory_fill(mem);
	if (err)
		skr_memory_put(mem);
	return err;
}

void skr_memory_put(struct skr_memory *mem)
{
	kvfree(mem->pages);
	if (mem->umem)
		ib_umem_release(mem->umem);
	*mem = (struct skr_memory) {};
}

int skr_memory_renew(struct skr_memory *mem, const struct skr_memory *old, int access)
{
	const struct ib_umem *umem = old->umem;

	*mem = *old;
	if (umem->writable || !ib_access_writable(access))
		return 0;
	/* pinned for reading: pages to be written are pinned anew, by their owner only */
	if (umem->owning_mm != current->mm)
		return -EACCES;
	return skr_memory_get(mem, umem->ibdev, umem->address, umem->length, access);
}

void *skr_memory_piece(const struct skr_memory *mem, u64 at, u32 *length)
{
	at += mem->offset;
	*length = min_t(u32, *length, PAGE_SIZE - offset_in_page(at));
	return page_address(mem->pages[at >> PAGE_SHIFT]) + offset_in_page(at);
}
