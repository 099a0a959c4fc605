// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "dest.h"

#include <linux/slab.h>

#include "prio.h"

struct skr_dest *skr_dest_create(struct skr_dev *dev, struct ib_pd *pd,
				 const struct rdma_ah_attr *attr, gfp_t gfp)
{
	struct skr_dest *dest;
	unsigned long flags;
	int err;

	dest = kzalloc_obj(*dest, gfp);
	if (!dest)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&dest->lock);
	dest->pd = pd;
	err = skr_av_init(&dest->av, attr, 0, 0);
	if (err)
		goto err_free;

	xa_lock_irqsave(&dev->ahs, flags);
	err = __xa_alloc_cyclic(&dev->ahs, &dest->num, dest, XA_LIMIT(1, SKR_MAX_AH),
				&dev->ah_next, gfp);
	xa_unlock_irqrestore(&dev->ahs, flags);
	if (err < 0) {
		/* all numbers are taken: as any other limit */
		err = -ENOMEM;
		goto err_free;
	}
	return dest;

err_free:
	kfree(dest);
	return ERR_PTR(err);
}

static void skr_dest_free(struct rcu_head *rcu)
{
	struct skr_dest *dest = container_of(rcu, struct skr_dest, rcu);

	skr_av_release(&dest->av);
	kfree(dest);
}

void skr_dest_destroy(struct skr_dev *dev, struct skr_dest *dest)
{
	unsigned long flags;

	xa_lock_irqsave(&dev->ahs, flags);
	__xa_erase(&dev->ahs, dest->num);
	xa_unlock_irqrestore(&dev->ahs, flags);
	call_rcu(&dest->rcu, skr_dest_free);
}

bool skr_dest_find(struct skr_dev *dev, const struct ib_pd *pd, u32 num, struct skr_av *av)
{
	struct skr_dest *dest;
	bool found;

	rcu_read_lock();
	dest = xa_load(&dev->ahs, num);
	found = dest && dest->pd == pd;
	if (found) {
		spin_lock(&dest->lock);
		skr_av_route(dev, &dest->av);
		skr_prio_find(dev, &dest->av);
		*av = dest->av;
		if (av->dst)
			dst_hold(av->dst);
		spin_unlock(&dest->lock);
	}
	rcu_read_unlock();
	return found;
}
