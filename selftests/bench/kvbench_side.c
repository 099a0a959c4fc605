// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The two ends: memory, completion queues, and the requests that keep a QP busy.
 */
#include "kvbench.h"

#include <linux/inetdevice.h>
#include <linux/slab.h>

int kvb_side_open(struct kvb_side *side, size_t bytes)
{
	side->ndev = ib_device_get_netdev(side->dev, 1);
	if (!side->ndev)
		return -ENODEV;
	rtnl_lock();
	side->addr = inet_select_addr(side->ndev, 0, RT_SCOPE_UNIVERSE);
	rtnl_unlock();
	if (!side->addr)
		return -EADDRNOTAVAIL;

	side->pd = ib_alloc_pd(side->dev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(side->pd)) {
		int err = PTR_ERR(side->pd);

		side->pd = NULL;
		return err;
	}
	side->buf_bytes = bytes;
	side->buf = alloc_pages_exact(bytes, GFP_KERNEL | __GFP_ZERO);
	return side->buf ? 0 : -ENOMEM;
}

void kvb_side_close(struct kvb_side *side)
{
	if (side->buf)
		free_pages_exact(side->buf, side->buf_bytes);
	if (side->pd)
		ib_dealloc_pd(side->pd);
	dev_put(side->ndev);
	memset(side, 0, sizeof(*side));
}

static void kvb_end_landed(struct kvb_end *end)
{
	if (atomic_dec_and_test(&end->flying) && READ_ONCE(end->stop))
		complete(&end->drained);
}

static int kvb_post_send(struct kvb_end *end, struct kvb_slot *slot)
{
	const struct kvb_side *peer = end->peer->side;
	struct ib_sge sge = {
		.addr = (uintptr_t)end->side->buf,
		.length = end->params->bytes,
		.lkey = end->side->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &slot->cqe,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.opcode = end->params->opcode,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = (uintptr_t)peer->buf,
		.rkey = peer->pd->unsafe_global_rkey,
	};
	int err;

	atomic_inc(&end->flying);
	err = ib_post_send(end->qp, &wr.wr, NULL);
	if (err) {
		end->error = end->error ?: err;
		kvb_end_landed(end);
	}
	return err;
}

static int kvb_post_recv(struct kvb_end *end, struct kvb_slot *slot)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)end->side->buf,
		.length = end->params->bytes,
		.lkey = end->side->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &slot->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(end->qp, &wr, NULL);
}

static void kvb_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kvb_slot *slot = container_of(wc->wr_cqe, struct kvb_slot, cqe);
	struct kvb_end *end = slot->end;

	if (wc->status != IB_WC_SUCCESS)
		end->error = end->error ?: wc->status;
	else
		end->done++;
	if (!READ_ONCE(end->stop) && !end->error)
		kvb_post_send(end, slot);
	kvb_end_landed(end);
}

static void kvb_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kvb_slot *slot = container_of(wc->wr_cqe, struct kvb_slot, cqe);

	if (wc->status == IB_WC_SUCCESS)
		kvb_post_recv(slot->end, slot);
	else if (wc->status != IB_WC_WR_FLUSH_ERR)
		slot->end->error = slot->end->error ?: wc->status;
}

static struct kvb_slot *kvb_slots(struct kvb_end *end, u32 n,
				  void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct kvb_slot *slots = kcalloc(n, sizeof(*slots), GFP_KERNEL);
	u32 i;

	for (i = 0; slots && i < n; i++) {
		slots[i].end = end;
		slots[i].cqe.done = done;
	}
	return slots;
}

int kvb_end_open(struct kvb_end *end)
{
	u32 depth = end->params->depth;

	init_completion(&end->connected);
	init_completion(&end->drained);
	end->send = kvb_slots(end, depth, kvb_send_done);
	end->recv = kvb_slots(end, 2 * depth, kvb_recv_done);
	if (!end->send || !end->recv)
		return -ENOMEM;
	end->cq = ib_alloc_cq(end->side->dev, end, 4 * depth + 8, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(end->cq)) {
		int err = PTR_ERR(end->cq);

		end->cq = NULL;
		return err;
	}
	return 0;
}

void kvb_end_close(struct kvb_end *end)
{
	if (end->qp && !end->cm_id) {
		ib_drain_qp(end->qp);
		ib_destroy_qp(end->qp);
	}
	if (end->cm_id) {
		if (end->cm_id->qp) {
			rdma_disconnect(end->cm_id);
			ib_drain_qp(end->cm_id->qp);
			rdma_destroy_qp(end->cm_id);
		}
		rdma_destroy_id(end->cm_id);
	}
	if (end->cq)
		ib_free_cq(end->cq);
	kfree(end->send);
	kfree(end->recv);
}

int kvb_end_recv(struct kvb_end *end)
{
	u32 i;
	int err = 0;

	for (i = 0; i < 2 * end->params->depth && !err; i++)
		err = kvb_post_recv(end, &end->recv[i]);
	return err;
}

int kvb_end_start(struct kvb_end *end)
{
	u32 i;
	int err = 0;

	for (i = 0; i < end->params->depth && !err; i++)
		err = kvb_post_send(end, &end->send[i]);
	return err;
}

struct ib_qp_init_attr kvb_qp_init_attr(struct kvb_end *end)
{
	return (struct ib_qp_init_attr) {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = {
			.max_send_wr = end->params->depth + 2,
			.max_recv_wr = 2 * end->params->depth + 2,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
}
