// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "region.h"

#include <linux/random.h>

int skr_key_add(struct skr_dev *dev, struct skr_key *key)
{
	u32 index;
	int err;

	rwlock_init(&key->lock);
	/* Index 0 is left out: key 0 means "none" to many consumers. */
	err = xa_alloc_cyclic(&dev->mrs, &index, NULL, XA_LIMIT(1, SKR_MAX_KEYS), &dev->mr_next,
			      GFP_KERNEL);
	if (err < 0)
		return err;

	key->key = index << SKR_KEY_SHIFT | get_random_u8();
	return xa_err(xa_store(&dev->mrs, index, key, GFP_KERNEL));
}

void skr_key_remove(struct skr_dev *dev, struct skr_key *key)
{
	xa_erase(&dev->mrs, key->key >> SKR_KEY_SHIFT);
	synchronize_srcu_expedited(&dev->mr_srcu);
}

void skr_key_hide(struct skr_dev *dev, struct skr_key *key)
{
	/* the place stays taken */
	xa_store(&dev->mrs, key->key >> SKR_KEY_SHIFT, XA_ZERO_ENTRY, GFP_KERNEL);
	synchronize_srcu_expedited(&dev->mr_srcu);
}

void skr_key_show(struct skr_dev *dev, struct skr_key *key)
{
	xa_store(&dev->mrs, key->key >> SKR_KEY_SHIFT, key, GFP_KERNEL);
}

struct skr_key *skr_key_find(struct skr_dev *dev, u32 key)
{
	return xa_load(&dev->mrs, key >> SKR_KEY_SHIFT);
}

static bool skr_key_covers(const struct skr_key *key, u64 addr, u64 length)
{
	u64 offset = addr - key->start;

	if (key->kind == SKR_MR_DMA)
		return length <= U64_MAX - addr;
	/* Subtractions only: start + length may be 2^64. */
	return addr >= key->start && offset <= key->length && length <= key->length - offset;
}

/* IBTA 10.6.7.2: a window is for the peer, and one of type 2 for its QP's */
static struct skr_mr *skr_mw_resolve(struct skr_mw *mw, const struct skr_who *who, int access,
				     u64 *addr)
{
	if (!(access & SKR_ACCESS_REMOTE))
		return NULL;
	if (mw->key.kind == SKR_MW_2 && mw->qpn != who->qpn)
		return NULL;
	*addr += mw->base - mw->key.start;
	return mw->mr;
}

struct skr_mr *skr_key_resolve(struct skr_key *key, const struct skr_who *who, u32 value,
			       int access, u64 *addr, u64 length)
{
	if (key->key != value || !key->valid || key->pd != who->pd)
		return NULL;
	if ((key->access & access) != access || !skr_key_covers(key, *addr, length))
		return NULL;
	if (key->kind == SKR_MW_1 || key->kind == SKR_MW_2)
		return skr_mw_resolve(container_of(key, struct skr_mw, key), who, access, addr);
	return container_of(key, struct skr_mr, key);
}

static void *skr_page_list_piece(const struct skr_page_list *list, u64 at, u32 *length)
{
	u64 page_bytes = 1ULL << list->shift;
	u64 in_page;

	at += list->offset;
	in_page = at & (page_bytes - 1);
	*length = min_t(u64, *length, page_bytes - in_page);
	return (void *)(uintptr_t)(list->addr[at >> list->shift] + in_page);
}

void *skr_mr_piece(const struct skr_mr *mr, u64 addr, u32 *length)
{
	u64 at = addr - mr->key.start;

	switch (mr->key.kind) {
	case SKR_MR_DMA:
		return (void *)(uintptr_t)addr;
	case SKR_MR_FAST:
		return skr_page_list_piece(&mr->list, at, length);
	default:
		return skr_memory_piece(&mr->mem, at, length);
	}
}

bool skr_access_ok(const struct skr_who *who, u32 value, int access, u64 addr, u64 length)
{
	struct skr_key *key = skr_key_find(who->dev, value);
	bool ok;

	if (!key)
		return false;
	if (!skr_key_changes(key))
		return skr_key_resolve(key, who, value, access, &addr, length);
	read_lock(&key->lock);
	ok = skr_key_resolve(key, who, value, access, &addr, length);
	read_unlock(&key->lock);
	return ok;
}
