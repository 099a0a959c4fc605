// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Posting by kernel consumers, into the same rings that user space writes.
 * User space posts by itself and comes here with no work request, to wake the
 * QP up (rdma/skerry-abi.h: need_kick).
 */
#include "../transport/qp.h"
#include "../transport/sched.h"

#include "verbs.h"

static int skr_copy_inline(struct skerry_send_wqe *wqe, const struct ib_send_wr *wr, u32 max)
{
	u8 *data = (u8 *)(wqe + 1);
	u64 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		length += wr->sg_list[i].length;
		if (length > max)
			return -EINVAL;
		memcpy(data, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		data += wr->sg_list[i].length;
	}
	wqe->inline_len = length;
	return 0;
}

/* What map_mr_sg() prepared, as the consumer has it now */
static void skr_write_reg(struct skerry_send_wqe *wqe, const struct ib_reg_wr *wr)
{
	wqe->mem.addr = wr->mr->iova;
	wqe->mem.length = wr->mr->length;
	wqe->mem.key = wr->key;
	wqe->mem.access = wr->access;
}

static int skr_write_send(const struct skr_sq *sq, struct skerry_send_wqe *wqe,
			  const struct ib_send_wr *wr)
{
	u16 flags = skr_send_op(wr->opcode)->flags;

	lockdep_assert_held(&sq->post_lock);
	if (!(flags & sq->limits.transport) || wr->num_sge > sq->limits.max_sge)
		return -EINVAL;
	/* the kernel's own requests have no members for these */
	if (flags & (SKR_SOP_FLUSH | SKR_SOP_ATOMIC_WRITE))
		return -EINVAL;

	*wqe = (struct skerry_send_wqe) {
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.flags = wr->send_flags & (SKERRY_SEND_FENCE | SKERRY_SEND_SIGNALED |
					   SKERRY_SEND_SOLICITED | SKERRY_SEND_INLINE),
		.num_sge = wr->num_sge,
		.imm = wr->ex.imm_data,
	};
	if (sq->limits.transport == SKR_SOP_UD) {
		wqe->ud.ah_num = skr_ah(ud_wr(wr)->ah)->dest->num;
		wqe->ud.remote_qpn = ud_wr(wr)->remote_qpn;
		wqe->ud.remote_qkey = ud_wr(wr)->remote_qkey;
	} else if (flags & (SKR_SOP_WRITE | SKR_SOP_READ)) {
		wqe->rdma.remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rdma.rkey = rdma_wr(wr)->rkey;
	} else if (flags & SKR_SOP_ATOMIC) {
		wqe->atomic.remote_addr = atomic_wr(wr)->remote_addr;
		wqe->atomic.rkey = atomic_wr(wr)->rkey;
		wqe->atomic.compare_add = atomic_wr(wr)->compare_add;
		wqe->atomic.swap = atomic_wr(wr)->swap;
	}
	if (wr->opcode == IB_WR_REG_MR)
		skr_write_reg(wqe, reg_wr(wr));
	if (flags & SKR_SOP_LOCAL)
		return 0;
	if (wr->send_flags & IB_SEND_INLINE)
		return skr_copy_inline(wqe, wr, sq->limits.max_inline);
	skr_wqe_put_sges((struct skerry_sge *)(wqe + 1), wr->sg_list, wr->num_sge);
	return 0;
}

static int skr_post_sends(struct skr_sq *sq, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&sq->post_lock, flags);
	for (; wr && !err; wr = wr->next) {
		/*
		 * Nobody else writes to the header of a ring that is not mapped. Pairs with
		 * skr_ring_publish(): who was in this place has been copied.
		 */
		if (sq->posted - smp_load_acquire(&sq->ring.hdr->kernel_index) >= sq->max_wr)
			err = -ENOMEM;
		else
			err = skr_write_send(sq, skr_ring_entry(&sq->ring, sq->posted), wr);
		if (err)
			*bad_wr = wr;
		else
			sq->posted++;
	}
	/* pairs with the load-acquire of skr_ring_ready(): requests first */
	smp_store_release(&sq->ring.hdr->user_index, sq->posted);
	spin_unlock_irqrestore(&sq->post_lock, flags);
	return err;
}

int skr_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr)
{
	enum ib_qp_state state = READ_ONCE(skr_qp(ibqp)->state);
	struct skr_qp *qp = skr_qp(ibqp);
	int err = 0;

	if (wr && (ibqp->uobject || !skr_qp_sends(qp) || state < IB_QPS_RTS)) {
		*bad_wr = wr;
		return -EINVAL;
	}
	if (wr)
		err = skr_post_sends(&qp->sq, wr, bad_wr);
	/* a completion handler that posts will post more */
	skr_qp_run_soon(qp, &qp->lone_post);
	if (ibqp->uobject)
		skr_poll_left(qp->dev);
	return err;
}

int skr_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr)
{
	struct skr_qp *qp = skr_qp(ibqp);
	int err = 0;

	if (wr && (ibqp->uobject || !qp->rq.ring.hdr || READ_ONCE(qp->state) == IB_QPS_RESET)) {
		*bad_wr = wr;
		return -EINVAL;
	}
	if (wr)
		err = skr_rq_post(&qp->rq, wr, bad_wr);
	/* who fails the QP sees the request, or we see that it has failed */
	smp_mb();
	/* only the error state waits for receive requests, to flush them */
	if (!wr || READ_ONCE(qp->state) == IB_QPS_ERR)
		skr_qp_run(qp);
	return err;
}
