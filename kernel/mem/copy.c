// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "copy.h"

#include <linux/atomic.h>
#include <linux/highmem.h>
#include <linux/net.h>
#include <linux/overflow.h>

/**
 * struct skr_copy - one side of a copy that is not a region
 * @to: memory to copy to, or NULL
 * @from: memory to copy from, or NULL
 * @skb: packet to copy from if @from is NULL, or NULL
 * @skb_offset: where in the packet
 * @loan: where to note the memory instead of copying, or NULL
 */
struct skr_copy {
	void			*to;
	const void		*from;
	const struct sk_buff	*skb;
	u32			skb_offset;
	struct skr_loan		*loan;
};

static bool skr_copy_writes(const struct skr_copy *copy)
{
	return copy->from || copy->skb;
}

/* Bytes from @piece on that one reference holds: of its page, or of all that belong to it */
static u32 skr_loan_add(struct skr_loan *loan, void *piece, u32 length)
{
	struct page *page = virt_to_page(piece), *head = compound_head(page);
	size_t offset = offset_in_page(piece) + page_to_phys(page) - page_to_phys(head);
	u32 n = min_t(size_t, length, page_size(head) - offset);
	struct bio_vec *last = loan->piece + loan->num - 1;

	if (loan->num && last->bv_page == head && last->bv_offset + last->bv_len == offset) {
		last->bv_len += n;
		return n;
	}
	/* skbs count in ints, which the largest of huge pages are too large for */
	if (loan->num == SKR_LOAN_PIECES || offset > INT_MAX || !sendpage_ok(head)) {
		loan->refused = true;
		return length;
	}
	get_page(head);
	bvec_set_page(&loan->piece[loan->num++], head, n, offset);
	return n;
}

static void skr_loan_piece(struct skr_loan *loan, void *piece, u32 length)
{
	u32 done;

	/* not what is mapped elsewhere */
	if (!virt_addr_valid(piece))
		loan->refused = true;
	for (done = 0; done < length && !loan->refused;)
		done += skr_loan_add(loan, piece + done, length - done);
}

void skr_loan_end(struct skr_loan *loan)
{
	while (loan->num)
		put_page(loan->piece[--loan->num].bv_page);
}

const void *skr_skb_at(const struct sk_buff *skb, u32 at, u32 bytes)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);
	u32 i, size, head = skb_headlen(skb);
	const u8 *piece;

	if (at + bytes <= head)
		return skb->data + at;
	if (at < head || !skb_frags_readable(skb))
		return NULL;
	at -= head;
	for (i = 0; i < shinfo->nr_frags; i++) {
		size = skb_frag_size(&shinfo->frags[i]);
		if (at < size) {
			piece = skb_frag_address_safe(&shinfo->frags[i]);
			return piece && at + bytes <= size ? piece + at : NULL;
		}
		at -= size;
	}
	return NULL;
}

/*
 * Most of what is copied has the size of a path MTU. Where it is known, the compiler copies
 * in words; memcpy() of any size may go byte by byte, and not every CPU that says it is good
 * at that is. Those that are, are worse at words that are not aligned.
 */
static void skr_copy_bytes(void *to, const void *from, u32 bytes)
{
	bool aligned = IS_ALIGNED((uintptr_t)to | (uintptr_t)from, sizeof(u64));

	switch (aligned ? bytes : 0) {
	case 1024:
		memcpy(to, from, 1024);
		break;
	case 2048:
		memcpy(to, from, 2048);
		break;
	case 4096:
		memcpy(to, from, 4096);
		break;
	default:
		memcpy(to, from, bytes);
	}
}

static void skr_copy_skb(const struct sk_buff *skb, u32 at, void *to, u32 bytes)
{
	const void *from = skr_skb_at(skb, at, bytes);

	if (from)
		skr_copy_bytes(to, from, bytes);
	else if (skb_copy_bits(skb, at, to, bytes))
		WARN_ON_ONCE(1);	/* lengths were proven at the door */
}

static void skr_copy_piece(const struct skr_copy *copy, u32 done, void *piece, u32 length)
{
	if (copy->to)
		skr_copy_bytes(copy->to + done, piece, length);
	else if (copy->from)
		skr_copy_bytes(piece, copy->from + done, length);
	else if (copy->loan)
		skr_loan_piece(copy->loan, piece, length);
	else
		skr_copy_skb(copy->skb, copy->skb_offset + done, piece, length);
}

/**
 * struct skr_reach - an access that has to be granted
 * @key: lkey or rkey
 * @access: IB_ACCESS_*
 * @addr: first address
 * @length: bytes
 * @most: bytes that may be asked for together with these
 */
struct skr_reach {
	u32	key;
	int	access;
	u64	addr;
	u32	length;
	u64	most;
};

/* What is copied before a page is missed is copied once more by the next attempt. */
static bool skr_mr_copy(const struct skr_mr *mr, u64 addr, const struct skr_reach *reach,
			const struct skr_who *who, const struct skr_copy *copy, u32 done)
{
	struct skr_odp_table *held;
	u32 left = reach->length;
	u64 most = reach->most;

	/* a device's memory may go whoever has a reference to it */
	if (copy->loan && mr->mem.dmabuf)
		copy->loan->refused = true;
	while (left) {
		u32 n = left;
		void *piece = skr_mr_hold(mr, addr, &n, skr_copy_writes(copy), &held);

		if (!piece) {
			skr_mr_missed(who->miss, &(struct skr_absent) {
				.key = mr->key.key,
				.addr = addr,
				.length = left,
				.most = most,
				.write = skr_copy_writes(copy),
			});
			return false;
		}
		skr_copy_piece(copy, done, piece, n);
		skr_mr_drop(held);
		addr += n;
		done += n;
		left -= n;
		most -= n;
	}
	return true;
}

static bool skr_key_copy_locked(struct skr_key *key, const struct skr_who *who,
				const struct skr_reach *reach, const struct skr_copy *copy,
				u32 done)
{
	u64 addr = reach->addr;
	struct skr_mr *mr;

	mr = skr_key_resolve(key, who, reach->key, reach->access, &addr, reach->length);
	return mr && skr_mr_copy(mr, addr, reach, who, copy, done);
}

static bool skr_key_copy(const struct skr_who *who, const struct skr_reach *reach,
			 const struct skr_copy *copy, u32 done)
{
	struct skr_key *key = skr_key_seek(who, reach->key);
	bool ok;

	if (!key)
		return false;
	if (!skr_key_changes(key))
		return skr_key_copy_locked(key, who, reach, copy, done);
	read_lock(&key->lock);
	ok = skr_key_copy_locked(key, who, reach, copy, done);
	read_unlock(&key->lock);
	return ok;
}

bool skr_remote_read(const struct skr_who *who, u32 rkey, u64 addr, void *to, u32 length)
{
	struct skr_reach reach = {
		.key = rkey,
		.access = IB_ACCESS_REMOTE_READ,
		.addr = addr,
		.length = length,
		.most = U64_MAX,
	};
	struct skr_copy copy = { .to = to };

	return skr_key_copy(who, &reach, &copy, 0);
}

static struct skr_copy skr_copy_source(const struct skr_source *from)
{
	return (struct skr_copy) {
		.from = from->piece,
		.skb = from->skb,
		.skb_offset = from->offset,
	};
}

bool skr_remote_write_skb(const struct skr_who *who, u32 rkey, u64 addr,
			  const struct skr_source *from, u32 length)
{
	struct skr_reach reach = {
		.key = rkey,
		.access = IB_ACCESS_REMOTE_WRITE,
		.addr = addr,
		.length = length,
		.most = U64_MAX,
	};
	struct skr_copy copy = skr_copy_source(from);

	return skr_key_copy(who, &reach, &copy, 0);
}

static void skr_atomic_do(struct skr_atomic *atomic, atomic64_t *v)
{
	switch (atomic->op) {
	case SKR_ATOMIC_ADD:
		atomic->orig = atomic64_fetch_add(atomic->swap_add, v);
		break;
	case SKR_ATOMIC_CAS:
		atomic->orig = atomic64_cmpxchg(v, atomic->compare, atomic->swap_add);
		break;
	case SKR_ATOMIC_STORE:
		/* who sees it sees the WRITEs before it */
		atomic64_set_release(v, atomic->swap_add);
		break;
	}
}

static bool skr_atomic_execute(atomic64_t *v, u32 length, struct skr_atomic *atomic)
{
	/* a region that begins off the peer's alignment puts the value across it */
	if (length < sizeof(u64) || (uintptr_t)v & (sizeof(u64) - 1))
		return false;
	skr_atomic_do(atomic, v);
	return true;
}

static bool skr_key_atomic_locked(struct skr_key *key, const struct skr_who *who,
				  struct skr_atomic *atomic)
{
	int access = atomic->op == SKR_ATOMIC_STORE ? IB_ACCESS_REMOTE_WRITE :
						      IB_ACCESS_REMOTE_ATOMIC;
	struct skr_odp_table *held;
	u32 length = sizeof(u64);
	u64 addr = atomic->addr;
	struct skr_mr *mr;
	void *v;
	bool ok;

	mr = skr_key_resolve(key, who, atomic->rkey, access, &addr, length);
	if (!mr)
		return false;
	v = skr_mr_hold(mr, addr, &length, true, &held);
	if (!v) {
		skr_mr_missed(who->miss, &(struct skr_absent) {
			.key = mr->key.key,
			.addr = addr,
			.length = length,
			.most = length,
			.write = true,
		});
		return false;
	}
	ok = skr_atomic_execute(v, length, atomic);
	skr_mr_drop(held);
	return ok;
}

bool skr_remote_atomic(const struct skr_who *who, struct skr_atomic *atomic)
{
	struct skr_key *key = skr_key_seek(who, atomic->rkey);
	bool ok;

	if (!key)
		return false;
	if (!skr_key_changes(key))
		return skr_key_atomic_locked(key, who, atomic);
	read_lock(&key->lock);
	ok = skr_key_atomic_locked(key, who, atomic);
	read_unlock(&key->lock);
	return ok;
}

static bool skr_sges_copy(const struct skr_sges *sges, u32 offset, u32 length, int access,
			  const struct skr_copy *copy)
{
	u32 done = 0;
	u32 i;

	for (i = 0; i < sges->num_sge && done < length; i++) {
		const struct skerry_sge *sge = &sges->sge[i];
		struct skr_reach reach = {
			.key = sge->lkey,
			.access = access,
		};

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		/* What is used must be right; room that a message leaves may be anything. */
		if (check_add_overflow(sge->addr, offset, &reach.addr))
			return false;
		reach.most = sge->length - offset;
		reach.length = min_t(u64, length - done, reach.most);
		if (!skr_key_copy(&sges->who, &reach, copy, done))
			return false;
		done += reach.length;
		offset = 0;
	}
	return done == length;
}

bool skr_sges_read(const struct skr_sges *sges, u32 offset, void *to, u32 length)
{
	struct skr_copy copy = { .to = to };

	return skr_sges_copy(sges, offset, length, 0, &copy);
}

int skr_sges_lend(const struct skr_sges *sges, u32 offset, u32 length, struct skr_loan *loan)
{
	struct skr_copy copy = { .loan = loan };
	bool ok;

	loan->num = 0;
	loan->bytes = length;
	loan->refused = false;
	ok = skr_sges_copy(sges, offset, length, 0, &copy);
	if (ok && !loan->refused)
		return 0;
	skr_loan_end(loan);
	return ok ? -EOPNOTSUPP : -EFAULT;
}

bool skr_sges_write_skb(const struct skr_sges *sges, u32 offset, const struct skr_source *from,
			u32 length)
{
	struct skr_copy copy = skr_copy_source(from);

	return skr_sges_copy(sges, offset, length, IB_ACCESS_LOCAL_WRITE, &copy);
}

bool skr_sges_write(const struct skr_sges *sges, u32 offset, const void *from, u32 length)
{
	struct skr_copy copy = { .from = from };

	return skr_sges_copy(sges, offset, length, IB_ACCESS_LOCAL_WRITE, &copy);
}
