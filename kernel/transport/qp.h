/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The queue pair: all state of a connection's transport.
 *
 * One lock, qp->lock, protects it all. The fast paths (a post, a packet, a
 * timer) never spin on it: they leave their work where the holder finds it,
 * set SKR_QP_PENDING and try the lock once (sched.c). Whoever holds the lock
 * works off everything there is, within a budget.
 *
 * The QP outlives its ib_qp: a request in the local stack keeps it (@ref), so
 * that destroying a QP never waits for the network.
 */
#ifndef SKR_TRANSPORT_QP_H
#define SKR_TRANSPORT_QP_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../device.h"
#include "../mem/copy.h"
#include "../net/av.h"
#include "../ring/cqe.h"
#include "../ring/ring.h"
#include "../ring/rq_shared.h"
#include "../ring/wqe.h"
#include "fault.h"
#include "flow.h"
#include "poll.h"
#include "reorder.h"
#include "tuning.h"

/* skr_qp.run_flags */
enum {
	SKR_QP_PENDING,		/* there is work; the holder of the lock looks again */
	SKR_QP_TX_FULL,		/* it waits for packets to leave the local stack */
	SKR_QP_TIMER_ACK,	/* the ACK timer expired */
	SKR_QP_WATCHED,		/* the poller looks at the send ring: no kick is needed */
	SKR_QP_PATH,		/* the netdev takes another path now */
	SKR_QP_ASIDE,		/* bulk waits for another CPU */
};

/**
 * struct skr_sq - send queue
 * @ring: where user space or post_send() writes requests
 * @shm: its memory
 * @limits: what a request may have
 * @wqes: copies of the requests from @una to @taken; a slot has @wqe_bytes
 * @wqe_bytes: room of a slot in @wqes
 * @max_wr: requests the user was promised
 * @una: index of the oldest request that is not complete
 * @cur: index of the request that the requester sends next
 * @taken: index of the next request to copy out of the ring; the poller reads it without
 *	the lock, for a hint
 * @sig_all: each request gets a completion
 * @idle: need_kick is set
 * @post_lock: serializes post_send() of kernel consumers; protects @posted
 * @posted: producer index of kernel consumers
 *
 * una <= cur <= taken, all free-running.
 */
struct skr_sq {
	struct skr_ring		ring;
	struct skr_shm		*shm;
	struct skr_wqe_limits	limits;
	void			*wqes;
	u32			wqe_bytes;
	u32			max_wr;
	u32			una;
	u32			cur;
	u32			taken;
	bool			sig_all;
	bool			idle;
	spinlock_t		post_lock;
	u32			posted;
};

/**
 * struct skr_recv - the receive request that is being filled
 * @wqe: room for its copy
 * @busy: there is one in @wqe
 * @srq: XRC: where it came from, while @busy
 */
struct skr_recv {
	struct skr_rwqe	*wqe;
	bool		busy;
	struct skr_srq	*srq;
};

/**
 * struct skr_req_mark - a place to go back to if packets could not leave
 * @psn: requester's psn
 * @top_psn: requester's top_psn
 * @cur: send queue's cur
 * @rd_tail: requester's rd_tail
 */
struct skr_req_mark {
	u32	psn;
	u32	top_psn;
	u32	cur;
	u8	rd_tail;
};

/**
 * struct skr_requester - the sending side of requests
 * @psn: PSN of the next packet
 * @una_psn: oldest PSN that is not acknowledged
 * @top_psn: PSN after the last one ever sent; what is below is a repeat
 * @window: packets that may be unacknowledged
 * @retry: transport retries left
 * @timeouts: time-outs since the last progress
 * @hurry: repeats that do not wait for a time-out, because the path has changed
 * @rnr_retry: RNR retries left
 * @waiting: nothing is sent before @wait_until (RNR, congestion)
 * @wait_until: see @waiting
 * @rewound: responses have been asked for again from @una_psn; further gaps
 *	are the same one
 * @rd_end: for each request under way that is SKR_SOP_ANSWERED the PSN after it
 * @rd_head: index of the oldest in @rd_end
 * @rd_tail: index after the newest; free-running
 * @ack_deadline: when the peer must have answered
 * @tx_mark: the QP's tx_total when the last request left for the local stack
 * @mark: where the packets begin that wait to be sent
 */
struct skr_requester {
	u32	psn;
	u32	una_psn;
	u32	top_psn;
	u32	window;
	u8	retry;
	u8	timeouts;
	u8	hurry;
	u8	rnr_retry;
	bool	waiting;
	bool	rewound;
	ktime_t	wait_until;
	u32	rd_end[SKR_MAX_RD_ATOMIC];
	u8	rd_head;
	u8	rd_tail;
	ktime_t	ack_deadline;
	u32	tx_mark;
	struct skr_req_mark mark;
};

/* Requests that are answered by a response of their own */
#define SKR_IS_ANSWERED	(SKR_IS_READ | SKR_IS_ATOMIC | SKR_IS_FLUSH | SKR_IS_ATOMIC_WRITE)

/**
 * struct skr_saved - a request kept for a duplicate; SKR_IS_ANSWERED
 * @first_psn: its PSN
 * @last_psn: PSN of its last response
 * @va: READ: first address; what a duplicate asks for lies within
 * @length: READ: bytes
 * @rkey: READ: key
 * @kind: which one of SKR_IS_ANSWERED
 * @orig: atomic: the value to answer
 */
struct skr_saved {
	u32	first_psn;
	u32	last_psn;
	u64	va;
	u32	length;
	u32	rkey;
	u32	kind;
	u64	orig;
};

/**
 * struct skr_reading - the READ that is being answered
 * @active: there is one; requests wait until it is done
 * @va: next address
 * @rkey: key
 * @srqn: XRC: number of the SRQ whose domain the key is of
 * @left: bytes to send
 * @psn: PSN of the next response
 * @first: the next response is the first
 */
struct skr_reading {
	bool	active;
	bool	first;
	u64	va;
	u32	rkey;
	u32	srqn;
	u32	left;
	u32	psn;
};

/**
 * struct skr_responder - the receiving side of requests
 * @epsn: expected PSN
 * @msn: messages completed
 * @msg: SKR_IS_SEND or SKR_IS_WRITE inside a message of several packets, or 0
 * @srqn: XRC: number of the SRQ that the message names
 * @nak_sent: the missing PSN has been asked for
 * @rnr_sent: an RNR NAK has been sent; nothing but its PSN is taken
 * @ack_due: an ACK for @ack_psn is to be sent
 * @ack_psn: last SEND or WRITE packet executed; an ACK never names a READ or
 *	atomic, whose own response answers it
 * @comm_est: IB_EVENT_COMM_EST has been raised
 * @received: bytes of the message so far
 * @va: WRITE: next address
 * @rkey: WRITE: key
 * @left: WRITE: bytes to come
 * @reading: READ being answered
 * @reading_mark: @reading as it was before the responses that wait to be sent
 * @tx_mark: the QP's tx_total when the last READ response left for the local stack
 * @saved: last READ and atomic requests, a ring of max_dest_rd_atomic
 * @saved_next: where the next one goes
 * @saved_count: how many there are
 */
struct skr_responder {
	u32			epsn;
	u32			msn;
	u32			msg;
	u32			srqn;
	bool			nak_sent;
	bool			rnr_sent;
	bool			ack_due;
	u32			ack_psn;
	bool			comm_est;
	u32			received;
	u64			va;
	u32			rkey;
	u32			left;
	struct skr_reading	reading;
	struct skr_reading	reading_mark;
	u32			tx_mark;
	struct skr_saved	*saved;
	u32			saved_next;
	u32			saved_count;
};

/**
 * struct skr_qp_attr - attributes set by modify_qp
 * @access: IB_ACCESS_* that the peer may use
 * @mtu: path MTU in bytes
 * @dest_qpn: the peer's QP
 * @pkey_index: index of the P_Key
 * @qkey: Q_Key
 * @timeout: local ACK timeout code
 * @retry_cnt: transport retries
 * @rnr_retry: RNR retries, 7: for ever
 * @min_rnr_timer: code that our RNR NAKs carry
 * @max_rd_atomic: READs and atomics we may have under way
 * @max_dest_rd_atomic: READs and atomics the peer may have under way
 * @sq_psn: first PSN of the requester
 * @rq_psn: first PSN of the responder
 * @sqd_event: raise IB_EVENT_SQ_DRAINED
 * @ah: address as given
 */
struct skr_qp_attr {
	int			access;
	u32			mtu;
	u32			dest_qpn;
	u16			pkey_index;
	u32			qkey;
	u8			timeout;
	u8			retry_cnt;
	u8			rnr_retry;
	u8			min_rnr_timer;
	u8			max_rd_atomic;
	u8			max_dest_rd_atomic;
	u32			sq_psn;
	u32			rq_psn;
	bool			sqd_event;
	struct rdma_ah_attr	ah;
};

/**
 * struct skr_qp - a queue pair
 * @ref: one for the ib_qp, one for each request or READ response in the local
 *	stack, one for queued work, one while the poller has it
 * @rcu: frees it after readers of skr_qp_find() are gone
 * @lock: protects everything below but the atomic members and the skb queues,
 *	which have locks of their own
 * @run_flags: SKR_QP_*; atomic
 * @dev: device
 * @stats: what it counts in: @dev's counters, or those that it is bound to
 * @ibqp: ib_core's part; NULL once the QP is destroyed
 * @qpn: number, constant
 * @trans: SKR_TRANS_RC, _UC, _UD or _XRC; constant
 * @takes: kinds of packets it takes: SKR_IS_REQUEST, SKR_IS_RESPONSE; constant
 * @no_loopback: multicast of its own does not come back to it; constant
 * @state: never visible ahead of its effects. Posts and packets at the door look at it
 *	without the lock, and what it was is good enough for them
 * @pins_module: holds the module, since packets outlived the QP
 * @sq_drained: IB_EVENT_SQ_DRAINED has been raised for this SQD
 * @flush_status: status of the next send completion in the error state: the
 *	cause for the request that caused it, IB_WC_WR_FLUSH_ERR otherwise
 * @attr: attributes
 * @av: address vector
 * @sq: send queue; an XRC target has none: no ring, no requests
 * @rq: receive queue; without a ring on XRC, or if there is @srq
 * @srq: shared receive queue, or NULL; constant
 * @xrcd: XRC target: its domain, or NULL; constant
 * @xrc_srq: XRC target: the SRQ that the request in work names. Others may destroy
 *	it: looked up anew for each request, never kept beyond dev->mr_srcu
 * @last_key: the region that the step at hand used last, or NULL; see struct skr_who
 * @last_wqe: IB_EVENT_QP_LAST_WQE_REACHED has been raised
 * @recv: receive request in use
 * @req: requester and completer
 * @resp: responder
 * @rx_req: requests received
 * @rx_rsp: responses received
 * @rx_cnp: CNPs received: they wait for nothing but the lock
 * @rx_waiting: memory of what is in these three, as sockets count it; atomic
 * @cur_req: the one in work, whose packets before the one at hand are done; or NULL
 * @cur_rsp: the same of @rx_rsp
 * @early_req: requests that overtook others
 * @early_rsp: responses that overtook others
 * @faults: waits for pages, by enum skr_fault_kind
 * @fault: the one of @faults for what is being worked on
 * @lane: where its context keeps the lane for these, or NULL: it is the kernel's, or may
 *	outlive the context (an XRC target); constant
 * @tx_units: what is inside the local stack, see SKR_TX_UNIT; atomic
 * @tx_total: what has gone there, ever, in the same units; wraps
 * @tx_bulk: jiffies when so much of it went in one step that what is received for
 *	the QP now is left to another CPU
 * @tx_cpu: CPU that sent the last request or READ response
 * @flow: its rate
 * @poll: what the poller knows of it
 * @ack_timer: local ACK timeout
 * @wait_timer: RNR wait and congestion pause
 * @work: goes on with a run that used its budget, outside softirq
 * @bh_work: runs the QP when the softirq at hand is through, or on another CPU
 * @lone_rx: deferred runs in a row that a packet caused and no other joined; beyond
 *	SKR_SOON_LONE, packets since then
 * @lone_post: the same for posts
 * @fire_send: send CQ whose event is to be raised when the lock is released, held;
 *	or NULL
 * @fire_recv: the same for the receive CQ; of an XRC target one of its SRQs'
 * @events: asynchronous events to raise, bit numbers are enum ib_event_type
 * @event_work: raises them
 */
struct skr_qp {
	struct kref		ref;
	struct rcu_head		rcu;
	spinlock_t		lock;
	unsigned long		run_flags;
	struct skr_dev		*dev;
	struct skr_stats __percpu *stats;
	struct ib_qp		*ibqp;
	u32			qpn;
	u8			trans;
	u32			takes;
	bool			no_loopback;
	enum ib_qp_state	state;
	bool			pins_module;
	bool			sq_drained;
	enum ib_wc_status	flush_status;
	struct skr_qp_attr	attr;
	struct skr_av		av;
	struct skr_sq		sq;
	struct skr_rq		rq;
	struct skr_srq		*srq;
	struct ib_xrcd		*xrcd;
	struct skr_srq		*xrc_srq;
	struct skr_key		*last_key;
	bool			last_wqe;
	struct skr_recv		recv;
	struct skr_requester	req;
	struct skr_responder	resp;
	struct sk_buff_head	rx_req;
	struct sk_buff_head	rx_rsp;
	struct sk_buff_head	rx_cnp;
	atomic_t		rx_waiting;
	struct sk_buff		*cur_req;
	struct sk_buff		*cur_rsp;
	struct skr_reorder	early_req;
	struct skr_reorder	early_rsp;
	struct skr_fault	faults[SKR_FAULT_KINDS];
	struct skr_fault	*fault;
	struct skr_fault_lane	**lane;
	atomic_t		tx_units;
	u32			tx_total;
	unsigned long		tx_bulk;
	int			tx_cpu;
	struct skr_flow		flow;
	struct skr_poll_qp	poll;
	struct hrtimer		ack_timer;
	struct hrtimer		wait_timer;
	struct work_struct	work;
	struct work_struct	bh_work;
	u8			lone_rx;
	u8			lone_post;
	struct skr_cq		*fire_send;
	struct skr_cq		*fire_recv;
	unsigned long		events;
	struct work_struct	event_work;
};

/**
 * skr_qp_count_add() - add to a counter of a QP
 * @qp: QP
 * @counter: which
 * @n: how much
 *
 * Context: @qp->lock held.
 */
static inline void skr_qp_count_add(struct skr_qp *qp, enum skr_counter counter, u64 n)
{
	lockdep_assert_held(&qp->lock);
	skr_stats_add(qp->stats, counter, n);
}

/**
 * skr_qp_count() - count one for a QP
 * @qp: QP
 * @counter: which
 *
 * Context: @qp->lock held.
 */
static inline void skr_qp_count(struct skr_qp *qp, enum skr_counter counter)
{
	skr_qp_count_add(qp, counter, 1);
}

/**
 * struct skr_ibqp - ib_core's view of a QP
 * @ibqp: allocated and freed by ib_core
 * @qp: the QP; NULL once it is destroyed
 */
struct skr_ibqp {
	struct ib_qp	ibqp;
	struct skr_qp	*qp;
};

/**
 * skr_qp() - our queue pair
 * @ibqp: ib_core's view of it
 *
 * Return: the QP.
 */
static inline struct skr_qp *skr_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct skr_ibqp, ibqp)->qp;
}

/**
 * skr_qp_hold() - keep a QP that may be being destroyed
 * @ibqp: ib_core's view of it
 *
 * Context: any.
 * Return: the QP, until skr_qp_put(), or NULL if it is gone.
 */
struct skr_qp *skr_qp_hold(struct ib_qp *ibqp);

/**
 * skr_swqe() - the copy of a send request
 * @qp: QP
 * @index: from sq.una to sq.taken - 1
 *
 * Return: the copy.
 */
static inline struct skr_swqe *skr_swqe(struct skr_qp *qp, u32 index)
{
	return qp->sq.wqes + (size_t)(index & (qp->sq.ring.depth - 1)) * qp->sq.wqe_bytes;
}

/**
 * skr_qp_reliable() - is every request acknowledged?
 * @qp: QP
 *
 * Return: true for RC and XRC.
 */
static inline bool skr_qp_reliable(const struct skr_qp *qp)
{
	return qp->trans == SKR_TRANS_RC || qp->trans == SKR_TRANS_XRC;
}

/**
 * skr_qp_sends() - has the QP a send queue?
 * @qp: QP, not shut down
 *
 * Return: false for an XRC target.
 */
static inline bool skr_qp_sends(const struct skr_qp *qp)
{
	return qp->sq.ring.hdr;
}

/**
 * skr_qp_bulk() - has the QP sent bulk within a tick or two?
 * @qp: QP
 *
 * Context: any; without the QP's lock it is a guess.
 * Return: true if it has.
 */
static inline bool skr_qp_bulk(const struct skr_qp *qp)
{
	return jiffies - READ_ONCE(qp->tx_bulk) <= 1;
}

/**
 * skr_qp_who() - a QP as one who wants access to memory
 * @qp: QP, not shut down; of an XRC target, with a request in work
 *
 * Return: its device, domain and number. An XRC target has no domain of its own:
 *	it is the SRQ's that the request names (annex A14).
 */
static inline struct skr_who skr_qp_who(struct skr_qp *qp)
{
	return (struct skr_who) {
		.dev = qp->dev,
		.pd = qp->xrcd ? qp->xrc_srq->ibsrq.pd : qp->ibqp->pd,
		.qpn = qp->qpn,
		.miss = &qp->fault->miss,
		.last = &qp->last_key,
	};
}

/**
 * skr_qp_missed() - did an access that failed only miss a page?
 * @qp: QP, locked
 *
 * Return: true if the packet or request at hand has to wait; it is executed again,
 *	from its beginning.
 */
static inline bool skr_qp_missed(const struct skr_qp *qp)
{
	return qp->fault->miss.missed;
}

/**
 * skr_qp_sges() - a request's local memory
 * @qp: QP, not shut down
 * @sge: entries, copied and checked
 * @num_sge: how many
 *
 * Return: the list, in the QP's protection domain.
 */
static inline struct skr_sges skr_qp_sges(struct skr_qp *qp, const struct skerry_sge *sge,
					  u32 num_sge)
{
	return (struct skr_sges) { .who = skr_qp_who(qp), .sge = sge, .num_sge = num_sge };
}

/* lifetime.c */

/**
 * skr_qp_table_init() - make the table of QP numbers
 *
 * Context: module init.
 */
void skr_qp_table_init(void);

/**
 * skr_qp_table_exit() - undo skr_qp_table_init()
 *
 * Context: module exit.
 */
void skr_qp_table_exit(void);

/**
 * skr_qp_alloc() - allocate a QP and give it a number
 * @dev: device
 * @ibqp: ib_core's part; its qp_type decides transport and number
 *
 * Context: process.
 * Return: QP in the RESET state, not findable yet, or an ERR_PTR.
 */
struct skr_qp *skr_qp_alloc(struct skr_dev *dev, struct ib_qp *ibqp);

/**
 * skr_qp_publish() - let packets find a QP
 * @qp: complete QP
 *
 * Context: process.
 * Return: 0, or -EBUSY if the device has a QP 1 already.
 */
int skr_qp_publish(struct skr_qp *qp);

/**
 * skr_qps_fail_cq() - put all QPs that use a CQ into the error state
 * @cq: CQ that lost a completion
 *
 * Each gets IB_EVENT_QP_FATAL, unless it is in RESET or in the error state.
 *
 * Context: process; takes the lock of each QP.
 */
void skr_qps_fail_cq(struct skr_cq *cq);

/**
 * skr_qps_path_changed() - a netdev sends by another path from now on
 * @dev: device on it
 *
 * What its QPs have under way may be lost. It is sent again at once, and soon again,
 * because the other end of the path may not be ready yet.
 *
 * Context: process, rtnl held. Tries the lock of each QP, or leaves it to the holder.
 */
void skr_qps_path_changed(struct skr_dev *dev);

/**
 * skr_qps_forget_srq() - no QP has a request of an SRQ in use any more
 * @srq: XRC SRQ that cannot be found any more
 *
 * What was being filled is lost with the SRQ, without a completion; the rest of
 * the message is refused.
 *
 * Context: process; takes the lock of each QP.
 */
void skr_qps_forget_srq(struct skr_srq *srq);

/**
 * skr_qp_shutdown() - no packet, post, timer or worker touches the QP's rings,
 *	CQs or memory after this
 * @qp: QP
 *
 * Context: process.
 */
void skr_qp_shutdown(struct skr_qp *qp);

/**
 * skr_qp_put() - drop a reference
 * @qp: QP
 *
 * Context: any.
 */
void skr_qp_put(struct skr_qp *qp);

/**
 * skr_qp_find() - look a QP up
 * @dev: device that the packet came to, or NULL; for QP 1, which each has
 * @qpn: number
 *
 * Context: under RCU.
 * Return: the QP, valid under RCU, or NULL.
 */
struct skr_qp *skr_qp_find(struct skr_dev *dev, u32 qpn);

/**
 * skr_qp_for_each() - look at all QPs of a device
 * @dev: device
 * @look: called for each, with @arg, under RCU
 * @arg: see @look
 *
 * Context: process.
 */
void skr_qp_for_each(struct skr_dev *dev, void (*look)(struct skr_qp *qp, void *arg), void *arg);

/**
 * skr_qp_event() - raise an asynchronous event soon
 * @qp: QP, locked
 * @event: which
 *
 * Context: any, @qp->lock held.
 */
void skr_qp_event(struct skr_qp *qp, enum ib_event_type event);

/* state.c: transitions */

/**
 * skr_qp_reset() - forget everything, back to RESET
 * @qp: QP, locked
 *
 * Context: BH, @qp->lock held.
 */
void skr_qp_reset(struct skr_qp *qp);

/**
 * skr_qp_error() - go to the error state
 * @qp: QP, locked
 * @status: status of the oldest send request, IB_WC_WR_FLUSH_ERR if it is not
 *	to blame
 *
 * Everything posted, and what is posted later, is flushed by skr_flush().
 *
 * Context: BH, @qp->lock held.
 */
void skr_qp_error(struct skr_qp *qp, enum ib_wc_status status);

/**
 * skr_qp_send_failed() - a send request failed on our side
 * @qp: QP, locked
 * @status: status of the oldest send request, which is the one
 *
 * An RC QP goes to the error state, another one to SQE, where it still receives
 * (IBTA 10.3.1, 10.10.2.2).
 *
 * Context: BH, @qp->lock held.
 */
void skr_qp_send_failed(struct skr_qp *qp, enum ib_wc_status status);

/**
 * skr_qp_recv_failed() - a receive request is at fault itself
 * @qp: QP, locked
 *
 * Tells by the request in use, or else by an event, and fails the QP.
 *
 * Context: BH, @qp->lock held.
 */
void skr_qp_recv_failed(struct skr_qp *qp);

/**
 * skr_flush() - flush requests of a QP in the error state, send requests only
 *	in SQE
 * @qp: QP, locked
 * @budget: completions to write at most
 *
 * Context: BH, @qp->lock held.
 * Return: true if there is more to flush.
 */
bool skr_flush(struct skr_qp *qp, int budget);

/**
 * skr_complete_send() - complete the oldest send request
 * @qp: QP, locked; sq.una != sq.taken
 * @status: its status
 * @byte_len: bytes read, for READ and atomics
 *
 * Requests behind it that our side has executed complete as well.
 *
 * Context: BH, @qp->lock held.
 */
void skr_complete_send(struct skr_qp *qp, enum ib_wc_status status, u32 byte_len);

/**
 * skr_complete_recv() - complete the receive request being filled
 * @qp: QP, locked; recv.busy
 * @cqe: status, opcode, flags, byte_len and imm; the rest is filled in
 * @solicited: the sender asked for an event
 *
 * Context: BH, @qp->lock held.
 */
void skr_complete_recv(struct skr_qp *qp, struct skerry_cqe *cqe, bool solicited);

/**
 * skr_take_recv() - take the next receive request, unless one is in use
 * @qp: QP, locked
 *
 * A request that an unreliable message did not complete is used again.
 *
 * Context: BH, @qp->lock held.
 * Return: 1 if recv.wqe is ready to be filled, 0 if none is posted, -EINVAL if
 *	the one posted is unusable: recv.busy is set and recv.wqe->wr_id valid then,
 *	or, if the ring itself makes no sense, recv.busy is not set.
 */
int skr_take_recv(struct skr_qp *qp);

/* rx.c: from the door to the QP */

/**
 * skr_rx_fits() - may a packet be for this QP, by its transport, kind and P_Key?
 * @qp: QP
 * @pkt: the packet's facts
 *
 * Context: any; what needs the lock is not looked at.
 * Return: SKR_DROP_NONE, or the reason why it is dropped in silence.
 */
enum skr_drop skr_rx_fits(const struct skr_qp *qp, const struct skr_pkt *pkt);

/**
 * skr_rx_queue_for() - where a packet waits for the QP
 * @qp: QP
 * @pkt: the packet's facts
 *
 * A CNP waits behind nothing: all else may wait for a page, or for what it slows down.
 *
 * Context: any.
 * Return: one of its three queues.
 */
struct sk_buff_head *skr_rx_queue_for(struct skr_qp *qp, const struct skr_pkt *pkt);

/**
 * skr_rx_dequeue() - what waits longest
 * @qp: QP
 * @queue: one of its three queues
 *
 * Context: any.
 * Return: the skb, the caller's now, or NULL.
 */
struct sk_buff *skr_rx_dequeue(struct skr_qp *qp, struct sk_buff_head *queue);

/**
 * skr_rx_forget() - drop all that waits
 * @qp: QP
 *
 * Context: any.
 */
void skr_rx_forget(struct skr_qp *qp);

#endif /* SKR_TRANSPORT_QP_H */
