/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The engine of a QP: what its parts - requester, completer, responder,
 * replay, timer - offer to each other and to sched.c, which runs them.
 */
#ifndef SKR_TRANSPORT_ENGINE_H
#define SKR_TRANSPORT_ENGINE_H

#include "qp.h"

/* requester.c, completer.c, responder.c: the transport proper */

/**
 * skr_requester() - send what may be sent
 * @qp: QP, locked, in RTS or SQD
 * @budget: packets at most
 *
 * Context: BH, @qp->lock and dev->mr_srcu held.
 * Return: true if more could be sent at once.
 */
bool skr_requester(struct skr_qp *qp, int budget);

/**
 * skr_req_payload() - gather what a packet carries
 * @qp: QP, locked
 * @wqe: request
 * @offset: of the packet in the message
 * @to: where to
 * @bytes: how much
 *
 * Context: BH, @qp->lock and dev->mr_srcu held.
 * Return: false if the request names memory that it must not, or a page is missed.
 */
bool skr_req_payload(struct skr_qp *qp, const struct skr_swqe *wqe, u32 offset, void *to,
		     u32 bytes);

/**
 * skr_requester_rewind() - send again from the oldest unacknowledged PSN
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_requester_rewind(struct skr_qp *qp);

/**
 * skr_completer() - take a response
 * @qp: QP, locked
 * @skb: the packet, the one at hand of a super-packet; not consumed
 * @pkt: its facts
 *
 * Context: BH, @qp->lock and dev->mr_srcu held.
 * Return: false if it came too early: what follows it in @skb need not be given.
 */
bool skr_completer(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt);

/**
 * skr_completer_gap() - ask again for responses that are missing for long
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_completer_gap(struct skr_qp *qp);

/**
 * skr_completer_timeout() - the ACK timer expired
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_completer_timeout(struct skr_qp *qp);

/**
 * skr_completer_path_changed() - what is under way may be lost: send it again
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_completer_path_changed(struct skr_qp *qp);

/**
 * skr_responder() - take a request
 * @qp: QP, locked
 * @skb: the packet, the one at hand of a super-packet; not consumed
 * @pkt: its facts
 *
 * Context: BH, @qp->lock and dev->mr_srcu held.
 * Return: false if it came too early: what follows it in @skb need not be given.
 */
bool skr_responder(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt);

/**
 * skr_responder_ack() - send the ACK that is due, if one is
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_responder_ack(struct skr_qp *qp);

/**
 * skr_responder_begin_read() - a READ is to be answered
 * @qp: QP, locked
 * @pkt: the request, which may be a duplicate
 *
 * Context: BH, @qp->lock held.
 */
void skr_responder_begin_read(struct skr_qp *qp, const struct skr_pkt *pkt);

/**
 * skr_responder_gap() - send a NAK for requests that are missing for long
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_responder_gap(struct skr_qp *qp);

/**
 * skr_responder_read() - go on answering a READ
 * @qp: QP, locked
 * @budget: packets at most; those that are sent are taken off
 *
 * Context: BH, @qp->lock and dev->mr_srcu held.
 * Return: true if more could be sent at once.
 */
bool skr_responder_read(struct skr_qp *qp, int *budget);

/**
 * enum skr_verdict - what a request deserves
 * @SKR_OK: execute it
 * @SKR_RNR: no receive request is posted
 * @SKR_INV_REQ: it breaks a rule, or asks for what this QP does not do
 * @SKR_REM_ACCESS: key, domain, access or range
 * @SKR_REM_OP: our own receive request is at fault
 * @SKR_LOCAL_LEN: the message is longer than the receive request
 * @SKR_ABSENT: memory is not there: the request has to wait
 */
enum skr_verdict {
	SKR_OK,
	SKR_RNR,
	SKR_INV_REQ,
	SKR_REM_ACCESS,
	SKR_REM_OP,
	SKR_LOCAL_LEN,
	SKR_ABSENT,
};

/**
 * skr_responder_execute() - execute a request whose PSN is in order
 * @qp: QP, locked
 * @skb: the packet; not consumed
 * @pkt: its facts
 * @packets: set to the PSNs that a READ takes, else left alone
 *
 * Context: BH, @qp->lock and dev->mr_srcu held.
 * Return: the verdict; whom to tell is the caller's business.
 */
enum skr_verdict skr_responder_execute(struct skr_qp *qp, struct sk_buff *skb,
				       const struct skr_pkt *pkt, u32 *packets);

/* replay.c: duplicates */

/**
 * skr_replay_save() - keep a READ or atomic request for a duplicate
 * @qp: QP, locked
 * @saved: what to keep
 *
 * Context: BH, @qp->lock held.
 */
void skr_replay_save(struct skr_qp *qp, const struct skr_saved *saved);

/**
 * skr_replay() - take a request that was seen before
 * @qp: QP, locked
 * @pkt: its facts
 *
 * Context: BH, @qp->lock and dev->mr_srcu held.
 */
void skr_replay(struct skr_qp *qp, const struct skr_pkt *pkt);

/* timer.c */

/**
 * skr_timer_init() - set up a QP's timers
 * @qp: QP
 *
 * Context: process.
 */
void skr_timer_init(struct skr_qp *qp);

/**
 * skr_timer_stop() - stop a QP's timers for good
 * @qp: QP that is shut down
 *
 * Context: process.
 */
void skr_timer_stop(struct skr_qp *qp);

/**
 * skr_timer_ack() - the peer has the local ACK timeout from now to answer
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_timer_ack(struct skr_qp *qp);

/**
 * skr_timer_wait() - the requester sends nothing for a while
 * @qp: QP, locked
 * @ns: how long from now
 *
 * Context: BH, @qp->lock held.
 */
void skr_timer_wait(struct skr_qp *qp, u64 ns);

/**
 * skr_timer_waiting() - may the requester not send yet?
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held. A true answer makes sure that the QP runs again
 *	when the wait is over.
 * Return: true if it must wait.
 */
bool skr_timer_waiting(struct skr_qp *qp);

/**
 * skr_timer_pause() - run again shortly: a response could not leave, or a gap
 *	may close
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_timer_pause(struct skr_qp *qp);

#endif /* SKR_TRANSPORT_ENGINE_H */
