// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "bind.h"

/*
 * A fast region or window that work requests of @who may change, or NULL. Its
 * key's low byte is the consumer's to choose.
 */
static struct skr_key *skr_find_changing(const struct skr_who *who, u32 value)
{
	struct skr_key *key = skr_key_find(who->dev, value);

	return key && skr_key_changes(key) && key->pd == who->pd ? key : NULL;
}

/* Is there as much memory as a region is to have? Its length is the consumer's word. */
static bool skr_page_list_holds(const struct skr_page_list *list, u64 length)
{
	return list->n && length <= ((u64)list->n << list->shift) - list->offset;
}

static bool skr_reg_locked(struct skr_mr *mr, const struct skerry_send_wqe *req)
{
	/* nothing was mapped since the last time: the same memory again */
	bool fresh = mr->next.n;

	lockdep_assert_held_write(&mr->key.lock);
	if (mr->key.valid || !skr_page_list_holds(fresh ? &mr->next : &mr->list, req->mem.length))
		return false;
	if (fresh) {
		swap(mr->list, mr->next);
		mr->next.n = 0;
	}
	mr->key.key = req->mem.key;
	mr->key.access = req->mem.access;
	mr->key.start = req->mem.addr;
	mr->key.length = req->mem.length;
	mr->key.valid = true;
	return true;
}

bool skr_reg(const struct skr_who *who, const struct skerry_send_wqe *req)
{
	struct skr_key *key = skr_find_changing(who, req->mem.key);
	bool ok;

	if (!key || key->kind != SKR_MR_FAST)
		return false;
	write_lock(&key->lock);
	ok = skr_reg_locked(container_of(key, struct skr_mr, key), req);
	write_unlock(&key->lock);
	return ok;
}

/* The region for a window, with the window counted, or NULL. */
static struct skr_mr *skr_bind_region(const struct skr_who *who,
				      const struct skerry_send_wqe *req)
{
	const int writes = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC;
	struct skr_key *key = skr_key_find(who->dev, req->mem.lkey);
	u64 addr = req->mem.addr;
	struct skr_mr *mr;

	/* a window is bound to memory of a process, which is all that can have one */
	if (!key || key->kind != SKR_MR_USER)
		return NULL;
	mr = skr_key_resolve(key, who, req->mem.lkey, IB_ACCESS_MW_BIND, &addr, req->mem.length);
	if (!mr || (req->mem.access & writes && !(key->access & IB_ACCESS_LOCAL_WRITE)))
		return NULL;
	/* less than 0: it is being deregistered */
	return atomic_inc_unless_negative(&mr->windows) ? mr : NULL;
}

static void skr_unbind_locked(struct skr_mw *mw)
{
	lockdep_assert_held_write(&mw->key.lock);
	if (mw->mr)
		atomic_dec(&mw->mr->windows);
	mw->mr = NULL;
	mw->key.valid = false;
}

static bool skr_bind_locked(struct skr_mw *mw, const struct skr_who *who,
			    const struct skerry_send_wqe *req)
{
	bool zero_based = req->mem.access & IB_ZERO_BASED;
	bool type_2 = mw->key.kind == SKR_MW_2;
	struct skr_mr *mr = NULL;

	/* type 2 is bound only while it is not, never by length 0; type 1 has no offsets */
	if (type_2 ? mw->key.valid || !req->mem.length : zero_based)
		return false;
	if (req->mem.length) {
		mr = skr_bind_region(who, req);
		if (!mr)
			return false;
	}
	skr_unbind_locked(mw);
	mw->key.key = req->mem.key;
	mw->key.access = req->mem.access & SKR_ACCESS_REMOTE;
	mw->key.start = zero_based ? 0 : req->mem.addr;
	mw->key.length = req->mem.length;
	mw->key.valid = mr;
	mw->base = req->mem.addr;
	mw->qpn = who->qpn;
	mw->mr = mr;
	return true;
}

bool skr_bind(const struct skr_who *who, const struct skerry_send_wqe *req)
{
	struct skr_key *key = skr_find_changing(who, req->mem.key);
	bool ok;

	if (!key || key->kind == SKR_MR_FAST)
		return false;
	write_lock(&key->lock);
	ok = skr_bind_locked(container_of(key, struct skr_mw, key), who, req);
	write_unlock(&key->lock);
	return ok;
}

static bool skr_invalidate_locked(struct skr_key *key, const struct skr_who *who, u32 value)
{
	struct skr_mw *mw;

	lockdep_assert_held_write(&key->lock);
	if (key->key != value || !key->valid)
		return false;
	if (key->kind == SKR_MR_FAST) {
		key->valid = false;
		return true;
	}
	mw = container_of(key, struct skr_mw, key);
	if (mw->qpn != who->qpn)
		return false;
	skr_unbind_locked(mw);
	return true;
}

bool skr_invalidate(const struct skr_who *who, u32 value)
{
	struct skr_key *key = skr_find_changing(who, value);
	bool ok;

	if (!key || key->kind == SKR_MW_1)
		return false;
	write_lock(&key->lock);
	ok = skr_invalidate_locked(key, who, value);
	write_unlock(&key->lock);
	return ok;
}

void skr_unbind(struct skr_mw *mw)
{
	write_lock_bh(&mw->key.lock);
	skr_unbind_locked(mw);
	write_unlock_bh(&mw->key.lock);
}
