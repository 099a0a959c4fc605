/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Memory regions and windows, and the keys that name them.
 *
 * What a key names is found under dev->mr_srcu and may be used until that is
 * released; whoever takes it away for good erases its key first and then waits
 * for dev->mr_srcu. No reference is counted per packet.
 *
 * Fast regions and windows change while they are in the table: work requests
 * give them a new key and new memory, and invalidate them. Each has a lock for
 * that, read-held for the moment of an access and write-held for the change:
 * once a change is complete nothing is accessed by what was before. All other
 * regions are constant while they can be found, and are accessed without it: one
 * that is registered anew cannot be found for that moment (skr_key_hide()).
 */
#ifndef SKR_MEM_REGION_H
#define SKR_MEM_REGION_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "../device.h"
#include "memory.h"
#include "odp.h"

/* A key is an index into dev->mrs and, in the low byte, a number to vary. */
#define SKR_KEY_SHIFT	8

/* What a peer can be granted */
#define SKR_ACCESS_REMOTE	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_ATOMIC)

/**
 * enum skr_key_kind - what a key names
 * @SKR_MR_DMA: all of the kernel's memory; an address is a kernel address
 * @SKR_MR_USER: memory of a process
 * @SKR_MR_FAST: pages that a work request names; kernel consumers only
 * @SKR_MW_1: window that is bound by the bind verb, or not bound
 * @SKR_MW_2: window that is bound by a work request, for one QP
 */
enum skr_key_kind {
	SKR_MR_DMA,
	SKR_MR_USER,
	SKR_MR_FAST,
	SKR_MW_1,
	SKR_MW_2,
};

/**
 * struct skr_key - the part that regions and windows have in common
 * @kind: what it is; constant
 * @key: lkey and rkey; only the low byte ever changes
 * @valid: it can be used for access
 * @pd: protection domain
 * @access: IB_ACCESS_*
 * @start: first address
 * @length: bytes
 * @lock: see above; SKR_MR_FAST, SKR_MW_1 and SKR_MW_2. Taken inside a QP's
 *	lock; a window's before its region's. Of others only for those who come by
 *	another way than the key, to show them
 */
struct skr_key {
	enum skr_key_kind	kind;
	u32			key;
	bool			valid;
	struct ib_pd		*pd;
	int			access;
	u64			start;
	u64			length;
	rwlock_t		lock;
};

/**
 * struct skr_page_list - memory of a fast region
 * @addr: kernel addresses of its pages, room for @max
 * @max: most pages
 * @n: pages
 * @shift: of the page size
 * @offset: of the first byte in the first page
 */
struct skr_page_list {
	u64	*addr;
	u32	max;
	u32	n;
	u8	shift;
	u32	offset;
};

/**
 * struct skr_mr - a memory region
 * @ibmr: ib_core's part
 * @key: its key
 * @mem: memory; SKR_MR_USER
 * @list: memory in use; SKR_MR_FAST, under key.lock
 * @next: memory that the next REG_MR puts in use, none if nothing was mapped
 *	since the last one; SKR_MR_FAST. It belongs to the consumer between
 *	map_mr_sg() and the completion of the REG_MR
 * @windows: windows bound to it; negative while it is being deregistered or
 *	registered anew
 */
struct skr_mr {
	struct ib_mr		ibmr;
	struct skr_key		key;
	struct skr_memory	mem;
	struct skr_page_list	list;
	struct skr_page_list	next;
	atomic_t		windows;
};

/**
 * struct skr_mw - a memory window
 * @ibmw: ib_core's part; allocated and freed by it
 * @key: its key; access, start and length of what is bound
 * @mr: region that it is bound to; under key.lock, valid with key.valid
 * @base: address in @mr that key.start stands for
 * @qpn: QP whose peer may use it; SKR_MW_2
 */
struct skr_mw {
	struct ib_mw	ibmw;
	struct skr_key	key;
	struct skr_mr	*mr;
	u64		base;
	u32		qpn;
};

/**
 * struct skr_absent - bytes of a region whose page is not there
 * @key: of the region
 * @addr: address of the first one
 * @length: bytes that are needed
 * @most: bytes that may be needed: so far the access is granted
 * @write: they will be written
 */
struct skr_absent {
	u32	key;
	u64	addr;
	u64	length;
	u64	most;
	bool	write;
};

/**
 * struct skr_miss - what becomes of accesses to pages that are not there
 * @missed: one failed for that, not because it was refused
 * @what: which one
 * @hopeless: @gone cannot be brought in: an access to it is refused, once
 * @gone: see @hopeless
 */
struct skr_miss {
	bool			missed;
	struct skr_absent	what;
	bool			hopeless;
	struct skr_absent	gone;
};

/**
 * struct skr_who - who wants access
 * @dev: device
 * @pd: protection domain of the QP
 * @qpn: number of the QP
 * @miss: where a page that is not there is noted
 * @last: where the last one that it found of what does not change is kept, which is NULL
 *	when dev->mr_srcu is entered; or NULL
 */
struct skr_who {
	struct skr_dev	*dev;
	struct ib_pd	*pd;
	u32		qpn;
	struct skr_miss	*miss;
	struct skr_key	**last;
};

/**
 * skr_mr() - our region
 * @ibmr: ib_core's view of it
 *
 * Return: the region that contains @ibmr.
 */
static inline struct skr_mr *skr_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct skr_mr, ibmr);
}

/**
 * skr_mw() - our window
 * @ibmw: ib_core's view of it
 *
 * Return: the window that contains @ibmw.
 */
static inline struct skr_mw *skr_mw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct skr_mw, ibmw);
}

/**
 * skr_key_changes() - does what a key names change while it can be found?
 * @key: key
 *
 * Return: true if its lock has to be held for an access.
 */
static inline bool skr_key_changes(const struct skr_key *key)
{
	return key->kind >= SKR_MR_FAST;
}

/**
 * skr_key_add() - give a region or window its key and make it findable
 * @dev: device
 * @key: complete but for the key itself and its lock
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int skr_key_add(struct skr_dev *dev, struct skr_key *key);

/**
 * skr_key_remove() - make a region or window unfindable and wait for its users
 * @dev: device
 * @key: key
 *
 * Context: process.
 */
void skr_key_remove(struct skr_dev *dev, struct skr_key *key);

/**
 * skr_key_hide() - make a region unfindable for now and wait for its users
 * @dev: device
 * @key: key, which stays its own
 *
 * Context: process.
 */
void skr_key_hide(struct skr_dev *dev, struct skr_key *key);

/**
 * skr_key_show() - undo skr_key_hide()
 * @dev: device
 * @key: key, changed or not
 *
 * Context: process.
 */
void skr_key_show(struct skr_dev *dev, struct skr_key *key);

/**
 * skr_key_find() - find what a key names
 * @dev: device
 * @key: lkey or rkey; its low byte is not looked at
 *
 * Context: under dev->mr_srcu.
 * Return: the region or window, or NULL.
 */
struct skr_key *skr_key_find(struct skr_dev *dev, u32 key);

/**
 * skr_key_seek() - find what a key names; soon, if it is the one that was sought before
 * @who: who seeks
 * @value: the whole lkey or rkey
 *
 * What was found may have gone since, but those who want to free it wait for dev->mr_srcu,
 * as they wait for an access that began before.
 *
 * Context: under dev->mr_srcu; the lock of the QP that @who stands for held.
 * Return: the region or window, or NULL.
 */
static inline struct skr_key *skr_key_seek(const struct skr_who *who, u32 value)
{
	struct skr_key *key = who->last ? *who->last : NULL;

	if (key && key->key == value)
		return key;
	key = skr_key_find(who->dev, value);
	if (who->last && key && !skr_key_changes(key))
		*who->last = key;
	return key;
}

/**
 * skr_key_resolve() - check an access, and find the region that it goes to
 * @key: from skr_key_find() or skr_key_seek()
 * @who: who asks
 * @value: the whole lkey or rkey
 * @access: IB_ACCESS_* that are all needed, or 0 for a local read
 * @addr: first address; changed into an address of the region
 * @length: bytes, more than 0
 *
 * Address arithmetic is safe up to the last byte of the 64-bit space. A window
 * gives remote access only.
 *
 * Context: under dev->mr_srcu; @key->lock held if skr_key_changes().
 * Return: the region, or NULL if the key, the domain, the QP, the access or the
 *	range is wrong.
 */
struct skr_mr *skr_key_resolve(struct skr_key *key, const struct skr_who *who, u32 value,
			       int access, u64 *addr, u64 length);

/**
 * skr_mr_hold_other() - skr_mr_hold(), of what is not pinned pages of a process
 * @mr: region
 * @addr: first address
 * @length: bytes that are wanted; reduced to those that follow one another
 * @write: they will be written
 * @held: set to what skr_mr_drop() wants
 *
 * Context: as skr_mr_hold().
 * Return: their kernel address, or NULL if the page is not there.
 */
void *skr_mr_hold_other(const struct skr_mr *mr, u64 addr, u32 *length, bool write,
			struct skr_odp_table **held);

/**
 * skr_mr_hold() - find bytes of a region, and keep them where they are
 * @mr: region
 * @addr: first address
 * @length: bytes that are wanted, all within the region; reduced to those that
 *	follow one another
 * @write: they will be written
 * @held: set to what skr_mr_drop() wants
 *
 * Context: as skr_key_resolve(). On success skr_mr_drop() follows at once.
 * Return: their kernel address, or NULL if the page is not there.
 */
static inline void *skr_mr_hold(const struct skr_mr *mr, u64 addr, u32 *length, bool write,
				struct skr_odp_table **held)
{
	if (mr->key.kind != SKR_MR_USER || mr->mem.odp)
		return skr_mr_hold_other(mr, addr, length, write, held);
	*held = NULL;
	return skr_memory_piece(&mr->mem, addr - mr->key.start, length);
}

/**
 * skr_mr_drop() - the access is over
 * @held: from skr_mr_hold()
 *
 * Context: as skr_mr_hold().
 */
static inline void skr_mr_drop(struct skr_odp_table *held)
{
	if (held)
		skr_odp_drop(held);
}

/**
 * skr_mr_missed() - an access found no page
 * @miss: where to note it
 * @what: which one
 *
 * Notes it, unless it is known to be hopeless: then the access is refused.
 *
 * Context: BH, the owner's lock held.
 */
void skr_mr_missed(struct skr_miss *miss, const struct skr_absent *what);

/**
 * skr_mr_bring() - bring in what was missed
 * @dev: device
 * @what: what was missed
 *
 * Context: process.
 * Return: 0 or a negative errno, as skr_odp_bring().
 */
int skr_mr_bring(struct skr_dev *dev, const struct skr_absent *what);

/**
 * skr_access_ok() - would this access be granted now?
 * @who: who asks
 * @value: rkey
 * @access: IB_ACCESS_* that are all needed
 * @addr: first address
 * @length: bytes, more than 0
 *
 * Context: BH, under dev->mr_srcu.
 * Return: true if it would.
 */
bool skr_access_ok(const struct skr_who *who, u32 value, int access, u64 addr, u64 length);

/**
 * skr_access_all_ok() - would access to all of a region be granted now?
 * @who: who asks
 * @value: rkey
 * @access: IB_ACCESS_* that are all needed
 *
 * Context: BH, under dev->mr_srcu.
 * Return: true if it would.
 */
bool skr_access_all_ok(const struct skr_who *who, u32 value, int access);

#endif /* SKR_MEM_REGION_H */
