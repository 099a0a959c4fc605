// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "batch.h"

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip6_checksum.h>
#include <net/sock.h>
#include <net/udp.h>

#include "../trace.h"
#include "../wire/icrc.h"
#include "pages.h"
#include "rocev2.h"

/* Packets in one skb at most: no more than UDP's own users may ask for */
#define SKR_BATCH_PACKETS	64

/*
 * A NIC that cuts super-packets by itself may number the IPv4 packets in its own
 * way, and the ICRC covers the number. The kernel counts up, and so do the
 * devices of virtual machines, where the kernel of the host does it.
 */
static int skr_batch_odd_numbers(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	const struct device *hw = ndev->dev.parent;

	return hw && ndev->features & NETIF_F_GSO_UDP_L4 &&
	       !(hw->bus && !strcmp(hw->bus->name, "virtio"));
}

static bool skr_batch_allowed(const struct skr_dev *dev, const struct skr_av *av)
{
	struct netdev_nested_priv priv = {};
	bool odd;

	/* nothing below cuts RoCEv1 */
	if (!READ_ONCE(skr_tune.super_tx) || av->net == SKR_L3_GRH)
		return false;
	if (av->net != SKR_L3_IPV4)
		return true;
	if (skr_batch_odd_numbers(dev->ndev, &priv))
		return false;
	rcu_read_lock();
	odd = netdev_walk_all_lower_dev_rcu(dev->ndev, skr_batch_odd_numbers, &priv);
	rcu_read_unlock();
	return !odd;
}

void skr_batch_init(struct skr_batch *batch, struct skr_dev *dev,
		    struct skr_stats __percpu *stats, struct skr_av *av)
{
	*batch = (struct skr_batch) {
		.dev = dev,
		.stats = stats,
		.av = av,
	};
}

bool skr_batch_fits(struct skr_batch *batch, u32 bytes)
{
	if (!batch->skb)
		return true;
	/* most who send one packet never ask */
	if (!batch->max)
		batch->max = skr_batch_allowed(batch->dev, batch->av) ? SKR_BATCH_PACKETS : 1;
	return batch->packets < batch->max && bytes <= batch->seg &&
	       batch->last_bytes == batch->seg && batch->bytes + bytes <= SKR_BATCH_BYTES;
}

static void skr_batch_grown(struct sk_buff *skb, u32 bytes)
{
	skb->len += bytes;
	skb->data_len += bytes;
	skb->truesize += bytes;
}

/* Bytes behind those that are there, from a page that has room. NULL: no more fragments. */
static u8 *skr_batch_attach(struct sk_buff *skb, struct page_frag *frag, u32 bytes)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	u8 *room = page_address(frag->page) + frag->offset;

	if (skb_can_coalesce(skb, shinfo->nr_frags, frag->page, frag->offset)) {
		skb_frag_size_add(&shinfo->frags[shinfo->nr_frags - 1], bytes);
	} else if (shinfo->nr_frags < MAX_SKB_FRAGS) {
		get_page(frag->page);
		skb_fill_page_desc(skb, shinfo->nr_frags, frag->page, frag->offset, bytes);
	} else {
		return NULL;
	}
	frag->offset += bytes;
	skr_batch_grown(skb, bytes);
	return room;
}

/*
 * Where a packet begins so that what follows a BTH, and a RETH, is aligned, as it then is in all
 * packets behind it: their size is a path MTU and 16.
 */
static u32 skr_batch_aligned(u32 offset)
{
	return ALIGN(offset + sizeof(u32), sizeof(u64)) - sizeof(u32);
}

/* Bytes behind those that are there, on a page shared with other skbs. */
static u8 *skr_batch_more(struct sk_buff *skb, u32 bytes)
{
	struct page_frag *frag = skr_pages_begin(bytes + sizeof(u64));
	u8 *room = NULL;

	if (frag) {
		if (!skb_can_coalesce(skb, skb_shinfo(skb)->nr_frags, frag->page, frag->offset))
			frag->offset = skr_batch_aligned(frag->offset);
		room = skr_batch_attach(skb, frag, bytes);
	}
	skr_pages_end();
	return room;
}

/* The payload's pieces become fragments. */
static void skr_batch_take(struct sk_buff *skb, struct skr_loan *loan)
{
	struct bio_vec *piece;

	for (piece = loan->piece; piece < loan->piece + loan->num; piece++) {
		skb_fill_page_desc_noacc(skb, skb_shinfo(skb)->nr_frags, piece->bv_page,
					 piece->bv_offset, piece->bv_len);
		skr_batch_grown(skb, piece->bv_len);
	}
	/* their owner can write to them */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	loan->num = 0;
}

/* An skb for the first packet, to be pushed when the packet is complete */
static u8 *skr_batch_begin(struct skr_batch *batch, u32 bytes)
{
	batch->skb = skr_xmit_alloc(bytes);
	if (!batch->skb)
		return NULL;
	batch->packets = 0;
	batch->bytes = 0;
	return batch->skb->data;
}

static void skr_batch_added(struct skr_batch *batch, u8 *bth, u32 bytes)
{
	if (!batch->packets) {
		skr_xmit_push(batch->skb, batch->av);
		batch->seg = bytes;
	}
	batch->packets++;
	batch->bytes += bytes;
	batch->last = bth;
	batch->last_bytes = bytes;
}

void *skr_batch_add(struct skr_batch *batch, u32 bytes)
{
	u8 *room;

	if (batch->skb)
		room = skr_batch_more(batch->skb, bytes);
	else
		room = skr_batch_begin(batch, bytes);
	if (!room)
		return NULL;
	batch->tail = NULL;
	skr_batch_added(batch, room, bytes);
	return room;
}

/* Headers, if they are not in the skb yet, the payload, and room for what follows it */
static bool skr_batch_wrap(struct skr_batch *batch, u8 **bth, u32 hdr_bytes,
			   struct skr_loan *loan, u32 tail_bytes)
{
	struct sk_buff *skb = batch->skb;
	struct page_frag *frag;

	if (skb_shinfo(skb)->nr_frags + loan->num + 2 > MAX_SKB_FRAGS)
		return false;
	frag = skr_pages_begin(hdr_bytes + tail_bytes);
	if (frag) {
		if (!*bth)
			*bth = skr_batch_attach(skb, frag, hdr_bytes);
		batch->lent = skb_shinfo(skb)->nr_frags;
		batch->num_lent = loan->num;
		skr_batch_take(skb, loan);
		batch->tail = skr_batch_attach(skb, frag, tail_bytes);
		batch->tail_bytes = tail_bytes;
	}
	skr_pages_end();
	return frag;
}

void *skr_batch_add_lent(struct skr_batch *batch, u32 hdr_bytes, u32 bytes,
			 struct skr_loan *loan)
{
	bool first = !batch->skb;
	u8 *bth = NULL;

	if (first) {
		bth = skr_batch_begin(batch, hdr_bytes);
		if (!bth)
			return NULL;
	}
	if (!skr_batch_wrap(batch, &bth, hdr_bytes, loan, bytes - hdr_bytes - loan->bytes)) {
		if (first) {
			kfree_skb(batch->skb);
			batch->skb = NULL;
		}
		return NULL;
	}
	skr_batch_added(batch, bth, bytes);
	return bth;
}

/* The CRC goes on over fragments that are lent, as they are now. */
static u32 skr_batch_crc_lent(const struct skr_batch *batch, u32 crc)
{
	const struct skb_shared_info *shinfo = skb_shinfo(batch->skb);
	u32 i;

	for (i = batch->lent; i < batch->lent + batch->num_lent; i++)
		crc = skr_icrc_add(crc, skb_frag_address(&shinfo->frags[i]),
				   skb_frag_size(&shinfo->frags[i]));
	return crc;
}

void skr_batch_seal(struct skr_batch *batch, u32 hdr_bytes)
{
	u8 *rest = batch->last + hdr_bytes;
	u32 rest_bytes = batch->last_bytes - hdr_bytes;
	struct skr_l3_copy l3 __uninitialized;
	u32 crc;

	trace_skr_tx(batch->dev, batch->last);
	skr_l3_copy(&l3, batch->skb, batch->av->net, batch->last_bytes, batch->packets - 1);
	crc = skr_icrc_hdr(batch->av->net, &l3, &l3.udp, batch->last, hdr_bytes);
	if (batch->tail) {
		crc = skr_batch_crc_lent(batch, crc);
		rest = batch->tail;
		rest_bytes = batch->tail_bytes;
	}
	skr_xmit_icrc(crc, rest, rest_bytes);
}

void skr_batch_cancel(struct skr_batch *batch)
{
	batch->packets--;
	batch->bytes -= batch->last_bytes;
	if (batch->packets) {
		/* all before it had the same size, or it would not have fit */
		pskb_trim(batch->skb, batch->skb->len - batch->last_bytes);
		batch->last_bytes = batch->seg;
	} else {
		kfree_skb(batch->skb);
		batch->skb = NULL;
	}
}

/* More than one packet: say where to cut, and leave UDP's checksum to the NIC. */
static void skr_batch_mark(struct skr_batch *batch)
{
	struct sk_buff *skb = batch->skb;
	u32 len = skb->len - skb_transport_offset(skb);
	struct udphdr *udp = udp_hdr(skb);

	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	skb_shinfo(skb)->gso_size = batch->seg;
	skb_shinfo(skb)->gso_segs = batch->packets;
	udp->len = htons(len);
	if (batch->av->net == SKR_L3_IPV4)
		udp->check = ~udp_v4_check(len, ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, 0);
	else
		udp->check = ~udp_v6_check(len, &ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr, 0);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

enum skr_tx skr_batch_flush(struct skr_batch *batch)
{
	struct sk_buff *skb = batch->skb;

	if (batch->packets > 1)
		skr_batch_mark(batch);
	batch->av->ip_id += batch->packets;
	batch->skb = NULL;
	return skr_xmit_down(batch->dev, batch->stats, batch->av, skb, batch->packets,
			     batch->bytes);
}
