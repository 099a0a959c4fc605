// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "rocev2.h"

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "../trace.h"
#include "netns.h"
#include "vlan.h"

/*
 * CA17-3, 17-7, 17-8, 17-24: no options, no fragments, lengths that agree.
 * A datagram that was put together from fragments has lost its ICRC's IP
 * header anyway.
 */
static bool skr_rocev2_l3_ok(const struct sk_buff *skb, bool ipv4, u32 udp_len)
{
	if (skb_transport_offset(skb) != 0 || udp_len < sizeof(struct udphdr) ||
	    udp_len > skb->len)
		return false;
	if (ipv4) {
		const struct iphdr *ip = ip_hdr(skb);

		return ip->ihl == 5 && !ip_is_fragment(ip) && !IPCB(skb)->frag_max_size &&
		       ntohs(ip->tot_len) == sizeof(*ip) + udp_len;
	}
	return ipv6_hdr(skb)->nexthdr == IPPROTO_UDP &&
	       !(IP6CB(skb)->flags & IP6SKB_FRAGMENTED) &&
	       ntohs(ipv6_hdr(skb)->payload_len) == udp_len;
}

/* A super-packet's number of packets, each of which costs time, is bounded. */
static bool skr_rocev2_gso_ok(const struct sk_buff *skb)
{
	return !skb_is_gso(skb) ||
	       skb_shinfo(skb)->gso_size >= sizeof(struct skr_bth) + SKR_ICRC_BYTES;
}

int skr_rocev2_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct skr_dev *dev = skr_netns_find(sock_net(sk), skb->dev);
	bool ipv4 = sk->sk_family == AF_INET;
	u32 udp_len = ntohs(udp_hdr(skb)->len);
	struct skr_rx_cb *cb;

	if (!skr_rocev2_l3_ok(skb, ipv4, udp_len) || !skr_rocev2_gso_ok(skb)) {
		if (dev)
			skr_count(dev, SKR_CNT_RX_DROP + SKR_DROP_L3);
		trace_skr_rx_drop(dev, NULL, SKR_DROP_L3);
		kfree_skb(skb);
		return 0;
	}

	__skb_pull(skb, sizeof(struct udphdr));
	cb = skr_rx_cb(skb);
	cb->dev = dev;
	cb->len = udp_len - sizeof(struct udphdr);
	cb->at = 0;
	cb->seg = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : cb->len;
	cb->net = ipv4 ? SKR_L3_IPV4 : SKR_L3_IPV6;
	cb->ecn = (ipv4 ? ipv4_get_dsfield(ip_hdr(skb)) : ipv6_get_dsfield(ipv6_hdr(skb))) &
		  INET_ECN_MASK;
	cb->noticed = false;
	cb->vlan = skr_vlan_id(skb->dev);
	skr_rx(skb);
	return 0;
}

static void skr_push_ipv4(struct sk_buff *skb, const struct skr_av *av)
{
	struct iphdr *ip = skb_push(skb, sizeof(*ip));

	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IP);
	*ip = (struct iphdr) {
		.version = 4,
		.ihl = 5,
		.tos = av->tclass | av->ecn,
		.tot_len = htons(skb->len),
		.id = htons(av->ip_id),
		.frag_off = htons(IP_DF),
		.ttl = av->hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr = av->saddr.s6_addr32[3],
		.daddr = av->daddr.s6_addr32[3],
	};
}

static void skr_push_ipv6(struct sk_buff *skb, const struct skr_av *av)
{
	struct ipv6hdr *ip = skb_push(skb, sizeof(*ip));

	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IPV6);
	ip6_flow_hdr(ip, av->tclass | av->ecn, htonl(av->flow_label));
	ip->payload_len = htons(skb->len - sizeof(*ip));
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = av->hop_limit;
	ip->saddr = av->saddr;
	ip->daddr = av->daddr;
}

void skr_rocev2_push(struct sk_buff *skb, const struct skr_av *av)
{
	struct udphdr *udp = skb_push(skb, sizeof(*udp));

	skb_reset_transport_header(skb);
	*udp = (struct udphdr) {
		.source = htons(av->sport),
		.dest = htons(ROCE_V2_UDP_DPORT),
		.len = htons(skb->len),
	};
	if (av->net == SKR_L3_IPV4)
		skr_push_ipv4(skb, av);
	else
		skr_push_ipv6(skb, av);
}

void skr_l3_copy(struct skr_l3_copy *l3, const struct sk_buff *skb, u8 net, u32 bytes,
		 u32 index)
{
	u32 udp_len = sizeof(struct udphdr) + bytes;

	if (net == SKR_L3_GRH) {
		l3->ip6 = *ipv6_hdr(skb);
		l3->ip6.payload_len = htons(bytes);
		return;
	}
	l3->udp = *udp_hdr(skb);
	l3->udp.len = htons(udp_len);
	if (net == SKR_L3_IPV4) {
		l3->ip4 = *ip_hdr(skb);
		l3->ip4.id = htons(ntohs(l3->ip4.id) + index);
		l3->ip4.tot_len = htons(sizeof(l3->ip4) + udp_len);
	} else {
		l3->ip6 = *ipv6_hdr(skb);
		l3->ip6.payload_len = htons(udp_len);
	}
}

int skr_rocev2_out(struct skr_dev *dev, struct skr_av *av, struct sk_buff *skb)
{
	struct dst_entry *dst = skr_av_route(dev, av);
	int ret;

	if (!dst) {
		kfree_skb(skb);
		return -EHOSTUNREACH;
	}
	rcu_read_lock();
	skb_dst_set_noref(skb, dst);
	if (av->net == SKR_L3_IPV4)
		ret = ip_local_out(dev->net, NULL, skb);
	else
		ret = ip6_local_out(dev->net, NULL, skb);
	rcu_read_unlock();
	return ret;
}

/* From here on: any encapsulation. A GRH is laid out like an IPv6 header. */

bool skr_rx_matches(struct sk_buff *skb, const struct skr_av *av)
{
	if (skr_rx_cb(skb)->net != av->net)
		return false;
	if (av->net == SKR_L3_IPV4)
		return ip_hdr(skb)->saddr == av->daddr.s6_addr32[3] &&
		       ip_hdr(skb)->daddr == av->saddr.s6_addr32[3];
	return ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &av->daddr) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &av->saddr);
}

void skr_rx_dgid(struct sk_buff *skb, struct in6_addr *gid)
{
	if (skr_rx_cb(skb)->net == SKR_L3_IPV4)
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, gid);
	else
		*gid = ipv6_hdr(skb)->daddr;
}

void skr_rx_grh(struct sk_buff *skb, void *grh)
{
	const u32 skip = sizeof(struct ipv6hdr) - sizeof(struct iphdr);

	if (skr_rx_cb(skb)->net == SKR_L3_IPV4) {
		memset(grh, 0, skip);
		memcpy(grh + skip, ip_hdr(skb), sizeof(struct iphdr));
	} else {
		memcpy(grh, ipv6_hdr(skb), sizeof(struct ipv6hdr));
	}
}
