/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Memory of a process that is not pinned: on-demand paging.
 *
 * A region's accesses happen in softirq, where a page that is not there cannot be
 * brought in. So what is there is kept in tables that softirq can read:
 *
 *  - A table stands for SKR_ODP_SPAN bytes of the process, from a multiple of that
 *    on. It is an ib_umem_odp with an entry for each page: the page, and whether it
 *    may be written. An entry that is 0 says nothing: the page may be there or not.
 *  - An access takes the table's lock for reading, finds the entry, copies, and
 *    releases the lock. It holds no reference on the page.
 *  - When the process's memory changes - munmap, mremap, madvise, fork, migration,
 *    reclaim, write-protection by a file system - the mm tells us before it lets the
 *    page go (mmu_interval_notifier). The entries are cleared with the lock
 *    held for writing: an access under way ends first, a later one finds nothing.
 *    Pages that might have been written are marked dirty then.
 *  - An access that finds nothing is noted (struct skr_miss) and fails. The QP waits
 *    with the packet or request at hand (transport/fault.c), a worker brings the page
 *    in (skr_odp_bring()), and the QP tries again.
 *  - The worker makes the mm look the pages up, takes umem_mutex, which the
 *    notification takes as well, asks the mm whether anything changed meanwhile, and
 *    only if not fills in the entries.
 *
 * A region that is all of the process's memory (implicit) and one that is a part of it
 * are the same. Tables are made when they are first needed; beyond
 * SKR_ODP_MAX_TABLES each new one takes the place of another, whose pages are
 * brought in again when they are needed.
 *
 * Locks: umem_mutex, then the table's lock; skr_odp.mutex outside of both, never
 * in a notification. A table is found under dev->mr_srcu, or with a reference.
 */
#ifndef SKR_MEM_ODP_H
#define SKR_MEM_ODP_H

#include <linux/bits.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "../device.h"

struct ib_umem_odp;
struct mm_struct;

/* Bytes that a table stands for */
#define SKR_ODP_SHIFT		24
#define SKR_ODP_SPAN		BIT_ULL(SKR_ODP_SHIFT)
#define SKR_ODP_PAGES		(SKR_ODP_SPAN >> PAGE_SHIFT)
/* Tables of a region at most */
#define SKR_ODP_MAX_TABLES	4096
/* An entry's page may be written */
#define SKR_ODP_WRITE		1UL

/**
 * struct skr_odp_table - which pages of a span are there
 * @ref: one for the region, one for who brings pages in
 * @umem: ib_core's part, with the notifier
 * @lock: read-held for an access in softirq, write-held to change @entries
 * @entries: SKR_ODP_PAGES of them: struct page and SKR_ODP_WRITE, or 0
 */
struct skr_odp_table {
	struct kref		ref;
	struct ib_umem_odp	*umem;
	rwlock_t		lock;
	unsigned long		*entries;
};

/**
 * struct skr_odp - memory of a process that comes when it is needed
 * @ref: one for the region, one for who brings pages in
 * @dev: device
 * @umem: what tables are made from; its access is theirs
 * @mm: held (mmgrab) for @umem
 * @start: first address
 * @length: bytes
 * @writable: it may be written
 * @mutex: serializes making and dropping tables
 * @tables: by address >> SKR_ODP_SHIFT; read under dev->mr_srcu
 * @count: how many there are, under @mutex
 * @oldest: where the search for one to drop begins, under @mutex
 */
struct skr_odp {
	struct kref		ref;
	struct skr_dev		*dev;
	struct ib_umem_odp	*umem;
	struct mm_struct	*mm;
	u64			start;
	u64			length;
	bool			writable;
	struct mutex		mutex;
	struct xarray		tables;
	u32			count;
	unsigned long		oldest;
};

/**
 * enum skr_bring - what pages are brought in for
 * @SKR_BRING_READ: they will be read
 * @SKR_BRING_WRITE: they will be written
 * @SKR_BRING_PRESENT: nothing is brought in: only pages that are there are noted
 */
enum skr_bring {
	SKR_BRING_READ,
	SKR_BRING_WRITE,
	SKR_BRING_PRESENT,
};

#if IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING)

/**
 * skr_odp_create() - name memory of this process
 * @dev: device
 * @start: first address
 * @length: bytes
 * @access: IB_ACCESS_* that it will be used for
 *
 * Context: process.
 * Return: the memory, or an ERR_PTR.
 */
struct skr_odp *skr_odp_create(struct skr_dev *dev, u64 start, u64 length, int access);

/**
 * skr_odp_put() - drop a reference
 * @odp: memory
 *
 * Context: process.
 */
void skr_odp_put(struct skr_odp *odp);

/**
 * skr_odp_hold() - find bytes, and keep them where they are
 * @odp: memory
 * @at: offset of the first one
 * @length: bytes that are wanted; reduced to those that follow one another
 * @write: they will be written
 * @held: set to what skr_odp_drop() wants
 *
 * Context: BH, under dev->mr_srcu. On success skr_odp_drop() follows at once.
 * Return: their kernel address, or NULL if they are not there.
 */
void *skr_odp_hold(struct skr_odp *odp, u64 at, u32 *length, bool write,
		   struct skr_odp_table **held);

/**
 * skr_odp_drop() - the access is over
 * @held: from skr_odp_hold()
 *
 * Context: as skr_odp_hold().
 */
void skr_odp_drop(struct skr_odp_table *held);

/**
 * skr_odp_bring() - bring pages in
 * @odp: memory, held
 * @at: offset of the first byte
 * @length: bytes, more than 0; what is beyond the memory is left out
 * @how: for what
 *
 * Context: process; may take as long as the process's memory takes.
 * Return: 0 or a negative errno: -EBUSY to try again, -EINTR, or what will fail again.
 */
int skr_odp_bring(struct skr_odp *odp, u64 at, u64 length, enum skr_bring how);

#else

static inline struct skr_odp *skr_odp_create(struct skr_dev *dev, u64 start, u64 length,
					     int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void skr_odp_put(struct skr_odp *odp)
{
}

static inline void *skr_odp_hold(struct skr_odp *odp, u64 at, u32 *length, bool write,
				 struct skr_odp_table **held)
{
	return NULL;
}

static inline void skr_odp_drop(struct skr_odp_table *held)
{
}

static inline int skr_odp_bring(struct skr_odp *odp, u64 at, u64 length, enum skr_bring how)
{
	return -EOPNOTSUPP;
}

#endif

#endif /* SKR_MEM_ODP_H */
