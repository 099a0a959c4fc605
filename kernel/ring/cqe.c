// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "cqe.h"

#include <linux/atomic.h>
#include <linux/ktime.h>

#include "../device.h"

static void skr_cq_error_work(struct work_struct *work)
{
	struct skr_cq *cq = container_of(work, struct skr_cq, error_work);
	struct ib_event event = {
		.device = cq->ibcq.device,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = &cq->ibcq,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

void skr_cq_init(struct skr_cq *cq)
{
	spin_lock_init(&cq->lock);
	refcount_set(&cq->users, 1);
	init_completion(&cq->unused);
	INIT_WORK(&cq->error_work, skr_cq_error_work);
}

void skr_cq_get(struct skr_cq *cq)
{
	refcount_inc(&cq->users);
}

static void skr_cq_put(struct skr_cq *cq)
{
	if (refcount_dec_and_test(&cq->users))
		complete(&cq->unused);
}

void skr_cq_fire(struct skr_cq *cq)
{
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	skr_cq_put(cq);
}

void skr_cq_drain(struct skr_cq *cq)
{
	skr_cq_put(cq);
	wait_for_completion(&cq->unused);
	cancel_work_sync(&cq->error_work);
}

/* The verbs call this a CQ error: entries are lost, so the queue is dead. */
static void skr_cq_overrun(struct skr_cq *cq)
{
	if (cq->overrun)
		return;
	cq->overrun = true;
	skr_count(skr_dev(cq->ibcq.device), SKR_CNT_CQ_OVERRUN);
	schedule_work(&cq->error_work);
}

enum skr_push skr_cq_push(struct skr_cq *cq, struct skerry_cqe *cqe, struct ib_qp *qp,
			  bool solicited)
{
	enum skr_push ret = SKR_PUSH_OK;
	unsigned long flags;

	cqe->timestamp = ktime_get_raw_ns();
	cqe->priv = cq->user ? 0 : (uintptr_t)qp;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->overrun || skr_ring_used(&cq->ring, cq->prod) >= cq->ring.depth) {
		skr_cq_overrun(cq);
		ret = SKR_PUSH_OVERRUN;
		goto unlock;
	}
	memcpy(skr_ring_entry(&cq->ring, cq->prod), cqe, sizeof(*cqe));
	skr_ring_publish(&cq->ring, ++cq->prod);
	if (skr_ring_fire(&cq->ring, solicited))
		ret = SKR_PUSH_FIRE;
unlock:
	spin_unlock_irqrestore(&cq->lock, flags);
	return ret;
}

/* What ib_core needs to know to answer a datagram: values of enum skr_l3 */
static const u8 skr_network_types[] = {
	[SKR_L3_GRH] = RDMA_NETWORK_ROCE_V1,
	[SKR_L3_IPV4] = RDMA_NETWORK_IPV4,
	[SKR_L3_IPV6] = RDMA_NETWORK_IPV6,
};

static void skr_cqe_to_wc(const struct skerry_cqe *cqe, struct ib_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->qp = (struct ib_qp *)(uintptr_t)cqe->priv;
	wc->src_qp = cqe->src_qp;
	wc->pkey_index = cqe->pkey_index;
	wc->sl = cqe->sl;
	wc->port_num = SKR_PORT;
	if (cqe->flags & SKERRY_CQE_GRH) {
		wc->wc_flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = skr_network_types[cqe->net];
	}
	if (cqe->flags & SKERRY_CQE_VLAN) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = cqe->vlan;
	}
	if (cqe->flags & SKERRY_CQE_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = cqe->imm;
	}
	if (cqe->flags & SKERRY_CQE_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->inv_rkey;
	}
}

/* A kernel consumer's ring is not mapped: its header can be trusted. */
int skr_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct skr_cq *cq = skr_cq(ibcq);
	unsigned long flags;
	int n = 0;
	u32 cons;

	spin_lock_irqsave(&cq->lock, flags);
	cons = cq->ring.hdr->user_index;
	for (; n < num_entries && cons != cq->prod; cons++, n++)
		skr_cqe_to_wc(skr_ring_entry(&cq->ring, cons), &wc[n]);
	cq->ring.hdr->user_index = cons;
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

int skr_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct skr_cq *cq = skr_cq(ibcq);
	unsigned long irq;
	int missed;

	spin_lock_irqsave(&cq->lock, irq);
	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_NEXT_COMP)
		cq->ring.hdr->arm |= SKERRY_ARM_NEXT;
	else
		cq->ring.hdr->arm |= SKERRY_ARM_SOLICITED;
	missed = (flags & IB_CQ_REPORT_MISSED_EVENTS) &&
		 cq->ring.hdr->user_index != cq->prod;
	spin_unlock_irqrestore(&cq->lock, irq);
	return missed;
}
