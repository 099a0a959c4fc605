/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Where packets are written: pieces of pages that a CPU uses again and again. A new page
 * costs as much as the copy, where the kernel clears pages when they are allocated.
 */
#ifndef SKR_NET_PAGES_H
#define SKR_NET_PAGES_H

#include <linux/mm_types.h>

/**
 * skr_pages_begin() - the page in use, with room
 * @bytes: how much
 *
 * What is taken from it, its owner gets a reference to and adds to the offset.
 *
 * Context: BH. skr_pages_end() follows, soon, whatever is returned.
 * Return: the page, whose room begins at its offset, or NULL if there is no memory.
 */
struct page_frag *skr_pages_begin(u32 bytes);

/**
 * skr_pages_end() - enough has been taken
 *
 * Context: BH, behind skr_pages_begin().
 */
void skr_pages_end(void);

/**
 * skr_pages_piece() - a piece by itself
 * @bytes: its size
 *
 * Context: BH.
 * Return: the piece, aligned to cache lines, which skb_free_frag() or whoever frees an skb
 *	built of it gives back, or NULL if there is no memory.
 */
void *skr_pages_piece(u32 bytes);

/**
 * skr_pages_exit() - free what is kept for later
 *
 * Context: module exit; nobody sends any more.
 */
void skr_pages_exit(void);

#endif /* SKR_NET_PAGES_H */
