// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "rocev1.h"

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "../trace.h"
#include "../wire/iba.h"
#include "join.h"
#include "netns.h"
#include "rocev2.h"
#include "vlan.h"

/* A GRH is laid out like an IPv6 header. */
static bool skr_rocev1_l3_ok(const struct sk_buff *skb, u32 *len)
{
	const struct ipv6hdr *grh = ipv6_hdr(skb);

	*len = ntohs(grh->payload_len);
	return grh->version == 6 && grh->nexthdr == SKR_GRH_NEXT_HDR &&
	       *len <= skb->len - SKR_GRH_BYTES;
}

/* A frame to many with a packet to one is nobody's. */
static bool skr_rocev1_mac_ok(const struct sk_buff *skb)
{
	bool many = skb->pkt_type == PACKET_MULTICAST || skb->pkt_type == PACKET_BROADCAST;
	struct in6_addr gid = ipv6_hdr(skb)->daddr;

	return !many || rdma_is_multicast_addr(&gid);
}

static void skr_rocev1_drop(struct skr_dev *dev, struct sk_buff *skb, enum skr_drop why)
{
	if (dev)
		skr_count(dev, SKR_CNT_RX_DROP + why);
	trace_skr_rx_drop(dev, NULL, why);
	kfree_skb(skb);
}

static int skr_rocev1_rcv(struct sk_buff *skb, struct net_device *ndev, struct packet_type *pt,
			  struct net_device *orig_dev)
{
	struct skr_rx_cb *cb;
	struct skr_dev *dev;
	u32 len;

	/* to somebody else, or nobody here speaks it */
	if (skb->pkt_type == PACKET_OTHERHOST || skr_netns_empty(dev_net(ndev))) {
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;

	dev = skr_netns_find(dev_net(ndev), ndev);
	skb_reset_network_header(skb);
	if (!pskb_may_pull(skb, SKR_GRH_BYTES)) {
		skr_rocev1_drop(dev, skb, SKR_DROP_SHORT);
		return NET_RX_DROP;
	}
	if (!skr_rocev1_l3_ok(skb, &len)) {
		skr_rocev1_drop(dev, skb, SKR_DROP_L3);
		return NET_RX_DROP;
	}
	if (!skr_rocev1_mac_ok(skb)) {
		skr_rocev1_drop(dev, skb, SKR_DROP_ADDR);
		return NET_RX_DROP;
	}

	__skb_pull(skb, SKR_GRH_BYTES);
	skb_reset_transport_header(skb);
	cb = skr_rx_cb(skb);
	*cb = (struct skr_rx_cb) {
		.dev = dev,
		.len = len,
		.seg = len,
		.net = SKR_L3_GRH,
		.vlan = skr_vlan_id(ndev),
	};
	skr_rx(skb);
	return NET_RX_SUCCESS;
}

static struct packet_type skr_rocev1_type = {
	.type = cpu_to_be16(ETH_P_IBOE),
	.func = skr_rocev1_rcv,
};

void skr_rocev1_init(void)
{
	dev_add_pack(&skr_rocev1_type);
}

void skr_rocev1_exit(void)
{
	dev_remove_pack(&skr_rocev1_type);
}

void skr_rocev1_push(struct sk_buff *skb, const struct skr_av *av)
{
	u32 len = skb->len;
	struct ipv6hdr *grh;

	skb_reset_transport_header(skb);
	grh = skb_push(skb, SKR_GRH_BYTES);
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IBOE);
	ip6_flow_hdr(grh, av->tclass, htonl(av->flow_label));
	grh->payload_len = htons(len);
	grh->nexthdr = SKR_GRH_NEXT_HDR;
	grh->hop_limit = av->hop_limit;
	grh->saddr = av->saddr;
	grh->daddr = av->daddr;
}

static void skr_rocev1_push_eth(struct sk_buff *skb, const u8 *from, const u8 *to)
{
	struct ethhdr *eth = skb_push(skb, sizeof(*eth));

	ether_addr_copy(eth->h_source, from);
	ether_addr_copy(eth->h_dest, to);
	eth->h_proto = htons(ETH_P_IBOE);
}

/* To a netdev of this host, as if it had come from the wire. */
static int skr_rocev1_deliver(struct sk_buff *skb, struct net_device *ndev)
{
	skb->protocol = eth_type_trans(skb, ndev);
	return netif_rx(skb);
}

/* Members on this host get multicast, too; the wire does not bring it back. */
static void skr_rocev1_echo(struct sk_buff *skb, struct net_device *ndev)
{
	struct sk_buff *copy = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);

	if (!copy)
		return;
	copy->protocol = eth_type_trans(copy, ndev);
	copy->pkt_type = PACKET_LOOPBACK;
	netif_rx(copy);
}

/*
 * The netdev for which we have to write the tag of a VLAN device, or NULL. Our own
 * VLAN device does as well if its map leads to the level.
 */
static struct net_device *skr_rocev1_below(struct skr_dev *dev, const struct skr_av *av,
					   struct net_device *ndev)
{
	u16 level = av->class.level << VLAN_PRIO_SHIFT;

	if (!is_vlan_dev(ndev))
		return NULL;
	if (ndev != dev->ndev)
		return dev_get_iflink(ndev) == dev->ndev->ifindex ? dev->ndev : NULL;
	if (vlan_dev_get_egress_qos_mask(ndev, av->class.prio) == level)
		return NULL;
	return skr_vlan_lower(ndev);
}

/*
 * The tag of a VLAN on our own netdev is written here, for its priority is the
 * class's level; other VLANs write it by themselves, from skb->priority.
 */
static struct net_device *skr_rocev1_tag(struct skr_dev *dev, const struct skr_av *av,
					 struct sk_buff *skb, struct net_device *ndev)
{
	struct net_device *below = skr_rocev1_below(dev, av, ndev);

	if (!below)
		return ndev;
	__vlan_hwaccel_put_tag(skb, vlan_dev_vlan_proto(ndev),
			       vlan_dev_vlan_id(ndev) | av->class.level << VLAN_PRIO_SHIFT);
	return below;
}

/* @ndev: the netdev that has the source GID */
static int skr_rocev1_frame(struct skr_dev *dev, const struct skr_av *av, struct sk_buff *skb,
			    struct net_device *ndev)
{
	struct net_device *local;

	skr_rocev1_push_eth(skb, ndev->dev_addr, av->dmac);
	if (is_multicast_ether_addr(av->dmac)) {
		if (skr_joined(dev, av->dmac))
			skr_rocev1_echo(skb, ndev);
	} else {
		local = skr_netns_local(dev, ndev, av->dmac, &av->daddr);
		if (local)
			return skr_rocev1_deliver(skb, local);
	}
	skb->dev = skr_rocev1_tag(dev, av, skb, ndev);
	return dev_queue_xmit(skb);
}

int skr_rocev1_out(struct skr_dev *dev, const struct skr_av *av, struct sk_buff *skb)
{
	struct net_device *ndev;
	int ret = -EHOSTUNREACH;

	rcu_read_lock();
	ndev = dev_get_by_index_rcu(dev->net, av->oif);
	/* nobody below looks at the size */
	if (ndev && READ_ONCE(ndev->flags) & IFF_UP && skb->len <= READ_ONCE(ndev->mtu))
		ret = skr_rocev1_frame(dev, av, skb, ndev);
	else
		kfree_skb(skb);
	rcu_read_unlock();
	return ret;
}

/**
 * struct skr_rocev1_to - where a datagram is to go
 * @dev: device
 * @gid: address
 * @vlan: identifier of the VLAN that it came by, or VLAN_N_VID
 */
struct skr_rocev1_to {
	struct skr_dev	*dev;
	union ib_gid	gid;
	u16		vlan;
};

/* @ndev: NULL for any */
static bool skr_rocev1_has(const struct skr_rocev1_to *to, struct net_device *ndev)
{
	const struct ib_gid_attr *attr;

	attr = rdma_find_gid_by_port(&to->dev->ibdev, &to->gid, IB_GID_TYPE_ROCE, SKR_PORT, ndev);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

static int skr_rocev1_upper_has(struct net_device *upper, struct netdev_nested_priv *priv)
{
	const struct skr_rocev1_to *to = priv->data;

	return skr_vlan_id(upper) == to->vlan && skr_rocev1_has(to, upper);
}

/*
 * The stack answers on each netdev for all addresses of the host: a peer may have learnt
 * the MAC address of a macvlan's parent for an address of the macvlan. IP takes what
 * comes by that, and so do we, but not what has left its VLAN.
 */
bool skr_rocev1_is_ours(struct skr_dev *dev, struct sk_buff *skb)
{
	struct skr_rocev1_to to = { .dev = dev, .vlan = skr_rx_cb(skb)->vlan };
	struct netdev_nested_priv priv = { .data = &to };

	if (skr_rx_cb(skb)->net != SKR_L3_GRH)
		return true;
	memcpy(&to.gid, &ipv6_hdr(skb)->daddr, sizeof(to.gid));
	if (skr_rocev1_has(&to, skb->dev))
		return true;
	/* who sends what is nobody's has us look once, not at all netdevs */
	return skr_rocev1_has(&to, NULL) &&
	       netdev_walk_all_upper_dev_rcu(skb->dev, skr_rocev1_upper_has, &priv);
}
