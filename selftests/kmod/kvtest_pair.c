// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The two ends: what they have, how they are connected, and how to post one
 * request and wait for it.
 */
#include "kvtest.h"

#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#define KVT_PORT	1
#define KVT_PSN		0xfffff0	/* wraps soon */

static void kvt_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kvt_wait *wait = container_of(wc->wr_cqe, struct kvt_wait, cqe);

	wait->wc = *wc;
	complete(&wait->done);
}

struct ib_cqe *kvt_wait_init(struct kvt_wait *wait)
{
	init_completion(&wait->done);
	wait->cqe.done = kvt_done;
	return &wait->cqe;
}

int kvt_wait(struct kvt_wait *wait)
{
	if (!wait_for_completion_timeout(&wait->done, KVT_WAIT))
		return -ETIMEDOUT;
	return wait->wc.status;
}

int kvt_end_open(struct kvt_end *end)
{
	struct ib_pd *pd;
	struct ib_cq *cq;
	int i;

	end->ndev = ib_device_get_netdev(end->dev, KVT_PORT);
	if (!end->ndev)
		return -ENODEV;
	rtnl_lock();
	end->addr = inet_select_addr(end->ndev, 0, RT_SCOPE_UNIVERSE);
	rtnl_unlock();
	if (!end->addr)
		return -EADDRNOTAVAIL;
	for (i = 0; i < KVT_BLOCKS; i++) {
		end->block[i] = alloc_pages(GFP_KERNEL | __GFP_ZERO, get_order(KVT_BLOCK));
		if (!end->block[i])
			return -ENOMEM;
	}
	pd = ib_alloc_pd(end->dev, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	end->pd = pd;
	cq = ib_alloc_cq(end->dev, end, 4 * KVT_DEPTH, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	end->cq = cq;
	return 0;
}

void kvt_end_close(struct kvt_end *end)
{
	int i;

	if (end->cq)
		ib_free_cq(end->cq);
	if (end->pd)
		ib_dealloc_pd(end->pd);
	for (i = 0; i < KVT_BLOCKS; i++)
		if (end->block[i])
			__free_pages(end->block[i], get_order(KVT_BLOCK));
	dev_put(end->ndev);
	memset(end, 0, sizeof(*end));
}

struct ib_qp *kvt_create_qp(struct kvt_end *end, struct ib_cq *cq, struct ib_srq *srq)
{
	struct ib_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = {
			/* one more each, for draining */
			.max_send_wr = KVT_DEPTH + 1,
			.max_recv_wr = srq ? 0 : KVT_DEPTH + 1,
			.max_send_sge = 4,
			.max_recv_sge = srq ? 0 : 4,
			.max_inline_data = 64,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	return ib_create_qp(end->pd, &init);
}

static int kvt_to_rtr(struct kvt_end *end, const struct kvt_end *peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = KVT_PSN,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE,
		.ah_attr.port_num = KVT_PORT,
	};
	const struct ib_gid_attr *gid_attr;
	union ib_gid gid, dgid;
	int err;

	ipv6_addr_set_v4mapped(end->addr, (struct in6_addr *)&gid);
	ipv6_addr_set_v4mapped(peer->addr, (struct in6_addr *)&dgid);
	gid_attr = rdma_find_gid_by_port(end->dev, &gid, IB_GID_TYPE_ROCE_UDP_ENCAP, KVT_PORT,
					 end->ndev);
	if (IS_ERR(gid_attr))
		return PTR_ERR(gid_attr);
	rdma_ah_set_grh(&attr.ah_attr, &dgid, 0, gid_attr->index, 64, 0);
	ether_addr_copy(attr.ah_attr.roce.dmac, peer->ndev->dev_addr);
	err = ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			   IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			   IB_QP_MIN_RNR_TIMER);
	rdma_put_gid_attr(gid_attr);
	return err;
}

static int kvt_to_rts(struct kvt_end *end, const struct kvt_end *peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = KVT_PORT,
		.qp_access_flags = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_ATOMIC,
	};
	int err;

	err = ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			   IB_QP_ACCESS_FLAGS);
	err = err ?: kvt_to_rtr(end, peer);
	if (err)
		return err;
	attr = (struct ib_qp_attr) {
		.qp_state = IB_QPS_RTS,
		.timeout = 17,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = KVT_PSN,
		.max_rd_atomic = 4,
	};
	return ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

int kvt_link(struct kvt_end *a, struct kvt_end *b)
{
	return kvt_to_rts(a, b) ?: kvt_to_rts(b, a);
}

static void kvt_end_disconnect(struct kvt_end *end)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (!end->qp)
		return;
	/* in RESET there is nothing to drain */
	if (!ib_modify_qp(end->qp, &attr, IB_QP_STATE))
		ib_drain_qp(end->qp);
	ib_destroy_qp(end->qp);
	end->qp = NULL;
}

void kvt_disconnect(struct kvt *t)
{
	kvt_end_disconnect(&t->a);
	kvt_end_disconnect(&t->b);
}

static int kvt_end_create(struct kvt_end *end)
{
	struct ib_qp *qp = kvt_create_qp(end, end->cq, NULL);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	end->qp = qp;
	return 0;
}

int kvt_connect(struct kvt *t)
{
	kvt_disconnect(t);
	return kvt_end_create(&t->a) ?: kvt_end_create(&t->b) ?: kvt_link(&t->a, &t->b);
}

int kvt_send(struct kvt_end *end, struct ib_send_wr *wr)
{
	struct ib_send_wr *last = wr;
	int err;

	/* the list is const only to who posts it */
	while (last->next)
		last = (struct ib_send_wr *)last->next;
	last->wr_cqe = kvt_wait_init(&end->send);
	last->send_flags |= IB_SEND_SIGNALED;
	err = ib_post_send(end->qp, wr, NULL);
	return err ?: kvt_wait(&end->send);
}

int kvt_recv(struct kvt_end *end, struct ib_sge *sge)
{
	struct ib_recv_wr wr = {
		.wr_cqe = kvt_wait_init(&end->recv),
		.sg_list = sge,
		.num_sge = sge ? 1 : 0,
	};

	return ib_post_recv(end->qp, &wr, NULL);
}

static u8 kvt_byte(u32 seed, size_t i)
{
	return i * 31 + (i >> 8) * 17 + seed;
}

void kvt_fill(u8 *to, size_t bytes, u32 seed)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		to[i] = kvt_byte(seed, i);
}

bool kvt_filled(const u8 *from, size_t bytes, u32 seed, size_t from_byte)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		if (from[i] != kvt_byte(seed, from_byte + i))
			return false;
	return true;
}

int kvt_rdma(struct kvt *t, enum ib_wr_opcode opcode, u64 addr, u32 rkey, u32 length)
{
	struct ib_sge sge = kvt_sge(&t->a, 0, length);
	struct ib_rdma_wr wr = {
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.opcode = opcode,
		.remote_addr = addr,
		.rkey = rkey,
	};

	return kvt_send(&t->a, &wr.wr);
}

int kvt_map(struct kvt *t, struct ib_mr *mr, size_t offset, size_t length, u32 page_size)
{
	struct scatterlist sg[KVT_BLOCKS];
	struct kvt_end *end = &t->b;
	unsigned int n = 0;
	int ret;

	sg_init_table(sg, KVT_BLOCKS);
	while (length) {
		size_t some = min(length, KVT_BLOCK - offset % KVT_BLOCK);

		sg_set_page(&sg[n++], end->block[offset / KVT_BLOCK], some, offset % KVT_BLOCK);
		offset += some;
		length -= some;
	}
	sg_mark_end(&sg[n - 1]);
	ret = ib_dma_map_sg(end->dev, sg, n, DMA_BIDIRECTIONAL);
	if (!ret)
		return -ENOMEM;
	ret = ib_map_mr_sg(mr, sg, ret, NULL, page_size);
	ib_dma_unmap_sg(end->dev, sg, n, DMA_BIDIRECTIONAL);
	return ret;
}

int kvt_reg(struct kvt_end *end, struct ib_mr *mr, int access)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};

	return kvt_send(end, &wr.wr);
}

int kvt_invalidate(struct kvt_end *end, u32 rkey)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = rkey,
	};

	return kvt_send(end, &wr);
}
