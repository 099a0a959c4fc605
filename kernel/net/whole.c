// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "whole.h"

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/udp.h>
#include <rdma/ib_verbs.h>

#include "../device.h"

/*
 * UDP hands a super-packet to a socket like ours as it is only if it bears the
 * mark of a tunnel that knows of such packets. It gets it after all filters have
 * seen it, and everything that UDP checks is still checked. For the rest of the
 * stack, and if it has to be cut after all, it stays what it was.
 */
static unsigned int skr_whole_mark(struct sk_buff *skb, u8 proto)
{
	struct udphdr buf;
	const struct udphdr *udp;

	if (!skb_is_gso(skb) || proto != IPPROTO_UDP || !READ_ONCE(skr_tune.super_rx))
		return NF_ACCEPT;
	if ((skb_shinfo(skb)->gso_type & (SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST)) != SKB_GSO_UDP_L4)
		return NF_ACCEPT;
	udp = skb_header_pointer(skb, skb_transport_offset(skb), sizeof(buf), &buf);
	if (!udp || udp->dest != htons(ROCE_V2_UDP_DPORT))
		return NF_ACCEPT;
	/* a tap may be looking at the same description */
	if (skb_unclone(skb, GFP_ATOMIC))
		return NF_ACCEPT;
	skb_shinfo(skb)->gso_type |= SKB_GSO_UDP_TUNNEL_CSUM;
	return NF_ACCEPT;
}

static unsigned int skr_whole_in4(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	return skr_whole_mark(skb, ip_hdr(skb)->protocol);
}

static unsigned int skr_whole_in6(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	return skr_whole_mark(skb, ipv6_hdr(skb)->nexthdr);
}

static const struct nf_hook_ops skr_whole_ops[] = {
	{
		.hook = skr_whole_in4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = skr_whole_in6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
};

int skr_whole_open(struct net *net)
{
	return nf_register_net_hooks(net, skr_whole_ops, ARRAY_SIZE(skr_whole_ops));
}

void skr_whole_close(struct net *net)
{
	nf_unregister_net_hooks(net, skr_whole_ops, ARRAY_SIZE(skr_whole_ops));
}

void skr_whole_sock(struct sock *sk)
{
	udp_set_bit(ACCEPT_L4, sk);
	udp_set_bit(GRO_ENABLED, sk);
}
