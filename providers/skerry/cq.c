// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Taking completions, plain and extended, and asking for events.
 */
#include <errno.h>
#include <time.h>

#include <util/compiler.h>

#include "skerry.h"

static unsigned int wc_flags(const struct skerry_cqe *cqe)
{
	unsigned int flags = 0;

	if (cqe->flags & SKERRY_CQE_GRH)
		flags |= IBV_WC_GRH;
	if (cqe->flags & SKERRY_CQE_IMM)
		flags |= IBV_WC_WITH_IMM;
	if (cqe->flags & SKERRY_CQE_INV)
		flags |= IBV_WC_WITH_INV;
	return flags;
}

static void fill_wc(struct ibv_wc *wc, const struct skerry_cqe *cqe)
{
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	/* Or invalidated_rkey: a union here and there */
	wc->imm_data = cqe->imm;
	wc->qp_num = cqe->qp_num;
	wc->src_qp = cqe->src_qp;
	wc->wc_flags = wc_flags(cqe);
	wc->pkey_index = cqe->pkey_index;
	wc->slid = 0;
	wc->sl = cqe->sl;
	wc->dlid_path_bits = 0;
}

int skerry_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct skerry_cq *cq = to_scq(ibcq);
	struct skerry_ring *ring = &cq->ring;
	uint32_t avail;
	int n = 0;

	skerry_lock(&cq->lock);
	avail = skerry_ring_avail(ring);
	for (; n < num_entries && avail; n++, avail--)
		fill_wc(wc + n, skerry_ring_entry(ring, ring->index++));
	if (n)
		skerry_ring_publish(ring);
	skerry_unlock(&cq->lock);

	return n;
}

int skerry_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct skerry_cq *cq = to_scq(ibcq);

	/* or the ring might be replaced at this moment */
	skerry_lock(&cq->arm_lock);
	skerry_ring_arm(&cq->ring,
			solicited_only ? SKERRY_ARM_SOLICITED : SKERRY_ARM_NEXT);
	skerry_unlock(&cq->arm_lock);
	return 0;
}

void skerry_cq_forget(struct ibv_cq *ibcq, uint32_t qp_num)
{
	struct skerry_cq *cq = to_scq(ibcq);

	skerry_lock(&cq->lock);
	skerry_ring_forget(&cq->ring, qp_num);
	skerry_unlock(&cq->lock);
}

static struct skerry_cq *ex_to_scq(struct ibv_cq_ex *cq_ex)
{
	return container_of(cq_ex, struct skerry_cq, vcq.cq_ex);
}

/*
 * ring->index passes an entry when it is taken, so each is counted once
 * however the batch ends; the kernel hears of it in end_poll and leaves the
 * entry alone until then.
 */
static bool take_cqe(struct skerry_cq *cq)
{
	const struct skerry_cqe *cqe = skerry_ring_take(&cq->ring);

	if (!cqe)
		return false;

	cq->cqe = cqe;
	cq->vcq.cq_ex.wr_id = cqe->wr_id;
	cq->vcq.cq_ex.status = cqe->status;
	return true;
}

static int start_poll(struct ibv_cq_ex *cq_ex, struct ibv_poll_cq_attr *attr)
{
	struct skerry_cq *cq = ex_to_scq(cq_ex);

	if (unlikely(attr->comp_mask))
		return EINVAL;

	skerry_lock(&cq->lock);
	if (take_cqe(cq))
		return 0;

	skerry_unlock(&cq->lock);
	return ENOENT;
}

static int next_poll(struct ibv_cq_ex *cq_ex)
{
	return take_cqe(ex_to_scq(cq_ex)) ? 0 : ENOENT;
}

static void end_poll(struct ibv_cq_ex *cq_ex)
{
	struct skerry_cq *cq = ex_to_scq(cq_ex);

	skerry_ring_publish(&cq->ring);
	skerry_unlock(&cq->lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq_ex)
{
	return ex_to_scq(cq_ex)->cqe->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq_ex)
{
	return ex_to_scq(cq_ex)->cqe->vendor_err;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq_ex)
{
	return wc_flags(ex_to_scq(cq_ex)->cqe);
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq_ex)
{
	return ex_to_scq(cq_ex)->cqe->byte_len;
}

/* ibv_wc_read_invalidated_rkey() comes here, too */
static __be32 read_imm_data(struct ibv_cq_ex *cq_ex)
{
	return ex_to_scq(cq_ex)->cqe->imm;
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq_ex)
{
	return ex_to_scq(cq_ex)->cqe->qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq_ex)
{
	return ex_to_scq(cq_ex)->cqe->src_qp;
}

/* Ethernet has no LIDs */
static uint32_t read_slid(struct ibv_cq_ex *cq_ex)
{
	return 0;
}

static uint8_t read_sl(struct ibv_cq_ex *cq_ex)
{
	return ex_to_scq(cq_ex)->cqe->sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq_ex)
{
	return 0;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *cq_ex)
{
	return ex_to_scq(cq_ex)->cqe->timestamp;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts = {};

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The time of day, less how long ago the completion was */
static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *cq_ex)
{
	uint64_t age = clock_ns(CLOCK_MONOTONIC_RAW) -
		       ex_to_scq(cq_ex)->cqe->timestamp;

	return clock_ns(CLOCK_REALTIME) - age;
}

void skerry_cq_set_readers(struct skerry_cq *cq, uint64_t wanted)
{
	struct ibv_cq_ex *cq_ex = &cq->vcq.cq_ex;

	cq_ex->start_poll = start_poll;
	cq_ex->next_poll = next_poll;
	cq_ex->end_poll = end_poll;
	cq_ex->read_opcode = read_opcode;
	cq_ex->read_vendor_err = read_vendor_err;
	cq_ex->read_wc_flags = read_wc_flags;

	if (wanted & IBV_WC_EX_WITH_BYTE_LEN)
		cq_ex->read_byte_len = read_byte_len;
	if (wanted & IBV_WC_EX_WITH_IMM)
		cq_ex->read_imm_data = read_imm_data;
	if (wanted & IBV_WC_EX_WITH_QP_NUM)
		cq_ex->read_qp_num = read_qp_num;
	if (wanted & IBV_WC_EX_WITH_SRC_QP)
		cq_ex->read_src_qp = read_src_qp;
	if (wanted & IBV_WC_EX_WITH_SLID)
		cq_ex->read_slid = read_slid;
	if (wanted & IBV_WC_EX_WITH_SL)
		cq_ex->read_sl = read_sl;
	if (wanted & IBV_WC_EX_WITH_DLID_PATH_BITS)
		cq_ex->read_dlid_path_bits = read_dlid_path_bits;
	if (wanted & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq_ex->read_completion_ts = read_completion_ts;
	if (wanted & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq_ex->read_completion_wallclock_ns =
			read_completion_wallclock_ns;
}
