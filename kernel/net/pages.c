// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "pages.h"

#include <linux/local_lock.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <net/sock.h>

/* Pages that a CPU keeps when they are full */
#define SKR_PAGES_FULL	16
/* ... of this size, which the stack's own allocator has if it can */
#define SKR_PAGES_BYTES	max_t(u32, SZ_32K, PAGE_SIZE)

/**
 * struct skr_pages - a CPU's pages
 * @lock: names the critical section; softirq is off in it
 * @frag: page in use, held
 * @full: pages that were in use before, held, or NULL: one whose packets are gone is
 *	used again
 * @oldest: the one of @full that has waited longest
 */
struct skr_pages {
	local_lock_t		lock;
	struct page_frag	frag;
	struct page		*full[SKR_PAGES_FULL];
	u32			oldest;
};

static DEFINE_PER_CPU(struct skr_pages, skr_pages) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

/* The page in use is spent: keep it, and go on with the oldest one if nobody else has it. */
static void skr_pages_turn(struct skr_pages *pages)
{
	struct page_frag *frag = &pages->frag;
	struct page *page = pages->full[pages->oldest];

	if (frag->size < SKR_PAGES_BYTES || page_is_pfmemalloc(frag->page)) {
		put_page(frag->page);
		frag->page = NULL;
		return;
	}
	pages->full[pages->oldest] = frag->page;
	pages->oldest = (pages->oldest + 1) % SKR_PAGES_FULL;
	if (page && page_ref_count(page) != 1) {
		put_page(page);
		page = NULL;
	}
	frag->page = page;
	frag->offset = 0;
	frag->size = page ? page_size(page) : 0;
}

/* Must another page be found for so much? */
static bool skr_pages_spent(const struct page_frag *frag, u32 bytes)
{
	bool unused = page_ref_count(frag->page) == 1;

	/* what was for an emergency is not kept for every day */
	if (unused && page_is_pfmemalloc(frag->page))
		return true;
	/* one that is too small even when it is empty is no use either */
	return frag->size - frag->offset < bytes && (!unused || frag->size < bytes);
}

struct page_frag *skr_pages_begin(u32 bytes)
{
	struct skr_pages *pages;
	struct page_frag *frag;

	local_lock_nested_bh(&skr_pages.lock);
	pages = this_cpu_ptr(&skr_pages);
	frag = &pages->frag;
	if (frag->page && skr_pages_spent(frag, bytes))
		skr_pages_turn(pages);
	if (!skb_page_frag_refill(bytes, frag, GFP_ATOMIC | __GFP_NOWARN) ||
	    frag->size - frag->offset < bytes)
		return NULL;
	return frag;
}

void skr_pages_end(void)
{
	local_unlock_nested_bh(&skr_pages.lock);
}

void *skr_pages_piece(u32 bytes)
{
	struct page_frag *frag = skr_pages_begin(bytes + SMP_CACHE_BYTES - 1);
	void *piece = NULL;

	if (frag) {
		frag->offset = ALIGN(frag->offset, SMP_CACHE_BYTES);
		piece = page_address(frag->page) + frag->offset;
		frag->offset += bytes;
		get_page(frag->page);
	}
	skr_pages_end();
	return piece;
}

void skr_pages_exit(void)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		struct skr_pages *pages = per_cpu_ptr(&skr_pages, cpu);

		if (pages->frag.page)
			put_page(pages->frag.page);
		for (i = 0; i < SKR_PAGES_FULL; i++)
			if (pages->full[i])
				put_page(pages->full[i]);
	}
}
