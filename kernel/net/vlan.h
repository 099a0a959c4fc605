/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Which VLAN a netdev is in: a VLAN device's own, or that of the VLAN device right
 * below it. ib_core sees it like that: it takes a datagram for a GID of such a netdev
 * only if its completion says that it came by this VLAN.
 */
#ifndef SKR_NET_VLAN_H
#define SKR_NET_VLAN_H

#include <linux/netdevice.h>

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

#endif /* SKR_NET_VLAN_H */
