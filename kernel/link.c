// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "link.h"

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#include "device.h"
#include "net/netns.h"
#include "net/prio.h"
#include "transport/qp.h"

/* Netlink carries no words of ours to the user: say why in one line. */
static void skr_newlink_failed(const char *name, const struct net_device *ndev, int err)
{
	const char *why;

	if (!net_ratelimit())
		return;
	switch (err) {
	case -EINVAL:
		why = "not an Ethernet device";
		break;
	case -EBUSY:
		why = "the netdev has a skerry link already";
		break;
	case -ENOTUNIQ:
		why = is_vlan_dev(ndev) ?
		      "the link on the device below has this VLAN's addresses" :
		      "there is a link on a VLAN of this device, which has its addresses";
		break;
	case -EADDRINUSE:
		why = "UDP port 4791 is taken in this network namespace";
		break;
	case -EEXIST:
		why = "there is an RDMA device of this name";
		break;
	case -ENODEV:
		why = "the netdev is going away";
		break;
	default:
		netdev_err(ndev, "skerry: %s: cannot add the link: %pe\n", name, ERR_PTR(err));
		return;
	}
	netdev_err(ndev, "skerry: %s: %s\n", name, why);
}

/*
 * Tunnels without Ethernet headers (tun, WireGuard) have no MAC addresses, which
 * both ib_core and RoCEv1 need.
 */
static int skr_newlink_check(const struct net_device *ndev)
{
	return ndev->type == ARPHRD_ETHER || ndev->type == ARPHRD_LOOPBACK ? 0 : -EINVAL;
}

static int skr_newlink(const char *name, struct net_device *ndev)
{
	int err = skr_newlink_check(ndev);

	if (!err)
		err = skr_device_add(name, ndev);
	if (err)
		skr_newlink_failed(name, ndev, err);
	return err;
}

static struct rdma_link_ops skr_link_ops = {
	.type = "skerry",
	.newlink = skr_newlink,
};

static int skr_netdev_event(struct notifier_block *nb, unsigned long event, void *arg)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(arg);
	struct skr_dev *dev;

	/* a VLAN's map, or what is below a bond: netdevs that are not ours, too */
	if (event == NETDEV_CHANGE || event == NETDEV_CHANGEUPPER)
		skr_prio_changed();
	dev = skr_netns_get(ndev);
	if (!dev)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UNREGISTER:
		/*
		 * Also when it moves to another namespace. ib_core lets a device be
		 * found a moment before its clients are added; who unregistered it
		 * then would take none of them away and wait for them for ever.
		 * Before that, skr_device_settle() sees to it in the end, and to what
		 * the port has been through.
		 */
		if (READ_ONCE(dev->enabled))
			ib_unregister_device_queued(&dev->ibdev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		skr_device_update_port(dev);
		break;
	/* a bond or team, or a guest that has moved to another host */
	case NETDEV_BONDING_FAILOVER:
	case NETDEV_NOTIFY_PEERS:
		skr_qps_path_changed(dev);
		break;
	}
	ib_device_put(&dev->ibdev);
	return NOTIFY_DONE;
}

static struct notifier_block skr_netdev_nb = {
	.notifier_call = skr_netdev_event,
};

int skr_link_init(void)
{
	int err;

	err = register_netdevice_notifier(&skr_netdev_nb);
	if (err)
		return err;
	rdma_link_register(&skr_link_ops);
	return 0;
}

void skr_link_exit(void)
{
	rdma_link_unregister(&skr_link_ops);
	unregister_netdevice_notifier(&skr_netdev_nb);
	ib_unregister_driver(SKERRY_DRIVER_ID);
}
