// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Bringing pages in ahead of their use.
 */
#include <linux/slab.h>

#include "../mem/region.h"
#include "../transport/fault.h"
#include "verbs.h"

/**
 * struct skr_prefetch_range - one entry of the list
 * @odp: memory, held
 * @at: offset of the first byte
 * @length: bytes, more than 0
 */
struct skr_prefetch_range {
	struct skr_odp	*odp;
	u64		at;
	u64		length;
};

/**
 * struct skr_prefetch - what one call asks for
 * @work: brings it in, if nobody waits
 * @ticket: then
 * @how: for what
 * @n: entries of @range
 * @range: ranges
 */
struct skr_prefetch {
	struct work_struct		work;
	struct skr_fault_ticket		ticket;
	enum skr_bring			how;
	u32				n;
	struct skr_prefetch_range	range[] __counted_by(n);
};

/* Find an entry's memory. Return: 0, or -EFAULT if it must not be accessed so. */
static int skr_prefetch_find(struct skr_prefetch_range *range, const struct skr_who *who,
			     const struct ib_sge *sge, enum skr_bring how)
{
	struct skr_key *key = skr_key_find(who->dev, sge->lkey);
	u64 addr = sge->addr;
	struct skr_mr *mr;

	if (!key || key->kind != SKR_MR_USER)
		return -EFAULT;
	mr = skr_key_resolve(key, who, sge->lkey,
			     how == SKR_BRING_WRITE ? IB_ACCESS_LOCAL_WRITE : 0, &addr,
			     sge->length);
	if (!mr || !mr->mem.odp)
		return -EFAULT;
	kref_get(&mr->mem.odp->ref);
	range->odp = mr->mem.odp;
	range->at = addr - key->start;
	range->length = sge->length;
	return 0;
}

static void skr_prefetch_free(struct skr_prefetch *prefetch)
{
	u32 i;

	for (i = 0; i < prefetch->n; i++)
		if (prefetch->range[i].odp)
			skr_odp_put(prefetch->range[i].odp);
	kvfree(prefetch);
}

static int skr_prefetch_run(struct skr_prefetch *prefetch)
{
	const struct skr_prefetch_range *range = prefetch->range;
	int err = 0;
	u32 i;

	for (i = 0; i < prefetch->n && !err; i++, range++)
		if (range->length)
			err = skr_odp_bring(range->odp, range->at, range->length, prefetch->how);
	return err;
}

/* Advice: nobody hears of a failure. */
static void skr_prefetch_work(struct work_struct *work)
{
	struct skr_prefetch *prefetch = container_of(work, struct skr_prefetch, work);
	struct skr_fault_ticket ticket = prefetch->ticket;

	skr_prefetch_run(prefetch);
	skr_prefetch_free(prefetch);
	skr_fault_done(ticket);
}

static struct skr_prefetch *skr_prefetch_prepare(struct ib_pd *pd, enum skr_bring how,
						 const struct ib_sge *sge, u32 n)
{
	struct skr_dev *dev = skr_dev(pd->device);
	const struct skr_who who = { .dev = dev, .pd = pd };
	struct skr_prefetch *prefetch;
	int err = 0;
	int idx;
	u32 i;

	prefetch = kvzalloc(struct_size(prefetch, range, n), GFP_KERNEL_ACCOUNT);
	if (!prefetch)
		return ERR_PTR(-ENOMEM);
	INIT_WORK(&prefetch->work, skr_prefetch_work);
	prefetch->how = how;
	prefetch->n = n;
	idx = srcu_read_lock(&dev->mr_srcu);
	for (i = 0; i < n && !err; i++)
		err = skr_prefetch_find(&prefetch->range[i], &who, &sge[i], how);
	srcu_read_unlock(&dev->mr_srcu, idx);
	if (err) {
		skr_prefetch_free(prefetch);
		return ERR_PTR(err);
	}
	return prefetch;
}

int skr_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		  struct ib_sge *sge, u32 num_sge, struct uverbs_attr_bundle *attrs)
{
	static const enum skr_bring how[] = {
		[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH] = SKR_BRING_READ,
		[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE] = SKR_BRING_WRITE,
		[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT] = SKR_BRING_PRESENT,
	};
	struct skr_fault_lane **lane = attrs ? &skr_ucontext(attrs->context)->lane : NULL;
	struct skr_prefetch *prefetch;
	int err;

	if ((u32)advice >= ARRAY_SIZE(how))
		return -EOPNOTSUPP;
	prefetch = skr_prefetch_prepare(pd, how[advice], sge, num_sge);
	if (IS_ERR(prefetch))
		return PTR_ERR(prefetch);
	if (!(flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)) {
		skr_fault_queue(skr_dev(pd->device), lane, &prefetch->work, &prefetch->ticket);
		return 0;
	}
	err = skr_prefetch_run(prefetch);
	skr_prefetch_free(prefetch);
	return err;
}
