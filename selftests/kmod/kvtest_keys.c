// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Keys of fast regions: rotation, invalidation by both sides, and all that has to
 * be refused.
 */
#include "kvtest.h"

#include <rdma/mr_pool.h>

#define KVT_REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)
#define KVT_BYTES	6000
/* more than a key has values to vary */
#define KVT_ROUNDS	600

static struct ib_mr *kvt_mapped_mr(struct kvt *t, struct ib_pd *pd)
{
	struct ib_mr *mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4);

	if (!kvt_is(t, PTR_ERR_OR_ZERO(mr), 0, "ib_alloc_mr()"))
		return NULL;
	if (kvt_is(t, kvt_map(t, mr, 123, KVT_BYTES, PAGE_SIZE), 1, "ib_map_mr_sg()"))
		return mr;
	ib_dereg_mr(mr);
	return NULL;
}

static struct ib_mr *kvt_registered_mr(struct kvt *t, int access)
{
	struct ib_mr *mr = kvt_mapped_mr(t, t->b.pd);

	if (!mr || kvt_is(t, kvt_reg(&t->b, mr, access), 0, "REG_MR"))
		return mr;
	ib_dereg_mr(mr);
	return NULL;
}

static int kvt_write(struct kvt *t, struct ib_mr *mr, u32 rkey)
{
	return kvt_rdma(t, IB_WR_RDMA_WRITE, mr->iova, rkey, KVT_BYTES);
}

static int kvt_read(struct kvt *t, struct ib_mr *mr, u32 rkey)
{
	return kvt_rdma(t, IB_WR_RDMA_READ, mr->iova, rkey, KVT_BYTES);
}

/* A SEND by A that invalidates @rkey at B. Return: status of the SEND. */
static int kvt_send_inv(struct kvt *t, u32 rkey)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND_WITH_INV,
		.ex.invalidate_rkey = rkey,
	};

	return kvt_recv(&t->b, NULL) ?: kvt_send(&t->a, &wr);
}

/* The peer's SEND invalidated that key, and says so. */
static bool kvt_was_invalidated(struct kvt *t, u32 rkey)
{
	return kvt_is(t, kvt_wait(&t->b.recv), 0, "RECV") &&
	       kvt_true(t, t->b.recv.wc.wc_flags & IB_WC_WITH_INVALIDATE, "it says invalidated") &&
	       kvt_is(t, t->b.recv.wc.ex.invalidate_rkey, rkey, "the key that it names");
}

static void kvt_rotate_once(struct kvt *t, struct ib_mr *mr, int round)
{
	size_t offset = round % 7 * 1001;

	kvt_next_key(mr);
	kvt_fill(kvt_at(&t->a, 0), KVT_BYTES, round);
	if (!kvt_is(t, kvt_map(t, mr, offset, KVT_BYTES, PAGE_SIZE), 1, "ib_map_mr_sg()") ||
	    !kvt_is(t, kvt_reg(&t->b, mr, KVT_REMOTE), 0, "REG_MR") ||
	    !kvt_is(t, kvt_write(t, mr, mr->rkey), 0, "WRITE"))
		return;
	kvt_true(t, kvt_filled(kvt_at(&t->b, offset), KVT_BYTES, round, 0), "it was written");
	if (round & 1)
		kvt_is(t, kvt_invalidate(&t->b, mr->rkey), 0, "LOCAL_INV");
	else if (kvt_is(t, kvt_send_inv(t, mr->rkey), 0, "SEND_WITH_INV"))
		kvt_was_invalidated(t, mr->rkey);
}

static void kvt_rotate(struct kvt *t)
{
	struct ib_mr *mr = kvt_mapped_mr(t, t->b.pd);
	int round;

	if (!mr)
		return;
	for (round = 0; round < KVT_ROUNDS && !t->bad; round++)
		kvt_rotate_once(t, mr, round);
	if (t->bad)
		seq_buf_printf(&t->out, "# in round %d\n", round);
	ib_dereg_mr(mr);
}

static void kvt_old_key(struct kvt *t)
{
	struct ib_mr *mr = kvt_registered_mr(t, KVT_REMOTE);
	u32 old;

	if (!mr)
		return;
	old = mr->rkey;
	kvt_is(t, kvt_write(t, mr, old), 0, "WRITE");
	kvt_is(t, kvt_invalidate(&t->b, old), 0, "LOCAL_INV");
	kvt_next_key(mr);
	kvt_is(t, kvt_reg(&t->b, mr, KVT_REMOTE), 0, "REG_MR with another key");
	kvt_is(t, kvt_write(t, mr, mr->rkey), 0, "WRITE by the new key");
	kvt_is(t, kvt_write(t, mr, old), IB_WC_REM_ACCESS_ERR, "WRITE by the old key");
	ib_dereg_mr(mr);
}

static void kvt_after_local_inv(struct kvt *t)
{
	struct ib_mr *mr = kvt_registered_mr(t, KVT_REMOTE);

	if (!mr)
		return;
	kvt_is(t, kvt_invalidate(&t->b, mr->rkey), 0, "LOCAL_INV");
	kvt_is(t, kvt_read(t, mr, mr->rkey), IB_WC_REM_ACCESS_ERR, "READ");
	ib_dereg_mr(mr);
}

static void kvt_after_send_inv(struct kvt *t)
{
	struct ib_mr *mr = kvt_registered_mr(t, KVT_REMOTE);

	if (!mr)
		return;
	kvt_is(t, kvt_write(t, mr, mr->rkey), 0, "WRITE");
	if (kvt_is(t, kvt_send_inv(t, mr->rkey), 0, "SEND_WITH_INV"))
		kvt_was_invalidated(t, mr->rkey);
	kvt_is(t, kvt_write(t, mr, mr->rkey), IB_WC_REM_ACCESS_ERR, "WRITE");
	ib_dereg_mr(mr);
}

/* The peer cannot invalidate what is not, or is nobody's, or not of the domain */
static void kvt_send_inv_wrong(struct kvt *t)
{
	struct ib_mr *mr = kvt_mapped_mr(t, t->b.pd);
	u32 keys[3];
	int i;

	if (!mr)
		return;
	keys[0] = mr->rkey;
	keys[1] = 0xffffff00;
	keys[2] = t->b.pd->local_dma_lkey;
	for (i = 0; i < ARRAY_SIZE(keys) && !t->bad; i++) {
		if (!kvt_is(t, kvt_connect(t), 0, "connecting"))
			break;
		kvt_is(t, kvt_send_inv(t, keys[i]), IB_WC_REM_ACCESS_ERR, "SEND_WITH_INV");
		kvt_true(t, kvt_wait(&t->b.recv) > 0, "its RECV fails");
	}
	ib_dereg_mr(mr);
}

static void kvt_local_only(struct kvt *t)
{
	struct ib_mr *mr = kvt_registered_mr(t, IB_ACCESS_LOCAL_WRITE);

	if (!mr)
		return;
	kvt_is(t, kvt_read(t, mr, mr->rkey), IB_WC_REM_ACCESS_ERR, "READ of a local region");
	if (kvt_is(t, kvt_connect(t), 0, "connecting"))
		kvt_is(t, kvt_write(t, mr, mr->rkey), IB_WC_REM_ACCESS_ERR, "WRITE to it");
	ib_dereg_mr(mr);
}

static void kvt_read_only(struct kvt *t)
{
	struct ib_mr *mr = kvt_registered_mr(t, IB_ACCESS_REMOTE_READ);
	struct ib_sge sge;

	if (!mr)
		return;
	kvt_is(t, kvt_read(t, mr, mr->rkey), 0, "READ");
	kvt_is(t, kvt_write(t, mr, mr->rkey), IB_WC_REM_ACCESS_ERR, "WRITE");
	/* nor may its owner's receive requests write to it */
	if (kvt_is(t, kvt_connect(t), 0, "connecting")) {
		struct ib_sge from = kvt_sge(&t->a, 0, 100);
		struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = &from, .num_sge = 1 };

		sge = (struct ib_sge) { .addr = mr->iova, .length = 100, .lkey = mr->lkey };
		kvt_is(t, kvt_recv(&t->b, &sge), 0, "posting to it");
		kvt_is(t, kvt_send(&t->a, &wr), IB_WC_REM_OP_ERR, "SEND");
		kvt_is(t, kvt_wait(&t->b.recv), IB_WC_LOC_PROT_ERR, "RECV");
	}
	ib_dereg_mr(mr);
}

static void kvt_other_domain(struct kvt *t)
{
	struct ib_pd *pd = ib_alloc_pd(t->b.dev, 0);
	struct ib_mr *mr, *own;

	if (!kvt_is(t, PTR_ERR_OR_ZERO(pd), 0, "ib_alloc_pd()"))
		return;
	mr = kvt_mapped_mr(t, pd);
	own = kvt_registered_mr(t, KVT_REMOTE);
	if (!mr || !own)
		goto out;
	kvt_is(t, kvt_reg(&t->b, mr, KVT_REMOTE), IB_WC_MW_BIND_ERR, "REG_MR");
	if (kvt_is(t, kvt_connect(t), 0, "connecting"))
		kvt_is(t, kvt_invalidate(&t->b, mr->rkey), IB_WC_MW_BIND_ERR, "LOCAL_INV");
	if (kvt_is(t, kvt_connect(t), 0, "connecting"))
		kvt_is(t, kvt_write(t, mr, mr->rkey), IB_WC_REM_ACCESS_ERR, "WRITE");
	/* and a valid one, used by a QP of another domain */
	swap(t->b.pd, pd);
	if (kvt_is(t, kvt_connect(t), 0, "connecting in the other domain")) {
		kvt_is(t, kvt_write(t, own, own->rkey), IB_WC_REM_ACCESS_ERR, "WRITE");
		kvt_disconnect(t);
	}
	swap(t->b.pd, pd);
	if (kvt_is(t, kvt_connect(t), 0, "connecting"))
		kvt_is(t, kvt_write(t, own, own->rkey), 0, "WRITE in its own domain");
out:
	if (own)
		ib_dereg_mr(own);
	if (mr)
		ib_dereg_mr(mr);
	ib_dealloc_pd(pd);
}

static void kvt_reg_twice(struct kvt *t)
{
	struct ib_mr *mr = kvt_registered_mr(t, KVT_REMOTE);
	u64 iova;

	if (!mr)
		return;
	iova = mr->iova;
	kvt_map(t, mr, 3 * PAGE_SIZE, 100, PAGE_SIZE);
	kvt_is(t, kvt_reg(&t->b, mr, KVT_REMOTE), IB_WC_MW_BIND_ERR, "REG_MR again");
	/* it is still what it was */
	mr->iova = iova;
	if (kvt_is(t, kvt_connect(t), 0, "connecting")) {
		kvt_fill(kvt_at(&t->a, 0), KVT_BYTES, 77);
		kvt_is(t, kvt_write(t, mr, mr->rkey), 0, "WRITE");
		kvt_true(t, kvt_filled(kvt_at(&t->b, 123), KVT_BYTES, 77, 0), "it was written");
	}
	ib_dereg_mr(mr);
}

static void kvt_inv_twice(struct kvt *t)
{
	struct ib_mr *mr = kvt_registered_mr(t, KVT_REMOTE);

	if (!mr)
		return;
	kvt_is(t, kvt_invalidate(&t->b, mr->rkey), 0, "LOCAL_INV");
	kvt_is(t, kvt_invalidate(&t->b, mr->rkey), IB_WC_MW_BIND_ERR, "LOCAL_INV again");
	if (kvt_is(t, kvt_connect(t), 0, "connecting"))
		kvt_is(t, kvt_invalidate(&t->b, t->b.pd->local_dma_lkey), IB_WC_MW_BIND_ERR,
		       "LOCAL_INV of the key to all memory");
	ib_dereg_mr(mr);
}

/*
 * As storage does it: REG_MR, then at once a SEND that tells the key; the peer uses
 * it and invalidates it. One chain, one completion.
 */
static void kvt_chain(struct kvt *t)
{
	struct ib_mr *mr = kvt_mapped_mr(t, t->b.pd);
	struct ib_sge told = kvt_sge(&t->a, KVT_BLOCK, sizeof(u32));
	struct ib_sge tell = kvt_sge(&t->b, KVT_BLOCK, sizeof(u32));
	struct ib_send_wr send = { .opcode = IB_WR_SEND, .sg_list = &tell, .num_sge = 1 };
	struct ib_reg_wr reg = { .wr.opcode = IB_WR_REG_MR, .wr.next = &send, .mr = mr,
				 .access = KVT_REMOTE };
	int i;

	if (!mr)
		return;
	for (i = 0; i < 100 && !t->bad; i++) {
		kvt_next_key(mr);
		kvt_map(t, mr, 123 + i, KVT_BYTES, PAGE_SIZE);
		reg.key = mr->rkey;
		*(u32 *)kvt_at(&t->b, KVT_BLOCK) = mr->rkey;
		kvt_fill(kvt_at(&t->a, 0), KVT_BYTES, i);
		if (!kvt_is(t, kvt_recv(&t->a, &told), 0, "posting a receive request") ||
		    !kvt_is(t, kvt_send(&t->b, &reg.wr), 0, "REG_MR and SEND") ||
		    !kvt_is(t, kvt_wait(&t->a.recv), 0, "RECV"))
			break;
		kvt_is(t, kvt_write(t, mr, *(u32 *)kvt_at(&t->a, KVT_BLOCK)), 0, "WRITE");
		kvt_true(t, kvt_filled(kvt_at(&t->b, 123 + i), KVT_BYTES, i, 0), "it was written");
		if (kvt_is(t, kvt_send_inv(t, mr->rkey), 0, "SEND_WITH_INV"))
			kvt_was_invalidated(t, mr->rkey);
	}
	ib_dereg_mr(mr);
}

static void kvt_pool(struct kvt *t)
{
	struct list_head *list = &t->b.qp->rdma_mrs;
	struct ib_mr *mr[9] = {};
	int i;

	if (!kvt_is(t, ib_mr_pool_init(t->b.qp, list, 8, IB_MR_TYPE_MEM_REG, 16, 0), 0,
		    "ib_mr_pool_init()"))
		return;
	for (i = 0; i < 9; i++)
		mr[i] = ib_mr_pool_get(t->b.qp, list);
	kvt_true(t, mr[7] && !mr[8], "it has eight");
	for (i = 0; i < 8 && mr[i] && !t->bad; i++) {
		if (!kvt_is(t, kvt_map(t, mr[i], i * 999, KVT_BYTES, PAGE_SIZE), 1, "mapping") ||
		    !kvt_is(t, kvt_reg(&t->b, mr[i], KVT_REMOTE), 0, "REG_MR"))
			break;
		kvt_is(t, kvt_write(t, mr[i], mr[i]->rkey), 0, "WRITE");
		kvt_is(t, kvt_invalidate(&t->b, mr[i]->rkey), 0, "LOCAL_INV");
	}
	for (i = 0; i < 8; i++)
		if (mr[i])
			ib_mr_pool_put(t->b.qp, list, mr[i]);
	ib_mr_pool_destroy(t->b.qp, list);
}

/* A region that is deregistered while it is valid */
static void kvt_dereg_valid(struct kvt *t)
{
	struct ib_mr *mr = kvt_registered_mr(t, KVT_REMOTE);
	u64 iova;
	u32 rkey;

	if (!mr)
		return;
	iova = mr->iova;
	rkey = mr->rkey;
	kvt_is(t, kvt_write(t, mr, rkey), 0, "WRITE");
	kvt_is(t, ib_dereg_mr(mr), 0, "ib_dereg_mr()");
	kvt_is(t, kvt_rdma(t, IB_WR_RDMA_WRITE, iova, rkey, KVT_BYTES), IB_WC_REM_ACCESS_ERR,
	       "WRITE after it");
}

const struct kvt_test kvt_key_tests[] = {
	{ "600 keys in turn, invalidated by either side", kvt_rotate },
	{ "the key before the last gives no access", kvt_old_key },
	{ "no access after LOCAL_INV", kvt_after_local_inv },
	{ "no access after the peer's SEND_WITH_INV", kvt_after_send_inv },
	{ "SEND_WITH_INV of what cannot be invalidated is refused", kvt_send_inv_wrong },
	{ "a local-only region gives the peer nothing", kvt_local_only },
	{ "a read-only region is not written to", kvt_read_only },
	{ "a region is of its domain only", kvt_other_domain },
	{ "a valid region is not registered again, and stays", kvt_reg_twice },
	{ "what is not valid cannot be invalidated", kvt_inv_twice },
	{ "REG_MR and SEND in one chain, invalidated by the peer", kvt_chain },
	{ "a pool of regions", kvt_pool },
	{ "no access once it is deregistered", kvt_dereg_valid },
	{}
};
