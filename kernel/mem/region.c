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
	/* all numbers are taken: as any other limit */
	if (err < 0)
		return -ENOMEM;

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
	RCU_LOCKDEP_WARN(!srcu_read_lock_held(&dev->mr_srcu), "a key without mr_srcu");
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
	if (skr_key_changes(key))
		lockdep_assert_held(&key->lock);
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

void *skr_mr_hold_other(const struct skr_mr *mr, u64 addr, u32 *length, bool write,
			struct skr_odp_table **held)
{
	u64 at = addr - mr->key.start;

	*held = NULL;
	switch (mr->key.kind) {
	case SKR_MR_DMA:
		return (void *)(uintptr_t)addr;
	case SKR_MR_FAST:
		return skr_page_list_piece(&mr->list, at, length);
	default:
		return skr_odp_hold(mr->mem.odp, at, length, write, held);
	}
}

static bool skr_absent_same(const struct skr_absent *a, const struct skr_absent *b)
{
	return a->key == b->key && a->addr >> PAGE_SHIFT == b->addr >> PAGE_SHIFT &&
	       a->write == b->write;
}

void skr_mr_missed(struct skr_miss *miss, const struct skr_absent *what)
{
	if (miss->hopeless && skr_absent_same(&miss->gone, what)) {
		miss->hopeless = false;
		return;
	}
	miss->missed = true;
	miss->what = *what;
}

/* The memory of a region that may have gone, with a reference, or NULL. */
static struct skr_odp *skr_mr_get_odp(struct skr_dev *dev, const struct skr_absent *what, u64 *at)
{
	struct skr_odp *odp = NULL;
	struct skr_key *key;
	struct skr_mr *mr;
	int idx;

	idx = srcu_read_lock(&dev->mr_srcu);
	key = skr_key_find(dev, what->key);
	if (key && key->kind == SKR_MR_USER && key->key == what->key) {
		mr = container_of(key, struct skr_mr, key);
		odp = mr->mem.odp;
		*at = what->addr - key->start;
	}
	if (odp)
		kref_get(&odp->ref);
	srcu_read_unlock(&dev->mr_srcu, idx);
	return odp;
}

int skr_mr_bring(struct skr_dev *dev, const struct skr_absent *what)
{
	struct skr_odp *odp;
	u64 at;
	int err;

	odp = skr_mr_get_odp(dev, what, &at);
	/* gone, or another: the next attempt will see */
	if (!odp)
		return 0;
	err = skr_odp_bring(odp, at, what->length,
			    what->write ? SKR_BRING_WRITE : SKR_BRING_READ);
	skr_odp_put(odp);
	return err;
}

/* @first: address of the first byte; NULL: the region's own first one */
static bool skr_key_grants(struct skr_key *key, const struct skr_who *who, u32 value, int access,
			   const u64 *first, u64 length)
{
	u64 addr;
	bool ok;

	if (!skr_key_changes(key)) {
		addr = first ? *first : key->start;
		return skr_key_resolve(key, who, value, access, &addr, length);
	}
	read_lock(&key->lock);
	addr = first ? *first : key->start;
	ok = skr_key_resolve(key, who, value, access, &addr, length);
	read_unlock(&key->lock);
	return ok;
}

bool skr_access_ok(const struct skr_who *who, u32 value, int access, u64 addr, u64 length)
{
	struct skr_key *key = skr_key_seek(who, value);

	return key && skr_key_grants(key, who, value, access, &addr, length);
}

bool skr_access_all_ok(const struct skr_who *who, u32 value, int access)
{
	struct skr_key *key = skr_key_seek(who, value);

	/* nothing from its first byte on: the range cannot be wrong */
	return key && skr_key_grants(key, who, value, access, NULL, 0);
}
