// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "xmit.h"

#include <linux/local_lock.h>

#include "../trace.h"
#include "../wire/icrc.h"
#include "prio.h"
#include "rocev1.h"
#include "rocev2.h"

/* Buffers up to this size are pieces of pages */
#define SKR_XMIT_PIECE		1024

/**
 * struct skr_xmit_pages - where a CPU's small buffers come from
 * @lock: names the critical section; softirq is off in it
 * @pieces: pages that are cut up. When all pieces of one are free it is used again: no
 *	allocation, and none that a kernel which clears what it allocates has to clear.
 */
struct skr_xmit_pages {
	local_lock_t		lock;
	struct page_frag_cache	pieces;
};

static DEFINE_PER_CPU(struct skr_xmit_pages, skr_xmit_pages) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

/* A buffer of @size bytes, skb_shared_info included, which is a piece of a page */
static struct sk_buff *skr_xmit_piece(u32 size)
{
	struct sk_buff *skb;
	void *data;

	local_lock_nested_bh(&skr_xmit_pages.lock);
	data = page_frag_alloc(this_cpu_ptr(&skr_xmit_pages.pieces), size,
			       GFP_ATOMIC | __GFP_NOWARN);
	local_unlock_nested_bh(&skr_xmit_pages.lock);
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

	/* KASAN does not see the ends of a piece */
	if (size <= SKR_XMIT_PIECE && !IS_ENABLED(CONFIG_KASAN))
		skb = skr_xmit_piece(size);
	else
		skb = alloc_skb(headroom + bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	skb_put(skb, bytes);
	return skb;
}

void skr_xmit_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		page_frag_cache_drain(&per_cpu_ptr(&skr_xmit_pages, cpu)->pieces);
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
	u8 buf[SKR_MAX_HDR_BYTES] __uninitialized;
	struct skr_l3_copy l3 __uninitialized;
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
