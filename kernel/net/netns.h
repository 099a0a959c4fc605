/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What a network namespace shares between its devices: the sockets that own
 * UDP port 4791, and the list of devices.
 */
#ifndef SKR_NET_NETNS_H
#define SKR_NET_NETNS_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "../device.h"

/**
 * struct skr_netns - per-namespace state
 * @lock: protects everything here against changes
 * @devs: struct skr_dev.node; read under RCU
 * @sk4: owns port 4791 on IPv4 while @devs is not empty
 * @sk6: the same for IPv6; NULL where the kernel runs without IPv6
 * @users: devices that may use this; the namespace does not die before they are gone
 */
struct skr_netns {
	struct mutex		lock;
	struct list_head	devs;
	struct sock		*sk4;
	struct sock		*sk6;
	atomic_t		users;
};

/**
 * skr_netns_init() - register with all namespaces
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int skr_netns_init(void);

/**
 * skr_netns_exit() - undo skr_netns_init()
 *
 * Context: module exit; no device is left.
 */
void skr_netns_exit(void);

/**
 * skr_netns_add() - a device comes to its namespace
 * @dev: device with ndev and net set
 *
 * The first one takes UDP port 4791, for IPv4 and IPv6.
 *
 * Context: process, without rtnl.
 * Return: 0, -EBUSY if the netdev carries a device already, -ENOTUNIQ if a VLAN's
 *	addresses were to be those of two devices, -EADDRINUSE if
 *	somebody else has the port, or another negative errno.
 */
int skr_netns_add(struct skr_dev *dev);

/**
 * skr_netns_del() - a device leaves its namespace
 * @dev: as given to skr_netns_add()
 *
 * The last one releases the port.
 *
 * Context: process, without rtnl.
 */
void skr_netns_del(struct skr_dev *dev);

/**
 * skr_netns_find() - the device on a netdev
 * @net: namespace
 * @ndev: netdev
 *
 * Context: under RCU.
 * Return: the device on @ndev, or on the device that @ndev is a VLAN of, or
 *	NULL.
 */
struct skr_dev *skr_netns_find(struct net *net, const struct net_device *ndev);

/**
 * skr_netns_get() - the registered device on a netdev
 * @ndev: netdev, and no other
 *
 * Context: any, but no namespace can be left: a netdev's notifier, or a reference.
 * Return: the device, with a reference for ib_device_put(), or NULL.
 */
struct skr_dev *skr_netns_get(const struct net_device *ndev);

/**
 * skr_netns_find_address() - the device that has an address
 * @net: namespace
 * @gid: the address
 *
 * For a packet that never left the host: it comes in on the loopback device.
 *
 * Context: under RCU.
 * Return: the device with this GID, of either type, whose QP 1 exists, or NULL.
 */
struct skr_dev *skr_netns_find_address(struct net *net, const struct in6_addr *gid);

/**
 * skr_netns_empty() - does nobody here speak RoCE?
 * @net: namespace
 *
 * Context: under RCU.
 * Return: true if there is no device.
 */
bool skr_netns_empty(struct net *net);

/**
 * skr_netns_local() - the netdev of this namespace that a RoCEv1 frame is for
 * @dev: device that sends
 * @ndev: netdev that has the source GID
 * @mac: where it goes
 * @gid: destination GID
 *
 * Context: BH, under RCU.
 * Return: a netdev, or NULL if the frame has to leave the host. No frame to
 *	@ndev's own MAC address has to.
 */
struct net_device *skr_netns_local(struct skr_dev *dev, struct net_device *ndev, const u8 *mac,
				   const struct in6_addr *gid);

/**
 * skr_netns_sk6() - socket for IPv6 route look-ups
 * @net: namespace with a device
 *
 * Context: any, while a device is there.
 * Return: the socket, or NULL without IPv6.
 */
struct sock *skr_netns_sk6(struct net *net);

#endif /* SKR_NET_NETNS_H */
