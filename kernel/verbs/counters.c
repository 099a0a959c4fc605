// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <linux/slab.h>

#include "../transport/qp.h"
#include "../transport/sched.h"
#include "verbs.h"

/* All that hw_counters can show */
#define SKR_STATS	(SKR_CNT_COUNT + SKR_OPT_COUNT)

#define SKR_OPTIONAL(counter, text) \
	[SKR_CNT_COUNT + (counter)] = { .name = text, .flags = IB_STAT_FLAG_OPTIONAL }

static const struct rdma_stat_desc skr_stat_descs[SKR_STATS] = {
	[SKR_CNT_RX_DROP + SKR_DROP_NONE].name = "rx_packets",
	[SKR_CNT_RX_DROP + SKR_DROP_SHORT].name = "rx_drop_short",
	[SKR_CNT_RX_DROP + SKR_DROP_TVER].name = "rx_drop_tver",
	[SKR_CNT_RX_DROP + SKR_DROP_OPCODE].name = "rx_drop_opcode",
	[SKR_CNT_RX_DROP + SKR_DROP_L3].name = "rx_drop_l3",
	[SKR_CNT_RX_DROP + SKR_DROP_ICRC].name = "rx_icrc_encapsulated",
	[SKR_CNT_RX_DROP + SKR_DROP_QPN].name = "rx_drop_qpn",
	[SKR_CNT_RX_DROP + SKR_DROP_TYPE].name = "rx_drop_type",
	[SKR_CNT_RX_DROP + SKR_DROP_STATE].name = "rx_drop_state",
	[SKR_CNT_RX_DROP + SKR_DROP_PKEY].name = "rx_drop_pkey",
	[SKR_CNT_RX_DROP + SKR_DROP_QKEY].name = "rx_drop_qkey",
	[SKR_CNT_RX_DROP + SKR_DROP_ADDR].name = "rx_drop_addr",
	[SKR_CNT_RX_DROP + SKR_DROP_BUSY].name = "rx_drop_busy",
	[SKR_CNT_RX_DROP + SKR_DROP_NOMEM].name = "rx_drop_nomem",
	[SKR_CNT_TX_PACKETS].name = "tx_packets",
	[SKR_CNT_TX_BYTES].name = "tx_bytes",
	[SKR_CNT_RX_BYTES].name = "rx_bytes",
	[SKR_CNT_TX_CONGESTED].name = "tx_congested",
	[SKR_CNT_TX_UNREACHABLE].name = "tx_unreachable",
	[SKR_CNT_TX_NOMEM].name = "tx_nomem",
	[SKR_CNT_OUT_OF_SEQUENCE].name = "out_of_sequence",
	[SKR_CNT_DUPLICATE_REQUEST].name = "duplicate_request",
	[SKR_CNT_OUT_OF_BUFFER].name = "out_of_buffer",
	[SKR_CNT_PACKET_SEQ_ERR].name = "packet_seq_err",
	[SKR_CNT_IMPLIED_NAK_SEQ_ERR].name = "implied_nak_seq_err",
	[SKR_CNT_LOCAL_ACK_TIMEOUT_ERR].name = "local_ack_timeout_err",
	[SKR_CNT_RNR_NAK].name = "rnr_nak_received",
	[SKR_CNT_RNR_NAK_RETRY_ERR].name = "rnr_nak_retry_err",
	[SKR_CNT_RETRY_EXC_ERR].name = "req_transport_retries_exceeded",
	[SKR_CNT_RETRANSMITS].name = "retransmits",
	[SKR_CNT_RESP_LOCAL_LENGTH_ERROR].name = "resp_local_length_error",
	[SKR_CNT_RESP_REMOTE_ACCESS_ERRORS].name = "resp_remote_access_errors",
	[SKR_CNT_RESP_REMOTE_INVALID_REQUEST].name = "resp_remote_invalid_request",
	[SKR_CNT_REQ_REMOTE_ACCESS_ERRORS].name = "req_remote_access_errors",
	[SKR_CNT_REQ_REMOTE_INVALID_REQUEST].name = "req_remote_invalid_request",
	[SKR_CNT_REQ_CQE_ERROR].name = "req_cqe_error",
	[SKR_CNT_RESP_CQE_ERROR].name = "resp_cqe_error",
	[SKR_CNT_REQ_CQE_FLUSH_ERROR].name = "req_cqe_flush_error",
	[SKR_CNT_RESP_CQE_FLUSH_ERROR].name = "resp_cqe_flush_error",
	[SKR_CNT_CQ_OVERRUN].name = "cq_overrun",
	[SKR_CNT_LINK_DOWNED].name = "link_downed",
	[SKR_CNT_NP_ECN_MARKED].name = "np_ecn_marked_roce_packets",
	[SKR_CNT_NP_CNP_SENT].name = "np_cnp_sent",
	[SKR_CNT_RP_CNP_HANDLED].name = "rp_cnp_handled",
	[SKR_CNT_RP_CNP_IGNORED].name = "rp_cnp_ignored",
	[SKR_CNT_PAGE_FAULTS].name = "odp_page_faults",
	SKR_OPTIONAL(SKR_OPT_CC_RX_CE, "cc_rx_ce_pkts"),
	SKR_OPTIONAL(SKR_OPT_CC_RX_CNP, "cc_rx_cnp_pkts"),
	SKR_OPTIONAL(SKR_OPT_CC_TX_CNP, "cc_tx_cnp_pkts"),
};

/**
 * struct skr_counters - counters that QPs are bound to
 * @stats: what these QPs count in
 *
 * They are found in skr_dev.counters by rdma_counter.id, which has no driver's part
 * in all kernels. ib_core serializes what is done to one of them.
 */
struct skr_counters {
	struct skr_stats __percpu *stats;
};

/* The sum of all CPUs' shares */
static u64 skr_stats_value(struct skr_stats __percpu *stats, enum skr_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->value[counter]);
	return sum;
}

u64 skr_counter_value(struct skr_dev *dev, enum skr_counter counter)
{
	u64 sum = skr_stats_value(dev->stats, counter);
	struct skr_counters *bound;
	unsigned long id;

	/* the lock: none of them is both there and past, or neither */
	xa_lock(&dev->counters);
	sum += dev->stats_past.value[counter];
	xa_for_each(&dev->counters, id, bound)
		sum += skr_stats_value(bound->stats, counter);
	xa_unlock(&dev->counters);
	return sum;
}

/* What an optional counter would be if it had always been on */
static u64 skr_optional_value(struct skr_dev *dev, enum skr_optional optional)
{
	switch (optional) {
	case SKR_OPT_CC_RX_CE:
		return skr_counter_value(dev, SKR_CNT_NP_ECN_MARKED);
	case SKR_OPT_CC_RX_CNP:
		return skr_counter_value(dev, SKR_CNT_RP_CNP_HANDLED) +
		       skr_counter_value(dev, SKR_CNT_RP_CNP_IGNORED);
	default:
		return skr_counter_value(dev, SKR_CNT_NP_CNP_SENT);
	}
}

int skr_modify_hw_stat(struct ib_device *ibdev, u32 port, unsigned int index, bool enable)
{
	struct skr_dev *dev = skr_dev(ibdev);
	enum skr_optional optional = index - SKR_CNT_COUNT;

	if (enable)
		dev->optional_from[optional] = skr_optional_value(dev, optional);
	return 0;
}

static struct rdma_hw_stats *skr_alloc_stats(void)
{
	return rdma_alloc_hw_stats_struct(skr_stat_descs, SKR_STATS,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

struct rdma_hw_stats *skr_alloc_hw_port_stats(struct ib_device *ibdev, u32 port)
{
	return skr_alloc_stats();
}

/*
 * Without what QPs count elsewhere, which the core adds by itself; but optional ones,
 * which QPs have not got, are complete. Who has not switched one on does not see it.
 */
int skr_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct skr_dev *dev = skr_dev(ibdev);
	int i;

	if (port != SKR_PORT)
		return -EINVAL;
	for (i = 0; i < SKR_CNT_COUNT; i++)
		stats->value[i] = skr_stats_value(dev->stats, i);
	for (i = 0; i < SKR_OPT_COUNT; i++)
		stats->value[SKR_CNT_COUNT + i] =
			skr_optional_value(dev, i) - dev->optional_from[i];
	return SKR_STATS;
}

static struct skr_counters *skr_counters_find(struct rdma_counter *counter)
{
	return xa_load(&skr_dev(counter->device)->counters, counter->id);
}

static int skr_counters_create(struct rdma_counter *counter)
{
	struct skr_counters *bound = kzalloc_obj(*bound, GFP_KERNEL);
	int err;

	if (!bound)
		return -ENOMEM;
	bound->stats = alloc_percpu(struct skr_stats);
	if (!bound->stats) {
		kfree(bound);
		return -ENOMEM;
	}
	err = xa_alloc(&skr_dev(counter->device)->counters, &counter->id, bound, xa_limit_31b,
		       GFP_KERNEL);
	if (err) {
		free_percpu(bound->stats);
		kfree(bound);
	}
	return err;
}

/*
 * Where the QP counts from now on. Who counted elsewhere did so under the lock.
 * @counter: that of @stats, or NULL: the device's
 * Return: 0, -ENODEV if the QP is being destroyed, or -EINVAL if it is bound already: ib_core
 *	looks, but two who bind it at the same time both find that it is not.
 */
static int skr_qp_count_in(struct ib_qp *ibqp, struct skr_stats __percpu *stats,
			   struct rdma_counter *counter)
{
	struct skr_qp *qp = skr_qp_hold(ibqp);
	int err = 0;

	if (!qp)
		return -ENODEV;
	spin_lock_bh(&qp->lock);
	if (counter && ibqp->counter) {
		err = -EINVAL;
	} else {
		qp->stats = stats;
		ibqp->counter = counter;
	}
	skr_qp_unlock(qp);
	skr_qp_put(qp);
	return err;
}

/* The first QP comes to a counter that has no number yet. */
int skr_counter_bind_qp(SKR_AND_PORT(struct rdma_counter *counter, struct ib_qp *ibqp))
{
	bool first = !counter->id;
	int err = first ? skr_counters_create(counter) : 0;

	if (err)
		return err;
	err = skr_qp_count_in(ibqp, skr_counters_find(counter)->stats, counter);
	/* ib_core does not take back what failed */
	if (err && first) {
		skr_counter_dealloc(counter);
		counter->id = 0;
	}
	return err;
}

int skr_counter_unbind_qp(SKR_AND_PORT(struct ib_qp *ibqp))
{
	if (skr_qp_count_in(ibqp, skr_dev(ibqp->device)->stats, NULL))
		ibqp->counter = NULL;
	return 0;
}

int skr_counter_dealloc(struct rdma_counter *counter)
{
	struct skr_dev *dev = skr_dev(counter->device);
	struct skr_counters *bound;
	int i;

	xa_lock(&dev->counters);
	bound = __xa_erase(&dev->counters, counter->id);
	for (i = 0; i < SKR_CNT_COUNT; i++)
		dev->stats_past.value[i] += skr_stats_value(bound->stats, i);
	xa_unlock(&dev->counters);
	free_percpu(bound->stats);
	kfree(bound);
	return 0;
}

struct rdma_hw_stats *skr_counter_alloc_stats(struct rdma_counter *counter)
{
	return skr_alloc_stats();
}

int skr_counter_update_stats(struct rdma_counter *counter)
{
	struct skr_counters *bound = skr_counters_find(counter);
	int i;

	for (i = 0; i < SKR_CNT_COUNT; i++)
		counter->stats->value[i] = skr_stats_value(bound->stats, i);
	return 0;
}

void skr_counter_init(struct rdma_counter *counter)
{
}
