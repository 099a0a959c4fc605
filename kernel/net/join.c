// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The memberships are the netdev's, not a socket's: a socket may have no more
 * than net.ipv4.igmp_max_memberships of them, 20 by default.
 */
#include "join.h"

#include <linux/etherdevice.h>
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/ip.h>
#include <net/ipv6.h>

static int skr_join_ip6(struct net_device *ndev, const struct in6_addr *gid)
{
	int err = IS_ENABLED(CONFIG_IPV6) ? ipv6_dev_mc_inc(ndev, gid) : -EAFNOSUPPORT;

	return err && err != -ENOMEM ? -EADDRNOTAVAIL : err;
}

static int skr_join_ip(struct net_device *ndev, const struct in6_addr *gid)
{
	struct in_device *in_dev;

	if (!ipv6_addr_v4mapped(gid))
		return skr_join_ip6(ndev, gid);
	in_dev = __in_dev_get_rtnl(ndev);
	if (!in_dev)
		return -EADDRNOTAVAIL;
	ip_mc_inc_group(in_dev, gid->s6_addr32[3]);
	return 0;
}

/* What is not a member is left alone: the address family may have gone. */
static void skr_leave_ip(struct net_device *ndev, const struct in6_addr *gid)
{
	struct in_device *in_dev;

	if (!ipv6_addr_v4mapped(gid)) {
		if (IS_ENABLED(CONFIG_IPV6))
			ipv6_dev_mc_dec(ndev, gid);
		return;
	}
	in_dev = __in_dev_get_rtnl(ndev);
	if (in_dev)
		ip_mc_dec_group(in_dev, gid->s6_addr32[3]);
}

static void skr_join_mac(const struct in6_addr *gid, u8 *mac)
{
	if (ipv6_addr_v4mapped(gid))
		ip_eth_mc_map(gid->s6_addr32[3], mac);
	else
		ipv6_eth_mc_map(gid, mac);
}

int skr_join(struct skr_dev *dev, const struct in6_addr *gid)
{
	u8 mac[ETH_ALEN];
	int err;

	skr_join_mac(gid, mac);
	rtnl_lock();
	/* the stack sets the filter, too, but tells nobody if it cannot */
	err = dev_mc_add(dev->ndev, mac);
	if (!err) {
		err = skr_join_ip(dev->ndev, gid);
		if (err)
			dev_mc_del(dev->ndev, mac);
	}
	rtnl_unlock();
	return err;
}

void skr_leave(struct skr_dev *dev, const struct in6_addr *gid)
{
	u8 mac[ETH_ALEN];

	skr_join_mac(gid, mac);
	rtnl_lock();
	skr_leave_ip(dev->ndev, gid);
	dev_mc_del(dev->ndev, mac);
	rtnl_unlock();
}

bool skr_joined(struct skr_dev *dev, const u8 *mac)
{
	struct netdev_hw_addr *ha;
	bool found = false;

	netif_addr_lock(dev->ndev);
	netdev_for_each_mc_addr(ha, dev->ndev) {
		found = ether_addr_equal(ha->addr, mac);
		if (found)
			break;
	}
	netif_addr_unlock(dev->ndev);
	return found;
}
