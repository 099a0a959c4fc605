// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "netns.h"

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/wait_bit.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>
#include <rdma/ib_cache.h>

#include "rocev1.h"
#include "rocev2.h"
#include "vlan.h"
#include "whole.h"

static unsigned int skr_netns_id;

static struct skr_netns *skr_netns(struct net *net)
{
	return net_generic(net, skr_netns_id);
}

static struct sock *skr_sock_create(struct net *net, bool ipv6)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = skr_rocev2_rcv,
	};
	struct udp_port_cfg port = {
		.family = ipv6 ? AF_INET6 : AF_INET,
		.local_udp_port = htons(ROCE_V2_UDP_DPORT),
		.ipv6_v6only = ipv6,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(net, &port, &sock);
	if (err)
		return ERR_PTR(err);
	setup_udp_tunnel_sock(net, sock->sk, &tunnel);
	skr_whole_sock(sock->sk);
	return sock->sk;
}

static void skr_sock_release(struct sock *sk)
{
	if (sk)
		udp_tunnel_sock_release(sk);
}

static int skr_netns_open(struct net *net, struct skr_netns *ns)
{
	struct sock *sk4, *sk6;
	int err;

	lockdep_assert_held(&ns->lock);
	sk4 = skr_sock_create(net, false);
	if (IS_ERR(sk4))
		return PTR_ERR(sk4);

	sk6 = skr_sock_create(net, true);
	if (sk6 == ERR_PTR(-EAFNOSUPPORT) || sk6 == ERR_PTR(-EPFNOSUPPORT))
		sk6 = NULL;	/* a kernel that runs without IPv6 */
	if (IS_ERR(sk6)) {
		err = PTR_ERR(sk6);
		goto err_sk4;
	}
	err = skr_whole_open(net);
	if (err)
		goto err_sk6;
	ns->sk4 = sk4;
	ns->sk6 = sk6;
	return 0;

err_sk6:
	skr_sock_release(sk6);
err_sk4:
	skr_sock_release(sk4);
	return err;
}

static void skr_netns_close(struct net *net, struct skr_netns *ns)
{
	lockdep_assert_held(&ns->lock);
	skr_whole_close(net);
	skr_sock_release(ns->sk4);
	skr_sock_release(ns->sk6);
	ns->sk4 = NULL;
	ns->sk6 = NULL;
}

static struct skr_dev *skr_netns_on(struct skr_netns *ns, const struct net_device *ndev)
{
	struct skr_dev *dev;

	list_for_each_entry_rcu(dev, &ns->devs, node, lockdep_is_held(&ns->lock)) {
		if (dev->ndev == ndev)
			return dev;
	}
	return NULL;
}

/* A link on the real device has the addresses of its VLANs. */
static bool skr_netns_overlaps(struct skr_netns *ns, const struct skr_dev *dev)
{
	struct net_device *port = skr_vlan_port(dev->ndev);
	struct skr_dev *other;

	lockdep_assert_held(&ns->lock);
	if (dev->ndev != port)
		return skr_netns_on(ns, port);
	list_for_each_entry(other, &ns->devs, node) {
		if (skr_vlan_port(other->ndev) == port)
			return true;
	}
	return false;
}

int skr_netns_add(struct skr_dev *dev)
{
	struct skr_netns *ns = skr_netns(dev->net);
	int err = 0;

	mutex_lock(&ns->lock);
	if (skr_netns_on(ns, dev->ndev))
		err = -EBUSY;
	else if (skr_netns_overlaps(ns, dev))
		err = -ENOTUNIQ;
	else if (list_empty(&ns->devs))
		err = skr_netns_open(dev->net, ns);
	if (!err) {
		list_add_tail_rcu(&dev->node, &ns->devs);
		atomic_inc(&ns->users);
	}
	mutex_unlock(&ns->lock);
	return err;
}

void skr_netns_del(struct skr_dev *dev)
{
	struct skr_netns *ns = skr_netns(dev->net);

	mutex_lock(&ns->lock);
	list_del_rcu(&dev->node);
	if (list_empty(&ns->devs))
		skr_netns_close(dev->net, ns);
	mutex_unlock(&ns->lock);
	/* packets on their way may still look at the device's counters */
	synchronize_rcu();
	/* it may be gone now */
	atomic_dec_and_wake_up(&ns->users);
}

struct skr_dev *skr_netns_find(struct net *net, const struct net_device *ndev)
{
	struct skr_netns *ns = skr_netns(net);
	struct skr_dev *dev = skr_netns_on(ns, ndev);

	if (!dev && is_vlan_dev(ndev))
		dev = skr_netns_on(ns, vlan_dev_real_dev(ndev));
	return dev;
}

struct skr_dev *skr_netns_get(const struct net_device *ndev)
{
	struct skr_dev *dev;

	rcu_read_lock();
	dev = skr_netns_on(skr_netns(dev_net(ndev)), ndev);
	if (dev && !ib_device_try_get(&dev->ibdev))
		dev = NULL;
	rcu_read_unlock();
	return dev;
}

/*
 * The netdev that has an address of a device: @on, or any if that is NULL. Each
 * address is there for both types.
 */
static struct net_device *skr_dev_address(struct skr_dev *dev, const struct in6_addr *gid,
					  struct net_device *on)
{
	const struct ib_gid_attr *attr;
	struct net_device *ndev;

	/* the GID table is there from before QP 1 comes until after it goes */
	if (!rcu_access_pointer(dev->gsi))
		return NULL;
	attr = rdma_find_gid_by_port(&dev->ibdev, (const union ib_gid *)gid,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, SKR_PORT, on);
	if (IS_ERR(attr))
		return NULL;
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	rdma_put_gid_attr(attr);
	return IS_ERR(ndev) || !skr_vlan_ours(dev, ndev) ? NULL : ndev;
}

struct skr_dev *skr_netns_find_address(struct net *net, const struct in6_addr *gid)
{
	struct skr_dev *dev;

	list_for_each_entry_rcu(dev, &skr_netns(net)->devs, node) {
		if (skr_dev_address(dev, gid, NULL))
			return dev;
	}
	return NULL;
}

bool skr_netns_empty(struct net *net)
{
	return list_empty(&skr_netns(net)->devs);
}

struct net_device *skr_netns_local(struct skr_dev *dev, struct net_device *ndev, const u8 *mac,
				   const struct in6_addr *gid)
{
	bool to_self = ether_addr_equal(mac, ndev->dev_addr);
	struct net_device *local = NULL;
	struct skr_dev *other;

	if (to_self)
		local = skr_dev_address(dev, gid, ndev);
	if (local)
		return local;
	list_for_each_entry_rcu(other, &skr_netns(dev->net)->devs, node) {
		if (!ether_addr_equal(mac, other->ndev->dev_addr))
			continue;
		local = skr_dev_address(other, gid, NULL);
		if (local)
			return local;
	}
	return to_self ? ndev : NULL;
}

struct sock *skr_netns_sk6(struct net *net)
{
	return skr_netns(net)->sk6;
}

static int __net_init skr_netns_born(struct net *net)
{
	struct skr_netns *ns = skr_netns(net);

	mutex_init(&ns->lock);
	INIT_LIST_HEAD(&ns->devs);
	return 0;
}

/*
 * A dying namespace's netdevs have been unregistered, and are gone only when their devices
 * have let go of them, after skr_netns_del(). But a netdev may have moved away, or back to
 * the first namespace because this one dies, and its device is still being unregistered.
 */
static void __net_exit skr_netns_dead(struct net *net)
{
	struct skr_netns *ns = skr_netns(net);

	wait_var_event(&ns->users, !atomic_read(&ns->users));
}

static struct pernet_operations skr_netns_ops = {
	.init = skr_netns_born,
	.exit = skr_netns_dead,
	.id = &skr_netns_id,
	.size = sizeof(struct skr_netns),
};

int skr_netns_init(void)
{
	int err = register_pernet_subsys(&skr_netns_ops);

	if (!err)
		skr_rocev1_init();
	return err;
}

void skr_netns_exit(void)
{
	skr_rocev1_exit();
	unregister_pernet_subsys(&skr_netns_ops);
}
