/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The address vector: where a QP's or an address handle's packets go, with the
 * route cached.
 */
#ifndef SKR_NET_AV_H
#define SKR_NET_AV_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <net/dst.h>
#include <rdma/ib_verbs.h>

#include "../device.h"

/**
 * struct skr_class - the class that packets travel in, see prio.h
 * @gen: generation of what it was made of; 0: not found yet
 * @level: priority of 802.1Q, what a VLAN tag is to say
 * @prio: skb->priority of packets, which makes a VLAN device say @level
 */
struct skr_class {
	u32	gen;
	u8	level;
	u8	prio;
};

/**
 * struct skr_av - an address vector
 * @net: encapsulation, which is the source GID's type
 * @hop_limit: IPv6 hop limit or IPv4 TTL
 * @tclass: IPv6 traffic class or IPv4 TOS; the two ECN bits are zero
 * @ecn: the two ECN bits of packets
 * @sl: service level that was asked for
 * @mbps: static rate, Mb/s: no faster than this; 0: as fast as the port
 * @class: class of packets; protected by the owner's lock
 * @dmac: MAC address of the destination; RoCEv1 only
 * @sport: UDP source port, constant for a connected QP
 * @flow_label: 20 bits
 * @ip_id: IPv4 identification of the next packet. No packet may be fragmented, so
 *	any number will do (RFC 6864); they count up so that packets can be merged
 *	and cut again; protected by the owner's lock
 * @oif: index of the netdev that has the source GID
 * @saddr: source GID; IPv4 as ::ffff:a.b.c.d
 * @daddr: destination GID
 * @dst: cached route, or NULL; protected by the owner's lock
 * @cookie: validates @dst
 */
struct skr_av {
	enum skr_l3		net;
	u8			hop_limit;
	u8			tclass;
	u8			ecn;
	u8			sl;
	u32			mbps;
	struct skr_class	class;
	u8			dmac[ETH_ALEN];
	u16			sport;
	u32			flow_label;
	u16			ip_id;
	int			oif;
	struct in6_addr		saddr;
	struct in6_addr		daddr;
	struct dst_entry	*dst;
	u32			cookie;
};

/**
 * skr_av_init() - read an address out of what the verbs give
 * @av: overwritten
 * @attr: with GRH and source GID attribute
 * @lqpn: local QP, for the source port
 * @rqpn: remote QP, or 0
 *
 * Context: process.
 * Return: 0, or -EINVAL if the attribute has no GID, one of a type that we do not
 *	speak or of a netdev that is not the link's, a service level over 7, or a
 *	static rate that there is not.
 */
int skr_av_init(struct skr_av *av, const struct rdma_ah_attr *attr, u32 lqpn, u32 rqpn);

/**
 * skr_av_release() - let the cached route go
 * @av: address vector, zeroed or from skr_av_init()
 *
 * Context: any; the owner's lock held, or nobody else knows @av any more.
 */
void skr_av_release(struct skr_av *av);

/**
 * skr_av_route() - the route to take
 * @dev: device
 * @av: address vector
 *
 * Context: BH, the owner's lock held.
 * Return: a route that stays valid as long as the lock is held, or NULL, always
 *	so for RoCEv1, which needs none.
 */
struct dst_entry *skr_av_route(struct skr_dev *dev, struct skr_av *av);

#endif /* SKR_NET_AV_H */
