/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tracepoints: work requests, packets in and out, drops, completions, states.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM skerry

#if !defined(SKR_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SKR_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>

#include "cc/cc.h"
#include "device.h"
#include "wire/iba.h"
#include "wire/pkt.h"

TRACE_EVENT(skr_wqe,
	TP_PROTO(struct skr_dev *dev, u32 qpn, u64 wr_id, u8 opcode, u32 length),
	TP_ARGS(dev, qpn, wr_id, opcode, length),
	TP_STRUCT__entry(
		__string(dev, dev_name(&dev->ibdev.dev))
		__field(u32, qpn)
		__field(u64, wr_id)
		__field(u8, opcode)
		__field(u32, length)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = qpn;
		__entry->wr_id = wr_id;
		__entry->opcode = opcode;
		__entry->length = length;
	),
	TP_printk("%s qpn %#x wr_id %#llx opcode %u length %u", __get_str(dev), __entry->qpn,
		  __entry->wr_id, __entry->opcode, __entry->length)
);

TRACE_EVENT(skr_tx,
	TP_PROTO(struct skr_dev *dev, const void *bth),
	TP_ARGS(dev, bth),
	TP_STRUCT__entry(
		__string(dev, dev_name(&dev->ibdev.dev))
		__field(u8, opcode)
		__field(u32, qpn)
		__field(u32, psn)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->opcode = ((const struct skr_bth *)bth)->opcode;
		__entry->qpn = be32_to_cpu(((const struct skr_bth *)bth)->qpn) & SKR_MASK24;
		__entry->psn = be32_to_cpu(((const struct skr_bth *)bth)->psn);
	),
	TP_printk("%s opcode %#x to qpn %#x psn %#x%s", __get_str(dev), __entry->opcode,
		  __entry->qpn, __entry->psn & SKR_MASK24,
		  __entry->psn & SKR_BTH_ACKREQ ? " ackreq" : "")
);

TRACE_EVENT(skr_rx,
	TP_PROTO(struct skr_dev *dev, const struct skr_pkt *pkt),
	TP_ARGS(dev, pkt),
	TP_STRUCT__entry(
		__string(dev, dev_name(&dev->ibdev.dev))
		__field(u8, opcode)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, syndrome)
		__field(u32, bytes)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->opcode = pkt->opcode;
		__entry->qpn = pkt->qpn;
		__entry->psn = pkt->psn;
		__entry->syndrome = pkt->flags & SKR_HAS_AETH ? pkt->syndrome : 0;
		__entry->bytes = pkt->payload_bytes;
	),
	TP_printk("%s opcode %#x qpn %#x psn %#x syndrome %#x payload %u", __get_str(dev),
		  __entry->opcode, __entry->qpn, __entry->psn, __entry->syndrome,
		  __entry->bytes)
);

TRACE_EVENT(skr_rx_drop,
	TP_PROTO(struct skr_dev *dev, const struct skr_pkt *pkt, int reason),
	TP_ARGS(dev, pkt, reason),
	TP_STRUCT__entry(
		__string(dev, dev ? dev_name(&dev->ibdev.dev) : "-")
		__field(u8, opcode)
		__field(u32, qpn)
		__field(u32, psn)
		__field(int, reason)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->opcode = pkt ? pkt->opcode : 0;
		__entry->qpn = pkt ? pkt->qpn : 0;
		__entry->psn = pkt ? pkt->psn : 0;
		__entry->reason = reason;
	),
	TP_printk("%s reason %d opcode %#x qpn %#x psn %#x", __get_str(dev), __entry->reason,
		  __entry->opcode, __entry->qpn, __entry->psn)
);

TRACE_EVENT(skr_cqe,
	TP_PROTO(struct skr_dev *dev, const struct skerry_cqe *cqe),
	TP_ARGS(dev, cqe),
	TP_STRUCT__entry(
		__string(dev, dev_name(&dev->ibdev.dev))
		__field(u32, qpn)
		__field(u64, wr_id)
		__field(u8, status)
		__field(u8, opcode)
		__field(u32, bytes)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = cqe->qp_num;
		__entry->wr_id = cqe->wr_id;
		__entry->status = cqe->status;
		__entry->opcode = cqe->opcode;
		__entry->bytes = cqe->byte_len;
	),
	TP_printk("%s qpn %#x wr_id %#llx status %u opcode %u bytes %u", __get_str(dev),
		  __entry->qpn, __entry->wr_id, __entry->status, __entry->opcode,
		  __entry->bytes)
);

TRACE_EVENT(skr_qp_state,
	TP_PROTO(struct skr_dev *dev, u32 qpn, int from, int to),
	TP_ARGS(dev, qpn, from, to),
	TP_STRUCT__entry(
		__string(dev, dev_name(&dev->ibdev.dev))
		__field(u32, qpn)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = qpn;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("%s qpn %#x state %d to %d", __get_str(dev), __entry->qpn, __entry->from,
		  __entry->to)
);

TRACE_EVENT(skr_rate,
	TP_PROTO(struct skr_dev *dev, u32 qpn, const struct skr_cc_view *view),
	TP_ARGS(dev, qpn, view),
	TP_STRUCT__entry(
		__string(dev, dev_name(&dev->ibdev.dev))
		__string(stage, view->stage)
		__field(u32, qpn)
		__field(u64, rate)
		__field(u64, target)
		__field(u32, alpha)
	),
	TP_fast_assign(
		__assign_str(dev);
		__assign_str(stage);
		__entry->qpn = qpn;
		__entry->rate = view->rate;
		__entry->target = view->target;
		__entry->alpha = view->alpha;
	),
	TP_printk("%s qpn %#x rate %llu target %llu alpha %u/1024 %s", __get_str(dev),
		  __entry->qpn, __entry->rate, __entry->target, __entry->alpha,
		  __get_str(stage))
);

#endif /* SKR_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
