/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The memory behind a region of a process.
 */
#ifndef SKR_MEM_MEMORY_H
#define SKR_MEM_MEMORY_H

#include <linux/mm.h>
#include <linux/types.h>

struct ib_umem;
struct skr_dev;
struct skr_dmabuf;
struct skr_odp;

/**
 * struct skr_memory - where the bytes of a region are
 * @umem: pinned pages of a process, or NULL
 * @pages: the same, one by one; or those of device memory
 * @offset: of the first byte in the first page
 * @odp: pages that come when they are needed, or NULL
 * @dmabuf: a buffer of another device's, or NULL
 * @vaddr: of the first byte of its part that is used
 * @start: first address in the process
 * @length: bytes
 * @writable: it may be written
 * @borrowed: @pages are somebody else's, who keeps them
 *
 * All zero: there is none. What is here does not change while a key leads to it.
 */
struct skr_memory {
	struct ib_umem	*umem;
	struct page	**pages;
	u32		offset;
	struct skr_odp	*odp;
	struct skr_dmabuf *dmabuf;
	void		*vaddr;
	u64		start;
	u64		length;
	bool		writable;
	bool		borrowed;
};

/**
 * skr_memory_get() - take hold of memory of this process
 * @mem: set up on success, all zero otherwise
 * @dev: device
 * @start: first address
 * @length: bytes
 * @access: IB_ACCESS_* that it will be used for
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int skr_memory_get(struct skr_memory *mem, struct skr_dev *dev, u64 start, u64 length,
		   int access);

/**
 * skr_memory_attach() - use a buffer of another device's
 * @mem: set up on success, all zero otherwise
 * @fd: the buffer
 * @offset: of the first byte
 * @length: bytes
 * @access: IB_ACCESS_* that it will be used for
 *
 * Context: process.
 * Return: 0 or a negative errno: -EOPNOTSUPP if it is not memory that the CPU can
 *	access as memory, -EACCES if it is not to be written.
 */
int skr_memory_attach(struct skr_memory *mem, int fd, u64 offset, u64 length, int access);

/**
 * skr_memory_borrow() - use pages that stay somebody else's
 * @mem: set up
 * @pages: pages
 * @offset: of the first byte
 * @length: bytes
 *
 * Context: any.
 */
void skr_memory_borrow(struct skr_memory *mem, struct page **pages, u64 offset, u64 length);

/**
 * skr_memory_put() - let memory go
 * @mem: from skr_memory_get(), or all zero; no key leads to it any more
 *
 * Context: process.
 */
void skr_memory_put(struct skr_memory *mem);

/**
 * skr_memory_renew() - the same memory for other use
 * @mem: set up on success: the same as @old, if that will do
 * @dev: device
 * @old: memory of a region; it stays as it is
 * @access: IB_ACCESS_* that it will be used for
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int skr_memory_renew(struct skr_memory *mem, struct skr_dev *dev, const struct skr_memory *old,
		     int access);

/**
 * skr_memory_same() - is it one and the same?
 * @a: memory
 * @b: memory
 *
 * Return: true if letting one go lets the other one go.
 */
static inline bool skr_memory_same(const struct skr_memory *a, const struct skr_memory *b)
{
	return a->umem == b->umem && a->odp == b->odp && a->dmabuf == b->dmabuf;
}

/**
 * skr_memory_piece() - where bytes are
 * @mem: memory without @mem->odp
 * @at: offset of the first one
 * @length: bytes that are wanted; reduced to those that follow one another
 *
 * Context: any, under dev->mr_srcu.
 * Return: their kernel address.
 */
static inline void *skr_memory_piece(const struct skr_memory *mem, u64 at, u32 *length)
{
	if (mem->vaddr)
		return mem->vaddr + at;
	at += mem->offset;
	*length = min_t(u32, *length, PAGE_SIZE - offset_in_page(at));
	return page_address(mem->pages[at >> PAGE_SHIFT]) + offset_in_page(at);
}

#endif /* SKR_MEM_MEMORY_H */
