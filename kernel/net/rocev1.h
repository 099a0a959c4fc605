/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * RoCEv1 (annex A16): GRH and BTH right behind the Ethernet header, ethertype
 * 0x8915. Nothing here is routed: a frame goes to the MAC address that the
 * address vector has.
 */
#ifndef SKR_NET_ROCEV1_H
#define SKR_NET_ROCEV1_H

#include <linux/skbuff.h>

#include "av.h"

/**
 * skr_rocev1_init() - listen to RoCEv1 frames in all namespaces
 *
 * Context: module init, after skr_netns_init().
 */
void skr_rocev1_init(void);

/**
 * skr_rocev1_exit() - undo skr_rocev1_init()
 *
 * Context: module exit; no device is left.
 */
void skr_rocev1_exit(void);

/**
 * skr_rocev1_push() - put a GRH in front of a packet
 * @skb: packet, skb->data at the BTH; at the GRH afterwards
 * @av: where it goes
 *
 * Context: any.
 */
void skr_rocev1_push(struct sk_buff *skb, const struct skr_av *av);

/**
 * skr_rocev1_out() - give a packet to the netdev, or to one on this host
 * @dev: device
 * @av: where it goes
 * @skb: packet, skb->data at the GRH; consumed
 *
 * Context: BH.
 * Return: what the queue says, or -EHOSTUNREACH if the netdev is gone, down, or
 *	has become too small for the packet.
 */
int skr_rocev1_out(struct skr_dev *dev, const struct skr_av *av, struct sk_buff *skb);

/**
 * skr_rocev1_is_ours() - is a datagram for an address that we have?
 * @dev: device that it would go to
 * @skb: received packet, skb->dev where it came in
 *
 * With RoCEv2 the IP stack has seen to it; nobody has with RoCEv1.
 *
 * Context: softirq, under RCU.
 * Return: false if it is a RoCEv1 packet to a GID that @dev has neither on that netdev
 *	nor on one on top of it in the same VLAN.
 */
bool skr_rocev1_is_ours(struct skr_dev *dev, struct sk_buff *skb);

#endif /* SKR_NET_ROCEV1_H */
