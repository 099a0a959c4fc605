/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Packets of one flow that leave together.
 *
 * Packets of equal size, the last one perhaps shorter, make a super-packet: one
 * skb of up to 64 KB that the stack carries as a whole and that is cut into
 * ordinary packets behind the last queue, or by the NIC, or not at all if both
 * ends are on this machine. Each of its packets has its own transport headers and
 * its own ICRC, over the IP and UDP headers that it will have when it is cut: the
 * lengths are its own, and the IPv4 identification counts up from the first one's.
 *
 * A packet that stays alone is sent as it always was.
 */
#ifndef SKR_NET_BATCH_H
#define SKR_NET_BATCH_H

#include <linux/skbuff.h>

#include "../mem/copy.h"
#include "av.h"
#include "xmit.h"

/* From the first BTH to the last ICRC: what IPv4 can carry, less the headers */
#define SKR_BATCH_BYTES		(65535U - 48)

/**
 * struct skr_batch - packets that wait for more of their kind
 * @dev: device
 * @stats: where they count
 * @av: where they go
 * @skb: the packets so far, skb->data at the IP header; NULL if there are none
 * @last: BTH of the newest one
 * @tail: its pad and ICRC, if its payload is lent, or NULL: they follow the payload
 * @tail_bytes: their size
 * @lent: the first fragment of its payload then
 * @num_lent: how many there are
 * @last_bytes: its size from the BTH to the end of the ICRC
 * @packets: how many there are
 * @max: how many there may be; 0 as long as nobody asked
 * @seg: size of the first one
 * @bytes: size of all of them
 *
 * On the stack of who sends, while the lock of @av's owner is held.
 */
struct skr_batch {
	struct skr_dev	*dev;
	struct skr_stats __percpu *stats;
	struct skr_av	*av;
	struct sk_buff	*skb;
	u8		*last;
	u8		*tail;
	u32		tail_bytes;
	u32		lent;
	u32		num_lent;
	u32		last_bytes;
	u32		packets;
	u32		max;
	u32		seg;
	u32		bytes;
};

/**
 * skr_batch_init() - begin without packets
 * @batch: overwritten
 * @dev: device
 * @stats: where they count
 * @av: where packets will go
 *
 * Context: BH, the lock of @av's owner held.
 */
void skr_batch_init(struct skr_batch *batch, struct skr_dev *dev,
		    struct skr_stats __percpu *stats, struct skr_av *av);

/**
 * skr_batch_fits() - may a packet of this size join?
 * @batch: batch
 * @bytes: size from the BTH to the end of the ICRC
 *
 * Return: false if what is there must be sent first.
 */
bool skr_batch_fits(struct skr_batch *batch, u32 bytes);

/**
 * skr_batch_waiting() - what waits
 * @batch: batch
 *
 * Return: bytes from the first BTH to the last ICRC.
 */
static inline u32 skr_batch_waiting(const struct skr_batch *batch)
{
	return batch->skb ? batch->bytes : 0;
}

/**
 * skr_batch_add() - room for another packet
 * @batch: batch that it fits
 * @bytes: size from the BTH to the end of the ICRC
 *
 * Context: BH, the lock of @batch->av's owner held. skr_batch_seal() or
 *	skr_batch_cancel() follows.
 * Return: where the BTH goes, or NULL if there is no memory, or no more in this
 *	skb: then send what is there, if anything is, and try again.
 */
void *skr_batch_add(struct skr_batch *batch, u32 bytes);

/**
 * skr_batch_add_lent() - another packet, whose payload stays where it is
 * @batch: batch that it fits
 * @hdr_bytes: BTH and extended headers
 * @bytes: size from the BTH to the end of the ICRC
 * @loan: the payload; none afterwards, if the packet could be added
 *
 * Context: BH, the lock of @batch->av's owner held. skr_batch_seal() follows.
 * Return: as skr_batch_add().
 */
void *skr_batch_add_lent(struct skr_batch *batch, u32 hdr_bytes, u32 bytes,
			 struct skr_loan *loan);

/**
 * skr_batch_seal() - the newest packet is complete but for its ICRC
 * @batch: batch
 * @hdr_bytes: BTH and extended headers of that packet
 *
 * Context: BH, the lock of @batch->av's owner held.
 */
void skr_batch_seal(struct skr_batch *batch, u32 hdr_bytes);

/**
 * skr_batch_cancel() - take the newest packet out again
 * @batch: batch whose newest packet is not sealed
 *
 * Context: as skr_batch_add().
 */
void skr_batch_cancel(struct skr_batch *batch);

/**
 * skr_batch_flush() - send all that is there
 * @batch: batch with packets, all sealed; it is empty afterwards
 *
 * Context: BH, the lock of @batch->av's owner held.
 * Return: what became of them, of all alike.
 */
enum skr_tx skr_batch_flush(struct skr_batch *batch);

/**
 * skr_batch_exit() - free what batches keep for later ones
 *
 * Context: module exit.
 */
void skr_batch_exit(void);

#endif /* SKR_NET_BATCH_H */
