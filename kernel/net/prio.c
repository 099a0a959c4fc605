// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "prio.h"

#include <linux/atomic.h>
#include <linux/dcbnl.h>
#include <linux/if_vlan.h>
#include <linux/notifier.h>
#include <net/dcbevent.h>
#include <net/dcbnl.h>

#include "vlan.h"

/* Classes found before the last change are of an older generation; none is of 0. */
static atomic_t skr_prio_gen = ATOMIC_INIT(1);

void skr_prio_changed(void)
{
	/* the one that would be 0 is left out */
	if (!atomic_inc_return(&skr_prio_gen))
		atomic_inc(&skr_prio_gen);
}

static int skr_prio_event(struct notifier_block *nb, unsigned long event, void *arg)
{
	skr_prio_changed();
	return NOTIFY_DONE;
}

static struct notifier_block skr_prio_nb = {
	.notifier_call = skr_prio_event,
};

int skr_prio_init(void)
{
	return register_dcbevent_notifier(&skr_prio_nb);
}

void skr_prio_exit(void)
{
	unregister_dcbevent_notifier(&skr_prio_nb);
}

/*
 * The service level is what the tag has to say, and a VLAN device maps
 * priorities to that: go back through its map. Without an entry that leads
 * there, the level itself is the priority.
 */
static u8 skr_prio_unmap(struct net_device *ndev, u8 level)
{
	struct net_device *vlan = skr_vlan_of(ndev);
	u8 prio;

	if (!vlan || vlan_dev_get_egress_qos_mask(vlan, level) == level << VLAN_PRIO_SHIFT)
		return level;
	for (prio = 0; prio < 16; prio++) {
		if (vlan_dev_get_egress_qos_mask(vlan, prio) == level << VLAN_PRIO_SHIFT)
			return prio;
	}
	return level;
}

#if IS_ENABLED(CONFIG_DCB)
/* Bit mask of priorities that a netdev's table has for one kind of traffic. */
static u8 skr_prio_entry(struct net_device *ndev, u8 selector, u16 protocol)
{
	struct dcb_app app = {
		.selector = selector,
		.protocol = protocol,
	};

	return dcb_ieee_getapp_mask(ndev, &app);
}

static u8 skr_prio_table(struct net_device *ndev, const struct skr_av *av)
{
	u8 mask;

	if (av->net == SKR_L3_GRH)
		return skr_prio_entry(ndev, IEEE_8021QAZ_APP_SEL_ETHERTYPE, ETH_P_IBOE) ?:
		       dcb_ieee_getapp_default_prio_mask(ndev);
	mask = skr_prio_entry(ndev, IEEE_8021QAZ_APP_SEL_DSCP, av->tclass >> 2);
	if (!mask)
		mask = skr_prio_entry(ndev, IEEE_8021QAZ_APP_SEL_DGRAM, ROCE_V2_UDP_DPORT);
	if (!mask)
		mask = skr_prio_entry(ndev, IEEE_8021QAZ_APP_SEL_ANY, ROCE_V2_UDP_DPORT);
	return mask ?: dcb_ieee_getapp_default_prio_mask(ndev);
}

/*
 * Return: what the netdev's table says, plus one, or 0. Tables are the kernel's, by
 * interface index alone: one that a netdev without DCB seems to have is that of a
 * netdev in another namespace.
 */
static int skr_prio_app(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	/* the highest of several */
	return ndev->dcbnl_ops ? fls(skr_prio_table(ndev, priv->data)) : 0;
}
#else
static int skr_prio_app(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	return 0;
}
#endif

static u8 skr_prio_level(struct net_device *ndev, struct skr_av *av)
{
	struct netdev_nested_priv priv = { .data = av };
	int found;

	if (av->sl)
		return av->sl;
	found = skr_prio_app(ndev, &priv);
	if (!found)
		found = netdev_walk_all_lower_dev_rcu(ndev, skr_prio_app, &priv);
	return found ? found - 1 : 0;
}

void skr_prio_find(struct skr_dev *dev, struct skr_av *av)
{
	u32 gen = atomic_read(&skr_prio_gen);
	struct net_device *ndev;

	if (likely(av->class.gen == gen))
		return;
	av->class = (struct skr_class) { .gen = gen, .level = av->sl, .prio = av->sl };
	rcu_read_lock();
	ndev = dev_get_by_index_rcu(dev->net, av->oif);
	if (ndev) {
		av->class.level = skr_prio_level(ndev, av);
		av->class.prio = skr_prio_unmap(ndev, av->class.level);
	}
	rcu_read_unlock();
}

struct skr_class skr_prio_of(struct skr_dev *dev, const struct skr_av *av, u8 level)
{
	struct skr_class class = {
		.gen = atomic_read(&skr_prio_gen),
		.level = level,
		.prio = level,
	};
	struct net_device *ndev;

	rcu_read_lock();
	ndev = dev_get_by_index_rcu(dev->net, av->oif);
	if (ndev)
		class.prio = skr_prio_unmap(ndev, level);
	rcu_read_unlock();
	return class;
}
