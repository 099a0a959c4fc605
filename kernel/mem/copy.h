/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Copying to and from registered memory, and atomic operations on it.
 *
 * What is here fails also if a page is not there; then who->miss->missed is set, and
 * the same call is to be made again when the page has been brought in.
 */
#ifndef SKR_MEM_COPY_H
#define SKR_MEM_COPY_H

#include <linux/bvec.h>
#include <linux/skbuff.h>
#include <rdma/skerry-abi.h>

#include "region.h"

/**
 * skr_remote_read() - copy out of memory for the peer
 * @who: the QP that serves it
 * @rkey: key
 * @addr: first address
 * @to: where to
 * @length: bytes, more than 0
 *
 * Context: BH, under dev->mr_srcu.
 * Return: false if key, domain, access or range is wrong.
 */
bool skr_remote_read(const struct skr_who *who, u32 rkey, u64 addr, void *to, u32 length);

/**
 * struct skr_source - bytes of a packet that are to be copied
 * @piece: the first one, if they lie in one piece that can be read, or NULL
 * @skb: packet, linear or not
 * @offset: of the first one, from skb->data
 */
struct skr_source {
	const void		*piece;
	const struct sk_buff	*skb;
	u32			offset;
};

/**
 * skr_remote_write_skb() - copy from a packet into memory for the peer
 * @who: the QP that serves it
 * @rkey: key
 * @addr: first address
 * @from: where from
 * @length: bytes, more than 0, all within the packet
 *
 * Context: BH, under dev->mr_srcu.
 * Return: false if key, domain, access or range is wrong.
 */
bool skr_remote_write_skb(const struct skr_who *who, u32 rkey, u64 addr,
			  const struct skr_source *from, u32 length);

/**
 * enum skr_atomic_op - what is done to eight bytes at once
 * @SKR_ATOMIC_ADD: fetch and add
 * @SKR_ATOMIC_CAS: compare and swap
 * @SKR_ATOMIC_STORE: store; it takes remote write access, and tells no value
 */
enum skr_atomic_op {
	SKR_ATOMIC_ADD,
	SKR_ATOMIC_CAS,
	SKR_ATOMIC_STORE,
};

/**
 * struct skr_atomic - an atomic operation
 * @addr: of eight bytes, a multiple of 8
 * @rkey: key
 * @op: which
 * @swap_add: value to store or to add
 * @compare: value to compare with
 * @orig: result: the value before
 */
struct skr_atomic {
	u64	addr;
	u32	rkey;
	enum skr_atomic_op op;
	u64	swap_add;
	u64	compare;
	u64	orig;
};

/**
 * skr_remote_atomic() - an atomic operation for the peer
 * @who: the QP that serves it
 * @atomic: operands and result
 *
 * A real CPU atomic on the mapped page: atomic to the host's own accesses and
 * to all QPs and devices.
 *
 * Context: BH, under dev->mr_srcu.
 * Return: false if key, domain, access or range is wrong.
 */
bool skr_remote_atomic(const struct skr_who *who, struct skr_atomic *atomic);

/**
 * skr_skb_at() - some bytes of a packet where they lie
 * @skb: packet
 * @at: of the first one, from skb->data
 * @bytes: how many, all within the packet
 *
 * What is not in the linear part may be in pages that a process writes to meanwhile.
 *
 * Context: any.
 * Return: their address, or NULL if they do not lie in one piece that can be read.
 */
const void *skr_skb_at(const struct sk_buff *skb, u32 at, u32 bytes);

/**
 * struct skr_sges - a list of local memory as one range of bytes
 * @who: the QP that they belong to
 * @sge: entries
 * @num_sge: how many
 */
struct skr_sges {
	struct skr_who		who;
	const struct skerry_sge	*sge;
	u32			num_sge;
};

/**
 * skr_sges_read() - gather
 * @sges: where from
 * @offset: of the first byte
 * @to: where to
 * @length: bytes; @offset + @length within the list
 *
 * Context: BH, under dev->mr_srcu.
 * Return: false if an entry's key, domain, access or range is wrong.
 */
bool skr_sges_read(const struct skr_sges *sges, u32 offset, void *to, u32 length);

/* Pieces of memory that a payload may consist of to be lent */
#define SKR_LOAN_PIECES	4

/**
 * struct skr_loan - memory that is sent from where it is
 * @piece: pages, of compound ones the head; each has a reference
 * @num: how many pieces
 * @bytes: of all of them
 * @refused: some of it is not made of pages that can be lent, or has too many pieces
 */
struct skr_loan {
	struct bio_vec	piece[SKR_LOAN_PIECES];
	u32		num;
	u32		bytes;
	bool		refused;
};

/**
 * skr_sges_lend() - gather, without copying
 * @sges: where from
 * @offset: of the first byte
 * @length: bytes; @offset + @length within the list
 * @loan: set to the memory, or to none
 *
 * Who lends it may not change it until the message is completed. If he does, what is sent
 * has a wrong ICRC, or, on a way that the peer's host looks at the same pages, other bytes
 * than were posted: it hurts nobody but those who talk to each other. What looks at
 * the skb later than the peer, a packet socket without a ring for one, may see what the
 * memory is used for after that.
 *
 * Context: BH, under dev->mr_srcu.
 * Return: 0, and skr_loan_end() or who takes the pieces over follows; -EOPNOTSUPP if it
 *	must be copied; -EFAULT if an entry's key, domain, access or range is wrong.
 */
int skr_sges_lend(const struct skr_sges *sges, u32 offset, u32 length, struct skr_loan *loan);

/**
 * skr_loan_end() - give back what was not taken over
 * @loan: memory; none afterwards
 *
 * Context: any.
 */
void skr_loan_end(struct skr_loan *loan);

/**
 * skr_sges_write_skb() - scatter the bytes of a packet
 * @sges: where to
 * @offset: of the first byte in the list
 * @from: where from
 * @length: bytes; @offset + @length within the list
 *
 * Context: BH, under dev->mr_srcu.
 * Return: false if an entry's key, domain, access or range is wrong.
 */
bool skr_sges_write_skb(const struct skr_sges *sges, u32 offset, const struct skr_source *from,
			u32 length);

/**
 * skr_sges_write() - scatter bytes
 * @sges: where to
 * @offset: of the first byte in the list
 * @from: where from
 * @length: bytes; @offset + @length within the list
 *
 * Context: BH, under dev->mr_srcu.
 * Return: false if an entry's key, domain, access or range is wrong.
 */
bool skr_sges_write(const struct skr_sges *sges, u32 offset, const void *from, u32 length);

#endif /* SKR_MEM_COPY_H */
