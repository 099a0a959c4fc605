// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "shm.h"

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static void skr_shm_free(struct skr_shm *shm)
{
	size_t i;

	for (i = 0; shm->pages && i < shm->bytes >> PAGE_SHIFT; i++)
		if (shm->pages[i])
			put_page(shm->pages[i]);
	kvfree(shm->pages);
	vfree(shm->mem);
	kfree(shm);
}

struct skr_shm *skr_shm_create(struct skr_ring *ring, struct ib_ucontext *ucontext,
			       u32 depth, u32 entry_bytes, struct skerry_ring_info *info)
{
	struct skr_shm *shm;
	int err;

	shm = kzalloc_obj(*shm, GFP_KERNEL);
	if (!shm)
		return ERR_PTR(-ENOMEM);
	shm->bytes = PAGE_ALIGN(skr_ring_bytes(depth, entry_bytes));
	shm->mem = vmalloc_user(shm->bytes);
	if (!shm->mem) {
		err = -ENOMEM;
		goto err_free_shm;
	}
	if (ucontext) {
		err = rdma_user_mmap_entry_insert(ucontext, &shm->entry, shm->bytes);
		if (err)
			goto err_free_mem;
		info->mmap_offset = rdma_user_mmap_get_offset(&shm->entry);
		info->mmap_bytes = shm->bytes;
		info->depth = depth;
		info->entry_bytes = entry_bytes;
	}
	ring->hdr = shm->mem;
	ring->depth = depth;
	ring->entry_bytes = entry_bytes;
	return shm;

err_free_mem:
	vfree(shm->mem);
err_free_shm:
	kfree(shm);
	return ERR_PTR(err);
}

static int skr_shm_fill_pages(struct skr_shm *shm, u32 n)
{
	u32 i;

	shm->pages = kvcalloc(n, sizeof(*shm->pages), GFP_KERNEL_ACCOUNT);
	if (!shm->pages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		shm->pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!shm->pages[i])
			return -ENOMEM;
	}
	return 0;
}

struct skr_shm *skr_shm_create_pages(struct ib_ucontext *ucontext, u32 n)
{
	struct skr_shm *shm;
	int err;

	shm = kzalloc_obj(*shm, GFP_KERNEL_ACCOUNT);
	if (!shm)
		return ERR_PTR(-ENOMEM);
	shm->bytes = (size_t)n << PAGE_SHIFT;
	err = skr_shm_fill_pages(shm, n);
	if (!err)
		err = rdma_user_mmap_entry_insert(ucontext, &shm->entry, shm->bytes);
	if (err) {
		skr_shm_free(shm);
		return ERR_PTR(err);
	}
	return shm;
}

void skr_shm_destroy(struct skr_shm *shm)
{
	if (!shm)
		return;
	if (shm->entry.ucontext)
		rdma_user_mmap_entry_remove(&shm->entry);
	else
		skr_shm_free(shm);
}

int skr_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct skr_shm *shm;
	int err;

	entry = rdma_user_mmap_entry_get(ucontext, vma);
	if (!entry)
		return -EINVAL;
	shm = container_of(entry, struct skr_shm, entry);
	if (shm->pages)
		err = vm_map_pages_zero(vma, shm->pages, shm->bytes >> PAGE_SHIFT);
	else
		err = remap_vmalloc_range(vma, shm->mem, 0);
	rdma_user_mmap_entry_put(entry);
	return err;
}

void skr_mmap_free(struct rdma_user_mmap_entry *entry)
{
	skr_shm_free(container_of(entry, struct skr_shm, entry));
}
