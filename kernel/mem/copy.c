// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "copy.h"

#include <linux/atomic.h>
#include <linux/highmem.h>

/**
 * struct skr_copy - one side of a copy that is not a region
 * @to: memory to copy to, or NULL
 * @from: memory to copy from, or NULL
 * @skb: packet to copy from, or NULL
 * @skb_offset: where in the packet
 */
struct skr_copy {
	void			*to;
	const void		*from;
	const struct sk_buff	*skb;
	u32			skb_offset;
};

static void skr_copy_piece(const struct skr_copy *copy, u32 done, void *piece, u32 length)
{
	if (copy->to)
		memcpy(copy->to + done, piece, length);
	else if (copy->from)
		memcpy(piece, copy->from + done, length);
	else if (skb_copy_bits(copy->skb, copy->skb_offset + done, piece, length))
		WARN_ON_ONCE(1);	/* lengths were proven at the door */
}

static void *skr_mr_piece(const struct skr_mr *mr, u64 addr, u32 *length)
{
	u64 at;

	if (mr->kind == SKR_MR_DMA)
		return (void *)(uintptr_t)addr;
	at = addr - mr->iova + mr->offset;
	*length = min_t(u32, *length, PAGE_SIZE - offset_in_page(at));
	return page_address(mr->pages[at >> PAGE_SHIFT]) + offset_in_page(at);
}

static void skr_mr_copy(const struct skr_mr *mr, u64 addr, u32 length,
			const struct skr_copy *copy, u32 done)
{
	while (length) {
		u32 n = length;
		void *piece = skr_mr_piece(mr, addr, &n);

		skr_copy_piece(copy, done, piece, n);
		addr += n;
		done += n;
		length -= n;
	}
}

void skr_mr_read(const struct skr_mr *mr, u64 addr, void *to, u32 length)
{
	struct skr_copy copy = { .to = to };

	skr_mr_copy(mr, addr, length, &copy, 0);
}

void skr_mr_write_skb(const struct skr_mr *mr, u64 addr, const struct sk_buff *skb,
		      u32 offset, u32 length)
{
	struct skr_copy copy = { .skb = skb, .skb_offset = offset };

	skr_mr_copy(mr, addr, length, &copy, 0);
}

u64 skr_mr_atomic(const struct skr_mr *mr, u64 addr, bool is_cas, u64 swap_add, u64 compare)
{
	u32 length = sizeof(u64);
	atomic64_t *v = skr_mr_piece(mr, addr, &length);

	return is_cas ? atomic64_cmpxchg(v, compare, swap_add) :
			atomic64_fetch_add(swap_add, v);
}

static bool skr_sges_copy(const struct skr_sges *sges, u32 offset, u32 length, int access,
			  const struct skr_copy *copy)
{
	u32 done = 0;
	u32 i;

	for (i = 0; i < sges->num_sge && done < length; i++) {
		const struct skerry_sge *sge = &sges->sge[i];
		struct skr_mr *mr;
		u32 n;

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		n = min(length - done, sge->length - offset);
		/* The whole entry must be right, not only the part in use. */
		mr = skr_mr_find(sges->dev, sges->pd, sge->lkey, access, sge->addr, sge->length);
		if (!mr)
			return false;
		skr_mr_copy(mr, sge->addr + offset, n, copy, done);
		done += n;
		offset = 0;
	}
	return done == length;
}

bool skr_sges_read(const struct skr_sges *sges, u32 offset, void *to, u32 length)
{
	struct skr_copy copy = { .to = to };

	return skr_sges_copy(sges, offset, length, 0, &copy);
}

bool skr_sges_write_skb(const struct skr_sges *sges, u32 offset, const struct sk_buff *skb,
			u32 skb_offset, u32 length)
{
	struct skr_copy copy = { .skb = skb, .skb_offset = skb_offset };

	return skr_sges_copy(sges, offset, length, IB_ACCESS_LOCAL_WRITE, &copy);
}

bool skr_sges_write(const struct skr_sges *sges, u32 offset, const void *from, u32 length)
{
	struct skr_copy copy = { .from = from };

	return skr_sges_copy(sges, offset, length, IB_ACCESS_LOCAL_WRITE, &copy);
}
