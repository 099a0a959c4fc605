// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "xmit.h"

#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "../trace.h"
#include "../wire/icrc.h"
#include "rocev2.h"

struct sk_buff *skr_xmit_alloc(u32 bytes)
{
	u32 headroom = LL_MAX_HEADER + SKR_ROCEV2_HEADROOM;
	struct sk_buff *skb = alloc_skb(headroom + bytes, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	skb_put(skb, bytes);
	return skb;
}

static void skr_xmit_icrc(struct sk_buff *skb, const struct skr_av *av, u32 hdr_bytes)
{
	const u8 *bth = skb_transport_header(skb) + sizeof(struct udphdr);
	u8 *end = skb_tail_pointer(skb) - SKR_ICRC_BYTES;
	__le32 icrc;
	u32 crc;

	crc = skr_icrc_hdr(av->net, skb_network_header(skb), skb_transport_header(skb), bth,
			   hdr_bytes);
	crc = skr_icrc_add(crc, bth + hdr_bytes, end - bth - hdr_bytes);
	icrc = skr_icrc_end(crc);
	memcpy(end, &icrc, sizeof(icrc));
}

enum skr_tx skr_xmit(struct skr_dev *dev, struct skr_av *av, struct sk_buff *skb,
		     u32 hdr_bytes)
{
	u32 bytes = skb->len;
	struct dst_entry *dst;
	int ret;

	dst = skr_av_route(dev, av);
	if (!dst) {
		skr_count(dev, SKR_CNT_TX_UNREACHABLE);
		kfree_skb(skb);
		return SKR_TX_OK;
	}
	trace_skr_tx(dev, skb->data);
	skr_rocev2_push(skb, av, dev->net);
	skb->priority = av->prio;
	skr_xmit_icrc(skb, av, hdr_bytes);

	rcu_read_lock();
	skb_dst_set_noref(skb, dst);
	if (av->net == SKR_L3_IPV4)
		ret = ip_local_out(dev->net, NULL, skb);
	else
		ret = ip6_local_out(dev->net, NULL, skb);
	rcu_read_unlock();

	/*
	 * Only a full queue is news to the sender. A congested one (CN) took
	 * this packet; a filter that drops it is a wire that loses it.
	 */
	if (ret == NET_XMIT_DROP || ret == -ENOBUFS) {
		skr_count(dev, SKR_CNT_TX_CONGESTED);
		return SKR_TX_CONGESTED;
	}
	skr_count(dev, SKR_CNT_TX_PACKETS);
	skr_count_add(dev, SKR_CNT_TX_BYTES, bytes);
	return SKR_TX_OK;
}

/* Walk the payload where it lies; nothing is linearized. */
static u32 skr_rx_crc(struct sk_buff *skb, u32 crc, u32 from, u32 to)
{
	struct skb_seq_state state;
	unsigned int done = 0;
	const u8 *data;
	unsigned int n;

	if (to <= skb_headlen(skb))
		return skr_icrc_add(crc, skb->data + from, to - from);

	skb_prepare_seq_read(skb, from, to, &state);
	while ((n = skb_seq_read(done, &data, &state))) {
		/* a block is not cut where the range ends */
		n = min(n, to - from - done);
		crc = skr_icrc_add(crc, data, n);
		done += n;
	}
	return crc;
}

bool skr_rx_icrc_ok(struct sk_buff *skb, u32 hdr_bytes)
{
	const struct skr_rx_cb *cb = skr_rx_cb(skb);
	u32 end = cb->len - SKR_ICRC_BYTES;
	u8 buf[SKR_MAX_HDR_BYTES];
	const void *bth;
	__le32 icrc;
	u32 crc;

	bth = skb_header_pointer(skb, 0, hdr_bytes, buf);
	if (!bth || skb_copy_bits(skb, end, &icrc, sizeof(icrc)))
		return false;
	crc = skr_icrc_hdr(cb->net, skb_network_header(skb), skb_transport_header(skb), bth,
			   hdr_bytes);
	crc = skr_rx_crc(skb, crc, hdr_bytes, end);
	return skr_icrc_end(crc) == icrc;
}
