/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Packets that came too early. One that overtook others is kept for a moment,
 * so that a path that reorders costs nothing; only a gap that stays is a loss.
 */
#ifndef SKR_TRANSPORT_REORDER_H
#define SKR_TRANSPORT_REORDER_H

#include <linux/ktime.h>
#include <linux/skbuff.h>

/* Packets that a direction of a QP keeps at most */
#define SKR_REORDER_MAX		64
/*
 * Nor one that is further ahead, in PSNs: what is kept is executed when its turn comes,
 * and who sends in another's name should have to guess better than one in two.
 */
#define SKR_REORDER_SPAN	1024
/* A gap is a loss when so many packets have come that are not the missing one ... */
#define SKR_REORDER_PACKETS	16
/* ... or when one has, so long ago */
#define SKR_REORDER_NS		(200 * NSEC_PER_USEC)
/* Where nobody sends it again patience costs less than a message */
#define SKR_REORDER_PATIENT_NS	(2 * NSEC_PER_MSEC)

/**
 * struct skr_reorder - early packets of one direction, in PSN order
 * @held: the packets; without a lock of its own
 * @arrived: early packets since the missing one was last another; what was
 *	held before does not count: a sender that went back is filling the gap
 * @since: when the first of them came
 */
struct skr_reorder {
	struct sk_buff_head	held;
	u32			arrived;
	ktime_t			since;
};

/**
 * skr_reorder_init() - an empty list
 * @reorder: list
 *
 * Context: any.
 */
void skr_reorder_init(struct skr_reorder *reorder);

/**
 * skr_reorder_purge() - forget what is held
 * @reorder: list
 *
 * Context: any, the owner's lock held.
 */
void skr_reorder_purge(struct skr_reorder *reorder);

/**
 * skr_reorder_hold() - keep an early packet
 * @reorder: list
 * @skb: received packet; a reference is taken if it is kept
 * @ahead: PSNs between it and the one that is expected
 *
 * A packet of a PSN that is held already, one that is too far ahead, and one that
 * finds the list full, is not kept: it is as good as lost.
 *
 * Context: any, the owner's lock held.
 */
void skr_reorder_hold(struct skr_reorder *reorder, struct sk_buff *skb, s32 ahead);

/**
 * skr_reorder_next() - the packet whose turn it is
 * @reorder: list
 * @expected: PSN that is expected now
 *
 * Packets before @expected are dropped. A super-packet that reaches beyond it may
 * begin with such packets.
 *
 * Context: any, the owner's lock held.
 * Return: the packet, the caller's from now on, or NULL.
 */
struct sk_buff *skr_reorder_next(struct skr_reorder *reorder, u32 expected);

/**
 * skr_reorder_moved() - another PSN is expected now
 * @reorder: list
 *
 * Context: any, the owner's lock held.
 */
static inline void skr_reorder_moved(struct skr_reorder *reorder)
{
	reorder->arrived = 0;
}

/**
 * skr_reorder_first() - PSN of the first packet held
 * @reorder: list, not empty
 *
 * Context: any, the owner's lock held.
 * Return: the PSN.
 */
u32 skr_reorder_first(const struct skr_reorder *reorder);

/**
 * skr_reorder_lost() - is the gap a loss?
 * @reorder: list with early packets arrived
 *
 * Context: any, the owner's lock held.
 * Return: true if it is, false if it is too early to tell.
 */
bool skr_reorder_lost(const struct skr_reorder *reorder);

/**
 * enum skr_reorder_wait - what a receiver that cannot ask for a packet does
 * @SKR_REORDER_EMPTY: nothing waits
 * @SKR_REORDER_WAIT: the missing packet may still come
 * @SKR_REORDER_GIVE_UP: it is lost: time is up, or there is no room for more
 */
enum skr_reorder_wait {
	SKR_REORDER_EMPTY,
	SKR_REORDER_WAIT,
	SKR_REORDER_GIVE_UP,
};

/**
 * skr_reorder_wait() - does anything wait for a packet that nobody sends again?
 * @reorder: list
 *
 * If packets were left over by the last gap, their time begins now.
 *
 * Context: any, the owner's lock held.
 * Return: what to do.
 */
enum skr_reorder_wait skr_reorder_wait(struct skr_reorder *reorder);

#endif /* SKR_TRANSPORT_REORDER_H */
