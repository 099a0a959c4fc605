/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SKR_COMPAT_RDMA_IB_VERBS_H
#define SKR_COMPAT_RDMA_IB_VERBS_H

#include_next <rdma/ib_verbs.h>

/* reg_user_mr's parameter for DMA handles, with the comma after it, and its value */
#ifdef SKR_HAVE_DMAH
#define SKR_DMAH_PARAM	struct ib_dmah *dmah,
#define SKR_DMAH	dmah
#else
#define SKR_DMAH_PARAM
#define SKR_DMAH	NULL
#endif

/* The member of ib_device_ops that resizes CQs, and what it counts entries in */
#ifdef SKR_HAVE_RESIZE_USER_CQ
#define SKR_CQE_TYPE	unsigned int
#else
#define SKR_CQE_TYPE	int
#define resize_user_cq	resize_cq
#endif

/* Per-QP counters: the port as the last parameter; a driver's part of a counter */
#ifdef SKR_HAVE_COUNTER_INIT
#define SKR_AND_PORT(...)	__VA_ARGS__, u32 port
#define SKR_COUNTER_INIT(fn)	\
	.counter_init = (fn), .size_rdma_counter = sizeof(struct rdma_counter),
#else
#define SKR_AND_PORT(...)	__VA_ARGS__
#define SKR_COUNTER_INIT(fn)
#endif

/* A device could not be born in the namespace of its netdev. */
#ifndef ib_alloc_device_with_net
#define ib_alloc_device_with_net(drv_struct, member, net)	\
	((void)(net), ib_alloc_device(drv_struct, member))
#endif

/* The member of ib_device_ops for what the core would tell its users of the port */
#ifdef SKR_HAVE_CORE_PORT_EVENTS
#define SKR_REPORT_PORT_EVENT(fn)	.report_port_event = (fn),
#else
#define SKR_REPORT_PORT_EVENT(fn)

static inline enum ib_port_state ib_get_curr_port_state(struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) ? IB_PORT_ACTIVE : IB_PORT_DOWN;
}
#endif

#endif /* SKR_COMPAT_RDMA_IB_VERBS_H */
