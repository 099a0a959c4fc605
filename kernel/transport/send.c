// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A QP's packets on their way out: headers, and the cap on what a QP may have
 * inside the local stack, so that a slow or paused port holds the QP back
 * instead of filling the queue in front of it.
 */
#include "send.h"

#include <linux/slab.h>

#include "sched.h"

/*
 * Each CPU has a queue of its own inside the stack, and one may overtake another. UC
 * would lose messages by it, those who send datagrams expect them in order on a quiet
 * path, ib_cm among them, and adapters take what comes too early on a reliable connection
 * for a loss. A QP's packets leave by another CPU only when none is left inside; a
 * super-packet that the stack cuts up has left it when it is cut.
 */
static bool skr_tx_elsewhere(const struct skr_qp *qp)
{
	return qp->tx_cpu != smp_processor_id();
}

static int skr_tx_low(const struct skr_qp *qp)
{
	return skr_qp_reliable(qp) ? SKR_TX_LOW : 0;
}

/**
 * struct skr_tx_share - what a super-packet takes of its QP's share of the stack
 * @qp: QP, held
 * @units: SKR_TX_UNIT bytes each, begun ones included
 */
struct skr_tx_share {
	struct skr_qp	*qp;
	int		units;
};

static void skr_send_left(struct skr_qp *qp, int units)
{
	/* locks of the stack may be held here: go on when it is through, and in order */
	if (atomic_sub_return(units, &qp->tx_units) <= skr_tx_low(qp) &&
	    test_and_clear_bit(SKR_QP_TX_FULL, &qp->run_flags))
		skr_qp_run_on(qp, READ_ONCE(qp->tx_cpu));
	skr_qp_put(qp);
}

static void skr_send_done(struct sk_buff *skb)
{
	skr_send_left(skb_shinfo(skb)->destructor_arg, 1);
}

static void skr_send_super_done(struct sk_buff *skb)
{
	struct skr_tx_share *share = skb_shinfo(skb)->destructor_arg;

	skr_send_left(share->qp, share->units);
	kfree(share);
}

/* The packets count against the QP until they have left the stack. */
static void skr_send_own(struct skr_qp *qp, struct sk_buff *skb, u32 bytes)
{
	struct skr_tx_share *share = NULL;
	int units = DIV_ROUND_UP(bytes, SKR_TX_UNIT);

	if (units > 1)
		share = kmalloc(sizeof(*share), GFP_ATOMIC | __GFP_NOWARN);
	if (share) {
		share->qp = qp;
		share->units = units;
		skb_shinfo(skb)->destructor_arg = share;
		skb->destructor = skr_send_super_done;
	} else {
		units = 1;
		skb_shinfo(skb)->destructor_arg = qp;
		skb->destructor = skr_send_done;
	}
	kref_get(&qp->ref);
	qp->tx_total += units;
	atomic_add(units, &qp->tx_units);
}

/* Is some of what had gone there when tx_total was @mark still in the local stack? */
static bool skr_tx_inside(const struct skr_qp *qp, u32 mark)
{
	u32 units = atomic_read(&qp->tx_units);

	lockdep_assert_held(&qp->lock);
	/* a mark from long ago says nothing */
	return units && (s32)(mark - (qp->tx_total - units)) > 0;
}

bool skr_tx_held(const struct skr_qp *qp)
{
	return skr_tx_inside(qp, qp->req.tx_mark) && netif_carrier_ok(qp->dev->ndev);
}

bool skr_tx_overtakes(struct skr_qp *qp)
{
	if (!skr_tx_inside(qp, qp->resp.tx_mark)) {
		/* or it would be ahead once the numbers have come round */
		qp->resp.tx_mark = qp->tx_total - atomic_read(&qp->tx_units);
		return false;
	}
	if (!skr_tx_elsewhere(qp))
		return false;
	set_bit(SKR_QP_TX_FULL, &qp->run_flags);
	/* as in skr_tx_full() */
	smp_mb__after_atomic();
	return skr_tx_inside(qp, qp->resp.tx_mark);
}

bool skr_tx_full(struct skr_qp *qp)
{
	int units = atomic_read(&qp->tx_units);
	bool elsewhere = skr_tx_elsewhere(qp);

	if (elsewhere ? !units : units < SKR_TX_HIGH)
		return false;
	set_bit(SKR_QP_TX_FULL, &qp->run_flags);
	/* either skr_send_left() sees the bit, or we see its count */
	smp_mb__after_atomic();
	return atomic_read(&qp->tx_units) > (elsewhere ? 0 : skr_tx_low(qp));
}

int skr_send_uncounted(struct skr_qp *qp, struct skr_batch *out)
{
	lockdep_assert_held(&qp->lock);
	if (skr_batch_flush(out) == SKR_TX_CONGESTED)
		return -EAGAIN;
	skr_flow_sent(qp, out->av, out->packets, out->bytes);
	return 0;
}

int skr_send_flush(struct skr_qp *qp, struct skr_batch *out)
{
	lockdep_assert_held(&qp->lock);
	if (!out->skb)
		return 0;
	skr_send_own(qp, out->skb, out->bytes);
	WRITE_ONCE(qp->tx_cpu, smp_processor_id());
	return skr_send_uncounted(qp, out);
}

static u8 *skr_send_add(struct skr_batch *out, u32 hdr_bytes, u32 bytes, struct skr_loan *loan)
{
	return loan ? skr_batch_add_lent(out, hdr_bytes, bytes, loan) : skr_batch_add(out, bytes);
}

/* Headers, with room behind them for payload, pad and ICRC, or for the last two. */
static u8 *skr_send_headers(struct skr_qp *qp, struct skr_batch *out, struct skr_pkt *pkt,
			    struct skr_loan *loan)
{
	u32 hdr_bytes = skr_opcodes[pkt->opcode].hdr_bytes;
	u8 pad = skr_pad(pkt->payload_bytes);
	u32 bytes = hdr_bytes + pkt->payload_bytes + pad + SKR_ICRC_BYTES;
	u8 *data = NULL;
	int err;

	lockdep_assert_held(&qp->lock);
	if (skr_batch_fits(out, bytes))
		data = skr_send_add(out, hdr_bytes, bytes, loan);
	if (!data) {
		err = skr_send_flush(qp, out);
		if (err)
			return ERR_PTR(err);
		data = skr_send_add(out, hdr_bytes, bytes, loan);
	}
	if (!data) {
		skr_qp_count(qp, SKR_CNT_TX_NOMEM);
		return ERR_PTR(-ENOMEM);
	}
	pkt->pkey = SKR_PKEY_FULL;
	if (qp->trans != SKR_TRANS_UD)
		pkt->qpn = qp->attr.dest_qpn;
	pkt->pad = pad;
	/* a path's state is nothing that a CNP would tell (annex A17, figure of the CNP) */
	if (pkt->opcode != SKR_OPCODE_CNP)
		pkt->bth_flags |= SKR_BTH_MIGREQ;
	skr_build(pkt, data);
	return data;
}

void *skr_send_begin(struct skr_qp *qp, struct skr_batch *out, struct skr_pkt *pkt)
{
	u8 *data = skr_send_headers(qp, out, pkt, NULL);

	if (IS_ERR(data))
		return data;
	data += skr_opcodes[pkt->opcode].hdr_bytes;
	memset(data + pkt->payload_bytes, 0, pkt->pad);
	return data;
}

int skr_send_begin_lent(struct skr_qp *qp, struct skr_batch *out, struct skr_pkt *pkt,
			struct skr_loan *loan)
{
	u8 *data = skr_send_headers(qp, out, pkt, loan);

	if (IS_ERR(data))
		return PTR_ERR(data);
	memset(out->tail, 0, pkt->pad);
	return 0;
}

void skr_send_end(struct skr_batch *out, const struct skr_pkt *pkt)
{
	skr_batch_seal(out, skr_opcodes[pkt->opcode].hdr_bytes);
}

int skr_send_batched(struct skr_qp *qp, struct skr_batch *out, struct skr_pkt *pkt)
{
	void *payload = skr_send_begin(qp, out, pkt);

	if (IS_ERR(payload))
		return PTR_ERR(payload);
	skr_send_end(out, pkt);
	return 0;
}

int skr_send_plain(struct skr_qp *qp, struct skr_pkt *pkt)
{
	struct skr_batch out __uninitialized;
	int err;

	skr_batch_init(&out, qp->dev, qp->stats, &qp->av);
	err = skr_send_batched(qp, &out, pkt);
	return err ?: skr_send_uncounted(qp, &out);
}

int skr_send_response(struct skr_qp *qp, struct skr_pkt *pkt)
{
	struct skr_batch out __uninitialized;
	int err;

	skr_batch_init(&out, qp->dev, qp->stats, &qp->av);
	err = skr_send_batched(qp, &out, pkt);
	if (!err)
		err = skr_send_flush(qp, &out);
	qp->resp.tx_mark = qp->tx_total;
	return err;
}

void skr_tx_restart(struct skr_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	WRITE_ONCE(qp->tx_cpu, smp_processor_id());
	qp->req.tx_mark = qp->tx_total - atomic_read(&qp->tx_units);
	qp->resp.tx_mark = qp->req.tx_mark;
}
