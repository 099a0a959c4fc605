/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Sending a packet: buffer, ICRC, and the way down the stack.
 */
#ifndef SKR_NET_XMIT_H
#define SKR_NET_XMIT_H

#include <linux/skbuff.h>

#include "av.h"

/**
 * enum skr_tx - what became of a packet
 * @SKR_TX_OK: it is on its way, or lost where a wire could have lost it
 * @SKR_TX_CONGESTED: the local queue is full and did not take it
 */
enum skr_tx {
	SKR_TX_OK,
	SKR_TX_CONGESTED,
};

/**
 * skr_xmit_alloc() - a buffer for one packet
 * @bytes: from the BTH to the end of the ICRC
 *
 * Context: BH.
 * Return: linear buffer with @bytes put and room for all lower headers in
 *	front, or NULL.
 */
struct sk_buff *skr_xmit_alloc(u32 bytes);

/**
 * skr_xmit_exit() - give back what buffers were to come from
 *
 * Context: module exit; nobody sends any more.
 */
void skr_xmit_exit(void);

/**
 * skr_xmit_push() - put the headers below the BTH in front of a packet
 * @skb: packet, skb->data at the BTH; at the GRH or IP header afterwards
 * @av: where it goes
 *
 * Context: any.
 */
void skr_xmit_push(struct sk_buff *skb, const struct skr_av *av);

/**
 * skr_xmit_icrc() - write a packet's ICRC
 * @crc: running CRC over all headers
 * @payload: what follows them
 * @bytes: payload, pad and the four bytes of the ICRC
 *
 * Context: any.
 */
void skr_xmit_icrc(u32 crc, u8 *payload, u32 bytes);

/**
 * skr_xmit_down() - give complete packets to the stack
 * @dev: device
 * @stats: where they count
 * @av: where to; its route cache may change
 * @skb: one packet or several, skb->data at the IP header; consumed
 * @packets: how many
 * @bytes: their size from BTH to ICRC
 *
 * Context: BH, the lock of @av's owner held.
 * Return: what became of it.
 */
enum skr_tx skr_xmit_down(struct skr_dev *dev, struct skr_stats __percpu *stats,
			  struct skr_av *av, struct sk_buff *skb, u32 packets, u32 bytes);

/**
 * skr_rx_icrc_ok() - check the ICRC of a received packet
 * @skb: packet, or super-packet at one of its packets, with skr_rx_cb() filled, linear or not
 * @hdr_bytes: BTH and extended headers, all within the packet
 *
 * Context: any.
 * Return: true if it is right.
 */
bool skr_rx_icrc_ok(struct sk_buff *skb, u32 hdr_bytes);

#endif /* SKR_NET_XMIT_H */
