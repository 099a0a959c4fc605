// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "mgroup.h"

#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "../net/join.h"

/**
 * struct skr_groups - the groups of a device
 * @lock: serializes changes; taken outside rtnl
 * @table: struct skr_group by GID
 */
struct skr_groups {
	struct mutex		lock;
	struct rhashtable	table;
};

/**
 * struct skr_group - a multicast group with members
 * @node: in the table
 * @gid: the group
 * @members: struct skr_member; RCU
 * @count: how many; under the table's lock
 * @rcu: frees it
 */
struct skr_group {
	struct rhash_head	node;
	struct in6_addr		gid;
	struct list_head	members;
	u32			count;
	struct rcu_head		rcu;
};

/**
 * struct skr_member - a QP that is attached to a group
 * @node: in its group's list
 * @qp: the QP
 * @times: how often; under the table's lock
 * @rcu: frees it
 */
struct skr_member {
	struct list_head	node;
	struct skr_qp		*qp;
	u32			times;
	struct rcu_head		rcu;
};

static const struct rhashtable_params skr_group_params = {
	.key_len = sizeof_field(struct skr_group, gid),
	.key_offset = offsetof(struct skr_group, gid),
	.head_offset = offsetof(struct skr_group, node),
	.max_size = SKR_MAX_GROUPS,
	.automatic_shrinking = true,
};

int skr_groups_create(struct skr_dev *dev)
{
	int err;

	dev->groups = kzalloc_obj(*dev->groups, GFP_KERNEL);
	if (!dev->groups)
		return -ENOMEM;
	mutex_init(&dev->groups->lock);
	err = rhashtable_init(&dev->groups->table, &skr_group_params);
	if (err)
		kfree(dev->groups);
	return err;
}

void skr_groups_destroy(struct skr_dev *dev)
{
	WARN_ON(atomic_read(&dev->groups->table.nelems));
	rhashtable_destroy(&dev->groups->table);
	mutex_destroy(&dev->groups->lock);
	kfree(dev->groups);
}

/* Find a group, or make it and join. Return: the group or an ERR_PTR. */
static struct skr_group *skr_group_get(struct skr_dev *dev, const struct in6_addr *gid)
{
	struct skr_groups *groups = dev->groups;
	struct skr_group *group;
	int err;

	lockdep_assert_held(&groups->lock);
	group = rhashtable_lookup_fast(&groups->table, gid, skr_group_params);
	if (group)
		return group;
	if (atomic_read(&groups->table.nelems) >= SKR_MAX_GROUPS)
		return ERR_PTR(-ENOMEM);

	group = kzalloc_obj(*group, GFP_KERNEL_ACCOUNT);
	if (!group)
		return ERR_PTR(-ENOMEM);
	group->gid = *gid;
	INIT_LIST_HEAD(&group->members);
	err = skr_join(dev, gid);
	if (err)
		goto err_free;
	err = rhashtable_insert_fast(&groups->table, &group->node, skr_group_params);
	if (err)
		goto err_leave;
	return group;

err_leave:
	skr_leave(dev, gid);
err_free:
	kfree(group);
	return ERR_PTR(err);
}

/* Let a group without members go. */
static void skr_group_put(struct skr_dev *dev, struct skr_group *group)
{
	lockdep_assert_held(&dev->groups->lock);
	if (group->count)
		return;
	rhashtable_remove_fast(&dev->groups->table, &group->node, skr_group_params);
	skr_leave(dev, &group->gid);
	kfree_rcu(group, rcu);
}

static struct skr_member *skr_group_member(const struct skr_group *group,
					   const struct skr_qp *qp)
{
	struct skr_member *member;

	list_for_each_entry(member, &group->members, node) {
		if (member->qp == qp)
			return member;
	}
	return NULL;
}

static int skr_group_add(struct skr_group *group, struct skr_qp *qp)
{
	struct skr_member *member;

	member = skr_group_member(group, qp);
	if (member) {
		member->times++;
		return 0;
	}
	if (group->count >= SKR_MAX_GROUP_QPS)
		return -ENOMEM;
	member = kzalloc_obj(*member, GFP_KERNEL_ACCOUNT);
	if (!member)
		return -ENOMEM;
	member->qp = qp;
	member->times = 1;
	list_add_tail_rcu(&member->node, &group->members);
	group->count++;
	return 0;
}

int skr_group_attach(struct skr_qp *qp, const struct in6_addr *gid)
{
	struct skr_groups *groups = qp->dev->groups;
	struct skr_group *group;
	int err;

	mutex_lock(&groups->lock);
	group = skr_group_get(qp->dev, gid);
	err = PTR_ERR_OR_ZERO(group);
	if (!err) {
		err = skr_group_add(group, qp);
		skr_group_put(qp->dev, group);
	}
	mutex_unlock(&groups->lock);
	return err;
}

int skr_group_detach(struct skr_qp *qp, const struct in6_addr *gid)
{
	struct skr_groups *groups = qp->dev->groups;
	struct skr_member *member = NULL;
	struct skr_group *group;

	mutex_lock(&groups->lock);
	group = rhashtable_lookup_fast(&groups->table, gid, skr_group_params);
	if (group)
		member = skr_group_member(group, qp);
	if (member && !--member->times) {
		list_del_rcu(&member->node);
		kfree_rcu(member, rcu);
		group->count--;
		skr_group_put(qp->dev, group);
	}
	mutex_unlock(&groups->lock);
	return member ? 0 : -EINVAL;
}

bool skr_group_deliver(struct skr_dev *dev, const struct in6_addr *gid, struct sk_buff *skb,
		       const struct skr_pkt *pkt, skr_deliver *deliver)
{
	struct skr_member *member;
	struct skr_group *group;
	struct sk_buff *copy;

	group = rhashtable_lookup(&dev->groups->table, gid, skr_group_params);
	if (!group)
		return false;
	list_for_each_entry_rcu(member, &group->members, node) {
		copy = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
		if (copy)
			deliver(member->qp, copy, pkt);
		else
			skr_count(dev, SKR_CNT_RX_DROP + SKR_DROP_NOMEM);
	}
	return true;
}
