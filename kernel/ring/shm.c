// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "shm.h"

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static void skr_shm_free(struct skr_shm *shm)
{
	size_t i;

	vunmap(shm->mem);
	for (i = 0; shm->pages && i < shm->bytes >> PAGE_SHIFT; i++)
		if (shm->pages[i])
			put_page(shm->pages[i]);
	kvfree(shm->pages);
	kfree(shm);
}

static int skr_shm_fill_pages(struct skr_shm *shm, gfp_t gfp)
{
	size_t n = shm->bytes >> PAGE_SHIFT;
	size_t i;

	shm->pages = kvcalloc(n, sizeof(*shm->pages), gfp);
	if (!shm->pages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		shm->pages[i] = alloc_page(gfp | __GFP_ZERO);
		if (!shm->pages[i])
			return -ENOMEM;
	}
	return 0;
}

/* A process's memory control group pays for what it maps, the kernel for its own. */
static struct skr_shm *skr_shm_alloc(struct ib_ucontext *ucontext, size_t bytes)
{
	gfp_t gfp = ucontext ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	struct skr_shm *shm;
	int err;

	shm = kzalloc_obj(*shm, gfp);
	if (!shm)
		return ERR_PTR(-ENOMEM);
	shm->bytes = PAGE_ALIGN(bytes);
	err = skr_shm_fill_pages(shm, gfp);
	if (err) {
		skr_shm_free(shm);
		return ERR_PTR(err);
	}
	return shm;
}

struct skr_shm *skr_shm_create(struct skr_ring *ring, struct ib_ucontext *ucontext,
			       u32 depth, u32 entry_bytes, struct skerry_ring_info *info)
{
	struct skr_shm *shm;
	int err;

	shm = skr_shm_alloc(ucontext, skr_ring_bytes(depth, entry_bytes));
	if (IS_ERR(shm))
		return shm;
	shm->mem = vmap(shm->pages, shm->bytes >> PAGE_SHIFT, VM_MAP, PAGE_KERNEL);
	if (!shm->mem) {
		err = -ENOMEM;
		goto err_free;
	}
	if (ucontext) {
		err = rdma_user_mmap_entry_insert(ucontext, &shm->entry, shm->bytes);
		if (err)
			goto err_free;
		info->mmap_offset = rdma_user_mmap_get_offset(&shm->entry);
		info->mmap_bytes = shm->bytes;
		info->depth = depth;
		info->entry_bytes = entry_bytes;
	}
	ring->hdr = shm->mem;
	ring->depth = depth;
	ring->entry_bytes = entry_bytes;
	return shm;

err_free:
	skr_shm_free(shm);
	return ERR_PTR(err);
}

struct skr_shm *skr_shm_create_pages(struct ib_ucontext *ucontext, u32 n)
{
	struct skr_shm *shm;
	int err;

	shm = skr_shm_alloc(ucontext, (size_t)n << PAGE_SHIFT);
	if (IS_ERR(shm))
		return shm;
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
	/* all of it or nothing: the core compared the sizes */
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	err = vm_map_pages_zero(vma, shm->pages, shm->bytes >> PAGE_SHIFT);
	rdma_user_mmap_entry_put(entry);
	return err;
}

void skr_mmap_free(struct rdma_user_mmap_entry *entry)
{
	skr_shm_free(container_of(entry, struct skr_shm, entry));
}
