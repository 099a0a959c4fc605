// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Duplicates: a SEND or WRITE is acknowledged again, a READ is executed again,
 * an atomic is answered from what was saved, a FLUSH or ATOMIC WRITE with that it
 * was done (IBTA 9.7.5.1.2 to 9.7.5.1.5, annex A19).
 */
#include "engine.h"
#include "send.h"

#include "../wire/aeth.h"
#include "../wire/psn.h"

void skr_replay_save(struct skr_qp *qp, const struct skr_saved *saved)
{
	struct skr_responder *resp = &qp->resp;

	lockdep_assert_held(&qp->lock);
	resp->saved[resp->saved_next] = *saved;
	if (++resp->saved_next == qp->attr.max_dest_rd_atomic)
		resp->saved_next = 0;
	if (resp->saved_count < qp->attr.max_dest_rd_atomic)
		resp->saved_count++;
}

/*
 * The saved request that a PSN belongs to, the newest one: PSNs come round again.
 * What is not saved is too old.
 */
static struct skr_saved *skr_replay_find(struct skr_qp *qp, u32 psn)
{
	struct skr_responder *resp = &qp->resp;
	u32 at = resp->saved_next;
	struct skr_saved *saved;
	u32 i;

	for (i = 0; i < resp->saved_count; i++) {
		at = (at ?: qp->attr.max_dest_rd_atomic) - 1;
		saved = &resp->saved[at];
		if (skr_psn_diff(psn, saved->first_psn) >= 0 &&
		    skr_psn_diff(psn, saved->last_psn) <= 0)
			return saved;
	}
	return NULL;
}

/* All of the READ again, or a tail or part of it that starts at a packet. */
static void skr_replay_read(struct skr_qp *qp, const struct skr_saved *saved,
			    const struct skr_pkt *pkt)
{
	u32 skip = skr_psn_diff(pkt->psn, saved->first_psn) * qp->attr.mtu;

	if (saved->kind != SKR_IS_READ || pkt->rkey != saved->rkey || pkt->va != saved->va + skip ||
	    skip > saved->length || pkt->dmalen > saved->length - skip)
		return;
	skr_responder_begin_read(qp, pkt);
}

static void skr_replay_done(struct skr_qp *qp, const struct skr_saved *saved, u32 kind)
{
	struct skr_pkt pkt = {
		.opcode = qp->trans |
			  (kind == SKR_IS_ATOMIC ? SKR_ATOMIC_ACK : SKR_READ_RESP_ONLY),
		.psn = saved->first_psn,
		.syndrome = SKR_AETH_ACK_UNLIMITED,
		.msn = qp->resp.msn,
		.orig = saved->orig,
	};

	/* not sent: the requester asks again */
	if (saved->kind == kind)
		skr_send_response(qp, &pkt);
}

void skr_replay(struct skr_qp *qp, const struct skr_pkt *pkt)
{
	struct skr_saved *saved;

	lockdep_assert_held(&qp->lock);
	if (!(pkt->flags & SKR_IS_ANSWERED)) {
		qp->resp.ack_due = true;
		return;
	}
	saved = skr_replay_find(qp, pkt->psn);
	if (!saved)
		return;
	if (pkt->flags & SKR_IS_READ)
		skr_replay_read(qp, saved, pkt);
	else
		skr_replay_done(qp, saved, pkt->flags & SKR_IS_ANSWERED);
}
