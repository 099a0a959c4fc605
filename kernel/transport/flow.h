/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A QP as a flow: the rate at which it sends. One rate is for all that a QP
 * sends with data in it, requests and READ responses, as adapters have it:
 * nothing in a CNP says which of them met congestion.
 *
 * What the user allows bounds it, too: the rate limit of the QP, and the static rate
 * of its address vector. Datagrams have no congestion control, but a QP's limit, and
 * after each one a pause if its address handle has a static rate.
 */
#ifndef SKR_TRANSPORT_FLOW_H
#define SKR_TRANSPORT_FLOW_H

#include <linux/hrtimer.h>
#include <linux/types.h>

#include "../cc/cc.h"

struct sk_buff;
struct sk_buff_head;
struct skr_av;
struct skr_pkt;
struct skr_qp;

/**
 * enum skr_flow_wish - what the application wants of congestion control
 * @SKR_WISH_NONE: nothing: as the device has it
 * @SKR_WISH_ON: the device's algorithm, or DCQCN if the device has none
 * @SKR_WISH_OFF: none
 */
enum skr_flow_wish {
	SKR_WISH_NONE,
	SKR_WISH_ON,
	SKR_WISH_OFF,
};

/**
 * struct skr_flow - pacing of a QP
 * @wish: constant
 * @cc: its congestion control
 * @port: bytes per second of the port: what has this rate is not paced
 * @allowed: bytes per second that the user allows; 0: no limit
 * @debt: bytes sent ahead of the rate; negative: what a late timer cost
 * @as_of: nanoseconds, when @debt was true
 * @cnp_sent: nanoseconds, the last CNP that this QP sent
 * @owed: sending waits until the debt is paid
 * @timer: wakes the QP then
 */
struct skr_flow {
	enum skr_flow_wish wish;
	struct skr_cc	cc;
	u64		port;
	u64		allowed;
	s64		debt;
	u64		as_of;
	u64		cnp_sent;
	bool		owed;
	struct hrtimer	timer;
};

/**
 * skr_flow_algorithm() - a QP's congestion control, if it began now
 * @qp: QP
 *
 * A QP with an address keeps what it began with, skr_flow.cc. Datagrams have
 * no flow, and go by this.
 *
 * Context: any.
 * Return: the algorithm.
 */
const struct skr_cc_ops *skr_flow_algorithm(const struct skr_qp *qp);

/**
 * skr_flow_wish_name() - what the application wants, in words
 * @qp: QP
 *
 * Context: any.
 * Return: "device", "on" or "off".
 */
const char *skr_flow_wish_name(const struct skr_qp *qp);

/**
 * skr_flow_start() - begin as fast as the port and the user allow
 * @qp: QP, locked, with its address
 *
 * Context: process, @qp->lock held.
 */
void skr_flow_start(struct skr_qp *qp);

/**
 * skr_flow_blocked() - must the QP send no more data now?
 * @qp: QP, locked
 * @waiting: bytes that are about to be sent in any case
 *
 * Context: BH, @qp->lock held. A true answer makes sure that the QP runs again
 *	when it may.
 * Return: true if it must wait.
 */
bool skr_flow_blocked(struct skr_qp *qp, u32 waiting);

/**
 * skr_flow_limit() - the user sets a rate limit
 * @qp: QP, locked
 * @kbps: kb/s; 0: none
 *
 * Context: process, @qp->lock held.
 */
void skr_flow_limit(struct skr_qp *qp, u32 kbps);

/**
 * skr_flow_sent() - packets were sent
 * @qp: QP, locked
 * @av: where to
 * @packets: how many
 * @bytes: of all of them, from the BTH to the ICRC
 *
 * Context: BH, @qp->lock held.
 */
void skr_flow_sent(struct skr_qp *qp, const struct skr_av *av, u32 packets, u32 bytes);

/**
 * skr_flow_cnp() - a CNP came from the peer
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_flow_cnp(struct skr_qp *qp);

/* cnp.c */

/**
 * skr_cnp_answer() - a CNP for a packet that met congestion, if it is time for one
 * @qp: QP, locked
 * @pkt: facts of the packet
 *
 * Context: BH, @qp->lock held.
 */
void skr_cnp_answer(struct skr_qp *qp, const struct skr_pkt *pkt);

/**
 * skr_cnp_unnoticed() - of packets that wait, the newest that met congestion
 * @queue: of a QP, locked
 *
 * All that came since the last call, within bounds, need no answer afterwards: one is
 * enough. What was not looked at is answered when its turn comes.
 *
 * Context: BH, the QP's lock held.
 * Return: the packet, still in the queue, where it stays while the lock is held; or
 *	NULL.
 */
struct sk_buff *skr_cnp_unnoticed(struct sk_buff_head *queue);

/**
 * skr_cnp_look() - count a packet that met congestion, and answer it
 * @qp: QP, locked
 * @skb: the packet, or super-packet at its first packet
 * @pkt: facts of that packet
 *
 * Context: BH, @qp->lock held.
 */
void skr_cnp_look(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt);

#endif /* SKR_TRANSPORT_FLOW_H */
