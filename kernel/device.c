// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "device.h"

#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <linux/unaligned.h>
#include <linux/utsname.h>
#include <net/addrconf.h>
#include <rdma/ib_verbs.h>

#include "debug.h"
#include "net/netns.h"
#include "net/vlan.h"
#include "transport/fault.h"
#include "transport/mgroup.h"
#include "transport/poll.h"
#include "verbs/verbs.h"

/* Last step of ib_core's unregistration, and of a registration that failed */
static void skr_device_dealloc(struct ib_device *ibdev)
{
	struct skr_dev *dev = skr_dev(ibdev);

	if (!list_empty(&dev->node))
		skr_netns_del(dev);
	skr_others_flush(dev);
	skr_groups_destroy(dev);
	skr_poll_stop(dev);
	/* from here on the namespace may go: a page may take its time */
	netdev_put(dev->ndev, &dev->ndev_tracker);
	skr_fault_drain(dev);
	WARN_ON(!xa_empty(&dev->mrs));
	xa_destroy(&dev->mrs);
	WARN_ON(!xa_empty(&dev->counters));
	WARN_ON(!xa_empty(&dev->srqs));
	xa_destroy(&dev->srqs);
	xa_destroy(&dev->ahs);
	cleanup_srcu_struct(&dev->mr_srcu);
	free_percpu(dev->stats);
}

void skr_device_read_speed(struct skr_dev *dev)
{
	struct ethtool_link_ksettings link = {};

	rtnl_lock();
	if (dev->ndev->reg_state != NETREG_REGISTERED ||
	    __ethtool_get_link_ksettings(dev->ndev, &link) ||
	    link.base.speed == (u32)SPEED_UNKNOWN || !link.base.speed)
		link.base.speed = SPEED_1000;
	rtnl_unlock();
	WRITE_ONCE(dev->cc.mbps, link.base.speed);
}

void skr_device_update_port(struct skr_dev *dev)
{
	bool active = ib_get_curr_port_state(dev->ndev) == IB_PORT_ACTIVE;
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = SKR_PORT,
		.event = active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	ASSERT_RTNL();
	if (dev->port_active == active)
		return;
	dev->port_active = active;
	if (!active)
		skr_count(dev, SKR_CNT_LINK_DOWNED);
	ib_dispatch_event(&event);
}

/* What changes from here on is told by events, or by skr_device_settle(). */
static void skr_device_init_port(struct skr_dev *dev)
{
	rtnl_lock();
	dev->port_active = ib_get_curr_port_state(dev->ndev) == IB_PORT_ACTIVE;
	rtnl_unlock();
}

static void skr_device_init_cc(struct skr_dev *dev)
{
	skr_device_read_speed(dev);
	dev->cc.ops = &skr_cc_dcqcn;
	skr_cc_params_preset(&dev->cc.params, SKR_CC_SCALED, dev->cc.mbps);
}

/*
 * The device has been nowhere for a moment, between two namespaces. What befell its netdev
 * meanwhile was told to nobody, and a move is told once.
 */
static void skr_device_back(struct skr_dev *dev)
{
	rtnl_lock();
	if (dev->ndev->reg_state != NETREG_REGISTERED || !net_eq(dev_net(dev->ndev), dev->net))
		ib_unregister_device_queued(&dev->ibdev);
	else
		skr_device_update_port(dev);
	rtnl_unlock();
}

/*
 * A step of registration: nobody uses the device or can take it away yet. And the last one
 * of a move to another namespace.
 */
static int skr_device_enable(struct ib_device *ibdev)
{
	struct skr_dev *dev = skr_dev(ibdev);

	skr_others_flush(dev);
	if (dev->enabled)
		skr_device_back(dev);
	WRITE_ONCE(dev->enabled, true);
	return 0;
}

/* Of the MAC address, which a VLAN device shares with others: of its VLAN, too. */
static void skr_device_init_guid(struct ib_device *ibdev, const struct net_device *ndev)
{
	u8 *guid = (u8 *)&ibdev->node_guid;

	addrconf_addr_eui48(guid, ndev->dev_addr);
	if (is_vlan_dev(ndev))
		put_unaligned_be16(vlan_dev_vlan_id(ndev), guid + 3);
}

/*
 * Our own notifier tells of the port. ib_core would not for a bond or a VLAN device,
 * whose real device is the port's netdev.
 */
static void __maybe_unused skr_device_port_event(struct ib_device *ibdev,
						 struct net_device *ndev, unsigned long event)
{
}

static const struct ib_device_ops skr_own_ops = {
	.enable_driver = skr_device_enable,
	SKR_REPORT_PORT_EVENT(skr_device_port_event)
	.dealloc_driver = skr_device_dealloc,
};

static int skr_device_init(struct skr_dev *dev, struct net *net, struct net_device *ndev)
{
	struct ib_device *ibdev = &dev->ibdev;
	int err;

	dev->stats = alloc_percpu(struct skr_stats);
	if (!dev->stats)
		return -ENOMEM;
	err = init_srcu_struct(&dev->mr_srcu);
	if (err)
		goto err_free_stats;
	err = skr_groups_create(dev);
	if (err)
		goto err_cleanup_srcu;
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC1);
	xa_init_flags(&dev->srqs, XA_FLAGS_ALLOC1);
	xa_init_flags(&dev->counters, XA_FLAGS_ALLOC1);
	/* the connection manager makes and destroys handles with interrupts off */
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	INIT_LIST_HEAD(&dev->node);
	skr_others_init(dev);
	skr_poll_start(dev);
	dev->ndev = ndev;
	dev->net = net;
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
				  BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV);
	strscpy(ibdev->node_desc, init_utsname()->nodename, sizeof(ibdev->node_desc));
	skr_device_init_guid(ibdev, ndev);
	ibdev->driver_def = skr_driver_def;
	ib_set_device_ops(ibdev, &skr_device_ops);
	/* from now on ib_dealloc_device() undoes all of this */
	ib_set_device_ops(ibdev, &skr_own_ops);
	return 0;

err_cleanup_srcu:
	cleanup_srcu_struct(&dev->mr_srcu);
err_free_stats:
	free_percpu(dev->stats);
	return err;
}

/*
 * The netdev may have been unregistered, or have moved to another namespace, before our
 * notifier could find the device, or while it was not enabled: then nobody else takes it
 * away. And its carrier may have come or gone without an event.
 */
static int skr_device_settle(struct skr_dev *dev)
{
	bool registered = ib_device_try_get(&dev->ibdev);
	bool alive;

	rtnl_lock();
	alive = dev->ndev->reg_state == NETREG_REGISTERED && net_eq(dev_net(dev->ndev), dev->net);
	if (alive && registered)
		skr_device_update_port(dev);
	rtnl_unlock();
	if (registered && alive)
		ib_device_put(&dev->ibdev);
	else if (registered)
		ib_unregister_device_and_put(&dev->ibdev);
	return alive ? 0 : -ENODEV;
}

/* The namespace stays until the device's registration is settled. */
static struct net *skr_device_get_net(const struct net_device *ndev)
{
	struct net *net;

	rtnl_lock();
	net = maybe_get_net(dev_net(ndev));
	rtnl_unlock();
	return net;
}

static int skr_device_add_in(struct net *net, const char *name, struct net_device *ndev)
{
	struct skr_dev *dev;
	int err;

	dev = ib_alloc_device_with_net(skr_dev, ibdev, net);
	if (!dev)
		return -ENOMEM;
	err = skr_device_init(dev, net, ndev);
	if (err)
		goto err_dealloc;
	err = ib_device_set_netdev(&dev->ibdev, skr_vlan_port(ndev), SKR_PORT);
	if (err)
		goto err_dealloc;
	skr_device_init_port(dev);
	skr_device_init_cc(dev);
	err = skr_netns_add(dev);
	if (err)
		goto err_dealloc;
	ib_mark_name_assigned_by_user(&dev->ibdev);
	/* somebody may unregister it, and it be gone, before it is settled */
	get_device(&dev->ibdev.dev);
	err = ib_register_device(&dev->ibdev, name, NULL);
	if (!err) {
		err = skr_device_settle(dev);
		put_device(&dev->ibdev.dev);
		return err;
	}
	put_device(&dev->ibdev.dev);
	/* what ib_core says of a name that is taken */
	if (err == -ENFILE)
		err = -EEXIST;

err_dealloc:
	ib_dealloc_device(&dev->ibdev);
	return err;
}

int skr_device_add(const char *name, struct net_device *ndev)
{
	struct net *net = skr_device_get_net(ndev);
	int err;

	if (!net)
		return -ENODEV;
	err = skr_device_add_in(net, name, ndev);
	put_net(net);
	return err;
}
