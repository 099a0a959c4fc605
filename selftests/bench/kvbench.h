/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Kernel-verbs benchmark: two devices of one kernel, connected QPs, one way.
 */
#ifndef KVBENCH_H
#define KVBENCH_H

#include <linux/completion.h>
#include <linux/inet.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/**
 * struct kvb_params - what to measure
 * @opcode: IB_WR_SEND, IB_WR_RDMA_WRITE or IB_WR_RDMA_READ
 * @bytes: of a message
 * @depth: messages under way per QP
 * @mtu: path MTU in bytes
 * @qps: QPs
 */
struct kvb_params {
	enum ib_wr_opcode	opcode;
	u32			bytes;
	u32			depth;
	u32			mtu;
	u32			qps;
};

/**
 * struct kvb_side - one of the two ends
 * @dev: its device
 * @ndev: the netdev of its port, held
 * @addr: that netdev's first IPv4 address
 * @pd: protection domain
 * @buf: memory that all QPs of the side use, page by page
 * @buf_bytes: its size
 */
struct kvb_side {
	struct ib_device	*dev;
	struct net_device	*ndev;
	__be32			addr;
	struct ib_pd		*pd;
	void			*buf;
	size_t			buf_bytes;
};

struct kvb_end;

/**
 * struct kvb_slot - a work request that is posted again and again
 * @cqe: called when it completes
 * @end: whose it is
 */
struct kvb_slot {
	struct ib_cqe	cqe;
	struct kvb_end	*end;
};

/**
 * struct kvb_end - a QP and all that belongs to it
 * @side: where it is
 * @peer: the other one
 * @params: what to do
 * @cq: completions of both queues
 * @qp: queue pair
 * @cm_id: iWARP: owns @qp
 * @connected: iWARP: the connection is there, or failed
 * @send: send requests
 * @recv: receive requests
 * @stop: post no more
 * @error: first status that was not good
 * @done: messages completed
 * @flying: messages under way
 * @drained: completed when @flying is 0 after @stop
 */
struct kvb_end {
	struct kvb_side		*side;
	struct kvb_end		*peer;
	const struct kvb_params	*params;
	struct ib_cq		*cq;
	struct ib_qp		*qp;
	struct rdma_cm_id	*cm_id;
	struct completion	connected;
	struct kvb_slot		*send;
	struct kvb_slot		*recv;
	bool			stop;
	int			error;
	u64			done;
	atomic_t		flying;
	struct completion	drained;
};

/**
 * kvb_side_open() - make ready what the QPs of a side share
 * @side: with dev set
 * @bytes: memory to have
 *
 * Return: 0 or a negative errno; kvb_side_close() is due either way.
 */
int kvb_side_open(struct kvb_side *side, size_t bytes);

/**
 * kvb_side_close() - undo kvb_side_open()
 * @side: side without ends
 */
void kvb_side_close(struct kvb_side *side);

/**
 * kvb_end_open() - everything of an end but the QP
 * @end: with side, peer and params set
 *
 * Return: 0 or a negative errno; kvb_end_close() is due either way.
 */
int kvb_end_open(struct kvb_end *end);

/**
 * kvb_end_close() - undo kvb_end_open() and kvb_connect()
 * @end: end; nothing is posted any more
 */
void kvb_end_close(struct kvb_end *end);

/**
 * kvb_end_recv() - post all receive requests
 * @end: connected or about to be
 *
 * Return: 0 or a negative errno.
 */
int kvb_end_recv(struct kvb_end *end);

/**
 * kvb_end_start() - post the first messages; each completion posts another
 * @end: connected
 *
 * Return: 0 or a negative errno.
 */
int kvb_end_start(struct kvb_end *end);

/**
 * kvb_qp_init_attr() - what an end's QP is created with
 * @end: end
 *
 * Return: the attributes.
 */
struct ib_qp_init_attr kvb_qp_init_attr(struct kvb_end *end);

/**
 * kvb_connect() - create and connect the QPs of two ends
 * @a: active
 * @b: passive
 *
 * Return: 0 or a negative errno.
 */
int kvb_connect(struct kvb_end *a, struct kvb_end *b);

#endif /* KVBENCH_H */
