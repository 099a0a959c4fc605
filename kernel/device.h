/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The RDMA device: what a link adds to a netdev, its limits and its counters.
 */
#ifndef SKR_DEVICE_H
#define SKR_DEVICE_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/skerry-abi.h>

#include "cc/cc.h"
#include "wire/pkt.h"

/* Limits that query_device reports and that are enforced at creation */
#define SKR_MAX_QP		65536
#define SKR_MAX_QP_WR		16384
#define SKR_MAX_SGE		32
#define SKR_MAX_INLINE		1024
#define SKR_MAX_SRQ		65536
#define SKR_MAX_SRQ_WR		SKR_MAX_QP_WR
#define SKR_MAX_CQ		65536
#define SKR_MAX_CQE		1048576
#define SKR_MAX_MR		1048576
#define SKR_MAX_MW		1048576
#define SKR_MAX_KEYS		(SKR_MAX_MR + SKR_MAX_MW)
#define SKR_MAX_FAST_PAGES	1024
#define SKR_PAGE_SIZES		GENMASK_ULL(21, 12)	/* of a fast region */
#define SKR_MAX_PD		65536
#define SKR_MAX_XRCD		65536
#define SKR_MAX_AH		65536
#define SKR_MAX_GROUPS		4096
#define SKR_MAX_GROUP_QPS	128
#define SKR_MAX_RD_ATOMIC	128
/* kb/s: with a rate limit below, a connection would not stay alive */
#define SKR_RATE_LIMIT_MIN	1000
#define SKR_MAX_MR_BYTES	SZ_1T
/* All device memory together */
#define SKR_MAX_DM_BYTES	SZ_16M

/* A vendor without an OUI of its own, as software devices have it */
#define SKR_VENDOR_ID		0xffffff

/* Entries of the GID table; the core fills it */
#define SKR_GIDS		256

struct skr_qp;
struct skr_groups;

/* The one port */
#define SKR_PORT		1

/**
 * enum skr_counter - the device's counters, in the order of hw_counters
 * @SKR_CNT_RX_DROP: first of SKR_DROP_COUNT counters, one for each reason why
 *	a packet was dropped before it reached its QP; the slot of
 *	SKR_DROP_NONE counts the packets that did reach one
 * @SKR_CNT_TX_PACKETS: packets given to the network stack
 * @SKR_CNT_TX_BYTES: their bytes from the BTH to the ICRC
 * @SKR_CNT_RX_BYTES: bytes from the BTH to the ICRC that reached a QP
 * @SKR_CNT_TX_CONGESTED: packets that the local stack did not take; sent again
 * @SKR_CNT_TX_UNREACHABLE: packets without a route or a neighbour
 * @SKR_CNT_TX_NOMEM: packets that could not be built for lack of memory
 * @SKR_CNT_OUT_OF_SEQUENCE: requests from the future, responder
 * @SKR_CNT_DUPLICATE_REQUEST: requests seen before, responder
 * @SKR_CNT_OUT_OF_BUFFER: requests that found no receive work request
 * @SKR_CNT_PACKET_SEQ_ERR: NAKs for a missing packet, requester
 * @SKR_CNT_IMPLIED_NAK_SEQ_ERR: gaps in READ responses and responses that an
 *	ACK overtook, requester
 * @SKR_CNT_LOCAL_ACK_TIMEOUT_ERR: expired ACK timers, requester
 * @SKR_CNT_RNR_NAK: RNR NAKs received, requester
 * @SKR_CNT_RNR_NAK_RETRY_ERR: QPs that ran out of RNR retries
 * @SKR_CNT_RETRY_EXC_ERR: QPs that ran out of transport retries
 * @SKR_CNT_RETRANSMITS: packets sent more than once, requester
 * @SKR_CNT_RESP_LOCAL_LENGTH_ERROR: messages longer than their receive buffer
 * @SKR_CNT_RESP_REMOTE_ACCESS_ERRORS: requests refused for key or access
 * @SKR_CNT_RESP_REMOTE_INVALID_REQUEST: requests refused as invalid
 * @SKR_CNT_REQ_REMOTE_ACCESS_ERRORS: requests that the peer refused for access
 * @SKR_CNT_REQ_REMOTE_INVALID_REQUEST: requests that the peer called invalid
 * @SKR_CNT_REQ_CQE_ERROR: send completions with an error, not flushed ones
 * @SKR_CNT_RESP_CQE_ERROR: receive completions with an error, not flushed ones
 * @SKR_CNT_REQ_CQE_FLUSH_ERROR: flushed send completions
 * @SKR_CNT_RESP_CQE_FLUSH_ERROR: flushed receive completions
 * @SKR_CNT_CQ_OVERRUN: completion queues that overran
 * @SKR_CNT_LINK_DOWNED: how often the port went down
 * @SKR_CNT_NP_ECN_MARKED: packets that came in marked as having met congestion
 * @SKR_CNT_NP_CNP_SENT: CNPs sent for them
 * @SKR_CNT_RP_CNP_HANDLED: CNPs that reached the congestion control of a QP
 * @SKR_CNT_RP_CNP_IGNORED: CNPs that came from elsewhere than the QP's peer, or
 *	to a QP without congestion control, or to none
 * @SKR_CNT_PAGE_FAULTS: how often a page of memory that is not pinned had to be
 *	brought in for a QP
 * @SKR_CNT_COUNT: number of counters
 */
enum skr_counter {
	SKR_CNT_RX_DROP,
	SKR_CNT_TX_PACKETS = SKR_CNT_RX_DROP + SKR_DROP_COUNT,
	SKR_CNT_TX_BYTES,
	SKR_CNT_RX_BYTES,
	SKR_CNT_TX_CONGESTED,
	SKR_CNT_TX_UNREACHABLE,
	SKR_CNT_TX_NOMEM,
	SKR_CNT_OUT_OF_SEQUENCE,
	SKR_CNT_DUPLICATE_REQUEST,
	SKR_CNT_OUT_OF_BUFFER,
	SKR_CNT_PACKET_SEQ_ERR,
	SKR_CNT_IMPLIED_NAK_SEQ_ERR,
	SKR_CNT_LOCAL_ACK_TIMEOUT_ERR,
	SKR_CNT_RNR_NAK,
	SKR_CNT_RNR_NAK_RETRY_ERR,
	SKR_CNT_RETRY_EXC_ERR,
	SKR_CNT_RETRANSMITS,
	SKR_CNT_RESP_LOCAL_LENGTH_ERROR,
	SKR_CNT_RESP_REMOTE_ACCESS_ERRORS,
	SKR_CNT_RESP_REMOTE_INVALID_REQUEST,
	SKR_CNT_REQ_REMOTE_ACCESS_ERRORS,
	SKR_CNT_REQ_REMOTE_INVALID_REQUEST,
	SKR_CNT_REQ_CQE_ERROR,
	SKR_CNT_RESP_CQE_ERROR,
	SKR_CNT_REQ_CQE_FLUSH_ERROR,
	SKR_CNT_RESP_CQE_FLUSH_ERROR,
	SKR_CNT_CQ_OVERRUN,
	SKR_CNT_LINK_DOWNED,
	SKR_CNT_NP_ECN_MARKED,
	SKR_CNT_NP_CNP_SENT,
	SKR_CNT_RP_CNP_HANDLED,
	SKR_CNT_RP_CNP_IGNORED,
	SKR_CNT_PAGE_FAULTS,
	SKR_CNT_COUNT,
};

/**
 * enum skr_optional - counters that count from when they are switched on; they are
 *	behind the others in hw_counters
 * @SKR_OPT_CC_RX_CE: packets that came in marked
 * @SKR_OPT_CC_RX_CNP: CNPs that came in
 * @SKR_OPT_CC_TX_CNP: CNPs sent
 * @SKR_OPT_COUNT: how many
 */
enum skr_optional {
	SKR_OPT_CC_RX_CE,
	SKR_OPT_CC_RX_CNP,
	SKR_OPT_CC_TX_CNP,
	SKR_OPT_COUNT,
};

/**
 * struct skr_stats - one CPU's share of the counters
 * @value: by enum skr_counter
 */
struct skr_stats {
	u64 value[SKR_CNT_COUNT];
};

/**
 * skr_stats_add() - add to a counter
 * @stats: counters
 * @counter: which
 * @n: how much
 *
 * Context: any.
 */
static inline void skr_stats_add(struct skr_stats __percpu *stats, enum skr_counter counter,
				 u64 n)
{
	this_cpu_add(stats->value[counter], n);
}

/**
 * struct skr_tune - switches in debugfs, the same for all devices
 * @super_tx: packets of equal size leave as one
 * @super_rx: super-packets are taken whole
 * @batch: small packets and requests that come in one softirq are one batch
 * @merge_acks: one ACK answers all that came in a batch
 * @zero_copy: large payloads leave as the pages that they lie in
 * @rx_aside: what comes in bulk, or makes a QP send bulk, is executed by another CPU
 */
struct skr_tune {
	bool super_tx;
	bool super_rx;
	bool batch;
	bool merge_acks;
	bool zero_copy;
	bool rx_aside;
};

/** skr_tune - read with READ_ONCE() */
extern struct skr_tune skr_tune;

/**
 * enum skr_object - objects whose number is limited per device
 * @SKR_OBJ_PD: protection domains
 * @SKR_OBJ_CQ: completion queues
 * @SKR_OBJ_QP: queue pairs
 * @SKR_OBJ_SRQ: shared receive queues
 * @SKR_OBJ_XRCD: XRC domains
 * @SKR_OBJ_COUNT: number of kinds
 */
enum skr_object {
	SKR_OBJ_PD,
	SKR_OBJ_CQ,
	SKR_OBJ_QP,
	SKR_OBJ_SRQ,
	SKR_OBJ_XRCD,
	SKR_OBJ_COUNT,
};

/**
 * enum skr_cnp_pacing - what np_min_time_between_cnps is the distance of
 * @SKR_CNP_PER_QP: two CNPs of a QP
 * @SKR_CNP_PER_DEST: two CNPs to an address
 * @SKR_CNP_PER_PORT: two CNPs
 */
enum skr_cnp_pacing {
	SKR_CNP_PER_QP,
	SKR_CNP_PER_DEST,
	SKR_CNP_PER_PORT,
};

/* Addresses that SKR_CNP_PER_DEST tells apart; others share */
#define SKR_CNP_DESTS	256

/**
 * struct skr_congestion - congestion control of a device
 * @ops: algorithm that QPs begin with when they connect
 * @params: its parameters
 * @cnp_pacing: enum skr_cnp_pacing
 * @mbps: speed of the port
 * @cnp_sent: nanoseconds, the last CNP by hash of the address, or all in [0]
 */
struct skr_congestion {
	const struct skr_cc_ops	*ops;
	struct skr_cc_params	params;
	u32			cnp_pacing;
	u32			mbps;
	atomic64_t		cnp_sent[SKR_CNP_DESTS];
};

/**
 * enum skr_poll_mode - when posts are looked for
 * @SKR_POLL_OFF: never: a post to an idle queue enters the kernel
 * @SKR_POLL_AUTO: of QPs whose posts follow close upon each other, while it pays
 * @SKR_POLL_ALWAYS: after each post that entered the kernel
 */
enum skr_poll_mode {
	SKR_POLL_OFF,
	SKR_POLL_AUTO,
	SKR_POLL_ALWAYS,
};

/**
 * struct skr_poll - a device's poller (transport/poll.h)
 * @lock: protects the list; taken within a QP's lock
 * @qps: QPs that asked to be watched, held
 * @count: how many
 * @mode: enum skr_poll_mode
 * @usecs: how long an idle ring is watched
 * @hits: posts found, ever; written by @work only
 * @rest_ms: how long the last rest was, 0: none was needed; @work's own
 * @not_before: jiffies, end of the rest
 * @awake: a slice is going on; written under @lock
 * @cpu: where it is, or where the last one was
 * @welcome: the last one was worth it, and nothing else wanted its CPU for long
 * @left: nanoseconds, when somebody left the kernel after a kick last; a hint
 * @quick: kicks in a row that came soon after; a hint
 * @work: a slice of watching
 */
struct skr_poll {
	spinlock_t		lock;
	struct list_head	qps;
	u32			count;
	u32			mode;
	u32			usecs;
	u32			hits;
	u32			rest_ms;
	unsigned long		not_before;
	bool			awake;
	int			cpu;
	bool			welcome;
	u64			left;
	u32			quick;
	struct work_struct	work;
};

/**
 * struct skr_others - what a link's GID table is to lose again
 * @lock: protects @list
 * @list: netdevs and references to them
 * @work: deletes their GIDs
 * @gids: how many of them are in the table; under ib_core's mutex of that
 */
struct skr_others {
	spinlock_t		lock;
	struct list_head	list;
	struct work_struct	work;
	u32			gids;
};

/**
 * struct skr_dev - an RDMA device on top of a netdev
 * @ibdev: ib_core's part; freed by it
 * @ndev: the netdev; held from link add until the sockets are released
 * @ndev_tracker: that reference
 * @net: namespace of @ndev; constant, since a netdev that moves is
 *	unregistered first and takes the link with it
 * @mr_srcu: read-held while a run of a QP uses regions and XRC SRQs; synchronized
 *	before a region's memory, or such an SRQ, is let go
 * @mrs: regions and windows by key index (key >> 8); struct skr_key
 * @mr_next: where the search for a free key index goes on; under @mrs' lock
 * @srqs: XRC SRQs by number
 * @srq_next: where the search for a free number goes on; under @srqs' lock
 * @ahs: address handles by number (struct skr_dest)
 * @ah_next: where the search for a free number goes on; under @ahs' lock
 * @gsi: QP 1, or NULL; RCU
 * @groups: multicast groups that QPs are attached to
 * @objects: how many there are of each enum skr_object
 * @dm_pages: pages of device memory
 * @faults: work items that bring pages in
 * @stats: counters of all but QPs that are bound to counters of their own
 * @counters: counters that QPs are bound to, by the number that ib_core knows
 * @stats_past: sum of those that are gone; under @counters' lock
 * @optional_from: what optional counters were when they were switched on; ib_core
 *	serializes who uses it
 * @cc: congestion control
 * @poll: looks for posts
 * @enabled: registration has come so far that it can be undone; see
 *	skr_netdev_event()
 * @port_active: what the last port event said; under rtnl
 * @node: in its namespace's list of devices; RCU
 * @others: GIDs that ib_core has added and that are not the link's, see skr_vlan_ours()
 */
struct skr_dev {
	struct ib_device	ibdev;
	struct net_device	*ndev;
	netdevice_tracker	ndev_tracker;
	struct net		*net;
	struct srcu_struct	mr_srcu;
	struct xarray		mrs;
	u32			mr_next;
	struct xarray		srqs;
	u32			srq_next;
	struct xarray		ahs;
	u32			ah_next;
	struct skr_qp __rcu	*gsi;
	struct skr_groups	*groups;
	atomic_t		objects[SKR_OBJ_COUNT];
	atomic_t		dm_pages;
	atomic_t		faults;
	struct skr_stats __percpu *stats;
	struct xarray		counters;
	struct skr_stats	stats_past;
	u64			optional_from[SKR_OPT_COUNT];
	struct skr_congestion	cc;
	struct skr_poll		poll;
	bool			enabled;
	bool			port_active;
	struct list_head	node;
	struct skr_others	others;
};

/**
 * skr_dev() - our device
 * @ibdev: ib_core's view of it
 *
 * Return: the device that contains @ibdev.
 */
static inline struct skr_dev *skr_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct skr_dev, ibdev);
}

/**
 * skr_count_add() - add to a counter
 * @dev: device
 * @counter: which
 * @n: how much
 *
 * Context: any.
 */
static inline void skr_count_add(struct skr_dev *dev, enum skr_counter counter, u64 n)
{
	skr_stats_add(dev->stats, counter, n);
}

/**
 * skr_count() - count one
 * @dev: device
 * @counter: which
 *
 * Context: any.
 */
static inline void skr_count(struct skr_dev *dev, enum skr_counter counter)
{
	skr_count_add(dev, counter, 1);
}

/**
 * skr_object_get() - account for one more object
 * @dev: device
 * @kind: of which kind
 * @max: limit
 *
 * Context: any.
 * Return: 0, or -ENOMEM at the limit.
 */
static inline int skr_object_get(struct skr_dev *dev, enum skr_object kind, int max)
{
	if (atomic_inc_return(&dev->objects[kind]) <= max)
		return 0;
	atomic_dec(&dev->objects[kind]);
	return -ENOMEM;
}

/**
 * skr_object_put() - an object is gone
 * @dev: device
 * @kind: of which kind
 *
 * Context: any.
 */
static inline void skr_object_put(struct skr_dev *dev, enum skr_object kind)
{
	atomic_dec(&dev->objects[kind]);
}

/**
 * skr_device_add() - make and register a device on a netdev
 * @name: its name
 * @ndev: the netdev
 *
 * Context: process, without rtnl.
 * Return: 0 or a negative errno; nothing is left behind then.
 */
int skr_device_add(const char *name, struct net_device *ndev);

/**
 * skr_device_update_port() - tell of the port's state if it is another than before
 * @dev: device, registered
 *
 * Context: process, with rtnl; events of the port are dispatched.
 */
void skr_device_update_port(struct skr_dev *dev);

/**
 * skr_device_read_speed() - look how fast the port is
 * @dev: device
 *
 * Not from a netdev notifier: who asks a netdev takes locks that may be held there.
 *
 * Context: process, without rtnl.
 */
void skr_device_read_speed(struct skr_dev *dev);

#endif /* SKR_DEVICE_H */
