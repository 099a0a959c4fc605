// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Management datagrams that the device answers by itself: the performance
 * class' port counters (IBTA 16.1), which sysfs reads this way, too. On
 * Ethernet there is no subnet management, and the connection manager is
 * ib_core's.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "verbs.h"

/* Where an attribute lies in the data of a performance MAD */
#define SKR_PMA_DATA	40

static int skr_pma_class_port_info(struct ib_mad *out)
{
	struct ib_class_port_info *info = (void *)(out->data + SKR_PMA_DATA);

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	/* unicast and multicast are not told apart */
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

/* Counters of the classic attribute stop at their largest value. */
static u32 skr_pma_capped(struct skr_dev *dev, enum skr_counter counter, u32 divisor, u32 max)
{
	return min_t(u64, div_u64(skr_counter_value(dev, counter), divisor), max);
}

static u64 skr_pma_rx_errors(struct skr_dev *dev)
{
	u64 sum = 0;
	int i;

	for (i = SKR_DROP_NONE + 1; i < SKR_DROP_COUNT; i++)
		sum += skr_counter_value(dev, SKR_CNT_RX_DROP + i);
	return sum;
}

static int skr_pma_counters(struct skr_dev *dev, struct ib_mad *out)
{
	struct ib_pma_portcounters *to = (void *)(out->data + SKR_PMA_DATA);

	to->port_select = SKR_PORT;
	to->link_downed_counter = skr_pma_capped(dev, SKR_CNT_LINK_DOWNED, 1, U8_MAX);
	to->port_rcv_errors = cpu_to_be16(min_t(u64, skr_pma_rx_errors(dev), U16_MAX));
	to->port_xmit_discards =
		cpu_to_be16(skr_pma_capped(dev, SKR_CNT_TX_UNREACHABLE, 1, U16_MAX));
	to->port_xmit_wait = cpu_to_be32(skr_pma_capped(dev, SKR_CNT_TX_CONGESTED, 1, U32_MAX));
	/* data counts in words of 32 bits */
	to->port_xmit_data = cpu_to_be32(skr_pma_capped(dev, SKR_CNT_TX_BYTES, 4, U32_MAX));
	to->port_rcv_data = cpu_to_be32(skr_pma_capped(dev, SKR_CNT_RX_BYTES, 4, U32_MAX));
	to->port_xmit_packets = cpu_to_be32(skr_pma_capped(dev, SKR_CNT_TX_PACKETS, 1, U32_MAX));
	to->port_rcv_packets = cpu_to_be32(skr_pma_capped(dev, SKR_CNT_RX_DROP + SKR_DROP_NONE,
							  1, U32_MAX));
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static int skr_pma_counters_ext(struct skr_dev *dev, struct ib_mad *out)
{
	struct ib_pma_portcounters_ext *to = (void *)(out->data + SKR_PMA_DATA);
	u64 rx_packets = skr_counter_value(dev, SKR_CNT_RX_DROP + SKR_DROP_NONE);

	to->port_select = SKR_PORT;
	to->port_xmit_data = cpu_to_be64(skr_counter_value(dev, SKR_CNT_TX_BYTES) / 4);
	to->port_rcv_data = cpu_to_be64(skr_counter_value(dev, SKR_CNT_RX_BYTES) / 4);
	to->port_xmit_packets = cpu_to_be64(skr_counter_value(dev, SKR_CNT_TX_PACKETS));
	to->port_rcv_packets = cpu_to_be64(rx_packets);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

int skr_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		    const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index)
{
	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;	/* not for us */

	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		return skr_pma_class_port_info(out);
	case IB_PMA_PORT_COUNTERS:
		return skr_pma_counters(skr_dev(ibdev), out);
	case IB_PMA_PORT_COUNTERS_EXT:
		return skr_pma_counters_ext(skr_dev(ibdev), out);
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
}
