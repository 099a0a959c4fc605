/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A QP's packets on their way out.
 */
#ifndef SKR_TRANSPORT_SEND_H
#define SKR_TRANSPORT_SEND_H

#include "../net/batch.h"
#include "../wire/pkt.h"
#include "qp.h"

/* What a QP has inside the local stack, in units, and where sending goes on */
#define SKR_TX_UNIT		4200U	/* bytes: a packet, or so much of a super-packet */
#define SKR_TX_HIGH		64
#define SKR_TX_LOW		32

/**
 * skr_send_begin() - begin a packet of a QP
 * @qp: QP, locked
 * @out: packets that wait to be sent; what the new one cannot join is sent
 * @pkt: facts for its headers; P_Key and pad are filled in here, and the QP
 *	number on a connection
 *
 * Context: BH, @qp->lock held. skr_send_end() or skr_batch_cancel() follows.
 * Return: where @pkt->payload_bytes bytes of payload go, headers and pad being
 *	written; -EAGAIN if the local stack was full: none of the packets of @out
 *	were sent; or -ENOMEM.
 */
void *skr_send_begin(struct skr_qp *qp, struct skr_batch *out, struct skr_pkt *pkt);

/**
 * skr_send_begin_lent() - begin a packet whose payload stays where it is
 * @qp: QP, locked
 * @out: packets that wait to be sent; what the new one cannot join is sent
 * @pkt: facts for its headers, as for skr_send_begin()
 * @loan: the payload; none afterwards, if 0 is returned
 *
 * Context: BH, @qp->lock held. skr_send_end() follows.
 * Return: 0, or an error of skr_send_begin().
 */
int skr_send_begin_lent(struct skr_qp *qp, struct skr_batch *out, struct skr_pkt *pkt,
			struct skr_loan *loan);

/**
 * skr_send_end() - the payload is written, or lent
 * @out: where the packet was begun
 * @pkt: as given there
 *
 * Context: BH, the QP's lock held.
 */
void skr_send_end(struct skr_batch *out, const struct skr_pkt *pkt);

/**
 * skr_send_batched() - begin and end a packet that has no payload
 * @qp: QP, locked
 * @out: packets that wait to be sent
 * @pkt: facts for its headers
 *
 * Context: BH, @qp->lock held.
 * Return: 0 or an error of skr_send_begin().
 */
int skr_send_batched(struct skr_qp *qp, struct skr_batch *out, struct skr_pkt *pkt);

/**
 * skr_send_flush() - send the packets that wait
 * @qp: QP, locked
 * @out: packets, may be none; empty afterwards
 *
 * Context: BH, @qp->lock held.
 * Return: 0, or -EAGAIN if the local stack was full: none of them was sent.
 */
int skr_send_flush(struct skr_qp *qp, struct skr_batch *out);

/**
 * skr_send_uncounted() - send a packet that does not count against its QP
 * @qp: QP, locked
 * @out: the packet; none afterwards
 *
 * What a peer with a window asked for is not held back, so it need not be counted. It
 * may overtake what is counted, and that it: see skr_tx_overtakes().
 *
 * Context: BH, @qp->lock held.
 * Return: 0, or -EAGAIN if the local stack was full.
 */
int skr_send_uncounted(struct skr_qp *qp, struct skr_batch *out);

/**
 * skr_send_plain() - send an ACK or a NAK, at once and uncounted
 * @qp: QP, locked
 * @pkt: facts for its headers
 *
 * Context: BH, @qp->lock held.
 * Return: 0, -EAGAIN if the local stack was full, or -ENOMEM.
 */
int skr_send_plain(struct skr_qp *qp, struct skr_pkt *pkt);

/**
 * skr_send_response() - send the answer to an atomic, FLUSH or ATOMIC WRITE
 * @qp: QP, locked
 * @pkt: facts for its headers
 *
 * What acknowledges later requests must not overtake it.
 *
 * Context: BH, @qp->lock held.
 * Return: 0, -EAGAIN if the local stack was full, or -ENOMEM.
 */
int skr_send_response(struct skr_qp *qp, struct skr_pkt *pkt);

/**
 * skr_tx_full() - has the QP enough packets in the local stack?
 * @qp: QP, locked
 *
 * On another CPU than the one that they left by, one is enough.
 *
 * Context: BH, @qp->lock held. A true answer makes sure that the QP runs again, on
 *	that CPU below the low mark.
 * Return: true if it must not send more now.
 */
bool skr_tx_full(struct skr_qp *qp);

/**
 * skr_tx_held() - is the last request that was sent still in the local stack?
 * @qp: QP, locked
 *
 * Packets of a QP leave in the order they came. A driver hands back what it has
 * sent within a short time, which TCP needs, too. What waits for a neighbour on a port
 * without carrier is lost, not paused.
 *
 * Context: BH, @qp->lock held.
 * Return: true if it is, and the port is up.
 */
bool skr_tx_held(const struct skr_qp *qp);

/**
 * skr_tx_restart() - what the QP has in the local stack matters no more
 * @qp: QP, locked
 *
 * It is repeated, or of a former life. The QP goes on at this CPU.
 *
 * Context: BH, @qp->lock held.
 */
void skr_tx_restart(struct skr_qp *qp);

/**
 * skr_tx_overtakes() - might an answer that is sent now overtake earlier responses?
 * @qp: QP, locked
 *
 * The requester would take them for lost: an answer is for all that comes before.
 *
 * Context: BH, @qp->lock held. A true answer makes sure that the QP runs again.
 * Return: true if they left by another CPU and are still in the local stack.
 */
bool skr_tx_overtakes(struct skr_qp *qp);

#endif /* SKR_TRANSPORT_SEND_H */
