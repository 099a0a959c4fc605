/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The class that a packet travels in: skb->priority, from which the qdiscs of the
 * local stack and the priority of a VLAN tag follow.
 *
 * The level, a priority of 802.1Q, is the first of
 *
 * - the service level of the address vector, if it is not 0. What rdma_cm puts
 *   there it has made of the type of service already;
 * - what the DCB APP table of the netdev, or of a netdev below it, says of the
 *   packet's DSCP, then of UDP port 4791, or for RoCEv1 of its ethertype, then of
 *   what nothing else is said of;
 * - 0.
 *
 * A VLAN device makes the tag of skb->priority, by its egress map: the priority is
 * the one that the map leads from to the level. Anywhere else they are the same.
 */
#ifndef SKR_NET_PRIO_H
#define SKR_NET_PRIO_H

#include "av.h"

/**
 * skr_prio_init() - follow the DCB tables from now on
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int skr_prio_init(void);

/**
 * skr_prio_exit() - undo skr_prio_init()
 *
 * Context: module exit; no device is left.
 */
void skr_prio_exit(void);

/**
 * skr_prio_changed() - a table, a VLAN's map or what lies below a netdev may have
 *	changed
 *
 * Each address vector finds its class anew before its next packet.
 *
 * Context: any.
 */
void skr_prio_changed(void);

/**
 * skr_prio_find() - see to it that an address vector has its class
 * @dev: device
 * @av: address vector
 *
 * Context: BH, the owner's lock held.
 */
void skr_prio_find(struct skr_dev *dev, struct skr_av *av);

/**
 * skr_prio_of() - the class of a level on an address vector's way
 * @dev: device
 * @av: address vector
 * @level: priority of 802.1Q
 *
 * Context: BH.
 * Return: the class.
 */
struct skr_class skr_prio_of(struct skr_dev *dev, const struct skr_av *av, u8 level);

#endif /* SKR_NET_PRIO_H */
