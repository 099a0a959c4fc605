/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Transports that answer nothing: datagrams, and the unreliable connection.
 */
#ifndef SKR_TRANSPORT_UNRELIABLE_H
#define SKR_TRANSPORT_UNRELIABLE_H

#include "qp.h"

/* uc.c: the unreliable connection */

/**
 * skr_uc_receive() - take a packet
 * @qp: QP, locked
 * @skb: the packet, the one at hand of a super-packet; not consumed
 * @pkt: its facts
 *
 * Context: BH, @qp->lock and dev->mr_srcu held.
 * Return: false if it came too early: what follows it in @skb need not be given.
 */
bool skr_uc_receive(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt);

/**
 * skr_uc_gap() - give a missing packet up
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 * Return: true if packets that were held may be taken now.
 */
bool skr_uc_gap(struct skr_qp *qp);

/* datagram.c: UD and QP 1 */

/**
 * skr_datagram_send() - send a datagram
 * @qp: QP, locked
 * @wqe: its request
 *
 * A message that is longer than a packet is not sent, and nobody is told
 * (IBTA 9.8.3).
 *
 * Context: BH, @qp->lock and dev->mr_srcu held.
 * Return: 0, -EAGAIN or -ENOMEM to try again, -EINPROGRESS if a page was missed,
 *	-EFAULT for bad memory, -ENXIO if there is no such address handle.
 */
int skr_datagram_send(struct skr_qp *qp, const struct skr_swqe *wqe);

/**
 * skr_datagram_admit() - may a QP take a datagram?
 * @qp: QP, locked
 * @skb: the datagram
 * @pkt: its facts
 *
 * Context: BH, @qp->lock held.
 * Return: SKR_DROP_NONE, or the reason.
 */
enum skr_drop skr_datagram_admit(const struct skr_qp *qp, const struct sk_buff *skb,
				 const struct skr_pkt *pkt);

/**
 * skr_datagram_receive() - take a datagram
 * @qp: QP, locked
 * @skb: the packet; not consumed
 * @pkt: its facts
 *
 * Context: BH, @qp->lock and dev->mr_srcu held.
 */
void skr_datagram_receive(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt);

#endif /* SKR_TRANSPORT_UNRELIABLE_H */
