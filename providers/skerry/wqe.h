/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * From a work request to an entry of the send or receive ring.
 *
 * Needs no more than the public verbs.h, and compiles as C and as C++, so that
 * every rule here can be tested without a device. The functions return 0 or
 * what ibv_post_send(3) and ibv_post_recv(3) are to return; an entry that was
 * half written by a call that failed is not published and does not matter.
 */
#ifndef SKERRY_WQE_H
#define SKERRY_WQE_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rdma/skerry-abi.h>

/**
 * struct skerry_ah - address handle
 * @ibv_ah: what the application holds
 * @ah_num: what a send WQE names it by
 */
struct skerry_ah {
	struct ibv_ah	ibv_ah;
	uint32_t	ah_num;
};

static_assert(offsetof(struct skerry_ah, ibv_ah) == 0, "not where it is cast from");

/**
 * struct skerry_wq_cap - what a queue accepts
 * @max_wr: work requests that may be outstanding
 * @max_sge: pieces of memory in one work request
 * @max_inline: bytes of inline data in one work request (SQ)
 * @flags: SKERRY_SEND_* that every work request gets (SQ)
 * @qp_type: enum ibv_qp_type (SQ)
 */
struct skerry_wq_cap {
	uint32_t	max_wr;
	uint32_t	max_sge;
	uint32_t	max_inline;
	uint8_t		flags;
	uint8_t		qp_type;
};

/* What follows the header of a send WQE, and how it may be given */
enum skerry_wr_data {
	SKERRY_WR_NO_DATA,	/* sg_list is ignored */
	SKERRY_WR_LOCAL_IN,	/* sg_list is written to: never inline */
	SKERRY_WR_LOCAL_OUT,	/* sg_list is read: may be inline */
};

/*
 * The transports that know an operation, one bit a QP type: the table in
 * ibv_post_send(3), as far as the device has it.
 */
static inline unsigned int skerry_wr_transports(enum ibv_wr_opcode opcode)
{
	const unsigned int rc = 1U << IBV_QPT_RC;
	const unsigned int uc = 1U << IBV_QPT_UC;
	const unsigned int ud = 1U << IBV_QPT_UD;

	switch (opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return rc | uc | ud;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
		return rc | uc;
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return rc;
	default:
		return 0;
	}
}

/* A window is its key without the low byte, which is the application's */
static inline void skerry_put_bind(struct skerry_send_wqe *wqe, uint32_t rkey,
				   const struct ibv_mw_bind_info *info)
{
	wqe->mem.addr = info->addr;
	wqe->mem.length = info->length;
	wqe->mem.key = rkey;
	wqe->mem.lkey = info->mr ? info->mr->lkey : 0;
	wqe->mem.access = info->mw_access_flags;
}

/*
 * Binding by ibv_post_send() is for windows of type 2, ibv_bind_mw() for those
 * of type 1. What else the rules ask for the kernel checks, when the request's
 * turn comes.
 */
static inline bool skerry_bind_ok(const struct ibv_send_wr *wr,
				  enum ibv_mw_type type)
{
	const struct ibv_mw *mw = wr->bind_mw.mw;

	return mw->type == type && (mw->rkey ^ wr->bind_mw.rkey) <= UINT8_MAX;
}

/* The part of the header that depends on the operation */
static inline enum skerry_wr_data
skerry_put_operation(struct skerry_send_wqe *wqe, const struct ibv_send_wr *wr,
		     const struct skerry_wq_cap *cap)
{
	switch (wr->opcode) {
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wqe->imm = wr->imm_data;
		break;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		wqe->inv_rkey = wr->invalidate_rkey;
		break;
	default:
		break;
	}

	switch (wr->opcode) {
	case IBV_WR_RDMA_READ:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wqe->rdma.remote_addr = wr->wr.rdma.remote_addr;
		wqe->rdma.rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wqe->atomic.remote_addr = wr->wr.atomic.remote_addr;
		wqe->atomic.rkey = wr->wr.atomic.rkey;
		wqe->atomic.compare_add = wr->wr.atomic.compare_add;
		if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
			wqe->atomic.swap = wr->wr.atomic.swap;
		return SKERRY_WR_LOCAL_IN;
	case IBV_WR_LOCAL_INV:
		return SKERRY_WR_NO_DATA;
	case IBV_WR_BIND_MW:
		skerry_put_bind(wqe, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
		return SKERRY_WR_NO_DATA;
	default:
		if (cap->qp_type == IBV_QPT_UD) {
			wqe->ud.ah_num =
				((const struct skerry_ah *)wr->wr.ud.ah)->ah_num;
			wqe->ud.remote_qpn = wr->wr.ud.remote_qpn;
			wqe->ud.remote_qkey = wr->wr.ud.remote_qkey;
		}
		break;
	}

	return wr->opcode == IBV_WR_RDMA_READ ? SKERRY_WR_LOCAL_IN :
						SKERRY_WR_LOCAL_OUT;
}

/* struct ibv_sge and struct skerry_sge are the same to the last bit */
static inline void skerry_put_sges(void *dst, const struct ibv_sge *sg_list,
				   uint32_t num_sge)
{
	if (num_sge)
		memcpy(dst, sg_list, num_sge * sizeof(struct skerry_sge));
}

static inline int skerry_put_inline(struct skerry_send_wqe *wqe,
				    const struct ibv_send_wr *wr,
				    uint32_t max_inline)
{
	uint8_t *dst = (uint8_t *)(wqe + 1);
	uint32_t len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		if (sge->length > max_inline - len)
			return EINVAL;
		if (sge->length)
			memcpy(dst + len, (const void *)(uintptr_t)sge->addr,
			       sge->length);
		len += sge->length;
	}

	wqe->num_sge = 0;
	wqe->inline_len = len;
	return 0;
}

/* Write @wr to @wqe, which has room for all that @cap allows */
static inline int skerry_put_send(struct skerry_send_wqe *wqe,
				  const struct ibv_send_wr *wr,
				  const struct skerry_wq_cap *cap)
{
	const unsigned int known = SKERRY_SEND_FENCE | SKERRY_SEND_SIGNALED |
				   SKERRY_SEND_SOLICITED | SKERRY_SEND_INLINE;
	enum skerry_wr_data data;

	if (!(skerry_wr_transports(wr->opcode) & (1U << cap->qp_type)))
		return EINVAL;
	/* A negative number of SGEs is a large one */
	if ((uint32_t)wr->num_sge > cap->max_sge)
		return EINVAL;
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = (uint8_t)wr->opcode;
	wqe->flags = (uint8_t)((wr->send_flags & known) | cap->flags);

	data = skerry_put_operation(wqe, wr, cap);
	if (data == SKERRY_WR_NO_DATA) {
		wqe->flags &= (uint8_t)~SKERRY_SEND_INLINE;
		return 0;
	}

	if (wqe->flags & SKERRY_SEND_INLINE) {
		if (data != SKERRY_WR_LOCAL_OUT)
			return EINVAL;
		return skerry_put_inline(wqe, wr, cap->max_inline);
	}

	wqe->num_sge = (uint16_t)wr->num_sge;
	skerry_put_sges(wqe + 1, wr->sg_list, wqe->num_sge);
	return 0;
}

static inline int skerry_put_recv(struct skerry_recv_wqe *wqe,
				  const struct ibv_recv_wr *wr,
				  const struct skerry_wq_cap *cap)
{
	if ((uint32_t)wr->num_sge > cap->max_sge)
		return EINVAL;

	wqe->wr_id = wr->wr_id;
	wqe->num_sge = (uint32_t)wr->num_sge;
	wqe->rsvd = 0;
	skerry_put_sges(wqe + 1, wr->sg_list, wqe->num_sge);
	return 0;
}

#endif /* SKERRY_WQE_H */
