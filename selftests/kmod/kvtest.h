/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tests of kernel verbs: two ends in one kernel, whichever devices they are of,
 * connected QPs, and what a consumer in the kernel does that a process cannot.
 */
#ifndef KVTEST_H
#define KVTEST_H

#include <linux/completion.h>
#include <linux/netdevice.h>
#include <linux/scatterlist.h>
#include <linux/seq_buf.h>
#include <rdma/ib_verbs.h>

/* Memory of an end: blocks in which addresses follow one another */
#define KVT_BLOCK	SZ_2M
#define KVT_BLOCKS	2
#define KVT_AREA	(KVT_BLOCKS * KVT_BLOCK)

/* Requests of each kind that a QP has room for */
#define KVT_DEPTH	128

#define KVT_WAIT	(20 * HZ * kvt_slow)

/** kvt_slow - how many times longer than elsewhere things may take here */
extern unsigned int kvt_slow;

/**
 * struct kvt_wait - a work request that somebody waits for
 * @cqe: called when it completes
 * @done: it has
 * @wc: with what
 */
struct kvt_wait {
	struct ib_cqe		cqe;
	struct completion	done;
	struct ib_wc		wc;
};

/**
 * struct kvt_end - one of the two ends
 * @dev: device
 * @ndev: netdev of its port, held
 * @addr: its first IPv4 address
 * @pd: protection domain
 * @cq: completions of both queues, taken in softirq
 * @qp: queue pair, or NULL
 * @block: memory
 * @send: the send request that kvt_send() waits for
 * @recv: the receive request of kvt_recv()
 */
struct kvt_end {
	struct ib_device	*dev;
	struct net_device	*ndev;
	__be32			addr;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct ib_qp		*qp;
	struct page		*block[KVT_BLOCKS];
	struct kvt_wait		send;
	struct kvt_wait		recv;
};

/**
 * struct kvt - a run of all tests
 * @a: the end that sends
 * @b: the end with the memory that is registered
 * @out: TAP
 * @bad: the test at hand has failed
 */
struct kvt {
	struct kvt_end	a;
	struct kvt_end	b;
	struct seq_buf	out;
	bool		bad;
};

/**
 * struct kvt_test - a test
 * @name: what holds if it passes
 * @run: finds out; QPs are connected before and destroyed after it
 */
struct kvt_test {
	const char	*name;
	void		(*run)(struct kvt *t);
};

extern const struct kvt_test kvt_frmr_tests[];
extern const struct kvt_test kvt_key_tests[];
extern const struct kvt_test kvt_context_tests[];

/**
 * kvt_is() - a value is the one that is expected, or the test fails
 * @t: run
 * @is: value
 * @expected: value
 * @what: said if it is not
 *
 * Return: true if it is.
 */
bool kvt_is(struct kvt *t, s64 is, s64 expected, const char *what);

/**
 * kvt_true() - something holds, or the test fails
 * @t: run
 * @holds: does it?
 * @what: said if it does not
 *
 * Return: @holds.
 */
bool kvt_true(struct kvt *t, bool holds, const char *what);

/**
 * kvt_end_open() - everything of an end but its QP
 * @end: with dev set
 *
 * Return: 0 or a negative errno; kvt_end_close() is due either way.
 */
int kvt_end_open(struct kvt_end *end);

/**
 * kvt_end_close() - undo kvt_end_open()
 * @end: without QP
 */
void kvt_end_close(struct kvt_end *end);

/**
 * kvt_create_qp() - a QP that is not connected
 * @end: end
 * @cq: completions of both queues
 * @srq: shared receive queue, or NULL
 *
 * Return: the QP or an error pointer.
 */
struct ib_qp *kvt_create_qp(struct kvt_end *end, struct ib_cq *cq, struct ib_srq *srq);

/**
 * kvt_link() - connect the QPs of two ends
 * @a: end with a QP in RESET
 * @b: likewise
 *
 * Return: 0 or a negative errno.
 */
int kvt_link(struct kvt_end *a, struct kvt_end *b);

/**
 * kvt_connect() - fresh QPs, connected
 * @t: run; QPs that it has are destroyed first
 *
 * Return: 0 or a negative errno.
 */
int kvt_connect(struct kvt *t);

/**
 * kvt_disconnect() - destroy the QPs
 * @t: run
 */
void kvt_disconnect(struct kvt *t);

/**
 * kvt_wait_init() - make ready to wait for a request
 * @wait: nobody waits for it
 *
 * Return: what to post with.
 */
struct ib_cqe *kvt_wait_init(struct kvt_wait *wait);

/**
 * kvt_wait() - wait for a request
 * @wait: posted
 *
 * Return: status of its completion, -ETIMEDOUT without one.
 */
int kvt_wait(struct kvt_wait *wait);

/**
 * kvt_send() - post a send request and wait for it
 * @end: end
 * @wr: request, the last one of a chain too
 *
 * Return: status of its completion or a negative errno.
 */
int kvt_send(struct kvt_end *end, struct ib_send_wr *wr);

/**
 * kvt_recv() - post a receive request for end->recv
 * @end: end
 * @sge: memory, or NULL
 *
 * Return: 0 or a negative errno.
 */
int kvt_recv(struct kvt_end *end, struct ib_sge *sge);

/**
 * kvt_at() - a place in an end's memory
 * @end: end
 * @offset: from the beginning; what follows does so up to the end of its block
 *
 * Return: its address.
 */
static inline u8 *kvt_at(const struct kvt_end *end, size_t offset)
{
	return (u8 *)page_address(end->block[offset / KVT_BLOCK]) + offset % KVT_BLOCK;
}

/**
 * kvt_sge() - memory of an end by the key to all memory
 * @end: end
 * @offset: from the beginning
 * @length: bytes, all in one block
 *
 * Return: the entry.
 */
static inline struct ib_sge kvt_sge(const struct kvt_end *end, size_t offset, u32 length)
{
	return (struct ib_sge) {
		.addr = (uintptr_t)kvt_at(end, offset),
		.length = length,
		.lkey = end->pd->local_dma_lkey,
	};
}

/**
 * kvt_fill() - write a pattern
 * @to: where to
 * @bytes: how much
 * @seed: which pattern
 */
void kvt_fill(u8 *to, size_t bytes, u32 seed);

/**
 * kvt_filled() - is the pattern there?
 * @from: where
 * @bytes: how much
 * @seed: which pattern
 * @from_byte: of the pattern
 *
 * Return: true if it is.
 */
bool kvt_filled(const u8 *from, size_t bytes, u32 seed, size_t from_byte);

/**
 * kvt_rdma() - WRITE or READ by end A at end B, from the beginning of A's memory
 * @t: run
 * @opcode: IB_WR_RDMA_WRITE or IB_WR_RDMA_READ
 * @addr: address at B
 * @rkey: key at B
 * @length: bytes
 *
 * Return: status of the completion or a negative errno.
 */
int kvt_rdma(struct kvt *t, enum ib_wr_opcode opcode, u64 addr, u32 rkey, u32 length);

/**
 * kvt_map() - put memory of end B into a fast region
 * @t: run
 * @mr: region
 * @offset: in B's memory
 * @length: bytes, across blocks too
 * @page_size: of the region
 *
 * Return: scatterlist entries that it took, or a negative errno.
 */
int kvt_map(struct kvt *t, struct ib_mr *mr, size_t offset, size_t length, u32 page_size);

/**
 * kvt_reg() - register what was mapped, by the region's key
 * @end: end
 * @mr: region
 * @access: IB_ACCESS_*
 *
 * Return: status of the completion or a negative errno.
 */
int kvt_reg(struct kvt_end *end, struct ib_mr *mr, int access);

/**
 * kvt_invalidate() - LOCAL_INV
 * @end: end
 * @rkey: key
 *
 * Return: status of the completion or a negative errno.
 */
int kvt_invalidate(struct kvt_end *end, u32 rkey);

/**
 * kvt_next_key() - let the next registration have another key
 * @mr: region that is not registered
 */
static inline void kvt_next_key(struct ib_mr *mr)
{
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
}

#endif /* KVTEST_H */
