// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * ib_core keeps the GID table; nothing of it is copied here.
 *
 * It gives a port the addresses of its netdev and of the netdevs on that, and those of
 * a VLAN device to none but the port on the real device. So the port of a link on a
 * VLAN device is, for ib_core, on the real device, and what it brings that is not the
 * VLAN device's goes again. To refuse a GID is an error to ib_core, with lines in the
 * log for each address that somebody adds anywhere on the real device: they are let in,
 * no address vector takes them, and a moment later they are deleted. So are addresses in
 * other namespaces, of VLAN devices and others that were moved there from on top of a link.
 */
#include "verbs.h"

#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../net/vlan.h"

/**
 * struct skr_others_gids - GIDs to be deleted
 * @node: in skr_others.list
 * @ndev: the netdev that has them; held
 * @tracker: that reference
 */
struct skr_others_gids {
	struct list_head	node;
	struct net_device	*ndev;
	netdevice_tracker	tracker;
};

/*
 * So many of the table's entries others' GIDs may have at a time. More of them are refused,
 * with lines in the log: the table must not be full when the link's own come, for nobody
 * brings those again.
 */
#define SKR_OTHERS_GIDS	(SKR_GIDS / 2)

/*
 * A netdev that has moved to where the link is has lost by that what is to be deleted, and
 * may have got addresses that are the link's.
 */
static void skr_others_delete(struct skr_dev *dev, struct net_device *ndev)
{
	if (skr_vlan_ours(dev, ndev))
		return;
	/* takes the table's lock: what is being added is there by then */
	roce_del_all_netdev_gids(&dev->ibdev, SKR_PORT, ndev);
	if (skr_vlan_ours(dev, ndev) && ib_device_try_get(&dev->ibdev)) {
		/* it came just now */
		rdma_roce_rescan_port(&dev->ibdev, SKR_PORT);
		ib_device_put(&dev->ibdev);
	}
}

static void skr_others_work(struct work_struct *work)
{
	struct skr_dev *dev = container_of(work, struct skr_dev, others.work);
	struct skr_others_gids *gids, *next;
	LIST_HEAD(list);

	spin_lock(&dev->others.lock);
	list_splice_init(&dev->others.list, &list);
	spin_unlock(&dev->others.lock);

	list_for_each_entry_safe(gids, next, &list, node) {
		skr_others_delete(dev, gids->ndev);
		netdev_put(gids->ndev, &gids->tracker);
		kfree(gids);
	}
}

void skr_others_init(struct skr_dev *dev)
{
	spin_lock_init(&dev->others.lock);
	INIT_LIST_HEAD(&dev->others.list);
	INIT_WORK(&dev->others.work, skr_others_work);
}

void skr_others_flush(struct skr_dev *dev)
{
	flush_work(&dev->others.work);
}

/* ib_core calls this, and skr_del_gid(), with the lock of its table. */
int skr_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct net_device *ndev = rcu_dereference_protected(attr->ndev, true);
	struct skr_dev *dev = skr_dev(attr->device);
	struct skr_others_gids *gids;

	if (skr_vlan_ours(dev, ndev))
		return 0;
	if (dev->others.gids >= SKR_OTHERS_GIDS)
		return -ENOSPC;
	gids = kzalloc_obj(*gids, GFP_KERNEL);
	if (!gids)
		return -ENOMEM;
	netdev_hold(ndev, &gids->tracker, GFP_KERNEL);
	gids->ndev = ndev;
	spin_lock(&dev->others.lock);
	list_add_tail(&gids->node, &dev->others.list);
	spin_unlock(&dev->others.lock);
	/* on any CPU: who adds them may keep this one busy until the last is in */
	queue_work(system_dfl_wq, &dev->others.work);
	dev->others.gids++;
	*context = &dev->others;
	return 0;
}

int skr_del_gid(const struct ib_gid_attr *attr, void **context)
{
	if (*context)
		skr_dev(attr->device)->others.gids--;
	return 0;
}
