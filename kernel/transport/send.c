// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A QP's packets on their way out: headers, and the cap on what a QP may have
 * inside the local stack, so that a slow or paused port holds the QP back
 * instead of filling the queue in front of it.
 */
#include "qp.h"

#include "../net/xmit.h"

/*
 * Each CPU has a queue of its own inside the stack, and one may overtake
 * another. RC repairs that; UC would lose messages by it. Its packets leave by
 * another CPU only when none is left inside.
 */
static bool skr_tx_elsewhere(const struct skr_qp *qp)
{
	return qp->trans == SKR_TRANS_UC && qp->tx_cpu != smp_processor_id();
}

static int skr_tx_low(const struct skr_qp *qp)
{
	return qp->trans == SKR_TRANS_UC ? 0 : SKR_TX_LOW;
}

static void skr_send_done(struct sk_buff *skb)
{
	struct skr_qp *qp = skb_shinfo(skb)->destructor_arg;

	/* locks of the stack may be held here: leave the work to a worker */
	if (atomic_dec_return(&qp->tx_packets) <= skr_tx_low(qp) &&
	    test_and_clear_bit(SKR_QP_TX_FULL, &qp->run_flags))
		skr_qp_run_later(qp);
	skr_qp_put(qp);
}

bool skr_tx_full(struct skr_qp *qp)
{
	if (atomic_read(&qp->tx_packets) < SKR_TX_HIGH && !skr_tx_elsewhere(qp))
		return false;
	set_bit(SKR_QP_TX_FULL, &qp->run_flags);
	/* either skr_send_done() sees the bit, or we see its count */
	smp_mb__after_atomic();
	return atomic_read(&qp->tx_packets) > skr_tx_low(qp);
}

struct sk_buff *skr_send_alloc(struct skr_qp *qp, struct skr_pkt *pkt, void **payload)
{
	u32 hdr_bytes = skr_opcodes[pkt->opcode].hdr_bytes;
	u8 pad = skr_pad(pkt->payload_bytes);
	struct sk_buff *skb;
	u8 *data;

	skb = skr_xmit_alloc(hdr_bytes + pkt->payload_bytes + pad + SKR_ICRC_BYTES);
	if (!skb) {
		skr_count(qp->dev, SKR_CNT_TX_NOMEM);
		return NULL;
	}
	pkt->pkey = SKR_PKEY_FULL;
	if (qp->trans != SKR_TRANS_UD)
		pkt->qpn = qp->attr.dest_qpn;
	pkt->pad = pad;
	pkt->bth_flags |= SKR_BTH_MIGREQ;
	data = skb->data;
	skr_build(pkt, data);
	memset(data + hdr_bytes + pkt->payload_bytes, 0, pad);
	if (payload)
		*payload = data + hdr_bytes;
	return skb;
}

int skr_send_to(struct skr_qp *qp, struct skr_av *av, struct sk_buff *skb,
		const struct skr_pkt *pkt)
{
	u32 hdr_bytes = skr_opcodes[pkt->opcode].hdr_bytes;

	lockdep_assert_held(&qp->lock);
	kref_get(&qp->ref);
	atomic_inc(&qp->tx_packets);
	qp->tx_cpu = smp_processor_id();
	skb_shinfo(skb)->destructor_arg = qp;
	skb->destructor = skr_send_done;
	if (skr_xmit(qp->dev, av, skb, hdr_bytes) == SKR_TX_CONGESTED)
		return -EAGAIN;
	if (pkt->payload_bytes)
		skr_flow_sent(qp, hdr_bytes + pkt->payload_bytes + pkt->pad + SKR_ICRC_BYTES);
	return 0;
}

int skr_send(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	return skr_send_to(qp, &qp->av, skb, pkt);
}

int skr_send_plain(struct skr_qp *qp, struct skr_pkt *pkt)
{
	struct sk_buff *skb = skr_send_alloc(qp, pkt, NULL);

	return skb ? skr_send(qp, skb, pkt) : -ENOMEM;
}
