// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "reorder.h"

#include "../net/rocev2.h"
#include "../wire/psn.h"

void skr_reorder_init(struct skr_reorder *reorder)
{
	__skb_queue_head_init(&reorder->held);
}

void skr_reorder_purge(struct skr_reorder *reorder)
{
	__skb_queue_purge(&reorder->held);
	reorder->arrived = 0;
}

void skr_reorder_hold(struct skr_reorder *reorder, struct sk_buff *skb, s32 ahead)
{
	u32 psn = skr_rx_cb(skb)->psn;
	struct sk_buff *at;

	if (!reorder->arrived++)
		reorder->since = ktime_get();
	if (ahead > SKR_REORDER_SPAN || skb_queue_len(&reorder->held) >= SKR_REORDER_MAX)
		return;
	/* most come in order among themselves: look from the end */
	skb_queue_reverse_walk(&reorder->held, at) {
		ahead = skr_psn_diff(psn, skr_rx_cb(at)->psn);
		if (!ahead)
			return;
		if (ahead > 0)
			break;
	}
	__skb_queue_after(&reorder->held, at, skb_get(skb));
}

struct sk_buff *skr_reorder_next(struct skr_reorder *reorder, u32 expected)
{
	struct sk_buff *skb;
	s32 ahead;

	while ((skb = skb_peek(&reorder->held))) {
		ahead = skr_psn_diff(skr_rx_cb(skb)->psn, expected);
		if (ahead > 0)
			return NULL;
		__skb_unlink(skb, &reorder->held);
		if (ahead + (s32)skr_rx_left(skb) > 0)
			return skb;
		consume_skb(skb);
	}
	return NULL;
}

u32 skr_reorder_first(const struct skr_reorder *reorder)
{
	return skr_rx_cb(skb_peek(&reorder->held))->psn;
}

static u64 skr_reorder_age(const struct skr_reorder *reorder)
{
	return ktime_to_ns(ktime_sub(ktime_get(), reorder->since));
}

bool skr_reorder_lost(const struct skr_reorder *reorder)
{
	return reorder->arrived >= SKR_REORDER_PACKETS ||
	       skr_reorder_age(reorder) >= SKR_REORDER_NS;
}

enum skr_reorder_wait skr_reorder_wait(struct skr_reorder *reorder)
{
	if (skb_queue_empty(&reorder->held))
		return SKR_REORDER_EMPTY;
	if (!reorder->arrived) {
		reorder->arrived = 1;
		reorder->since = ktime_get();
	}
	if (skb_queue_len(&reorder->held) >= SKR_REORDER_MAX ||
	    skr_reorder_age(reorder) >= SKR_REORDER_PATIENT_NS)
		return SKR_REORDER_GIVE_UP;
	return SKR_REORDER_WAIT;
}
