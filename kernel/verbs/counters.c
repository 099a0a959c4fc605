// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "verbs.h"

static const struct rdma_stat_desc skr_stat_descs[SKR_CNT_COUNT] = {
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
};

/* The sum of all CPUs' shares */
u64 skr_counter_value(struct skr_dev *dev, enum skr_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(dev->stats, cpu)->value[counter]);
	return sum;
}

struct rdma_hw_stats *skr_alloc_hw_port_stats(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(skr_stat_descs, SKR_CNT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int skr_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct skr_dev *dev = skr_dev(ibdev);
	int i;

	if (port != SKR_PORT)
		return -EINVAL;
	for (i = 0; i < SKR_CNT_COUNT; i++)
		stats->value[i] = skr_counter_value(dev, i);
	return SKR_CNT_COUNT;
}
