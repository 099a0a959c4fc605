/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Where an address handle leads to. A work request names it by number, so that
 * user space can name nothing else; the number is looked up when the request
 * is executed, under RCU.
 */
#ifndef SKR_NET_DEST_H
#define SKR_NET_DEST_H

#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "av.h"

/**
 * struct skr_dest - a destination of datagrams
 * @rcu: frees it when no sender can have found it any more
 * @lock: protects route cache and class in @av; the rest is constant
 * @pd: protection domain of the address handle; compared, never followed
 * @num: number
 * @av: address vector; its source port is the one of a flow without QPs
 */
struct skr_dest {
	struct rcu_head	rcu;
	spinlock_t	lock;
	struct ib_pd	*pd;
	u32		num;
	struct skr_av	av;
};

/**
 * skr_dest_create() - make a destination and give it its number
 * @dev: device
 * @pd: protection domain of the address handle
 * @attr: with GRH and source GID attribute
 * @gfp: how to allocate
 *
 * Context: as @gfp says; interrupts may be off with GFP_ATOMIC.
 * Return: the destination, or an ERR_PTR: -EINVAL as skr_av_init(), -ENOMEM, also if all
 *	numbers are taken.
 */
struct skr_dest *skr_dest_create(struct skr_dev *dev, struct ib_pd *pd,
				 const struct rdma_ah_attr *attr, gfp_t gfp);

/**
 * skr_dest_destroy() - take a destination away
 * @dev: device
 * @dest: from skr_dest_create()
 *
 * Context: any, also with interrupts off.
 */
void skr_dest_destroy(struct skr_dev *dev, struct skr_dest *dest);

/**
 * skr_dest_find() - the address that a number stands for
 * @dev: device
 * @pd: protection domain of the QP
 * @num: number, not trusted
 * @av: filled with a copy that has a reference of its own to the route: to be
 *	given to skr_av_release()
 *
 * Context: BH.
 * Return: false if there is no such address handle in @pd.
 */
bool skr_dest_find(struct skr_dev *dev, const struct ib_pd *pd, u32 num, struct skr_av *av);

#endif /* SKR_NET_DEST_H */
