/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The memory under a ring, and its mapping into user space. Device memory is mapped
 * in the same way.
 */
#ifndef SKR_RING_SHM_H
#define SKR_RING_SHM_H

#include <rdma/ib_verbs.h>
#include <rdma/skerry-abi.h>

#include "ring.h"

/**
 * struct skr_shm - memory of one ring, or device memory
 * @entry: its place in the context's mmap space; without a context for a ring of
 *	the kernel's own
 * @bytes: size, whole pages
 * @pages: the memory, page by page
 * @mem: all of it in the kernel's own address space; a ring's
 *
 * Pages that a process has mapped live on until it unmaps them, whatever
 * happens to the ring. They are accounted to the memory control group of who had them
 * made, for as long as they live.
 */
struct skr_shm {
	struct rdma_user_mmap_entry entry;
	size_t			bytes;
	struct page		**pages;
	void			*mem;
};

/**
 * skr_shm_create() - allocate a ring
 * @ring: set up on success
 * @ucontext: who may map it, NULL for a ring of the kernel's own
 * @depth: entries, a power of two
 * @entry_bytes: bytes of each
 * @info: where to tell user space about it, NULL with @ucontext NULL
 *
 * Context: process.
 * Return: the memory, or an ERR_PTR.
 */
struct skr_shm *skr_shm_create(struct skr_ring *ring, struct ib_ucontext *ucontext,
			       u32 depth, u32 entry_bytes, struct skerry_ring_info *info);

/**
 * skr_shm_create_pages() - allocate device memory
 * @ucontext: who may map it
 * @n: pages, more than 0
 *
 * Context: process.
 * Return: the memory, all zero, or an ERR_PTR.
 */
struct skr_shm *skr_shm_create_pages(struct ib_ucontext *ucontext, u32 n);

/**
 * skr_shm_destroy() - let memory go
 * @shm: from skr_shm_create() or skr_shm_create_pages(), or NULL
 *
 * Nothing in the kernel may use it any more.
 *
 * Context: process.
 */
void skr_shm_destroy(struct skr_shm *shm);

/**
 * skr_mmap() - ib_device_ops.mmap
 * @ucontext: context
 * @vma: what to map; its offset names the ring
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int skr_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma);

/**
 * skr_mmap_free() - ib_device_ops.mmap_free
 * @entry: that nobody refers to any more
 *
 * Context: process.
 */
void skr_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* SKR_RING_SHM_H */
