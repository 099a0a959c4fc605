/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The rings shared with the kernel, as user space handles them.
 *
 * The contract (who writes what, which barriers) stands at the top of
 * rdma/skerry-abi.h. This file knows neither verbs nor devices, so that it can
 * be tested on plain memory, from C and from C++.
 *
 * Nothing here locks: the caller holds the lock of the queue.
 */
#ifndef SKERRY_RING_H
#define SKERRY_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rdma/skerry-abi.h>

/**
 * struct skerry_ring - a mapped ring and this side's place in it
 * @hdr: start of the mapping; NULL: there is no such ring
 * @entries: entry 0
 * @mask: depth - 1
 * @entry_bytes: distance between entries
 * @map_bytes: length of the mapping
 * @index: next entry to produce (SQ, RQ) or to consume (CQ). This is the one
 *	that counts: hdr->user_index is a copy for the kernel, never read back
 * @seen: the newest hdr->kernel_index that was looked at
 */
struct skerry_ring {
	struct skerry_ring_hdr	*hdr;
	uint8_t			*entries;
	uint32_t		mask;
	uint32_t		entry_bytes;
	uint32_t		map_bytes;
	uint32_t		index;
	uint32_t		seen;
};

/* Is this a ring that can hold entries of at least @min_entry bytes? */
static inline bool skerry_ring_info_ok(const struct skerry_ring_info *info,
				       size_t min_entry)
{
	uint64_t need = SKERRY_RING_ENTRIES +
			(uint64_t)info->depth * info->entry_bytes;

	return info->depth && !(info->depth & (info->depth - 1)) &&
	       info->entry_bytes >= min_entry && !(info->entry_bytes % 8) &&
	       info->mmap_bytes >= need;
}

/* Both sides of a new ring start at the index that the kernel published */
static inline void skerry_ring_init(struct skerry_ring *ring, void *map,
				    const struct skerry_ring_info *info)
{
	ring->hdr = (struct skerry_ring_hdr *)map;
	ring->entries = (uint8_t *)map + SKERRY_RING_ENTRIES;
	ring->mask = info->depth - 1;
	ring->entry_bytes = info->entry_bytes;
	ring->map_bytes = info->mmap_bytes;
	ring->seen = __atomic_load_n(&ring->hdr->kernel_index,
				     __ATOMIC_ACQUIRE);
	ring->index = ring->seen;
}

static inline void *skerry_ring_entry(const struct skerry_ring *ring,
				      uint32_t index)
{
	return ring->entries +
	       (size_t)(index & ring->mask) * ring->entry_bytes;
}

/*
 * Let the kernel see everything up to ring->index: entries that were produced,
 * or places that were consumed.
 */
static inline void skerry_ring_publish(struct skerry_ring *ring)
{
	__atomic_store_n(&ring->hdr->user_index, ring->index,
			 __ATOMIC_RELEASE);
}

/*
 * Take over the kernel's index. Acquire: what the kernel did before it
 * published the index (write a CQE, be done with an entry) is done.
 */
static inline void skerry_ring_look(struct skerry_ring *ring)
{
	ring->seen = __atomic_load_n(&ring->hdr->kernel_index,
				     __ATOMIC_ACQUIRE);
}

/* SQ, RQ: are @limit entries in use, so that none can be added? */
static inline bool skerry_ring_full(struct skerry_ring *ring, uint32_t limit)
{
	if (ring->index - ring->seen < limit)
		return false;

	skerry_ring_look(ring);
	return ring->index - ring->seen >= limit;
}

/*
 * SQ, RQ: must a post enter the kernel? The barrier is the counterpart of the
 * kernel's, between "need_kick = 1" and its last look at user_index: one of
 * the two sides sees what the other one wrote.
 */
static inline bool skerry_ring_need_kick(const struct skerry_ring *ring)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&ring->hdr->need_kick, __ATOMIC_RELAXED);
}

/*
 * SQ, RQ: start again where the kernel stands, whatever was posted. Only while
 * the kernel does not look at the ring, that is, with the QP in RESET.
 */
static inline void skerry_ring_restart(struct skerry_ring *ring)
{
	skerry_ring_look(ring);
	ring->index = ring->seen;
	skerry_ring_publish(ring);
}

/* CQ: entries that can be consumed, found with one look at the kernel's index */
static inline uint32_t skerry_ring_avail(struct skerry_ring *ring)
{
	skerry_ring_look(ring);
	return ring->seen - ring->index;
}

/*
 * CQ: the next entry to consume, or NULL. Looks at the kernel's index only
 * when all that is known to be there was taken.
 */
static inline const struct skerry_cqe *skerry_ring_take(struct skerry_ring *ring)
{
	if (ring->index == ring->seen && !skerry_ring_avail(ring))
		return NULL;

	return (const struct skerry_cqe *)skerry_ring_entry(ring,
							    ring->index++);
}

/*
 * CQ: the kernel goes on in the ring @to. Take over what was not consumed in
 * @from, to which the kernel does not write any more. The kernel may write to
 * @to already, but not to the places of these entries.
 */
static inline void skerry_ring_move(struct skerry_ring *to,
				    struct skerry_ring *from)
{
	skerry_ring_look(from);
	to->index = from->index;
	to->seen = from->seen;
	for (uint32_t i = from->index; i != from->seen; i++)
		memcpy(skerry_ring_entry(to, i), skerry_ring_entry(from, i),
		       sizeof(struct skerry_cqe));
}

/*
 * CQ: drop what is there of one QP; the others' entries keep their order. They
 * move up towards the kernel's index, beyond which the kernel may be writing.
 */
static inline void skerry_ring_forget(struct skerry_ring *ring,
				      uint32_t qp_num)
{
	uint32_t to;

	skerry_ring_look(ring);
	to = ring->seen;
	for (uint32_t i = ring->seen; i != ring->index; i--) {
		const void *entry = skerry_ring_entry(ring, i - 1);

		if (((const struct skerry_cqe *)entry)->qp_num == qp_num)
			continue;
		if (--to != i - 1)
			memcpy(skerry_ring_entry(ring, to), entry,
			       sizeof(struct skerry_cqe));
	}
	ring->index = to;
	skerry_ring_publish(ring);
}

/*
 * CQ: ask for an event. The barrier keeps the caller's next poll behind it,
 * so that an entry is either found by that poll or raises the event.
 */
static inline void skerry_ring_arm(struct skerry_ring *ring, uint32_t what)
{
	__atomic_fetch_or(&ring->hdr->arm, what, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif /* SKERRY_RING_H */
