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
	SKERRY_WR_NO_DATA,	/* none: what is given is ignored */
	SKERRY_WR_LOCAL_IN,	/* memory that is written to: never inline */
	SKERRY_WR_LOCAL_OUT,	/* memory that is read: may be inline */
};

static inline enum skerry_wr_data skerry_wr_data(enum ibv_wr_opcode opcode)
{
	switch ((int)opcode) {
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
	case SKERRY_OP_FLUSH:
	case SKERRY_OP_ATOMIC_WRITE:
		return SKERRY_WR_NO_DATA;
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return SKERRY_WR_LOCAL_IN;
	default:
		return SKERRY_WR_LOCAL_OUT;
	}
}

/*
 * The transports that know an operation, one bit a QP type: the table in
 * ibv_post_send(3), as far as the device has it.
 */
static inline unsigned int skerry_wr_transports(enum ibv_wr_opcode opcode)
{
	const unsigned int rc = 1U << IBV_QPT_RC;
	const unsigned int uc = 1U << IBV_QPT_UC;
	const unsigned int ud = 1U << IBV_QPT_UD;
	const unsigned int xrc = 1U << IBV_QPT_XRC_SEND;

	switch ((int)opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return rc | uc | ud | xrc;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
		return rc | uc | xrc;
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case SKERRY_OP_FLUSH:
	case SKERRY_OP_ATOMIC_WRITE:
		return rc | xrc;
	default:
		return 0;
	}
}

/*
 * The functions below write one part of an entry each. ibv_post_send() calls
 * them one after the other, with what stands in its work request; the builders
 * of struct ibv_qp_ex (wr.c) call the same ones as the application goes along.
 * First comes skerry_put_operation(); the others add to what it wrote.
 */
static inline int skerry_put_operation(struct skerry_send_wqe *wqe,
				       const struct skerry_wq_cap *cap,
				       uint64_t wr_id,
				       enum ibv_wr_opcode opcode,
				       unsigned int send_flags)
{
	const unsigned int known = SKERRY_SEND_FENCE | SKERRY_SEND_SIGNALED |
				   SKERRY_SEND_SOLICITED;

	if (!(skerry_wr_transports(opcode) & (1U << cap->qp_type)))
		return EINVAL;

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr_id;
	wqe->opcode = (uint8_t)opcode;
	wqe->flags = (uint8_t)((send_flags & known) | cap->flags);
	return 0;
}

static inline void skerry_put_rdma(struct skerry_send_wqe *wqe,
				   uint64_t remote_addr, uint32_t rkey)
{
	wqe->rdma.remote_addr = remote_addr;
	wqe->rdma.rkey = rkey;
}

/* FETCH_ADD has no use for @swap */
static inline void skerry_put_atomic(struct skerry_send_wqe *wqe,
				     uint64_t remote_addr, uint32_t rkey,
				     uint64_t compare_add, uint64_t swap)
{
	wqe->atomic.remote_addr = remote_addr;
	wqe->atomic.rkey = rkey;
	wqe->atomic.compare_add = compare_add;
	if (wqe->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		wqe->atomic.swap = swap;
}

/* @value: eight bytes, not necessarily aligned */
static inline void skerry_put_atomic_write(struct skerry_send_wqe *wqe,
					   uint64_t remote_addr, uint32_t rkey,
					   const void *value)
{
	wqe->atomic.remote_addr = remote_addr;
	wqe->atomic.rkey = rkey;
	memcpy(&wqe->atomic.swap, value, sizeof(wqe->atomic.swap));
}

/* What type and level mean, and which there are, the kernel knows */
static inline int skerry_put_flush(struct skerry_send_wqe *wqe,
				   uint64_t remote_addr, uint32_t rkey,
				   size_t length, uint8_t type, uint8_t level)
{
	if (length > UINT32_MAX)
		return EINVAL;

	wqe->flush.remote_addr = remote_addr;
	wqe->flush.rkey = rkey;
	wqe->flush.length = (uint32_t)length;
	wqe->flush.type = type;
	wqe->flush.level = level;
	return 0;
}

static inline void skerry_put_ud(struct skerry_send_wqe *wqe,
				 const struct ibv_ah *ah, uint32_t remote_qpn,
				 uint32_t remote_qkey)
{
	wqe->ud.ah_num = ((const struct skerry_ah *)ah)->ah_num;
	wqe->ud.remote_qpn = remote_qpn;
	wqe->ud.remote_qkey = remote_qkey;
}

/*
 * Binding as a work request is for windows of type 2, ibv_bind_mw() for those
 * of type 1. A window is its key without the low byte, which is the
 * application's. What else the rules ask for the kernel checks, when the
 * request's turn comes.
 */
static inline int skerry_put_bind(struct skerry_send_wqe *wqe,
				  enum ibv_mw_type type,
				  const struct ibv_mw *mw, uint32_t rkey,
				  const struct ibv_mw_bind_info *info)
{
	if (mw->type != type || (mw->rkey ^ rkey) > UINT8_MAX)
		return EINVAL;

	wqe->mem.addr = info->addr;
	wqe->mem.length = info->length;
	wqe->mem.key = rkey;
	wqe->mem.lkey = info->mr ? info->mr->lkey : 0;
	wqe->mem.access = info->mw_access_flags;
	return 0;
}

/* struct ibv_sge and struct skerry_sge are the same to the last bit */
static inline void skerry_copy_sges(void *dst, const struct ibv_sge *sg_list,
				    uint32_t num_sge)
{
	if (num_sge)
		memcpy(dst, sg_list, num_sge * sizeof(struct skerry_sge));
}

static inline int skerry_put_sges(struct skerry_send_wqe *wqe,
				  const struct skerry_wq_cap *cap,
				  const struct ibv_sge *sg_list, size_t num_sge)
{
	/* A number that was negative is a large one */
	if (num_sge > cap->max_sge)
		return EINVAL;
	if (skerry_wr_data((enum ibv_wr_opcode)wqe->opcode) ==
	    SKERRY_WR_NO_DATA)
		return 0;

	wqe->num_sge = (uint16_t)num_sge;
	skerry_copy_sges(wqe + 1, sg_list, wqe->num_sge);
	return 0;
}

/* Before the first skerry_put_inline(): is this operation's data inline? */
static inline int skerry_start_inline(struct skerry_send_wqe *wqe)
{
	switch (skerry_wr_data((enum ibv_wr_opcode)wqe->opcode)) {
	case SKERRY_WR_LOCAL_OUT:
		wqe->flags |= SKERRY_SEND_INLINE;
		return 0;
	case SKERRY_WR_LOCAL_IN:
		return EINVAL;
	default:
		return 0;
	}
}

/* Add one piece to the inline data */
static inline int skerry_put_inline(struct skerry_send_wqe *wqe,
				    const struct skerry_wq_cap *cap,
				    const void *addr, size_t length)
{
	if (!(wqe->flags & SKERRY_SEND_INLINE))
		return 0;
	if (length > cap->max_inline - wqe->inline_len)
		return EINVAL;
	if (length)
		memcpy((uint8_t *)(wqe + 1) + wqe->inline_len, addr, length);
	wqe->inline_len += (uint32_t)length;
	return 0;
}

static inline int skerry_put_inline_sges(struct skerry_send_wqe *wqe,
					 const struct skerry_wq_cap *cap,
					 const struct ibv_sge *sg_list,
					 size_t num_sge)
{
	int ret;

	if (num_sge > cap->max_sge)
		return EINVAL;

	ret = skerry_start_inline(wqe);
	for (size_t i = 0; !ret && i < num_sge; i++)
		ret = skerry_put_inline(wqe, cap,
					(const void *)(uintptr_t)sg_list[i].addr,
					sg_list[i].length);
	return ret;
}

/* Which SRQ of the peer a request is about: on XRC each request says so */
static inline void skerry_put_srqn(struct skerry_send_wqe *wqe,
				   uint32_t remote_srqn)
{
	wqe->srqn = remote_srqn;
}

/* The part of a work request that depends on the operation */
static inline int skerry_put_arguments(struct skerry_send_wqe *wqe,
				       const struct ibv_send_wr *wr,
				       const struct skerry_wq_cap *cap,
				       enum ibv_mw_type windows)
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

	switch ((int)wr->opcode) {
	case IBV_WR_RDMA_READ:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		skerry_put_rdma(wqe, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
		return 0;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		skerry_put_atomic(wqe, wr->wr.atomic.remote_addr,
				  wr->wr.atomic.rkey, wr->wr.atomic.compare_add,
				  wr->wr.atomic.swap);
		return 0;
	case SKERRY_OP_FLUSH:
	case SKERRY_OP_ATOMIC_WRITE:
		/* struct ibv_send_wr has no members for them: builders only */
		return EINVAL;
	case IBV_WR_BIND_MW:
		return skerry_put_bind(wqe, windows, wr->bind_mw.mw,
				       wr->bind_mw.rkey,
				       &wr->bind_mw.bind_info);
	default:
		if (cap->qp_type == IBV_QPT_UD)
			skerry_put_ud(wqe, wr->wr.ud.ah, wr->wr.ud.remote_qpn,
				      wr->wr.ud.remote_qkey);
		return 0;
	}
}

/*
 * Write @wr to @wqe, which has room for all that @cap allows. @windows is the
 * type of windows that the caller binds.
 */
static inline int skerry_put_send(struct skerry_send_wqe *wqe,
				  const struct ibv_send_wr *wr,
				  const struct skerry_wq_cap *cap,
				  enum ibv_mw_type windows)
{
	int ret;

	ret = skerry_put_operation(wqe, cap, wr->wr_id, wr->opcode,
				   wr->send_flags);
	if (!ret)
		ret = skerry_put_arguments(wqe, wr, cap, windows);
	if (ret)
		return ret;
	if (cap->qp_type == IBV_QPT_XRC_SEND)
		skerry_put_srqn(wqe, wr->qp_type.xrc.remote_srqn);

	if (wr->send_flags & IBV_SEND_INLINE)
		return skerry_put_inline_sges(wqe, cap, wr->sg_list,
					      (size_t)wr->num_sge);
	return skerry_put_sges(wqe, cap, wr->sg_list, (size_t)wr->num_sge);
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
	skerry_copy_sges(wqe + 1, wr->sg_list, wqe->num_sge);
	return 0;
}

#endif /* SKERRY_WQE_H */
