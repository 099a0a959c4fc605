// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "odp.h"

#include <linux/hmm.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_umem_odp.h>

/* Entries that are cleared with the lock held */
#define SKR_ODP_BATCH	64

static unsigned int skr_odp_index(u64 va)
{
	return (va & (SKR_ODP_SPAN - 1)) >> PAGE_SHIFT;
}

static struct page *skr_odp_page(unsigned long entry)
{
	return (struct page *)(entry & ~SKR_ODP_WRITE);
}

/* Clear up to SKR_ODP_BATCH entries; those cleared are copied to @were. */
static void skr_odp_clear_batch(struct skr_odp_table *table, unsigned int first, unsigned int n,
				unsigned long *were)
{
	write_lock_bh(&table->lock);
	memcpy(were, table->entries + first, n * sizeof(*were));
	memset(table->entries + first, 0, n * sizeof(*were));
	write_unlock_bh(&table->lock);
}

/* No access to the pages from @first up to @end any more. Under umem_mutex. */
static void skr_odp_clear(struct skr_odp_table *table, unsigned int first, unsigned int end)
{
	unsigned long were[SKR_ODP_BATCH];
	unsigned int n, i;

	lockdep_assert_held(&table->umem->umem_mutex);
	for (; first < end; first += n) {
		n = min_t(unsigned int, end - first, SKR_ODP_BATCH);
		skr_odp_clear_batch(table, first, n, were);
		/* the mm does not let go of them before we return */
		for (i = 0; i < n; i++)
			if (were[i] & SKR_ODP_WRITE)
				set_page_dirty(compound_head(skr_odp_page(were[i])));
	}
}

static bool skr_odp_invalidate(struct mmu_interval_notifier *notifier,
			       const struct mmu_notifier_range *range, unsigned long seq)
{
	struct ib_umem_odp *umem = container_of(notifier, struct ib_umem_odp, notifier);
	u64 start = max_t(u64, range->start, ib_umem_start(umem));
	u64 end = min_t(u64, range->end, ib_umem_end(umem));
	struct skr_odp_table *table;

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&umem->umem_mutex);
	mmu_interval_set_seq(notifier, seq);
	table = umem->private;
	/* not yet: it has just been made, and is empty */
	if (table)
		skr_odp_clear(table, skr_odp_index(start), skr_odp_index(end - 1) + 1);
	ib_umem_odp_unmap_dma_pages(umem, start, end);
	mutex_unlock(&umem->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops skr_odp_ops = {
	.invalidate = skr_odp_invalidate,
};

static struct skr_odp_table *skr_odp_table_create(struct skr_odp *odp, u64 va)
{
	u64 start = va & ~(SKR_ODP_SPAN - 1);
	struct skr_odp_table *table;
	int err = -ENOMEM;

	table = kzalloc_obj(*table, GFP_KERNEL_ACCOUNT);
	if (!table)
		return ERR_PTR(-ENOMEM);
	kref_init(&table->ref);
	rwlock_init(&table->lock);
	table->entries = kvcalloc(SKR_ODP_PAGES, sizeof(*table->entries), GFP_KERNEL_ACCOUNT);
	if (!table->entries)
		goto err_free;
	table->umem = ib_umem_odp_alloc_child(odp->umem, start, SKR_ODP_SPAN, &skr_odp_ops);
	if (IS_ERR(table->umem)) {
		err = PTR_ERR(table->umem);
		goto err_free;
	}
	mutex_lock(&table->umem->umem_mutex);
	table->umem->private = table;
	mutex_unlock(&table->umem->umem_mutex);
	return table;

err_free:
	kvfree(table->entries);
	kfree(table);
	return ERR_PTR(err);
}

static void skr_odp_table_free(struct kref *ref)
{
	struct skr_odp_table *table = container_of(ref, struct skr_odp_table, ref);

	mutex_lock(&table->umem->umem_mutex);
	skr_odp_clear(table, 0, SKR_ODP_PAGES);
	mutex_unlock(&table->umem->umem_mutex);
	/* notifications are over when this returns */
	ib_umem_odp_release(table->umem);
	kvfree(table->entries);
	kfree(table);
}

static void skr_odp_table_put(struct skr_odp_table *table)
{
	kref_put(&table->ref, skr_odp_table_free);
}

/* Make room for one more, in turn. */
static void skr_odp_evict(struct skr_odp *odp)
{
	struct skr_odp_table *table;
	unsigned long index = odp->oldest;

	lockdep_assert_held(&odp->mutex);
	table = xa_find(&odp->tables, &index, ULONG_MAX, XA_PRESENT);
	if (!table) {
		index = 0;
		table = xa_find(&odp->tables, &index, ULONG_MAX, XA_PRESENT);
	}
	if (WARN_ON_ONCE(!table))
		return;
	odp->oldest = index + 1;
	xa_erase(&odp->tables, index);
	odp->count--;
	synchronize_srcu_expedited(&odp->dev->mr_srcu);
	skr_odp_table_put(table);
}

static struct skr_odp_table *skr_odp_table_add(struct skr_odp *odp, u64 va)
{
	struct skr_odp_table *table;
	int err;

	lockdep_assert_held(&odp->mutex);
	if (odp->count >= SKR_ODP_MAX_TABLES)
		skr_odp_evict(odp);
	table = skr_odp_table_create(odp, va);
	if (IS_ERR(table))
		return table;
	err = xa_err(xa_store(&odp->tables, va >> SKR_ODP_SHIFT, table, GFP_KERNEL));
	if (err) {
		skr_odp_table_put(table);
		return ERR_PTR(err);
	}
	odp->count++;
	return table;
}

/*
 * Who makes a table may be a worker, which is in no cgroup: it counts in that of the
 * process whose memory it is.
 */
static struct skr_odp_table *skr_odp_table_add_charged(struct skr_odp *odp, u64 va)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(odp->mm);
	struct mem_cgroup *old = set_active_memcg(memcg);
	struct skr_odp_table *table = skr_odp_table_add(odp, va);

	set_active_memcg(old);
	mem_cgroup_put(memcg);
	return table;
}

/* The table for an address, made if need be, with a reference; or an ERR_PTR. */
static struct skr_odp_table *skr_odp_table_get(struct skr_odp *odp, u64 va)
{
	struct skr_odp_table *table;

	if (mutex_lock_killable(&odp->mutex))
		return ERR_PTR(-EINTR);
	table = xa_load(&odp->tables, va >> SKR_ODP_SHIFT);
	if (!table)
		table = skr_odp_table_add_charged(odp, va);
	if (!IS_ERR(table))
		kref_get(&table->ref);
	mutex_unlock(&odp->mutex);
	return table;
}

/*
 * Can the kernel access it? Memory that is a process's secret (memfd_secret()) has been
 * taken out of the kernel's own map before the process could see it, and is not put back
 * before it is free. What pins pages refuses it, and HMM does not.
 */
static bool skr_odp_mapped(struct page *page)
{
	u8 byte;

	return !copy_from_kernel_nofault(&byte, page_address(page), sizeof(byte));
}

/*
 * Pages that were looked up may be accessed. Under umem_mutex. Return: 0, or -EFAULT if the
 * kernel itself must not access one.
 */
static int skr_odp_fill(struct skr_odp_table *table, u64 va, u64 end, bool write)
{
	const unsigned long *pfns = skr_odp_pfns(table->umem);
	unsigned int last = skr_odp_index(end - 1);
	unsigned long entry;
	unsigned int i;

	lockdep_assert_held(&table->umem->umem_mutex);
	for (i = skr_odp_index(va); i <= last; i++) {
		if (!(pfns[i] & HMM_PFN_VALID) || (write && !(pfns[i] & HMM_PFN_WRITE)))
			continue;
		if (!skr_odp_mapped(hmm_pfn_to_page(pfns[i])))
			return -EFAULT;
		entry = (unsigned long)hmm_pfn_to_page(pfns[i]);
		if (write)
			entry |= SKR_ODP_WRITE;
		write_lock_bh(&table->lock);
		/* what could be written still can */
		if (table->entries[i] != (entry | SKR_ODP_WRITE))
			table->entries[i] = entry;
		write_unlock_bh(&table->lock);
	}
	return 0;
}

static int skr_odp_table_bring(struct skr_odp_table *table, u64 va, u64 end, enum skr_bring how)
{
	u64 access = how == SKR_BRING_WRITE ? SKR_ODP_ACCESS_WRITE : SKR_ODP_ACCESS_READ;
	int pages, err;

	pages = ib_umem_odp_map_dma_and_lock(table->umem, va, end - va, access,
					     how != SKR_BRING_PRESENT);
	if (pages < 0)
		return pages;
	err = skr_odp_fill(table, va, end, how == SKR_BRING_WRITE);
	mutex_unlock(&table->umem->umem_mutex);
	return err;
}

int skr_odp_bring(struct skr_odp *odp, u64 at, u64 length, enum skr_bring how)
{
	struct skr_odp_table *table;
	u64 va, end, part;
	int err = 0;

	if (at >= odp->length)
		return -EFAULT;
	va = odp->start + at;
	end = va + min(length, odp->length - at);
	if (end <= va)
		return -EFAULT;
	for (; va < end && !err; va = part) {
		part = min(end, (va | (SKR_ODP_SPAN - 1)) + 1);
		if (part <= va)
			return -EFAULT;	/* the last span there is belongs to no process */
		if (fatal_signal_pending(current))
			return -EINTR;
		table = skr_odp_table_get(odp, va);
		if (IS_ERR(table))
			return PTR_ERR(table);
		err = skr_odp_table_bring(table, va, part, how);
		skr_odp_table_put(table);
		cond_resched();
	}
	return err;
}

void *skr_odp_hold(struct skr_odp *odp, u64 at, u32 *length, bool write,
		   struct skr_odp_table **held)
{
	u64 va = odp->start + at;
	struct skr_odp_table *table;
	unsigned long entry;

	RCU_LOCKDEP_WARN(!srcu_read_lock_held(&odp->dev->mr_srcu), "a table without mr_srcu");
	table = xa_load(&odp->tables, va >> SKR_ODP_SHIFT);
	if (!table)
		return NULL;
	read_lock(&table->lock);
	entry = table->entries[skr_odp_index(va)];
	if (!entry || (write && !(entry & SKR_ODP_WRITE))) {
		read_unlock(&table->lock);
		return NULL;
	}
	*length = min_t(u32, *length, PAGE_SIZE - offset_in_page(va));
	*held = table;
	/* sparse cannot follow a lock that is kept only on success */
	__release(&table->lock);
	return page_address(skr_odp_page(entry)) + offset_in_page(va);
}

void skr_odp_drop(struct skr_odp_table *held)
{
	__acquire(&held->lock);
	read_unlock(&held->lock);
}

struct skr_odp *skr_odp_create(struct skr_dev *dev, u64 start, u64 length, int access)
{
	struct skr_odp *odp;
	int err;

	odp = kzalloc_obj(*odp, GFP_KERNEL_ACCOUNT);
	if (!odp)
		return ERR_PTR(-ENOMEM);
	/* huge or not: a page is looked up when it is needed */
	odp->umem = ib_umem_odp_alloc_implicit(&dev->ibdev, access & ~IB_ACCESS_HUGETLB);
	if (IS_ERR(odp->umem)) {
		err = PTR_ERR(odp->umem);
		kfree(odp);
		return ERR_PTR(err);
	}
	kref_init(&odp->ref);
	mutex_init(&odp->mutex);
	xa_init_flags(&odp->tables, XA_FLAGS_ACCOUNT);
	odp->dev = dev;
	odp->start = start;
	odp->length = length;
	odp->writable = ib_access_writable(access);
	odp->mm = current->mm;
	mmgrab(odp->mm);
	return odp;
}

static void skr_odp_free(struct kref *ref)
{
	struct skr_odp *odp = container_of(ref, struct skr_odp, ref);
	struct skr_odp_table *table;
	unsigned long index;

	xa_for_each(&odp->tables, index, table)
		skr_odp_table_put(table);
	xa_destroy(&odp->tables);
	ib_umem_odp_release(odp->umem);
	mmdrop(odp->mm);
	kfree(odp);
}

void skr_odp_put(struct skr_odp *odp)
{
	kref_put(&odp->ref, skr_odp_free);
}
