// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "xmit.h"

#include "../trace.h"
#include "../wire/icrc.h"
#include "pages.h"
#include "prio.h"
#include "rocev1.h"
#include "rocev2.h"

/* A buffer of @size bytes, skb_shared_info included, which is a piece of a page */
static struct sk_buff *skr_xmit_piece(u32 size)
{
	struct sk_buff *skb;
	void *data;

	/* KASAN does not see the ends of a piece */
	if (IS_ENABLED(CONFIG_KASAN))
		return NULL;
	data = skr_pages_piece(size);
	if (!data)
		return NULL;
	skb = napi_build_skb(data, size);
	if (!skb)
		skb_free_frag(data);
	return skb;
}

struct sk_buff *skr_xmit_alloc(u32 bytes)
{
	u32 headroom = LL_MAX_HEADER + SKR_ROCEV2_HEADROOM;
	u32 size = SKB_DATA_ALIGN(headroom + bytes) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;

	skb = skr_xmit_piece(size);
	if (!skb)
		skb = alloc_skb(headroom + bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	skb_put(skb, bytes);
	return skb;
}

void skr_xmit_push(struct sk_buff *skb, const struct skr_av *av)
{
	if (av->net == SKR_L3_GRH)
		skr_rocev1_push(skb, av);
	else
		skr_rocev2_push(skb, av);
}

static int skr_xmit_out(struct skr_dev *dev, struct skr_av *av, struct sk_buff *skb)
{
	skr_prio_find(dev, av);
	skb->priority = av->class.prio;
	if (av->net == SKR_L3_GRH)
		return skr_rocev1_out(dev, av, skb);
	return skr_rocev2_out(dev, av, skb);
}

void skr_xmit_icrc(u32 crc, u8 *payload, u32 bytes)
{
	u8 *end = payload + bytes - SKR_ICRC_BYTES;
	__le32 icrc;

	icrc = skr_icrc_end(skr_icrc_add(crc, payload, end - payload));
	memcpy(end, &icrc, sizeof(icrc));
}

enum skr_tx skr_xmit_down(struct skr_dev *dev, struct skr_stats __percpu *stats,
			  struct skr_av *av, struct sk_buff *skb, u32 packets, u32 bytes)
{
	/*
	 * Only a full queue is news to the sender. A congested one (CN) took
	 * this packet; a filter that drops it is a wire that loses it.
	 */
	switch (skr_xmit_out(dev, av, skb)) {
	case NET_XMIT_DROP:
	case -ENOBUFS:
		skr_stats_add(stats, SKR_CNT_TX_CONGESTED, packets);
		return SKR_TX_CONGESTED;
	case -EHOSTUNREACH:
		skr_stats_add(stats, SKR_CNT_TX_UNREACHABLE, packets);
		return SKR_TX_OK;
	default:
		skr_stats_add(stats, SKR_CNT_TX_PACKETS, packets);
		skr_stats_add(stats, SKR_CNT_TX_BYTES, bytes);
		return SKR_TX_OK;
	}
}

/* Walk the payload where it lies; nothing is linearized. */
static u32 skr_rx_crc(struct sk_buff *skb, u32 crc, u32 from, u32 to)
{
	struct skb_seq_state state;
	unsigned int done = 0;
	const u8 *data;
	unsigned int n;

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

/* The CRC of its headers, at @bth: lengths are as if it had come alone. */
static u32 skr_rx_crc_hdr(struct sk_buff *skb, const void *bth, u32 hdr_bytes)
{
	const struct skr_rx_cb *cb = skr_rx_cb(skb);
	struct skr_l3_copy l3 __uninitialized;

	skr_l3_copy(&l3, skb, cb->net, skr_rx_bytes(skb), cb->at / cb->seg);
	return skr_icrc_hdr(cb->net, &l3, &l3.udp, bth, hdr_bytes);
}

/* A packet in one piece: @bth leads to all of it. */
static bool skr_rx_icrc_ok_whole(struct sk_buff *skb, const u8 *bth, u32 hdr_bytes)
{
	u32 end = skr_rx_bytes(skb) - SKR_ICRC_BYTES;
	__le32 icrc;
	u32 crc;

	memcpy(&icrc, bth + end, sizeof(icrc));
	crc = skr_rx_crc_hdr(skb, bth, hdr_bytes);
	return skr_icrc_end(skr_icrc_add(crc, bth + hdr_bytes, end - hdr_bytes)) == icrc;
}

bool skr_rx_icrc_ok(struct sk_buff *skb, u32 hdr_bytes)
{
	u32 at = skr_rx_cb(skb)->at, bytes = skr_rx_bytes(skb);
	const void *bth = skr_rx_cb(skb)->piece;
	u8 buf[SKR_MAX_HDR_BYTES] __uninitialized;
	u32 end = at + bytes - SKR_ICRC_BYTES;
	__le32 icrc;
	u32 crc;

	if (bth)
		return skr_rx_icrc_ok_whole(skb, bth, hdr_bytes);
	bth = skb_header_pointer(skb, at, hdr_bytes, buf);
	if (!bth || skb_copy_bits(skb, end, &icrc, sizeof(icrc)))
		return false;
	crc = skr_rx_crc_hdr(skb, bth, hdr_bytes);
	return skr_icrc_end(skr_rx_crc(skb, crc, at + hdr_bytes, end)) == icrc;
}
