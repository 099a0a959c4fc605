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

void skr_xmit_icrc(u32 crc, u8 *payload, u32 bytes)
{
	u8 *end = payload + bytes - SKR_ICRC_BYTES;
	__le32 icrc;

	icrc = skr_icrc_end(skr_icrc_add(crc, payload, end - payload));
	memcpy(end, &icrc, sizeof(icrc));
}

enum skr_tx skr_xmit_down(struct skr_dev *dev, struct skr_av *av, struct sk_buff *skb,
			  u32 packets, u32 bytes)
{
	struct dst_entry *dst = skr_av_route(dev, av);
	int ret;

	if (!dst) {
		skr_count_add(dev, SKR_CNT_TX_UNREACHABLE, packets);
		kfree_skb(skb);
		return SKR_TX_OK;
	}
	skb->priority = av->prio;
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
		skr_count_add(dev, SKR_CNT_TX_CONGESTED, packets);
		return SKR_TX_CONGESTED;
	}
	skr_count_add(dev, SKR_CNT_TX_PACKETS, packets);
	skr_count_add(dev, SKR_CNT_TX_BYTES, bytes);
	return SKR_TX_OK;
}

enum skr_tx skr_xmit(struct skr_dev *dev, struct skr_av *av, struct sk_buff *skb,
		     u32 hdr_bytes)
{
	u8 *bth = skb->data;
	u32 bytes = skb->len;
	u32 crc;

	trace_skr_tx(dev, bth);
	skr_rocev2_push(skb, av);
	av->ip_id++;
	crc = skr_icrc_hdr(av->net, skb_network_header(skb), skb_transport_header(skb), bth,
			   hdr_bytes);
	skr_xmit_icrc(crc, bth + hdr_bytes, bytes - hdr_bytes);
	return skr_xmit_down(dev, av, skb, 1, bytes);
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

	/* a piece that it finds may reach beyond the end */
	skb_prepare_seq_read(skb, from, to, &state);
	while (done < to - from && (n = skb_seq_read(done, &data, &state))) {
		n = min(n, to - from - done);
		crc = skr_icrc_add(crc, data, n);
		done += n;
	}
	skb_abort_seq_read(&state);
	return crc;
}

bool skr_rx_icrc_ok(struct sk_buff *skb, u32 hdr_bytes)
{
	const struct skr_rx_cb *cb = skr_rx_cb(skb);
	u32 bytes = skr_rx_bytes(skb);
	u32 end = cb->at + bytes - SKR_ICRC_BYTES;
	u8 buf[SKR_MAX_HDR_BYTES];
	struct skr_l3_copy l3;
	const void *bth;
	__le32 icrc;
	u32 crc;

	bth = skb_header_pointer(skb, cb->at, hdr_bytes, buf);
	if (!bth || skb_copy_bits(skb, end, &icrc, sizeof(icrc)))
		return false;
	skr_l3_copy(&l3, skb, cb->net, bytes, cb->at / cb->seg);
	crc = skr_icrc_hdr(cb->net, &l3, &l3.udp, bth, hdr_bytes);
	crc = skr_rx_crc(skb, crc, cb->at + hdr_bytes, end);
	return skr_icrc_end(crc) == icrc;
}
