// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "wqe.h"

#include <linux/compiler.h>
#include <linux/string.h>

#include "../wire/iba.h"

#define SKR_SOP_RELIABLE	(SKR_SOP_RC | SKR_SOP_XRC)
#define SKR_SOP_CONNECTED	(SKR_SOP_RELIABLE | SKR_SOP_UC)
#define SKR_SOP_ALL		(SKR_SOP_CONNECTED | SKR_SOP_UD)

static const struct skr_send_op skr_send_ops[] = {
	[IB_WR_RDMA_WRITE] = { SKR_SOP_CONNECTED | SKR_SOP_WRITE, IB_WC_RDMA_WRITE },
	[IB_WR_RDMA_WRITE_WITH_IMM] = { SKR_SOP_CONNECTED | SKR_SOP_WRITE | SKR_SOP_IMM,
					IB_WC_RDMA_WRITE },
	[IB_WR_SEND] = { SKR_SOP_ALL | SKR_SOP_SEND, IB_WC_SEND },
	[IB_WR_SEND_WITH_IMM] = { SKR_SOP_ALL | SKR_SOP_SEND | SKR_SOP_IMM, IB_WC_SEND },
	[IB_WR_SEND_WITH_INV] = { SKR_SOP_RELIABLE | SKR_SOP_SEND | SKR_SOP_INV, IB_WC_SEND },
	[IB_WR_RDMA_READ] = { SKR_SOP_RELIABLE | SKR_SOP_READ, IB_WC_RDMA_READ },
	[IB_WR_LOCAL_INV] = { SKR_SOP_CONNECTED | SKR_SOP_LOCAL | SKR_SOP_INV,
			      IB_WC_LOCAL_INV },
	[IB_WR_BIND_MW] = { SKR_SOP_CONNECTED | SKR_SOP_LOCAL, IB_WC_BIND_MW },
	[IB_WR_REG_MR] = { SKR_SOP_KERNEL_RC | SKR_SOP_LOCAL, IB_WC_REG_MR },
	[IB_WR_ATOMIC_CMP_AND_SWP] = { SKR_SOP_RELIABLE | SKR_SOP_ATOMIC, IB_WC_COMP_SWAP },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = { SKR_SOP_RELIABLE | SKR_SOP_ATOMIC, IB_WC_FETCH_ADD },
	[IB_WR_FLUSH] = { SKR_SOP_RELIABLE | SKR_SOP_FLUSH, IB_WC_FLUSH },
	[IB_WR_ATOMIC_WRITE] = { SKR_SOP_RELIABLE | SKR_SOP_ATOMIC_WRITE, IB_WC_ATOMIC_WRITE },
};

static const struct skr_send_op skr_send_op_none;

const struct skr_send_op *skr_send_op(u8 opcode)
{
	return opcode < ARRAY_SIZE(skr_send_ops) ? &skr_send_ops[opcode] : &skr_send_op_none;
}

/*
 * One copy into memory that others can see; the barrier keeps the compiler from
 * going back to the source.
 */
static void skr_wqe_copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	barrier();
}

static bool skr_sge_sum(const struct skerry_sge *sge, u32 n, u32 *length)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += sge[i].length;
	*length = sum;
	return sum <= SKR_MAX_MSG_BYTES;
}

/* What the peer would refuse in any case */
static u8 skr_wqe_check_flush(const struct skerry_send_wqe *req)
{
	if (!req->flush.type || req->flush.type & ~(SKR_FETH_GLOBAL | SKR_FETH_PERSISTENT) ||
	    req->flush.level > SKR_FETH_REGION)
		return IB_WC_LOC_QP_OP_ERR;
	return req->flush.length > SKR_MAX_MSG_BYTES ? IB_WC_LOC_LEN_ERR : IB_WC_SUCCESS;
}

static u8 skr_wqe_check(const struct skr_wqe_limits *limits, struct skr_swqe *wqe,
			const void *data)
{
	struct skerry_send_wqe *req = &wqe->req;
	u16 flags = wqe->op->flags;

	if (!(flags & limits->transport))
		return IB_WC_LOC_QP_OP_ERR;
	if (flags & (SKR_SOP_LOCAL | SKR_SOP_FLUSH | SKR_SOP_ATOMIC_WRITE)) {
		req->flags &= ~SKERRY_SEND_INLINE;
		req->num_sge = 0;
		return flags & SKR_SOP_FLUSH ? skr_wqe_check_flush(req) : IB_WC_SUCCESS;
	}

	if (req->flags & SKERRY_SEND_INLINE) {
		if (!(flags & (SKR_SOP_SEND | SKR_SOP_WRITE)))
			return IB_WC_LOC_QP_OP_ERR;
		if (req->inline_len > limits->max_inline)
			return IB_WC_LOC_LEN_ERR;
		skr_wqe_copy(wqe->data, data, req->inline_len);
		wqe->length = req->inline_len;
		req->num_sge = 0;
		return IB_WC_SUCCESS;
	}

	if (req->num_sge > limits->max_sge)
		return IB_WC_LOC_LEN_ERR;
	skr_wqe_copy(wqe->sge, data, req->num_sge * sizeof(wqe->sge[0]));
	if (!skr_sge_sum(wqe->sge, req->num_sge, &wqe->length))
		return IB_WC_LOC_LEN_ERR;
	if (flags & SKR_SOP_ATOMIC) {
		if (wqe->length < sizeof(u64))
			return IB_WC_LOC_LEN_ERR;
		wqe->length = sizeof(u64);
	}
	return IB_WC_SUCCESS;
}

void skr_wqe_take_send(const struct skr_ring *ring, u32 index,
		       const struct skr_wqe_limits *limits, struct skr_swqe *wqe)
{
	const struct skerry_send_wqe *entry = skr_ring_entry(ring, index);

	skr_wqe_copy(&wqe->req, entry, sizeof(wqe->req));
	wqe->op = skr_send_op(wqe->req.opcode);
	wqe->started = false;
	wqe->length = 0;
	wqe->status = skr_wqe_check(limits, wqe, entry + 1);
}

void skr_wqe_put_sges(struct skerry_sge *to, const struct ib_sge *from, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		to[i].addr = from[i].addr;
		to[i].length = from[i].length;
		to[i].lkey = from[i].lkey;
	}
}

bool skr_wqe_take_recv(const struct skr_ring *ring, u32 index, u32 max_sge,
		       struct skr_rwqe *wqe)
{
	const struct skerry_recv_wqe *entry = skr_ring_entry(ring, index);

	wqe->wr_id = READ_ONCE(entry->wr_id);
	wqe->num_sge = READ_ONCE(entry->num_sge);
	wqe->length = 0;
	if (wqe->num_sge > max_sge)
		return false;
	skr_wqe_copy(wqe->sge, entry + 1, wqe->num_sge * sizeof(wqe->sge[0]));
	return skr_sge_sum(wqe->sge, wqe->num_sge, &wqe->length);
}
