/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Copying to and from registered memory, and atomic operations on it.
 */
#ifndef SKR_MEM_COPY_H
#define SKR_MEM_COPY_H

#include <linux/skbuff.h>
#include <rdma/skerry-abi.h>

#include "region.h"

/**
 * skr_mr_read() - copy out of a region
 * @mr: region that skr_mr_find() returned for this range
 * @addr: first address
 * @to: where to
 * @length: bytes
 *
 * Context: under dev->mr_srcu; any context otherwise.
 */
void skr_mr_read(const struct skr_mr *mr, u64 addr, void *to, u32 length);

/**
 * skr_mr_write_skb() - copy from a packet into a region
 * @mr: region that skr_mr_find() returned for this range with write access
 * @addr: first address
 * @skb: packet, linear or not
 * @offset: of the first byte, from skb->data
 * @length: bytes, all within @skb
 *
 * Context: under dev->mr_srcu; any context otherwise.
 */
void skr_mr_write_skb(const struct skr_mr *mr, u64 addr, const struct sk_buff *skb,
		      u32 offset, u32 length);

/**
 * skr_mr_atomic() - compare-and-swap or fetch-and-add in a region
 * @mr: region that skr_mr_find() returned for these eight bytes
 * @addr: a multiple of 8
 * @is_cas: compare and swap, else fetch and add
 * @swap_add: value to store or to add
 * @compare: value to compare with
 *
 * A real CPU atomic on the mapped page: atomic to the host's own accesses and
 * to all QPs and devices.
 *
 * Context: under dev->mr_srcu; any context otherwise.
 * Return: the value before.
 */
u64 skr_mr_atomic(const struct skr_mr *mr, u64 addr, bool is_cas, u64 swap_add, u64 compare);

/**
 * struct skr_sges - a list of local memory as one range of bytes
 * @dev: device
 * @pd: protection domain of the QP
 * @sge: entries
 * @num_sge: how many
 */
struct skr_sges {
	struct skr_dev		*dev;
	struct ib_pd		*pd;
	const struct skerry_sge	*sge;
	u32			num_sge;
};

/**
 * skr_sges_read() - gather
 * @sges: where from
 * @offset: of the first byte
 * @to: where to
 * @length: bytes; @offset + @length within the list
 *
 * Context: under dev->mr_srcu; any context otherwise.
 * Return: false if an entry's key, domain, access or range is wrong.
 */
bool skr_sges_read(const struct skr_sges *sges, u32 offset, void *to, u32 length);

/**
 * skr_sges_write_skb() - scatter the bytes of a packet
 * @sges: where to
 * @offset: of the first byte in the list
 * @skb: where from
 * @skb_offset: of the first byte in the packet, from skb->data
 * @length: bytes; @offset + @length within the list
 *
 * Context: under dev->mr_srcu; any context otherwise.
 * Return: false if an entry's key, domain, access or range is wrong.
 */
bool skr_sges_write_skb(const struct skr_sges *sges, u32 offset, const struct sk_buff *skb,
			u32 skb_offset, u32 length);

/**
 * skr_sges_write() - scatter bytes
 * @sges: where to
 * @offset: of the first byte in the list
 * @from: where from
 * @length: bytes; @offset + @length within the list
 *
 * Context: under dev->mr_srcu; any context otherwise.
 * Return: false if an entry's key, domain, access or range is wrong.
 */
bool skr_sges_write(const struct skr_sges *sges, u32 offset, const void *from, u32 length);

#endif /* SKR_MEM_COPY_H */
