/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Which VLAN a netdev is in: a VLAN device's own, or that of the VLAN device right
 * below it. ib_core sees it like that: it takes a datagram for a GID of such a netdev
 * only if its completion says that it came by this VLAN.
 */
#ifndef SKR_NET_VLAN_H
#define SKR_NET_VLAN_H

#include <linux/if_vlan.h>

#include "../device.h"

/**
 * skr_vlan_of() - the VLAN device that a netdev's packets go through
 * @ndev: netdev
 *
 * Context: under RCU.
 * Return: @ndev, the netdev below it, or NULL if neither is a VLAN device.
 */
struct net_device *skr_vlan_of(struct net_device *ndev);

/**
 * skr_vlan_id() - the VLAN that a netdev's packets are in
 * @ndev: netdev
 *
 * Context: under RCU.
 * Return: its identifier, or VLAN_N_VID if there is none.
 */
u16 skr_vlan_id(struct net_device *ndev);

/**
 * skr_vlan_lower() - the netdev that a VLAN device is on
 * @ndev: netdev
 *
 * Context: under RCU.
 * Return: the first netdev right below @ndev, or NULL.
 */
struct net_device *skr_vlan_lower(struct net_device *ndev);

/**
 * skr_vlan_port() - where ib_core has to look for a netdev's addresses
 * @ndev: netdev
 *
 * Context: any; the caller holds @ndev, and a VLAN device the one below it.
 * Return: the netdev that the port of a link on @ndev is on.
 */
static inline struct net_device *skr_vlan_port(struct net_device *ndev)
{
	return is_vlan_dev(ndev) ? vlan_dev_real_dev(ndev) : ndev;
}

/**
 * skr_vlan_ours() - does a device take the addresses of a netdev?
 * @dev: device
 * @ndev: a netdev whose addresses ib_core offers it
 *
 * Routes and netdevs are looked up in the namespace that the link is in, and packets
 * come in by its sockets: what is on @dev's netdev but elsewhere is of no use to it.
 *
 * Context: any; the answer holds for as long as @ndev does not move.
 * Return: false if @ndev is in another namespace than @dev's link, or if that is on a
 *	VLAN device, and @ndev is another.
 */
static inline bool skr_vlan_ours(const struct skr_dev *dev, const struct net_device *ndev)
{
	return net_eq(dev_net(ndev), dev->net) &&
	       (!is_vlan_dev(dev->ndev) || ndev == dev->ndev);
}

#endif /* SKR_NET_VLAN_H */
