/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Membership of a netdev in IP multicast groups, so that switches and routers
 * send their traffic here (IGMP, MLD) and the netdev lets it in.
 */
#ifndef SKR_NET_JOIN_H
#define SKR_NET_JOIN_H

#include <linux/in6.h>

#include "../device.h"

/**
 * skr_join() - make the netdev a member of a group
 * @dev: device
 * @gid: multicast GID: an IPv6 address, or IPv4 as ::ffff:a.b.c.d
 *
 * Memberships are counted by the stack: others in the system may have their
 * own in the same group.
 *
 * Context: process, without rtnl.
 * Return: 0; -EADDRNOTAVAIL if the netdev does not speak IPv4 or IPv6 (any
 *	more); -ENOMEM; or what the netdev's filter failed with.
 */
int skr_join(struct skr_dev *dev, const struct in6_addr *gid);

/**
 * skr_leave() - undo skr_join()
 * @dev: device
 * @gid: multicast GID
 *
 * Context: process, without rtnl.
 */
void skr_leave(struct skr_dev *dev, const struct in6_addr *gid);

/**
 * skr_joined() - has somebody on this host joined a group?
 * @dev: device
 * @mac: MAC address of the group
 *
 * Context: BH.
 * Return: true if the netdev lets its frames in.
 */
bool skr_joined(struct skr_dev *dev, const u8 *mac);

#endif /* SKR_NET_JOIN_H */
