/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Memory regions and their keys.
 *
 * A region is found by key under dev->mr_srcu and may be used until that is
 * released; whoever takes a region away erases its key first and then waits
 * for dev->mr_srcu. No reference is counted per packet.
 */
#ifndef SKR_MEM_REGION_H
#define SKR_MEM_REGION_H

#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#include "../device.h"

/**
 * enum skr_mr_kind - where a region's memory is
 * @SKR_MR_DMA: all of the kernel's memory; an address is a kernel address
 * @SKR_MR_USER: pinned pages of a process
 */
enum skr_mr_kind {
	SKR_MR_DMA,
	SKR_MR_USER,
};

/**
 * struct skr_mr - a memory region
 * @ibmr: ib_core's part
 * @umem: pinned pages; SKR_MR_USER
 * @pages: the same, one by one; SKR_MR_USER
 * @kind: where the memory is
 * @access: IB_ACCESS_*
 * @iova: first address; SKR_MR_USER
 * @length: bytes; SKR_MR_USER
 * @offset: of @iova in the first page
 */
struct skr_mr {
	struct ib_mr		ibmr;
	struct ib_umem		*umem;
	struct page		**pages;
	enum skr_mr_kind	kind;
	int			access;
	u64			iova;
	u64			length;
	u32			offset;
};

/**
 * skr_mr() - our region
 * @ibmr: ib_core's view of it
 *
 * Return: the region that contains @ibmr.
 */
static inline struct skr_mr *skr_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct skr_mr, ibmr);
}

/**
 * skr_mr_alloc_key() - give a region its key and make it findable
 * @dev: device
 * @mr: complete region; lkey and rkey are set
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int skr_mr_alloc_key(struct skr_dev *dev, struct skr_mr *mr);

/**
 * skr_mr_free_key() - make a region unfindable and wait for its users
 * @dev: device
 * @mr: region
 *
 * Context: process.
 */
void skr_mr_free_key(struct skr_dev *dev, struct skr_mr *mr);

/**
 * skr_mr_find() - find the region for an access
 * @dev: device
 * @pd: protection domain of the QP
 * @key: lkey or rkey
 * @access: IB_ACCESS_* that are all needed, or 0 for a local read
 * @addr: first address
 * @length: bytes, more than 0
 *
 * Address arithmetic is safe up to the last byte of the 64-bit space.
 *
 * Context: under dev->mr_srcu.
 * Return: the region, or NULL if the key, the domain, the access or the range
 *	is wrong.
 */
struct skr_mr *skr_mr_find(struct skr_dev *dev, struct ib_pd *pd, u32 key, int access,
			   u64 addr, u64 length);

#endif /* SKR_MEM_REGION_H */
