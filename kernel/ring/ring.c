// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "ring.h"

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <asm/barrier.h>

__u32 skr_ring_ready(const struct skr_ring *ring, __u32 cons, __u32 next)
{
	/* pairs with the producer's store-release: the entries below it are seen */
	__u32 prod = smp_load_acquire(&ring->hdr->user_index);

	if (prod - cons > ring->depth || prod - cons < next - cons)
		return SKR_RING_BROKEN;
	return prod - next;
}

__u32 skr_ring_used(const struct skr_ring *ring, __u32 prod)
{
	/* pairs with the store-release of the consumer, who is done with these entries */
	return prod - smp_load_acquire(&ring->hdr->user_index);
}

__u32 skr_ring_produced(const struct skr_ring *ring)
{
	/* pairs with the producer's store-release */
	return smp_load_acquire(&ring->hdr->user_index);
}

void skr_ring_publish(const struct skr_ring *ring, __u32 index)
{
	/* entries first: pairs with user space's load-acquire of kernel_index */
	smp_store_release(&ring->hdr->kernel_index, index);
}

bool skr_ring_want_kick(const struct skr_ring *ring, __u32 next)
{
	WRITE_ONCE(ring->hdr->need_kick, 1);
	/* pairs with the barrier between publishing and testing need_kick */
	smp_mb();
	return READ_ONCE(ring->hdr->user_index) != next;
}

void skr_ring_no_kick(const struct skr_ring *ring)
{
	WRITE_ONCE(ring->hdr->need_kick, 0);
	/* the ring is looked at after this */
	smp_mb();
}

static __u32 skr_ring_arm_bits(bool solicited)
{
	return SKERRY_ARM_NEXT | (solicited ? SKERRY_ARM_SOLICITED : 0);
}

bool skr_ring_armed(const struct skr_ring *ring, bool solicited)
{
	/* pairs with the barrier between arming and polling again */
	smp_mb();
	return READ_ONCE(ring->hdr->arm) & skr_ring_arm_bits(solicited);
}

bool skr_ring_fire(const struct skr_ring *ring, bool solicited)
{
	if (!skr_ring_armed(ring, solicited))
		return false;
	return xchg(&ring->hdr->arm, 0) & skr_ring_arm_bits(solicited);
}
