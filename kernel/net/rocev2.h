/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * RoCEv2 (annex A17): BTH in UDP port 4791 over IPv4 and IPv6.
 */
#ifndef SKR_NET_ROCEV2_H
#define SKR_NET_ROCEV2_H

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/sock.h>

#include "../mem/copy.h"
#include "../wire/pkt.h"
#include "av.h"

/* IPv6 and UDP headers: room to leave in front of a BTH, more than a GRH needs */
#define SKR_ROCEV2_HEADROOM	48

/**
 * struct skr_rx_cb - what the door knows about a received packet
 * @dev: device of the netdev that it came in on; NULL if there is none
 * @len: bytes from the first BTH, at skb->data, to the end of the last ICRC
 * @at: offset of the BTH of the packet at hand from skb->data
 * @seg: bytes of each packet but the last of a super-packet; else @len
 * @psn: PSN of the packet at hand, once it is parsed
 * @good: offset up to which the ICRCs are known to be right
 * @net: encapsulation
 * @ecn: the two ECN bits
 * @noticed: its mark needs no answer any more; protected by the QP's lock
 * @vlan: identifier of the VLAN that it came in on, or VLAN_N_VID
 * @piece: the packet at hand, once its headers are read, if it lies in one piece; or NULL
 */
struct skr_rx_cb {
	struct skr_dev	*dev;
	u32		len;
	u32		at;
	u32		seg;
	u32		psn;
	u32		good;
	u8		net;
	u8		ecn;
	bool		noticed;
	u16		vlan;
	const u8	*piece;
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
 * skr_rx_bytes() - size of the packet at hand
 * @skb: received packet or super-packet
 *
 * Return: bytes from its BTH to the end of its ICRC.
 */
static inline u32 skr_rx_bytes(struct sk_buff *skb)
{
	const struct skr_rx_cb *cb = skr_rx_cb(skb);

	return min(cb->seg, cb->len - cb->at);
}

/**
 * skr_rx_copy_header() - a snapshot of bytes that may be a process's
 * @skb: received packet or super-packet, its place looked for by skr_rx_look()
 * @from: the first one, from the BTH of the packet at hand
 * @to: the end; within the packet
 * @buf: room for the headers; these bytes are written to their place
 *
 * Return: false if they cannot be read.
 */
static inline bool skr_rx_copy_header(struct sk_buff *skb, u32 from, u32 to, u8 *buf)
{
	const struct skr_rx_cb *cb = skr_rx_cb(skb);
	const u8 *piece = cb->piece;

	if (piece)
		piece += from;
	else
		piece = skr_skb_at(skb, cb->at + from, to - from);
	if (!piece)
		return !skb_copy_bits(skb, cb->at + from, buf + from, to - from);
	memcpy(buf + from, piece, to - from);
	return true;
}

/**
 * skr_rx_look() - where does the packet at hand lie, and what is its BTH?
 * @skb: received packet or super-packet
 * @bth: set to the BTH, which nobody changes
 *
 * Return: false if it has none that can be read.
 */
static inline bool skr_rx_look(struct sk_buff *skb, struct skr_bth *bth)
{
	struct skr_rx_cb *cb = skr_rx_cb(skb);
	u32 bytes = skr_rx_bytes(skb);

	cb->piece = skr_skb_at(skb, cb->at, bytes);
	if (bytes < sizeof(*bth))
		return false;
	/* what a CPU cannot read, a device's memory, has no headers */
	if (!cb->piece)
		return skr_rx_copy_header(skb, 0, sizeof(*bth), (u8 *)bth);
	memcpy(bth, cb->piece, sizeof(*bth));
	return true;
}

/**
 * skr_rx_parse() - read the transport headers of the packet at hand
 * @skb: received packet or super-packet
 * @pkt: where the facts go
 *
 * Each byte is read once. Headers often lie by themselves, and more than the opcode has
 * would have to be put together.
 *
 * Return: SKR_DROP_NONE, or the reason.
 */
static inline enum skr_drop skr_rx_parse(struct sk_buff *skb, struct skr_pkt *pkt)
{
	union {
		struct skr_bth bth;
		u8 bytes[SKR_MAX_HDR_BYTES];
	} hdr __uninitialized;
	u32 bytes = skr_rx_bytes(skb), avail = 0;

	if (skr_rx_look(skb, &hdr.bth)) {
		avail = max_t(u32, sizeof(hdr.bth), skr_opcodes[hdr.bth.opcode].hdr_bytes);
		if (avail > bytes ||
		    (avail > sizeof(hdr.bth) &&
		     !skr_rx_copy_header(skb, sizeof(hdr.bth), avail, hdr.bytes)))
			avail = sizeof(hdr.bth);
	}
	return skr_parse(pkt, hdr.bytes, avail, bytes);
}

/**
 * skr_rx_payload() - where the payload of the packet at hand begins
 * @skb: received packet or super-packet
 * @pkt: its facts
 *
 * Return: its place, to copy from.
 */
static inline struct skr_source skr_rx_payload(struct sk_buff *skb, const struct skr_pkt *pkt)
{
	const struct skr_rx_cb *cb = skr_rx_cb(skb);

	return (struct skr_source) {
		.piece = cb->piece ? cb->piece + pkt->hdr_bytes : NULL,
		.skb = skb,
		.offset = cb->at + pkt->hdr_bytes,
	};
}

/**
 * skr_rx_left() - packets from the one at hand on
 * @skb: received packet or super-packet
 *
 * Return: their number, 0 if all were taken.
 */
static inline u32 skr_rx_left(struct sk_buff *skb)
{
	const struct skr_rx_cb *cb = skr_rx_cb(skb);

	return DIV_ROUND_UP(cb->len - cb->at, cb->seg);
}

/**
 * skr_rx_next() - go to the next packet of a super-packet
 * @skb: received packet or super-packet with a packet at hand
 *
 * Return: false if there is none.
 */
static inline bool skr_rx_next(struct sk_buff *skb)
{
	skr_rx_cb(skb)->at += skr_rx_bytes(skb);
	return skr_rx_cb(skb)->at < skr_rx_cb(skb)->len;
}

/**
 * struct skr_l3_copy - IP and UDP headers as one packet has them
 * @ip4: IPv4 header
 * @ip6: IPv6 header
 * @udp: UDP header
 */
struct skr_l3_copy {
	union {
		struct iphdr	ip4;
		struct ipv6hdr	ip6;
	};
	struct udphdr		udp;
};

/**
 * skr_l3_copy() - the headers of a packet of a super-packet
 * @l3: where they go
 * @skb: super-packet or packet with network and transport header set
 * @net: encapsulation
 * @bytes: that packet's size from BTH to ICRC
 * @index: which one it is
 *
 * What is not covered by the ICRC is not made right.
 *
 * Context: any.
 */
void skr_l3_copy(struct skr_l3_copy *l3, const struct sk_buff *skb, u8 net, u32 bytes,
		 u32 index);

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
 * @av: where it goes; has the IPv4 identification, which the ICRC covers
 *
 * Context: any.
 */
void skr_rocev2_push(struct sk_buff *skb, const struct skr_av *av);

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
 * @grh: 40 bytes: the GRH or IPv6 header; or 20 zeroes and the IPv4 header
 *	(A17.4.5.2)
 *
 * Context: any.
 */
void skr_rx_grh(struct sk_buff *skb, void *grh);

/**
 * skr_rocev2_out() - give a packet to the IP stack
 * @dev: device
 * @av: where it goes; its route cache may change
 * @skb: packet, skb->data at the IP header; consumed
 *
 * Context: BH, the lock of @av's owner held.
 * Return: what the stack says, or -EHOSTUNREACH if there is no route.
 */
int skr_rocev2_out(struct skr_dev *dev, struct skr_av *av, struct sk_buff *skb);

#endif /* SKR_NET_ROCEV2_H */
