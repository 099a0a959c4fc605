// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Connecting two QPs of one kernel: RoCE by setting their attributes, iWARP, which
 * knows no other way, by its connection manager.
 */
#include "kvbench.h"

#include <linux/random.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#define KVB_PORT	1
#define KVB_TCP_PORT	18515
#define KVB_WAIT_MS	10000

static int kvb_roce_modify(struct kvb_end *end, u32 my_psn, u32 peer_psn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = KVB_PORT,
		.qp_access_flags = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE,
	};
	const struct ib_gid_attr *gid_attr;
	union ib_gid gid, peer;
	int err;

	ipv6_addr_set_v4mapped(end->side->addr, (struct in6_addr *)&gid);
	ipv6_addr_set_v4mapped(end->peer->side->addr, (struct in6_addr *)&peer);
	err = ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			   IB_QP_ACCESS_FLAGS);
	if (err)
		return err;

	gid_attr = rdma_find_gid_by_port(end->side->dev, &gid, IB_GID_TYPE_ROCE_UDP_ENCAP,
					 KVB_PORT, end->side->ndev);
	if (IS_ERR(gid_attr))
		return PTR_ERR(gid_attr);
	attr = (struct ib_qp_attr) {
		.qp_state = IB_QPS_RTR,
		.path_mtu = ib_mtu_int_to_enum(end->params->mtu),
		.dest_qp_num = end->peer->qp->qp_num,
		.rq_psn = peer_psn,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 12,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE,
		.ah_attr.port_num = KVB_PORT,
	};
	rdma_ah_set_grh(&attr.ah_attr, &peer, 0, gid_attr->index, 64, 0);
	ether_addr_copy(attr.ah_attr.roce.dmac, end->peer->side->ndev->dev_addr);
	err = ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			   IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			   IB_QP_MIN_RNR_TIMER);
	rdma_put_gid_attr(gid_attr);
	if (err)
		return err;

	attr = (struct ib_qp_attr) {
		.qp_state = IB_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = my_psn,
		.max_rd_atomic = 16,
	};
	return ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

static int kvb_roce_create(struct kvb_end *end)
{
	struct ib_qp_init_attr init = kvb_qp_init_attr(end);
	struct ib_qp *qp = ib_create_qp(end->side->pd, &init);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	end->qp = qp;
	return 0;
}

static int kvb_roce_connect(struct kvb_end *a, struct kvb_end *b)
{
	u32 psn_a = get_random_u32() & 0xffffff;
	u32 psn_b = get_random_u32() & 0xffffff;
	int err;

	err = kvb_roce_create(a) ?: kvb_roce_create(b);
	return err ?: kvb_roce_modify(a, psn_a, psn_b) ?: kvb_roce_modify(b, psn_b, psn_a);
}

static int kvb_iw_create(struct kvb_end *end)
{
	struct ib_qp_init_attr init = kvb_qp_init_attr(end);
	int err = rdma_create_qp(end->cm_id, end->side->pd, &init);

	if (!err)
		end->qp = end->cm_id->qp;
	return err;
}

/* The connection does not come about, if @err. kvb_end_close() destroys the id. */
static int kvb_iw_failed(struct kvb_end *end, int err)
{
	if (err) {
		end->error = err;
		complete(&end->connected);
	}
	return 0;
}

/* What both ends hear alike: how it ended */
static int kvb_iw_other(struct kvb_end *end, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		complete(&end->connected);
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		return kvb_iw_failed(end, event->status ?: -ECONNABORTED);
	}
}

/* the passive end: @context of the listener, then of the new id */
static int kvb_iw_passive(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kvb_end *end = id->context;
	struct rdma_conn_param param = {
		.responder_resources = 16,
		.initiator_depth = 16,
	};

	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return kvb_iw_other(end, event);
	end->cm_id = id;
	return kvb_iw_failed(end, kvb_iw_create(end) ?: rdma_accept(id, &param));
}

static int kvb_iw_active(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kvb_end *end = id->context;
	struct rdma_conn_param param = {
		.responder_resources = 16,
		.initiator_depth = 16,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return kvb_iw_failed(end, rdma_resolve_route(id, KVB_WAIT_MS));
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return kvb_iw_failed(end, kvb_iw_create(end) ?: rdma_connect_locked(id, &param));
	default:
		return kvb_iw_other(end, event);
	}
}

static int kvb_iw_wait(struct kvb_end *end)
{
	if (!wait_for_completion_timeout(&end->connected, msecs_to_jiffies(KVB_WAIT_MS)))
		return -ETIMEDOUT;
	return end->error;
}

static int kvb_iw_connect(struct kvb_end *a, struct kvb_end *b)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(KVB_TCP_PORT),
		.sin_addr.s_addr = b->side->addr,
	};
	struct sockaddr_in from = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = a->side->addr,
	};
	struct rdma_cm_id *listener;
	int err;

	listener = rdma_create_id(dev_net(b->side->ndev), kvb_iw_passive, b, RDMA_PS_TCP,
				  IB_QPT_RC);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	err = rdma_bind_addr(listener, (struct sockaddr *)&to) ?: rdma_listen(listener, 1);
	if (err)
		goto out;
	a->cm_id = rdma_create_id(dev_net(a->side->ndev), kvb_iw_active, a, RDMA_PS_TCP,
				  IB_QPT_RC);
	if (IS_ERR(a->cm_id)) {
		err = PTR_ERR(a->cm_id);
		a->cm_id = NULL;
		goto out;
	}
	err = rdma_resolve_addr(a->cm_id, (struct sockaddr *)&from, (struct sockaddr *)&to,
				KVB_WAIT_MS);
	err = err ?: kvb_iw_wait(a) ?: kvb_iw_wait(b);
out:
	rdma_destroy_id(listener);
	return err;
}

int kvb_connect(struct kvb_end *a, struct kvb_end *b)
{
	if (rdma_protocol_iwarp(a->side->dev, KVB_PORT))
		return kvb_iw_connect(a, b);
	return kvb_roce_connect(a, b);
}
