// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "vlan.h"

static int skr_vlan_first_lower(struct net_device *lower, struct netdev_nested_priv *priv)
{
	priv->data = lower;
	return 1;
}

struct net_device *skr_vlan_lower(struct net_device *ndev)
{
	struct netdev_nested_priv priv = {};

	/* most stand on nothing */
	if (list_empty(&ndev->adj_list.lower))
		return NULL;
	netdev_walk_all_lower_dev_rcu(ndev, skr_vlan_first_lower, &priv);
	return priv.data;
}

struct net_device *skr_vlan_of(struct net_device *ndev)
{
	struct net_device *lower;

	if (is_vlan_dev(ndev))
		return ndev;
	lower = skr_vlan_lower(ndev);
	return lower && is_vlan_dev(lower) ? lower : NULL;
}

u16 skr_vlan_id(struct net_device *ndev)
{
	struct net_device *vlan = skr_vlan_of(ndev);

	return vlan ? vlan_dev_vlan_id(vlan) : VLAN_N_VID;
}
