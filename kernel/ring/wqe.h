/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The only readers of work requests that user space wrote: each is copied
 * once, and what follows sees nothing but the checked copy.
 */
#ifndef SKR_RING_WQE_H
#define SKR_RING_WQE_H

#include <linux/bits.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/skerry-abi.h>

#include "ring.h"

/* struct skr_send_op.flags */
#define SKR_SOP_SEND		BIT(0)	/* consumes a receive request */
#define SKR_SOP_WRITE		BIT(1)
#define SKR_SOP_READ		BIT(2)
#define SKR_SOP_ATOMIC		BIT(3)
#define SKR_SOP_IMM		BIT(4)
#define SKR_SOP_INV		BIT(5)
#define SKR_SOP_LOCAL		BIT(6)	/* nothing is sent */
#define SKR_SOP_FLUSH		BIT(7)
#define SKR_SOP_RC		BIT(8)	/* transports that have it */
#define SKR_SOP_UC		BIT(9)
#define SKR_SOP_UD		BIT(10)
#define SKR_SOP_XRC		BIT(11)
#define SKR_SOP_ATOMIC_WRITE	BIT(12)
#define SKR_SOP_KERNEL_RC	BIT(15)	/* the same, for kernel consumers only */

/* Completed by a response of its own, which the peer keeps resources for */
#define SKR_SOP_ANSWERED	(SKR_SOP_READ | SKR_SOP_ATOMIC | SKR_SOP_FLUSH | \
				 SKR_SOP_ATOMIC_WRITE)

/**
 * struct skr_send_op - properties of a send opcode
 * @flags: SKR_SOP_*; 0: not an opcode
 * @wc_opcode: enum ib_wc_opcode of its completion
 */
struct skr_send_op {
	u16	flags;
	u8	wc_opcode;
};

/**
 * skr_send_op() - look a send opcode up
 * @opcode: enum ib_uverbs_wr_opcode, not trusted
 *
 * Return: its properties; flags 0 if there is no such opcode.
 */
const struct skr_send_op *skr_send_op(u8 opcode);

/**
 * struct skr_swqe - a send request, copied and checked, and how far it got
 * @req: the copy; num_sge, inline_len and opcode have been checked
 * @op: properties of the opcode
 * @length: bytes of the message
 * @first_psn: PSN of its first packet, once @started
 * @last_psn: PSN of its last packet (READ: of the last response)
 * @started: PSNs have been assigned; SKR_SOP_LOCAL: it has been executed
 * @status: IB_WC_SUCCESS, or why it must fail when its turn comes
 * @sge: its memory, req.num_sge entries, unless it is inline
 * @data: its inline data, req.inline_len bytes
 */
struct skr_swqe {
	struct skerry_send_wqe	req;
	const struct skr_send_op *op;
	u32			length;
	u32			first_psn;
	u32			last_psn;
	bool			started;
	u8			status;
	union {
		DECLARE_FLEX_ARRAY(struct skerry_sge, sge);
		DECLARE_FLEX_ARRAY(u8, data);
	};
};

/**
 * struct skr_rwqe - a receive request, copied and checked
 * @wr_id: for its completion
 * @length: bytes of all its memory
 * @num_sge: entries in @sge
 * @sge: its memory
 */
struct skr_rwqe {
	u64			wr_id;
	u32			length;
	u32			num_sge;
	struct skerry_sge	sge[];
};

/**
 * struct skr_wqe_limits - what a QP promised to its user
 * @transport: SKR_SOP_RC, _UC, _UD or _XRC, and SKR_SOP_KERNEL_RC
 * @max_sge: entries of memory a request may have
 * @max_inline: bytes of inline data a request may have
 */
struct skr_wqe_limits {
	u16	transport;
	u16	max_sge;
	u32	max_inline;
};

/**
 * skr_wqe_take_send() - copy a send request out of a ring
 * @ring: SQ
 * @index: the entry; skr_ring_ready() counted it
 * @limits: of the QP
 * @wqe: room for the copy with max_sge entries and max_inline bytes
 *
 * A request that breaks the limits, or that no transport of the QP has, comes
 * back with its status set to IB_WC_LOC_QP_OP_ERR or IB_WC_LOC_LEN_ERR.
 *
 * Context: any.
 */
void skr_wqe_take_send(const struct skr_ring *ring, u32 index,
		       const struct skr_wqe_limits *limits, struct skr_swqe *wqe);

/**
 * skr_wqe_put_sges() - write a kernel consumer's memory into an entry
 * @to: behind the entry's header
 * @from: its list
 * @n: entries
 *
 * Context: any.
 */
void skr_wqe_put_sges(struct skerry_sge *to, const struct ib_sge *from, int n);

/**
 * skr_wqe_take_recv() - copy a receive request out of a ring
 * @ring: RQ
 * @index: the entry; skr_ring_ready() counted it
 * @max_sge: of the QP
 * @wqe: room for the copy with @max_sge entries
 *
 * Context: any.
 * Return: false if it breaks the limit; wr_id is valid all the same.
 */
bool skr_wqe_take_recv(const struct skr_ring *ring, u32 index, u32 max_sge,
		       struct skr_rwqe *wqe);

#endif /* SKR_RING_WQE_H */
