/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Multicast groups: which QPs get a copy of what is sent to a group
 * (IBTA 10.5).
 *
 * Groups and members change under the lock of the device's table and are read
 * under RCU. A member is a plain pointer to its QP: ib_core destroys no QP
 * that is attached, and a QP is freed after an RCU grace period.
 */
#ifndef SKR_TRANSPORT_MGROUP_H
#define SKR_TRANSPORT_MGROUP_H

#include <linux/in6.h>

#include "qp.h"

/**
 * skr_groups_create() - make a device's table of groups
 * @dev: device
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int skr_groups_create(struct skr_dev *dev);

/**
 * skr_groups_destroy() - undo skr_groups_create()
 * @dev: device that has no QP any more
 *
 * Context: process.
 */
void skr_groups_destroy(struct skr_dev *dev);

/**
 * skr_group_attach() - a QP wants what is sent to a group
 * @qp: QP
 * @gid: the group
 *
 * The first one makes the netdev join the group. ib_core tells attachments apart by GID
 * and LID, and a QP with one that cannot be detached is never destroyed: so they are
 * counted, whatever the LID, which RoCE has not got. There is one copy of each packet.
 *
 * Context: process, without rtnl.
 * Return: 0; -ENOMEM, also at a limit; or what joining failed with.
 */
int skr_group_attach(struct skr_qp *qp, const struct in6_addr *gid);

/**
 * skr_group_detach() - undo one skr_group_attach()
 * @qp: QP
 * @gid: the group
 *
 * Context: process, without rtnl.
 * Return: 0, or -EINVAL if it was not attached.
 */
int skr_group_detach(struct skr_qp *qp, const struct in6_addr *gid);

/**
 * typedef skr_deliver - give a packet to a member of a group
 * @qp: member
 * @skb: its copy of the packet; consumed
 * @pkt: the packet's facts
 */
typedef void skr_deliver(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt);

/**
 * skr_group_deliver() - give each member of a group a copy
 * @dev: device that the packet came to
 * @gid: the group
 * @skb: packet; not consumed
 * @pkt: its facts
 * @deliver: called for each member
 *
 * Context: softirq, under RCU.
 * Return: false if there is no such group here.
 */
bool skr_group_deliver(struct skr_dev *dev, const struct in6_addr *gid, struct sk_buff *skb,
		       const struct skr_pkt *pkt, skr_deliver *deliver);

#endif /* SKR_TRANSPORT_MGROUP_H */
