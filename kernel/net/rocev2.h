/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * RoCEv2 (annex A17): BTH in UDP port 4791 over IPv4 and IPv6.
 */
#ifndef SKR_NET_ROCEV2_H
#define SKR_NET_ROCEV2_H

#include <linux/if_vlan.h>
#include <linux/skbuff.h>
#include <net/dst.h>
#include <net/sock.h>

#include "av.h"

/* IPv6 and UDP headers: room to leave in front of a BTH */
#define SKR_ROCEV2_HEADROOM	48

/**
 * struct skr_rx_cb - what the door knows about a received packet
 * @dev: device of the netdev that it came in on; NULL if there is none
 * @len: bytes from the BTH, at skb->data, to the end of the ICRC
 * @psn: PSN, once the packet is parsed
 * @net: encapsulation
 * @ecn: the two ECN bits
 * @vlan: identifier of the VLAN that it came in on, or VLAN_N_VID
 */
struct skr_rx_cb {
	struct skr_dev	*dev;
	u32		len;
	u32		psn;
	u8		net;
	u8		ecn;
	u16		vlan;
};

/**
 * skr_rx_cb() - the one accessor of a received packet's control block
 * @skb: packet
 *
 * Return: its control block.
 */
static inline struct skr_rx_cb *skr_rx_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct skr_rx_cb) > sizeof_field(struct sk_buff, cb));
	return (struct skr_rx_cb *)skb->cb;
}

/**
 * skr_rocev2_rcv() - a datagram came in on port 4791
 * @sk: socket
 * @skb: datagram, skb->data at the UDP header
 *
 * Context: softirq, under RCU.
 * Return: 0: it is consumed.
 */
int skr_rocev2_rcv(struct sock *sk, struct sk_buff *skb);

/**
 * skr_rocev2_push() - put UDP and IP headers in front of a packet
 * @skb: packet, skb->data at the BTH; at the IP header afterwards
 * @av: where it goes
 * @net: namespace, for the IPv4 identification, which the ICRC covers
 *
 * Context: any.
 */
void skr_rocev2_push(struct sk_buff *skb, const struct skr_av *av, struct net *net);

/**
 * skr_rx() - take a packet from the door; the transport's entry
 * @skb: packet with skr_rx_cb() filled and skb->data at the BTH; consumed
 *
 * Context: softirq, under RCU.
 */
void skr_rx(struct sk_buff *skb);

/**
 * skr_rx_matches() - did a packet come from this peer to this address?
 * @skb: received packet
 * @av: address vector of a connected QP
 *
 * Context: any.
 * Return: true if encapsulation and both addresses are right (A17 CA17-41).
 */
bool skr_rx_matches(struct sk_buff *skb, const struct skr_av *av);

/**
 * skr_rx_dgid() - where a packet was sent to
 * @skb: received packet
 * @gid: set to the address as a GID
 *
 * Context: any.
 */
void skr_rx_dgid(struct sk_buff *skb, struct in6_addr *gid);

/**
 * skr_rx_grh() - a packet's layer 3 as a datagram's receiver gets it
 * @skb: received packet
 * @grh: 40 bytes: the IPv6 header; or 20 zeroes and the IPv4 header (A17.4.5.2)
 *
 * Context: any.
 */
void skr_rx_grh(struct sk_buff *skb, void *grh);

#endif /* SKR_NET_ROCEV2_H */
