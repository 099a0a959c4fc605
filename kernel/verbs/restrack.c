// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What `rdma -dd res show` says of an object beyond what ib_core knows: how far it
 * is and what it waits for.
 *
 * Older cores ask while an object is being destroyed: its ib_core's part is there,
 * what it points to need not be.
 */
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "../mem/region.h"
#include "../ring/cqe.h"
#include "../ring/rq_shared.h"
#include "../transport/qp.h"
#include "../transport/sched.h"
#include "verbs.h"

/**
 * struct skr_fact - something to show
 * @name: as it is shown, with "drv_" in front
 * @value: a number, if there is no @text
 * @text: or NULL
 */
struct skr_fact {
	const char	*name;
	u64		value;
	const char	*text;
};

static int skr_put_fact(struct sk_buff *msg, const struct skr_fact *fact)
{
	if (fact->text)
		return rdma_nl_put_driver_string(msg, fact->name, fact->text);
	return rdma_nl_put_driver_u64(msg, fact->name, fact->value);
}

static int skr_put_facts(struct sk_buff *msg, const struct skr_fact *facts, int n)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	int i;

	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < n; i++) {
		if (skr_put_fact(msg, &facts[i])) {
			nla_nest_cancel(msg, table);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(msg, table);
	return 0;
}

int skr_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct skr_fact facts[] = {
		{ "sq_depth" }, { "sq_under_way" }, { "sq_not_sent" }, { "rq_depth" }, { "mtu" },
		{ "una_psn" }, { "rd_under_way" }, { "retries_left" }, { "rnr_retries_left" },
		{ "msn" }, { "tx_units" }, { "rate" }, { "cc" }, { "cc_wish" },
	};
	struct skr_qp *qp = skr_qp_hold(ibqp);
	struct skr_cc_view view = {};
	const struct skr_cc_ops *ops;
	struct skr_fact *to = facts;

	if (!qp)
		return 0;
	spin_lock_bh(&qp->lock);
	/* what has no address yet says how it would begin */
	ops = qp->flow.cc.ops ?: skr_flow_algorithm(qp);
	if (qp->flow.cc.ops)
		skr_cc_show(&qp->flow.cc, ktime_get_ns(), &view);
	to++->value = qp->sq.max_wr;
	to++->value = qp->sq.taken - qp->sq.una;
	to++->value = qp->sq.taken - qp->sq.cur;
	to++->value = qp->rq.max_wr;
	to++->value = qp->attr.mtu;
	to++->value = qp->req.una_psn;
	to++->value = (u8)(qp->req.rd_tail - qp->req.rd_head);
	to++->value = qp->req.retry;
	to++->value = qp->req.rnr_retry;
	to++->value = qp->resp.msn;
	to++->value = atomic_read(&qp->tx_units);
	to++->value = view.rate;
	to++->text = ops->name;
	to++->text = skr_flow_wish_name(qp);
	skr_qp_unlock(qp);
	skr_qp_put(qp);
	return skr_put_facts(msg, facts, ARRAY_SIZE(facts));
}

int skr_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct skr_fact facts[] = {
		{ "waiting" }, { "armed" }, { "overrun" }, { "moderate_count" },
		{ "moderate_usec" },
	};
	struct skr_cq *cq = skr_cq(ibcq);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->ring.hdr) {
		facts[0].value = skr_ring_used(&cq->ring, cq->prod);
		facts[1].value = skr_ring_armed(&cq->ring, true);
	}
	facts[2].value = cq->overrun;
	facts[3].value = cq->moderate_count;
	facts[4].value = cq->moderate_usec;
	spin_unlock_irqrestore(&cq->lock, flags);
	return skr_put_facts(msg, facts, ARRAY_SIZE(facts));
}

int skr_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct skr_fact facts[] = { { "depth" }, { "posted" }, { "limit" } };
	struct skr_srq *srq = skr_srq(ibsrq);

	spin_lock_bh(&srq->lock);
	facts[0].value = srq->rq.max_wr;
	if (srq->rq.ring.hdr)
		facts[1].value = skr_ring_produced(&srq->rq.ring) - srq->rq.cons;
	facts[2].value = srq->limit;
	spin_unlock_bh(&srq->lock);
	return skr_put_facts(msg, facts, ARRAY_SIZE(facts));
}

/* It cannot be deregistered meanwhile: the core takes it off its list first. */
int skr_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	static const char *const kinds[] = {
		[SKR_MR_DMA] = "all",
		[SKR_MR_USER] = "user",
		[SKR_MR_FAST] = "fast",
	};
	struct skr_mr *mr = skr_mr(ibmr);
	struct skr_fact facts[] = {
		{ "kind", .text = kinds[mr->key.kind] }, { "valid" }, { "access" }, { "windows" },
	};

	read_lock_bh(&mr->key.lock);
	facts[1].value = mr->key.valid;
	facts[2].value = mr->key.access;
	read_unlock_bh(&mr->key.lock);
	facts[3].value = atomic_read(&mr->windows);
	return skr_put_facts(msg, facts, ARRAY_SIZE(facts));
}
