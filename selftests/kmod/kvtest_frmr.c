// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Fast regions: what memory a region covers, for all page sizes and offsets.
 */
#include "kvtest.h"

#define KVT_REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)

/* pages of the largest region */
#define KVT_PAGES	1024

static struct ib_mr *kvt_alloc_mr(struct kvt *t, u32 pages)
{
	struct ib_mr *mr = ib_alloc_mr(t->b.pd, IB_MR_TYPE_MEM_REG, pages);

	return kvt_is(t, PTR_ERR_OR_ZERO(mr), 0, "ib_alloc_mr()") ? mr : NULL;
}

/* @bytes from @at on in the region, which begins at @offset of B's memory */
static bool kvt_there_and_back(struct kvt *t, struct ib_mr *mr, size_t offset, size_t at,
			       u32 bytes)
{
	u8 *local = kvt_at(&t->a, 0);
	u32 seed = at + 1;
	bool right = true;
	u32 i;

	kvt_fill(local, bytes, seed);
	if (!kvt_is(t, kvt_rdma(t, IB_WR_RDMA_WRITE, mr->iova + at, mr->rkey, bytes), 0, "WRITE"))
		return false;
	/* one by one: it may lie across blocks */
	for (i = 0; i < bytes && right; i++)
		right = kvt_filled(kvt_at(&t->b, offset + at + i), 1, seed, i);
	if (!kvt_true(t, right, "what was written is where it belongs"))
		return false;
	memset(local, 0, bytes);
	if (!kvt_is(t, kvt_rdma(t, IB_WR_RDMA_READ, mr->iova + at, mr->rkey, bytes), 0, "READ"))
		return false;
	return kvt_true(t, kvt_filled(local, bytes, seed, 0), "it can be read back");
}

static void kvt_page_size(struct kvt *t, struct ib_mr *mr, u32 page_size)
{
	/* off every alignment, and as much as the region holds */
	size_t offset = min_t(size_t, page_size, KVT_BLOCK) / 2 + 13;
	size_t length = min_t(size_t, KVT_AREA - offset, (KVT_PAGES - 1) * (size_t)page_size) - 5;
	u32 bytes = 3001;

	if (!kvt_is(t, kvt_map(t, mr, offset, length, page_size),
		    offset + length > KVT_BLOCK ? 2 : 1, "ib_map_mr_sg()") ||
	    !kvt_is(t, mr->length, length, "length of the region") ||
	    !kvt_is(t, kvt_reg(&t->b, mr, KVT_REMOTE), 0, "REG_MR"))
		return;
	/* at its beginning, across a page, across the blocks, at its end */
	if (kvt_there_and_back(t, mr, offset, 0, bytes) &&
	    kvt_there_and_back(t, mr, offset, page_size - offset % page_size - 7, bytes) &&
	    kvt_there_and_back(t, mr, offset, KVT_BLOCK - offset - 1000, bytes))
		kvt_there_and_back(t, mr, offset, length - bytes, bytes);
	kvt_is(t, kvt_invalidate(&t->b, mr->rkey), 0, "LOCAL_INV");
	kvt_next_key(mr);
}

static void kvt_page_sizes(struct kvt *t)
{
	u64 sizes = t->b.dev->attrs.page_size_cap & (2 * (u64)KVT_BLOCK - PAGE_SIZE);
	struct ib_mr *mr = kvt_alloc_mr(t, KVT_PAGES);
	unsigned long shift;

	if (!mr)
		return;
	kvt_is(t, sizes, 2 * (u64)KVT_BLOCK - PAGE_SIZE, "page sizes up to that of a block");
	for (shift = PAGE_SHIFT; BIT(shift) <= KVT_BLOCK && !t->bad; shift++) {
		kvt_page_size(t, mr, BIT(shift));
		if (t->bad)
			seq_buf_printf(&t->out, "# with pages of %lu\n", BIT(shift));
	}
	ib_dereg_mr(mr);
}

/* Pages in reverse order, the first and the last only in part */
static void kvt_scattered(struct kvt *t)
{
	static const size_t place[] = { 7 * PAGE_SIZE + 4001, 5 * PAGE_SIZE, 2 * PAGE_SIZE, 0 };
	static const u32 length[] = { PAGE_SIZE - 4001, PAGE_SIZE, PAGE_SIZE, 77 };
	struct ib_mr *mr = kvt_alloc_mr(t, ARRAY_SIZE(place));
	struct scatterlist sg[ARRAY_SIZE(place)];
	unsigned int skip = 3;
	u32 i, at = 0, total = 0;

	if (!mr)
		return;
	sg_init_table(sg, ARRAY_SIZE(place));
	for (i = 0; i < ARRAY_SIZE(place); i++) {
		sg_set_page(&sg[i], t->b.block[0] + place[i] / PAGE_SIZE, length[i],
			    place[i] % PAGE_SIZE);
		total += length[i];
	}
	total -= skip;
	ib_dma_map_sg(t->b.dev, sg, ARRAY_SIZE(place), DMA_BIDIRECTIONAL);
	kvt_fill(kvt_at(&t->a, 0), total, 1);
	if (kvt_is(t, ib_map_mr_sg(mr, sg, ARRAY_SIZE(place), &skip, PAGE_SIZE),
		   ARRAY_SIZE(place), "ib_map_mr_sg()") &&
	    kvt_is(t, mr->length, total, "length") &&
	    kvt_is(t, kvt_reg(&t->b, mr, KVT_REMOTE), 0, "REG_MR"))
		kvt_is(t, kvt_rdma(t, IB_WR_RDMA_WRITE, mr->iova, mr->rkey, total), 0, "WRITE");
	for (i = 0; i < ARRAY_SIZE(place) && !t->bad; i++) {
		u32 from = i ? 0 : 3;

		kvt_true(t, kvt_filled(kvt_at(&t->b, place[i] + from), length[i] - from, 1, at),
			 "each piece has its bytes");
		at += length[i] - from;
	}
	ib_dma_unmap_sg(t->b.dev, sg, ARRAY_SIZE(place), DMA_BIDIRECTIONAL);
	ib_dereg_mr(mr);
}

/* A piece that does not join the one before it, or has no room, is left out */
static void kvt_left_out(struct kvt *t)
{
	struct ib_mr *mr = kvt_alloc_mr(t, 4);
	struct scatterlist sg[2];
	int n;

	if (!mr)
		return;
	sg_init_table(sg, 2);
	sg_set_page(&sg[0], t->b.block[0], 100, 0);
	sg_set_page(&sg[1], t->b.block[1], 100, 0);
	ib_dma_map_sg(t->b.dev, sg, 2, DMA_BIDIRECTIONAL);
	kvt_is(t, ib_map_mr_sg(mr, sg, 2, NULL, PAGE_SIZE), 1, "entries with a gap");
	kvt_is(t, mr->length, 100, "bytes before the gap");
	ib_dma_unmap_sg(t->b.dev, sg, 2, DMA_BIDIRECTIONAL);

	/* five pages where there is room for four */
	n = kvt_map(t, mr, 100, 5 * PAGE_SIZE - 200, PAGE_SIZE);
	kvt_true(t, n <= 0 || mr->length <= 4 * PAGE_SIZE - 100, "no more than there is room for");
	ib_dereg_mr(mr);
}

static void kvt_bounds(struct kvt *t)
{
	/* begins before, after, ends after, wraps around */
	static const s64 from[] = { -1, 5000, 4999, 0, -5001 };
	static const u32 bytes[] = { 1, 1, 2, 5001, 5001 };
	struct ib_mr *mr = kvt_alloc_mr(t, 4);
	int i;

	if (!mr)
		return;
	for (i = 0; i < ARRAY_SIZE(from) && !t->bad; i++) {
		if (!kvt_is(t, kvt_connect(t), 0, "connecting") ||
		    !kvt_is(t, kvt_map(t, mr, 301, 5000, PAGE_SIZE), 1, "ib_map_mr_sg()"))
			break;
		kvt_is(t, kvt_reg(&t->b, mr, KVT_REMOTE), 0, "REG_MR");
		kvt_is(t, kvt_rdma(t, IB_WR_RDMA_WRITE, mr->iova + 4999, mr->rkey, 1), 0,
		       "WRITE to the last byte");
		kvt_is(t, kvt_rdma(t, IB_WR_RDMA_WRITE, mr->iova + from[i], mr->rkey, bytes[i]),
		       IB_WC_REM_ACCESS_ERR, "WRITE out of bounds");
		/* the QP is in error now, and another has to invalidate */
		if (kvt_is(t, kvt_connect(t), 0, "connecting"))
			kvt_is(t, kvt_invalidate(&t->b, mr->rkey), 0, "LOCAL_INV");
	}
	ib_dereg_mr(mr);
}

/* The consumer may number a region as it likes */
static void kvt_iova(struct kvt *t)
{
	static const u64 bases[] = { 0, 1ULL << 62, 0xffffffffffff0000 };
	struct ib_mr *mr = kvt_alloc_mr(t, 4);
	int i;

	if (!mr)
		return;
	for (i = 0; i < ARRAY_SIZE(bases) && !t->bad; i++) {
		if (!kvt_is(t, kvt_map(t, mr, 1001, 9000, PAGE_SIZE), 1, "ib_map_mr_sg()"))
			break;
		mr->iova = bases[i] + 1001;
		if (!kvt_is(t, kvt_reg(&t->b, mr, KVT_REMOTE), 0, "REG_MR"))
			break;
		kvt_there_and_back(t, mr, 1001, 4000, 5000);
		kvt_is(t, kvt_invalidate(&t->b, mr->rkey), 0, "LOCAL_INV");
	}
	ib_dereg_mr(mr);
}

/* Registered again as it is, and after another mapping that was not used */
static void kvt_again(struct kvt *t)
{
	struct ib_mr *mr = kvt_alloc_mr(t, 4);
	int i;

	if (!mr)
		return;
	kvt_is(t, kvt_map(t, mr, 4 * PAGE_SIZE, PAGE_SIZE, PAGE_SIZE), 1, "ib_map_mr_sg()");
	if (!kvt_is(t, kvt_map(t, mr, 55, 8000, PAGE_SIZE), 1, "ib_map_mr_sg()"))
		goto out;
	for (i = 0; i < 4 && !t->bad; i++) {
		kvt_is(t, kvt_reg(&t->b, mr, KVT_REMOTE), 0, "REG_MR");
		kvt_there_and_back(t, mr, 55, 4040 + i, 3000);
		kvt_is(t, kvt_invalidate(&t->b, mr->rkey), 0, "LOCAL_INV");
		kvt_next_key(mr);
	}
out:
	ib_dereg_mr(mr);
}

/* Registered though nothing, or less than the region says, was mapped */
static void kvt_unmapped(struct kvt *t)
{
	struct ib_mr *mr = kvt_alloc_mr(t, 4);

	if (!mr)
		return;
	mr->iova = 0;
	mr->length = PAGE_SIZE;
	kvt_is(t, kvt_reg(&t->b, mr, KVT_REMOTE), IB_WC_MW_BIND_ERR, "REG_MR of nothing");
	if (kvt_is(t, kvt_connect(t), 0, "connecting") &&
	    kvt_is(t, kvt_map(t, mr, 0, 100, PAGE_SIZE), 1, "ib_map_mr_sg()")) {
		mr->length = PAGE_SIZE + 1;
		kvt_is(t, kvt_reg(&t->b, mr, KVT_REMOTE), IB_WC_MW_BIND_ERR, "REG_MR of too much");
	}
	ib_dereg_mr(mr);
}

/* As memory of the end itself: gathered from, scattered to, off all alignment */
static void kvt_local(struct kvt *t)
{
	struct ib_mr *mr = kvt_alloc_mr(t, 4);
	struct ib_sge sge[3], from;
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };

	if (!mr)
		return;
	if (!kvt_is(t, kvt_map(t, mr, 4093, 9000, PAGE_SIZE), 1, "ib_map_mr_sg()") ||
	    !kvt_is(t, kvt_reg(&t->b, mr, IB_ACCESS_LOCAL_WRITE), 0, "REG_MR"))
		goto out;
	/* A to B, into the region */
	sge[0] = (struct ib_sge) { .addr = mr->iova + 1, .length = 5003, .lkey = mr->lkey };
	from = kvt_sge(&t->a, 0, 5003);
	kvt_fill(kvt_at(&t->a, 0), 5003, 9);
	wr.sg_list = &from;
	wr.num_sge = 1;
	if (!kvt_is(t, kvt_recv(&t->b, sge), 0, "posting to the region") ||
	    !kvt_is(t, kvt_send(&t->a, &wr), 0, "SEND") ||
	    !kvt_is(t, kvt_wait(&t->b.recv), 0, "RECV"))
		goto out;
	kvt_is(t, t->b.recv.wc.byte_len, 5003, "bytes received");
	kvt_true(t, kvt_filled(kvt_at(&t->b, 4094), 5003, 9, 0), "they are in the region");
	/* B to A, out of it, in three pieces */
	sge[0] = (struct ib_sge) { .addr = mr->iova + 1, .length = 17, .lkey = mr->lkey };
	sge[1] = (struct ib_sge) { .addr = mr->iova + 18, .length = 4001, .lkey = mr->lkey };
	sge[2] = (struct ib_sge) { .addr = mr->iova + 4019, .length = 985, .lkey = mr->lkey };
	wr.sg_list = sge;
	wr.num_sge = 3;
	from = kvt_sge(&t->a, KVT_BLOCK, 5003);
	if (!kvt_is(t, kvt_recv(&t->a, &from), 0, "posting a receive request") ||
	    !kvt_is(t, kvt_send(&t->b, &wr), 0, "SEND from the region") ||
	    !kvt_is(t, kvt_wait(&t->a.recv), 0, "RECV"))
		goto out;
	kvt_true(t, kvt_filled(kvt_at(&t->a, KVT_BLOCK), 5003, 9, 0), "they came back");
out:
	ib_dereg_mr(mr);
}

static void kvt_limits(struct kvt *t)
{
	u32 max = t->b.dev->attrs.max_fast_reg_page_list_len;
	struct ib_mr *mr;

	mr = ib_alloc_mr(t->b.pd, IB_MR_TYPE_MEM_REG, max);
	if (kvt_is(t, PTR_ERR_OR_ZERO(mr), 0, "as many pages as advertised"))
		ib_dereg_mr(mr);
	mr = ib_alloc_mr(t->b.pd, IB_MR_TYPE_MEM_REG, max + 1);
	if (!kvt_true(t, IS_ERR(mr), "more than that are refused"))
		ib_dereg_mr(mr);
	mr = kvt_alloc_mr(t, 4);
	if (!mr)
		return;
	kvt_is(t, kvt_map(t, mr, 0, 100, 3 * PAGE_SIZE), -EINVAL, "pages of 12 KiB");
	kvt_is(t, kvt_map(t, mr, 0, 100, 2 * KVT_BLOCK), -EINVAL, "pages of 4 MiB");
	ib_dereg_mr(mr);
}

const struct kvt_test kvt_frmr_tests[] = {
	{ "pages of 4 KiB to 2 MiB, regions of up to 4 MiB off all alignment", kvt_page_sizes },
	{ "scattered pages, the first and last in part, sg_offset", kvt_scattered },
	{ "what does not fit a region is left out", kvt_left_out },
	{ "a byte outside is out of bounds", kvt_bounds },
	{ "a region is numbered as its consumer likes", kvt_iova },
	{ "a mapping is registered again, or replaced", kvt_again },
	{ "what was not mapped is not registered", kvt_unmapped },
	{ "a local-only region in SENDs and RECVs", kvt_local },
	{ "pages of a region: advertised number and sizes", kvt_limits },
	{}
};
