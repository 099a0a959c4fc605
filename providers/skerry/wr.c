// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The work request builders of struct ibv_qp_ex (ibv_wr_post(3)). What they
 * write comes from build.h and wqe.h; this is the table of them.
 */
#include <errno.h>

#include <ccan/array_size.h>
#include <util/compiler.h>

#include "build.h"
#include "skerry.h"

static struct skerry_qp *ex_to_sqp(struct ibv_qp_ex *qpx)
{
	return container_of(qpx, struct skerry_qp, vqp.qp_ex);
}

static struct skerry_send_wqe *next(struct ibv_qp_ex *qpx,
				    enum ibv_wr_opcode opcode)
{
	struct skerry_qp *qp = ex_to_sqp(qpx);

	return skerry_build_next(&qp->build, &qp->sq.ring, &qp->sq.cap,
				 qpx->wr_id, opcode, qpx->wr_flags);
}

static void wr_send(struct ibv_qp_ex *qpx)
{
	next(qpx, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qpx, __be32 imm_data)
{
	struct skerry_send_wqe *wqe = next(qpx, IBV_WR_SEND_WITH_IMM);

	if (likely(wqe))
		wqe->imm = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *qpx, uint32_t invalidate_rkey)
{
	struct skerry_send_wqe *wqe = next(qpx, IBV_WR_SEND_WITH_INV);

	if (likely(wqe))
		wqe->inv_rkey = invalidate_rkey;
}

static void wr_rdma_write(struct ibv_qp_ex *qpx, uint32_t rkey,
			  uint64_t remote_addr)
{
	struct skerry_send_wqe *wqe = next(qpx, IBV_WR_RDMA_WRITE);

	if (likely(wqe))
		skerry_put_rdma(wqe, remote_addr, rkey);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey,
			      uint64_t remote_addr, __be32 imm_data)
{
	struct skerry_send_wqe *wqe = next(qpx, IBV_WR_RDMA_WRITE_WITH_IMM);

	if (likely(wqe)) {
		skerry_put_rdma(wqe, remote_addr, rkey);
		wqe->imm = imm_data;
	}
}

static void wr_rdma_read(struct ibv_qp_ex *qpx, uint32_t rkey,
			 uint64_t remote_addr)
{
	struct skerry_send_wqe *wqe = next(qpx, IBV_WR_RDMA_READ);

	if (likely(wqe))
		skerry_put_rdma(wqe, remote_addr, rkey);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qpx, uint32_t rkey,
			      uint64_t remote_addr, uint64_t compare,
			      uint64_t swap)
{
	struct skerry_send_wqe *wqe = next(qpx, IBV_WR_ATOMIC_CMP_AND_SWP);

	if (likely(wqe))
		skerry_put_atomic(wqe, remote_addr, rkey, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qpx, uint32_t rkey,
				uint64_t remote_addr, uint64_t add)
{
	struct skerry_send_wqe *wqe = next(qpx, IBV_WR_ATOMIC_FETCH_AND_ADD);

	if (likely(wqe))
		skerry_put_atomic(wqe, remote_addr, rkey, add, 0);
}

static void wr_local_inv(struct ibv_qp_ex *qpx, uint32_t invalidate_rkey)
{
	struct skerry_send_wqe *wqe = next(qpx, IBV_WR_LOCAL_INV);

	if (likely(wqe))
		wqe->inv_rkey = invalidate_rkey;
}

static void wr_bind_mw(struct ibv_qp_ex *qpx, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *bind_info)
{
	struct skerry_send_wqe *wqe = next(qpx, IBV_WR_BIND_MW);

	if (likely(wqe))
		skerry_build_result(&ex_to_sqp(qpx)->build,
				    skerry_put_bind(wqe, IBV_MW_TYPE_2, mw,
						    rkey, bind_info));
}

static void wr_atomic_write(struct ibv_qp_ex *qpx, uint32_t rkey,
			    uint64_t remote_addr, const void *atomic_wr)
{
	struct skerry_send_wqe *wqe = next(qpx, IBV_WR_ATOMIC_WRITE);

	if (likely(wqe))
		skerry_put_atomic_write(wqe, remote_addr, rkey, atomic_wr);
}

static void wr_flush(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote_addr,
		     size_t len, uint8_t type, uint8_t level)
{
	struct skerry_send_wqe *wqe = next(qpx, IBV_WR_FLUSH);

	if (likely(wqe))
		skerry_build_result(&ex_to_sqp(qpx)->build,
				    skerry_put_flush(wqe, remote_addr, rkey,
						     len, type, level));
}

static void wr_set_ud_addr(struct ibv_qp_ex *qpx, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct skerry_send_wqe *wqe =
		skerry_build_current(&ex_to_sqp(qpx)->build);

	if (likely(wqe))
		skerry_put_ud(wqe, ah, remote_qpn, remote_qkey);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qpx, uint32_t remote_srqn)
{
	struct skerry_send_wqe *wqe =
		skerry_build_current(&ex_to_sqp(qpx)->build);

	if (likely(wqe))
		skerry_put_srqn(wqe, remote_srqn);
}

static void wr_set_sge_list(struct ibv_qp_ex *qpx, size_t num_sge,
			    const struct ibv_sge *sg_list)
{
	struct skerry_qp *qp = ex_to_sqp(qpx);

	skerry_build_sges(&qp->build, &qp->sq.cap, sg_list, num_sge);
}

static void wr_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	const struct ibv_sge sge = {
		.addr = addr,
		.length = length,
		.lkey = lkey,
	};

	wr_set_sge_list(qpx, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qpx, size_t num_buf,
				    const struct ibv_data_buf *buf_list)
{
	struct skerry_qp *qp = ex_to_sqp(qpx);

	skerry_build_inline(&qp->build, &qp->sq.cap, buf_list, num_buf);
}

static void wr_set_inline_data(struct ibv_qp_ex *qpx, void *addr, size_t length)
{
	const struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(qpx, 1, &buf);
}

static void wr_start(struct ibv_qp_ex *qpx)
{
	struct skerry_qp *qp = ex_to_sqp(qpx);

	skerry_lock(&qp->sq.lock);
	skerry_build_start(&qp->build, &qp->sq.ring,
			   skerry_can_send(qp) ? 0 : EINVAL);
}

static int wr_complete(struct ibv_qp_ex *qpx)
{
	struct skerry_qp *qp = ex_to_sqp(qpx);
	int ret, err;

	ret = skerry_build_end(&qp->build, &qp->sq.ring, &qp->sq.cap);
	err = skerry_submit_sends(qp, qp->build.start, ret);
	return err ? err : ret;
}

static void wr_abort(struct ibv_qp_ex *qpx)
{
	struct skerry_qp *qp = ex_to_sqp(qpx);

	skerry_build_abort(&qp->build, &qp->sq.ring);
	skerry_unlock(&qp->sq.lock);
}

/* What has to be asked for when the QP is created, and what it stands for */
static const struct {
	uint64_t		flag;
	enum ibv_wr_opcode	opcode;
} send_ops[] = {
	{ IBV_QP_EX_WITH_RDMA_WRITE, IBV_WR_RDMA_WRITE },
	{ IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM },
	{ IBV_QP_EX_WITH_SEND, IBV_WR_SEND },
	{ IBV_QP_EX_WITH_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM },
	{ IBV_QP_EX_WITH_RDMA_READ, IBV_WR_RDMA_READ },
	{ IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_CMP_AND_SWP },
	{ IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ IBV_QP_EX_WITH_LOCAL_INV, IBV_WR_LOCAL_INV },
	{ IBV_QP_EX_WITH_BIND_MW, IBV_WR_BIND_MW },
	{ IBV_QP_EX_WITH_SEND_WITH_INV, IBV_WR_SEND_WITH_INV },
	{ IBV_QP_EX_WITH_FLUSH, IBV_WR_FLUSH },
	{ IBV_QP_EX_WITH_ATOMIC_WRITE, IBV_WR_ATOMIC_WRITE },
};

bool skerry_wr_supported(enum ibv_qp_type type, uint64_t send_ops_flags)
{
	uint64_t supported = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(send_ops); i++)
		if (skerry_wr_transports(send_ops[i].opcode) & (1U << type))
			supported |= send_ops[i].flag;

	return check_comp_mask(send_ops_flags, supported);
}

/* A builder that was not asked for is not there */
void skerry_wr_init(struct skerry_qp *qp, uint64_t send_ops_flags)
{
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;

	if (send_ops_flags & IBV_QP_EX_WITH_RDMA_WRITE)
		qpx->wr_rdma_write = wr_rdma_write;
	if (send_ops_flags & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		qpx->wr_rdma_write_imm = wr_rdma_write_imm;
	if (send_ops_flags & IBV_QP_EX_WITH_SEND)
		qpx->wr_send = wr_send;
	if (send_ops_flags & IBV_QP_EX_WITH_SEND_WITH_IMM)
		qpx->wr_send_imm = wr_send_imm;
	if (send_ops_flags & IBV_QP_EX_WITH_SEND_WITH_INV)
		qpx->wr_send_inv = wr_send_inv;
	if (send_ops_flags & IBV_QP_EX_WITH_RDMA_READ)
		qpx->wr_rdma_read = wr_rdma_read;
	if (send_ops_flags & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		qpx->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (send_ops_flags & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		qpx->wr_atomic_fetch_add = wr_atomic_fetch_add;
	if (send_ops_flags & IBV_QP_EX_WITH_LOCAL_INV)
		qpx->wr_local_inv = wr_local_inv;
	if (send_ops_flags & IBV_QP_EX_WITH_BIND_MW)
		qpx->wr_bind_mw = wr_bind_mw;
	if (send_ops_flags & IBV_QP_EX_WITH_FLUSH)
		qpx->wr_flush = wr_flush;
	if (send_ops_flags & IBV_QP_EX_WITH_ATOMIC_WRITE)
		qpx->wr_atomic_write = wr_atomic_write;

	qpx->wr_start = wr_start;
	qpx->wr_complete = wr_complete;
	qpx->wr_abort = wr_abort;
	qpx->wr_set_sge = wr_set_sge;
	qpx->wr_set_sge_list = wr_set_sge_list;
	qpx->wr_set_inline_data = wr_set_inline_data;
	qpx->wr_set_inline_data_list = wr_set_inline_data_list;
	if (qp->vqp.qp.qp_type == IBV_QPT_UD)
		qpx->wr_set_ud_addr = wr_set_ud_addr;
	if (qp->vqp.qp.qp_type == IBV_QPT_XRC_SEND)
		qpx->wr_set_xrc_srqn = wr_set_xrc_srqn;
	qp->vqp.comp_mask |= VERBS_QP_EX;
}
