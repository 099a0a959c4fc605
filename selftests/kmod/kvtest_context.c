// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * From where a consumer posts and polls: with interrupts off, in an interrupt, in
 * completion handlers; and how it stops.
 */
#include "kvtest.h"

#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/slab.h>

#define KVT_MESSAGES	(3000 / kvt_slow)

static struct ib_send_wr kvt_empty_send(struct ib_cqe *cqe)
{
	return (struct ib_send_wr) {
		.wr_cqe = cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
}

/**
 * struct kvt_both - a message, posted from somewhere unusual
 * @t: run
 * @work: posts it
 * @posted: it has
 * @err: of the two posts
 * @masked: interrupts were off
 */
struct kvt_both {
	struct kvt		*t;
	struct irq_work		work;
	struct completion	posted;
	int			err;
	bool			masked;
};

static void kvt_post_both(struct kvt_both *both)
{
	struct kvt *t = both->t;
	struct ib_send_wr wr = kvt_empty_send(kvt_wait_init(&t->a.send));

	both->masked = irqs_disabled();
	both->err = kvt_recv(&t->b, NULL) ?: ib_post_send(t->a.qp, &wr, NULL);
}

static void kvt_both_arrive(struct kvt *t, const struct kvt_both *both)
{
	kvt_true(t, both->masked, "interrupts were off");
	if (!kvt_is(t, both->err, 0, "posting"))
		return;
	kvt_is(t, kvt_wait(&t->a.send), 0, "SEND");
	kvt_is(t, kvt_wait(&t->b.recv), 0, "RECV");
}

static void kvt_irqs_off(struct kvt *t)
{
	struct kvt_both both = { .t = t };
	unsigned long flags;
	spinlock_t lock;
	int i;

	spin_lock_init(&lock);
	for (i = 0; i < 200 && !t->bad; i++) {
		spin_lock_irqsave(&lock, flags);
		kvt_post_both(&both);
		spin_unlock_irqrestore(&lock, flags);
		kvt_both_arrive(t, &both);
	}
}

static void kvt_in_irq_work(struct irq_work *work)
{
	struct kvt_both *both = container_of(work, struct kvt_both, work);

	kvt_post_both(both);
	complete(&both->posted);
}

static void kvt_in_irq(struct kvt *t)
{
	struct kvt_both both = { .t = t };
	int i;

	both.work = IRQ_WORK_INIT(kvt_in_irq_work);
	for (i = 0; i < 50 && !t->bad; i++) {
		init_completion(&both.posted);
		irq_work_queue(&both.work);
		if (!kvt_true(t, wait_for_completion_timeout(&both.posted, KVT_WAIT), "posted"))
			break;
		kvt_both_arrive(t, &both);
	}
	irq_work_sync(&both.work);
}

/* Polling and arming with interrupts off, as a driver with a lock of its own does */
static void kvt_poll_irqs_off(struct kvt *t)
{
	struct ib_cq *cq = ib_create_cq(t->a.dev, NULL, NULL, NULL,
					&(struct ib_cq_init_attr) { .cqe = 16 });
	struct ib_send_wr wr = { .wr_id = 5, .opcode = IB_WR_SEND,
				 .send_flags = IB_SEND_SIGNALED };
	struct ib_qp *qp = t->a.qp;
	unsigned long end, flags;
	struct ib_wc wc;
	int n = 0;

	if (!kvt_is(t, PTR_ERR_OR_ZERO(cq), 0, "ib_create_cq()"))
		return;
	kvt_disconnect(t);
	t->a.qp = kvt_create_qp(&t->a, cq, NULL);
	t->b.qp = kvt_create_qp(&t->b, t->b.cq, NULL);
	if (!kvt_is(t, kvt_link(&t->a, &t->b) ?: kvt_recv(&t->b, NULL), 0, "connecting"))
		goto out;
	kvt_is(t, ib_post_send(t->a.qp, &wr, NULL), 0, "posting");
	end = jiffies + KVT_WAIT;
	while (!n && time_before(jiffies, end)) {
		usleep_range(100, 200);
		local_irq_save(flags);
		n = ib_poll_cq(cq, 1, &wc);
		if (!n)
			ib_req_notify_cq(cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);
		local_irq_restore(flags);
	}
	if (kvt_is(t, n, 1, "polled")) {
		kvt_is(t, wc.status, 0, "status");
		kvt_is(t, wc.wr_id, 5, "wr_id");
		kvt_true(t, wc.qp == t->a.qp, "it names its QP");
	}
	kvt_is(t, kvt_wait(&t->b.recv), 0, "RECV");
out:
	qp = t->a.qp;
	t->a.qp = NULL;
	ib_destroy_qp(qp);
	kvt_disconnect(t);
	ib_destroy_cq(cq);
}

/**
 * struct kvt_player - an end whose handler does everything
 * @end: end
 * @cq: of both queues
 * @serves: it answers; the other one begins
 * @events: how often the handler was called
 * @received: messages
 * @error: the first status that was not good, or errno
 * @over: all messages have been received, or something is wrong
 */
struct kvt_player {
	struct kvt_end		*end;
	struct ib_cq		*cq;
	bool			serves;
	u32			events;
	u32			received;
	int			error;
	struct completion	over;
};

static int kvt_player_post(struct kvt_player *player)
{
	struct ib_send_wr wr = kvt_empty_send(NULL);

	wr.wr_id = 1;
	return ib_post_send(player->end->qp, &wr, NULL);
}

static int kvt_player_recv(struct kvt_player *player)
{
	return ib_post_recv(player->end->qp, &(struct ib_recv_wr) { .wr_id = 2 }, NULL);
}

static void kvt_player_wc(struct kvt_player *player, const struct ib_wc *wc)
{
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	if (wc->status)
		player->error = player->error ?: wc->status;
	if (wc->wr_id == 2 && !wc->status) {
		player->received++;
		player->error = player->error ?: kvt_player_recv(player);
		/* the one that begins ends it, too */
		if (player->serves || player->received < KVT_MESSAGES)
			player->error = player->error ?: kvt_player_post(player);
	}
	if (player->error || player->received == KVT_MESSAGES)
		complete(&player->over);
}

static void kvt_player_handler(struct ib_cq *cq, void *context)
{
	struct kvt_player *player = context;
	struct ib_wc wc;

	player->events++;
	do {
		while (ib_poll_cq(cq, 1, &wc) > 0)
			kvt_player_wc(player, &wc);
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

static int kvt_player_open(struct kvt_player *player)
{
	struct ib_cq *cq;
	struct ib_qp *qp;

	init_completion(&player->over);
	cq = ib_create_cq(player->end->dev, kvt_player_handler, NULL, player,
			  &(struct ib_cq_init_attr) { .cqe = 4 * KVT_DEPTH });
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	player->cq = cq;
	qp = kvt_create_qp(player->end, cq, NULL);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	player->end->qp = qp;
	return 0;
}

static void kvt_player_close(struct kvt_player *player)
{
	if (player->end->qp)
		ib_destroy_qp(player->end->qp);
	player->end->qp = NULL;
	if (player->cq)
		ib_destroy_cq(player->cq);
}

static int kvt_players_start(struct kvt_player *a, struct kvt_player *b)
{
	int i, err;

	err = kvt_link(a->end, b->end);
	for (i = 0; i < 8 && !err; i++)
		err = kvt_player_recv(a) ?: kvt_player_recv(b);
	if (err)
		return err;
	ib_req_notify_cq(a->cq, IB_CQ_NEXT_COMP);
	ib_req_notify_cq(b->cq, IB_CQ_NEXT_COMP);
	return kvt_player_post(a);
}

/* Each handler polls, posts the next message and arms; nobody else does anything */
static void kvt_handlers(struct kvt *t)
{
	struct kvt_player a = { .end = &t->a };
	struct kvt_player b = { .end = &t->b, .serves = true };

	kvt_disconnect(t);
	if (kvt_is(t, kvt_player_open(&a) ?: kvt_player_open(&b), 0, "opening") &&
	    kvt_is(t, kvt_players_start(&a, &b), 0, "starting")) {
		wait_for_completion_timeout(&a.over, KVT_WAIT);
		kvt_is(t, a.error, 0, "error of A");
		kvt_is(t, b.error, 0, "error of B");
		kvt_is(t, a.received, KVT_MESSAGES, "messages to A");
		kvt_is(t, b.received, KVT_MESSAGES, "messages to B");
		kvt_true(t, a.events && b.events, "handlers were called");
	}
	kvt_player_close(&a);
	kvt_player_close(&b);
}

/**
 * struct kvt_many - requests that are flushed
 * @cqe: called for each
 * @n: how many have completed
 */
struct kvt_many {
	struct ib_cqe	cqe;
	atomic_t	n;
};

static void kvt_many_done(struct ib_cq *cq, struct ib_wc *wc)
{
	atomic_inc(&container_of(wc->wr_cqe, struct kvt_many, cqe)->n);
}

static int kvt_post_many_recvs(struct kvt_end *end, struct kvt_many *many)
{
	int i, err = 0;

	many->cqe.done = kvt_many_done;
	atomic_set(&many->n, 0);
	for (i = 0; i < KVT_DEPTH && !err; i++)
		err = ib_post_recv(end->qp, &(struct ib_recv_wr) { .wr_cqe = &many->cqe }, NULL);
	return err;
}

static int kvt_post_many_sends(struct kvt *t, struct kvt_many *many)
{
	struct ib_sge sge = kvt_sge(&t->a, 0, 8000);
	int i, err = 0;

	many->cqe.done = kvt_many_done;
	atomic_set(&many->n, 0);
	for (i = 0; i < KVT_DEPTH && !err; i++) {
		struct ib_send_wr wr = kvt_empty_send(&many->cqe);

		wr.sg_list = &sge;
		wr.num_sge = 1;
		err = ib_post_send(t->a.qp, &wr, NULL);
	}
	return err;
}

/* When draining returns, every completion has been seen */
static void kvt_drain(struct kvt *t)
{
	struct kvt_many sends, recvs;
	int i;

	for (i = 0; i < 20 && !t->bad; i++) {
		if (!kvt_is(t, kvt_connect(t), 0, "connecting") ||
		    !kvt_is(t, kvt_post_many_recvs(&t->b, &recvs), 0, "posting RECVs") ||
		    !kvt_is(t, kvt_post_many_sends(t, &sends), 0, "posting SENDs"))
			break;
		ib_drain_qp(t->a.qp);
		kvt_is(t, atomic_read(&sends.n), KVT_DEPTH, "SENDs completed");
		ib_drain_qp(t->b.qp);
		kvt_is(t, atomic_read(&recvs.n), KVT_DEPTH, "RECVs completed");
	}
}

/* In any order, twice, and before there is a connection */
static void kvt_drain_unconnected(struct kvt *t)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct kvt_many recvs;
	struct ib_qp *qp;

	ib_drain_rq(t->b.qp);
	ib_drain_sq(t->b.qp);
	ib_drain_qp(t->b.qp);
	kvt_disconnect(t);
	qp = kvt_create_qp(&t->a, t->a.cq, NULL);
	if (!kvt_is(t, PTR_ERR_OR_ZERO(qp), 0, "ib_create_qp()"))
		return;
	t->a.qp = qp;
	kvt_is(t, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			       IB_QP_ACCESS_FLAGS), 0, "to INIT");
	kvt_is(t, kvt_post_many_recvs(&t->a, &recvs), 0, "posting RECVs");
	ib_drain_qp(qp);
	kvt_is(t, atomic_read(&recvs.n), KVT_DEPTH, "RECVs completed");
}

/* As many requests as were asked for, and not one that is overwritten */
static void kvt_full(struct kvt *t)
{
	struct kvt_many sends;
	struct ib_send_wr wr;
	int n = 0, err = 0;

	/* without a receive request nothing completes */
	if (!kvt_is(t, kvt_post_many_sends(t, &sends), 0, "posting as many as asked for"))
		return;
	while (!err && n++ < 4 * KVT_DEPTH) {
		wr = kvt_empty_send(&sends.cqe);
		err = ib_post_send(t->a.qp, &wr, NULL);
	}
	kvt_is(t, err, -ENOMEM, "posting to a full queue");
	ib_drain_qp(t->b.qp);
	kvt_disconnect(t);
	kvt_is(t, atomic_read(&sends.n), KVT_DEPTH + n - 1, "SENDs completed");
}

static void kvt_inline(struct kvt *t)
{
	u8 *data = kmalloc(64, GFP_KERNEL);
	struct ib_sge sge[2] = {
		{ .addr = (uintptr_t)data, .length = 11 },
		{ .addr = (uintptr_t)data + 11, .length = 50 },
	};
	struct ib_sge to = kvt_sge(&t->b, 1, 61);
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_INLINE,
				 .sg_list = sge, .num_sge = 2 };

	if (!kvt_true(t, data, "memory") || !kvt_is(t, kvt_recv(&t->b, &to), 0, "posting"))
		goto out;
	kvt_fill(data, 61, 3);
	/* the memory is the consumer's again as soon as it is posted */
	wr.wr_cqe = kvt_wait_init(&t->a.send);
	wr.send_flags |= IB_SEND_SIGNALED;
	kvt_is(t, ib_post_send(t->a.qp, &wr, NULL), 0, "posting");
	memset(data, 0, 61);
	kvt_is(t, kvt_wait(&t->a.send), 0, "SEND");
	kvt_is(t, kvt_wait(&t->b.recv), 0, "RECV");
	kvt_true(t, kvt_filled(kvt_at(&t->b, 1), 61, 3, 0), "it has arrived");
out:
	kfree(data);
}

/* A shared receive queue of a consumer in the kernel, filled from its completions */
static void kvt_srq(struct kvt *t)
{
	struct ib_srq_init_attr init = { .attr.max_wr = 4, .attr.max_sge = 1 };
	struct ib_srq *srq = ib_create_srq(t->b.pd, &init);
	struct ib_recv_wr recv = {};
	struct ib_send_wr wr;
	int i;

	if (!kvt_is(t, PTR_ERR_OR_ZERO(srq), 0, "ib_create_srq()"))
		return;
	kvt_disconnect(t);
	t->a.qp = kvt_create_qp(&t->a, t->a.cq, NULL);
	t->b.qp = kvt_create_qp(&t->b, t->b.cq, srq);
	kvt_is(t, kvt_link(&t->a, &t->b), 0, "connecting");
	for (i = 0; i < 100 && !t->bad; i++) {
		wr = kvt_empty_send(NULL);
		recv.wr_cqe = kvt_wait_init(&t->b.recv);
		kvt_is(t, ib_post_srq_recv(srq, &recv, NULL), 0, "posting");
		kvt_is(t, kvt_send(&t->a, &wr), 0, "SEND");
		kvt_is(t, kvt_wait(&t->b.recv), 0, "RECV");
	}
	kvt_disconnect(t);
	ib_destroy_srq(srq);
}

const struct kvt_test kvt_context_tests[] = {
	{ "posting with interrupts off", kvt_irqs_off },
	{ "posting in an interrupt", kvt_in_irq },
	{ "polling and arming with interrupts off", kvt_poll_irqs_off },
	{ "handlers that poll, post and arm", kvt_handlers },
	{ "a drained QP has completed everything", kvt_drain },
	{ "draining QPs that are not, or no more, connected", kvt_drain_unconnected },
	{ "a full send queue refuses, and loses nothing", kvt_full },
	{ "inline data", kvt_inline },
	{ "a shared receive queue", kvt_srq },
	{}
};
