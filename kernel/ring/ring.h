/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A ring shared with user space, seen from the kernel's side.
 *
 * Barrier contract (the other half stands in rdma/skerry-abi.h):
 *  - the peer's index is loaded with acquire, before entries are looked at;
 *    our index is stored with release, after entries were written;
 *  - need_kick: store 1, full barrier, load the producer index again;
 *  - arm: store-release our index, full barrier, load arm.
 * The memory may be written by a hostile process at any time. What counts is
 * in struct skr_ring and in private copies; from the shared header only the
 * peer's index and the arm word are ever read, each once per decision, and an
 * index that makes no sense is reported, never followed.
 */
#ifndef SKR_RING_RING_H
#define SKR_RING_RING_H

#include <linux/types.h>
#include <rdma/skerry-abi.h>

/**
 * struct skr_ring - one ring
 * @hdr: shared header, followed by the entries
 * @depth: entries, a power of two
 * @entry_bytes: distance between entries, in bytes
 */
struct skr_ring {
	struct skerry_ring_hdr	*hdr;
	__u32			depth;
	__u32			entry_bytes;
};

/* skr_ring_ready(): the user's index cannot be right */
#define SKR_RING_BROKEN		0xffffffffU

/**
 * skr_ring_bytes() - size of a ring's memory
 * @depth: entries
 * @entry_bytes: bytes of each
 *
 * Return: bytes, not rounded to pages.
 */
static inline __u64 skr_ring_bytes(__u32 depth, __u32 entry_bytes)
{
	return SKERRY_RING_ENTRIES + (__u64)depth * entry_bytes;
}

/**
 * skr_ring_depth() - entries for so many requests
 * @wr: requests
 *
 * Return: the next power of two, at least 1.
 */
static inline __u32 skr_ring_depth(__u32 wr)
{
	__u32 depth = 1;

	while (depth < wr)
		depth <<= 1;
	return depth;
}

/**
 * skr_ring_entry() - address of an entry
 * @ring: ring
 * @index: free-running index
 *
 * Return: the entry, in shared memory.
 */
static inline void *skr_ring_entry(const struct skr_ring *ring, __u32 index)
{
	return (char *)ring->hdr + SKERRY_RING_ENTRIES +
	       (__u64)(index & (ring->depth - 1)) * ring->entry_bytes;
}

/**
 * skr_ring_ready() - entries that user space has produced
 * @ring: SQ or RQ
 * @cons: index of the oldest entry whose work is not complete
 * @next: index of the next entry to take, from @cons on
 *
 * Context: any; the entries counted may be read afterwards.
 * Return: entries from @next on, or SKR_RING_BROKEN if user space claims to
 *	have produced more than the ring holds, or less than was taken.
 */
__u32 skr_ring_ready(const struct skr_ring *ring, __u32 cons, __u32 next);

/**
 * skr_ring_used() - entries that user space has not consumed
 * @ring: CQ
 * @prod: index of the next entry to be written
 *
 * Context: any.
 * Return: entries, more than the depth if user space wrote nonsense.
 */
__u32 skr_ring_used(const struct skr_ring *ring, __u32 prod);

/**
 * skr_ring_produced() - index that user space has produced up to
 * @ring: SQ or RQ
 *
 * Context: any.
 * Return: the index, unchecked.
 */
__u32 skr_ring_produced(const struct skr_ring *ring);

/**
 * skr_ring_publish() - tell user space how far the kernel is
 * @ring: ring
 * @index: consumer index of an SQ or RQ, producer index of a CQ
 *
 * Context: any.
 */
void skr_ring_publish(const struct skr_ring *ring, __u32 index);

/**
 * skr_ring_want_kick() - ask user space to enter the kernel for its next post
 * @ring: SQ or RQ
 * @next: index of the next entry to take
 *
 * Context: any.
 * Return: true if an entry was produced meanwhile: it may have come without a
 *	kick, so look at the ring again.
 */
bool skr_ring_want_kick(const struct skr_ring *ring, __u32 next);

/**
 * skr_ring_no_kick() - the kernel is going to look at the ring by itself
 * @ring: SQ or RQ
 *
 * Context: any; look at the ring afterwards.
 */
void skr_ring_no_kick(const struct skr_ring *ring);

/**
 * skr_ring_armed() - does user space wait for the entry just published?
 * @ring: CQ
 * @solicited: the entry is a solicited one, or an error
 *
 * Context: any. Leaves the ring armed.
 * Return: true if it waits for an entry of this kind.
 */
bool skr_ring_armed(const struct skr_ring *ring, bool solicited);

/**
 * skr_ring_fire() - does user space wait for the entry just published?
 * @ring: CQ
 * @solicited: the entry is a solicited one, or an error
 *
 * Context: any. A true answer disarms the ring.
 * Return: true if the completion event is to be raised.
 */
bool skr_ring_fire(const struct skr_ring *ring, bool solicited);

#endif /* SKR_RING_RING_H */
