// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * DCB tables for netdevs whose drivers have none, by name, in all namespaces: enough
 * for "dcb app". The kernel keeps the tables; it asks for no more than that a driver
 * takes part.
 *
 *	insmod dcbdev.ko names=vB,pB
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/dcbnl.h>

#define DCBDEV_NAMES	4

static char *names[DCBDEV_NAMES];
static int count;
module_param_array(names, charp, &count, 0444);
MODULE_PARM_DESC(names, "netdevs that get a table");

static const struct dcbnl_rtnl_ops dcbdev_ops;

static bool dcbdev_named(const struct net_device *ndev)
{
	int i;

	for (i = 0; i < count; i++)
		if (!strcmp(netdev_name(ndev), names[i]))
			return true;
	return false;
}

/* The module goes, the netdevs do not. */
static bool dcbdev_leaving;

/*
 * Netdevs that are there already, and those that come; under rtnl, as is "dcb". A
 * netdev that goes keeps its table until the kernel has emptied it.
 */
static int dcbdev_event(struct notifier_block *nb, unsigned long event, void *arg)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(arg);

	if (event == NETDEV_REGISTER && !ndev->dcbnl_ops && dcbdev_named(ndev))
		ndev->dcbnl_ops = &dcbdev_ops;
	if (event == NETDEV_UNREGISTER && dcbdev_leaving && ndev->dcbnl_ops == &dcbdev_ops)
		ndev->dcbnl_ops = NULL;
	return NOTIFY_DONE;
}

static struct notifier_block dcbdev_nb = {
	.notifier_call = dcbdev_event,
};

static int __init dcbdev_init(void)
{
	return register_netdevice_notifier(&dcbdev_nb);
}

static void __exit dcbdev_exit(void)
{
	dcbdev_leaving = true;
	unregister_netdevice_notifier(&dcbdev_nb);
}

module_init(dcbdev_init);
module_exit(dcbdev_exit);

MODULE_DESCRIPTION("DCB tables for any netdev");
MODULE_LICENSE("Dual BSD/GPL");
