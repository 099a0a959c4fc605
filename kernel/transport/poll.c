// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "poll.h"

#include <linux/cpumask.h>
#include <linux/kernel_stat.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/thread_info.h>
#include <linux/tick.h>

#include "qp.h"
#include "sched.h"

static struct workqueue_struct *skr_poll_wq;

/* Out of the list. The list's reference is the caller's now. */
static void skr_poll_remove(struct skr_poll *poll, struct skr_qp *qp)
{
	lockdep_assert_held(&poll->lock);
	list_del_init(&qp->poll.node);
	poll->count--;
	clear_bit(SKR_QP_WATCHED, &qp->run_flags);
}

/**
 * struct skr_poll_idle - how idle the CPUs are
 * @lock: protects @at and skr_poll_idle_usecs; innermost
 * @at: nanoseconds, when skr_poll_idle_usecs were read
 */
struct skr_poll_idle {
	spinlock_t	lock;
	u64		at;
};

static struct skr_poll_idle skr_poll_idle = {
	.lock = __SPIN_LOCK_UNLOCKED(skr_poll_idle.lock),
};

/* Microseconds that a CPU had been idle */
static DEFINE_PER_CPU(u64, skr_poll_idle_usecs);

/* Another CPU that was idle for more than half of @ns nanoseconds, or -1 */
static int skr_poll_idlest(s64 ns)
{
	s64 usecs, most = ns / NSEC_PER_USEC / 2;
	int cpu, found = -1;
	u64 *before, now;

	lockdep_assert_held(&skr_poll_idle.lock);
	for_each_online_cpu(cpu) {
		before = per_cpu_ptr(&skr_poll_idle_usecs, cpu);
		now = get_cpu_idle_time_us(cpu, NULL);
		usecs = now - *before;
		*before = now;
		if (usecs <= most || cpu == smp_processor_id() ||
		    !housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN))
			continue;
		most = usecs;
		found = cpu;
	}
	return found;
}

/* A CPU that has been idle for more than half of the time since somebody last asked, or -1 */
static int skr_poll_spare_cpu(void)
{
	struct skr_poll_idle *idle = &skr_poll_idle;
	u64 now = ktime_get_ns(), ns;
	int cpu = -1;

	spin_lock(&idle->lock);
	ns = now - idle->at;
	if (ns >= SKR_POLL_SAMPLE_NS) {
		cpu = skr_poll_idlest(ns);
		/* what was long ago says nothing of now */
		if (ns >= SKR_POLL_SAMPLE_MAX * SKR_POLL_SAMPLE_NS)
			cpu = -1;
		idle->at = now;
	}
	spin_unlock(&idle->lock);
	return cpu;
}

/*
 * Where may a slice begin? It needs a CPU that nobody else does. The scheduler is not
 * left to find one: where two CPUs are busy for most of the time it does not look for it,
 * and the worker would wait for whoever posts. Return: -1 if nowhere.
 */
static int skr_poll_where(const struct skr_qp *qp)
{
	const struct skr_poll *poll = &qp->dev->poll;
	enum skr_poll_mode mode = READ_ONCE(poll->mode);
	int cpu = READ_ONCE(poll->cpu);

	/* there, who holds a lock may have to wait for a thread that does not run */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || mode == SKR_POLL_OFF || num_online_cpus() < 2)
		return -1;
	/* one more does not change whether it may be there */
	if (READ_ONCE(poll->awake))
		return cpu;
	if (mode == SKR_POLL_ALWAYS) {
		cpu = skr_other_cpu(qp);
		return cpu != smp_processor_id() ? cpu : -1;
	}
	if (time_before(jiffies, READ_ONCE(poll->not_before)))
		return -1;
	/* the CPU that it has had is not idle, and nobody wanted it */
	if (READ_ONCE(poll->welcome) && cpu != smp_processor_id() && cpu_online(cpu))
		return cpu;
	return skr_poll_spare_cpu();
}

static void skr_poll_ask(struct skr_qp *qp, int cpu)
{
	struct skr_poll *poll = &qp->dev->poll;

	spin_lock(&poll->lock);
	if (list_empty(&qp->poll.node) && poll->count < SKR_POLL_QPS) {
		kref_get(&qp->ref);
		list_add_tail(&qp->poll.node, &poll->qps);
		poll->count++;
		if (!poll->awake)
			queue_work_on(cpu, skr_poll_wq, &poll->work);
	}
	spin_unlock(&poll->lock);
}

static u64 skr_poll_ns(const struct skr_poll *poll)
{
	return READ_ONCE(poll->usecs) * NSEC_PER_USEC;
}

void skr_poll_kicked(struct skr_qp *qp)
{
	struct skr_poll *poll = &qp->dev->poll;
	u32 quick = READ_ONCE(poll->quick);

	lockdep_assert_held(&qp->lock);
	if (READ_ONCE(poll->mode) == SKR_POLL_OFF || !qp->ibqp->uobject ||
	    skr_ring_produced(&qp->sq.ring) == qp->sq.taken)
		return;
	qp->poll.kicked = true;
	/* a kick may have taken long: what counts is the time since its end. Races do no harm. */
	if ((s64)(ktime_get_ns() - READ_ONCE(poll->left)) > (s64)skr_poll_ns(poll))
		WRITE_ONCE(poll->quick, 0);
	else if (quick < SKR_POLL_QUICK)
		WRITE_ONCE(poll->quick, quick + 1);
}

void skr_poll_left(struct skr_dev *dev)
{
	if (READ_ONCE(dev->poll.mode) != SKR_POLL_OFF)
		WRITE_ONCE(dev->poll.left, ktime_get_ns());
}

bool skr_poll_drained(struct skr_qp *qp)
{
	struct skr_poll *poll = &qp->dev->poll;
	enum skr_poll_mode mode = READ_ONCE(poll->mode);
	int cpu = -1;

	lockdep_assert_held(&qp->lock);
	/* the kernel's own do not leave posts to be found */
	if (mode == SKR_POLL_OFF || !qp->ibqp->uobject)
		return false;
	WRITE_ONCE(qp->poll.drained, ktime_get_ns());
	if (test_bit(SKR_QP_WATCHED, &qp->run_flags)) {
		/* the poller comes, or clears the bit and has the QP run again */
		qp->poll.kicked = false;
		WRITE_ONCE(qp->poll.hungry, true);
		return true;
	}
	if (qp->poll.kicked &&
	    (mode == SKR_POLL_ALWAYS || READ_ONCE(poll->quick) >= SKR_POLL_QUICK))
		cpu = skr_poll_where(qp);
	if (cpu >= 0)
		skr_poll_ask(qp, cpu);
	qp->poll.kicked = false;
	return false;
}

void skr_poll_forget(struct skr_qp *qp)
{
	struct skr_poll *poll = &qp->dev->poll;
	bool listed;

	spin_lock_bh(&poll->lock);
	listed = !list_empty(&qp->poll.node);
	if (listed)
		skr_poll_remove(poll, qp);
	spin_unlock_bh(&poll->lock);
	if (listed)
		skr_qp_put(qp);
}

/**
 * struct skr_poll_slice - what the poller does in one go
 * @poll: of the device
 * @idle_ns: how long an idle ring is watched
 * @hits: posts found, each of which saved a kick
 */
struct skr_poll_slice {
	struct skr_poll	*poll;
	u64		idle_ns;
	u32		hits;
};

/* Is there a reason to run the QP? Then it is in the list no more if its time is up. */
static bool skr_poll_look(struct skr_poll_slice *slice, struct skr_qp *qp, u64 now)
{
	bool hungry = READ_ONCE(qp->poll.hungry);
	u64 limit = hungry ? slice->idle_ns : slice->idle_ns * SKR_POLL_BUSY;

	if (!test_bit(SKR_QP_WATCHED, &qp->run_flags)) {
		/* new: the run sees the bit, and no kick is needed from then on */
		set_bit(SKR_QP_WATCHED, &qp->run_flags);
		qp->poll.seen = READ_ONCE(qp->sq.taken);
		return true;
	}
	if (hungry && skr_ring_produced(&qp->sq.ring) != READ_ONCE(qp->sq.taken))
		return true;
	if ((s64)(now - READ_ONCE(qp->poll.drained)) <= (s64)limit)
		return false;
	skr_poll_remove(slice->poll, qp);
	return true;
}

/* Look at all; a QP that has reason to run, held, or NULL. */
static struct skr_qp *skr_poll_find(struct skr_poll_slice *slice, u64 now)
{
	struct skr_poll *poll = slice->poll;
	struct skr_qp *qp, *found = NULL;

	spin_lock_bh(&poll->lock);
	list_for_each_entry(qp, &poll->qps, poll.node) {
		if (!skr_poll_look(slice, qp, now))
			continue;
		found = qp;
		break;
	}
	if (found && !list_empty(&found->poll.node)) {
		/* the others' turn comes first next time */
		list_move_tail(&found->poll.node, &poll->qps);
		kref_get(&found->ref);
	}
	spin_unlock_bh(&poll->lock);
	return found;
}

/* What is posted while the QP is busy is found by the requester: no kick either */
static void skr_poll_run(struct skr_poll_slice *slice, struct skr_qp *qp, bool watched)
{
	u32 taken;

	/* it is hungry again when the requester says so */
	WRITE_ONCE(qp->poll.hungry, false);
	skr_qp_run(qp);
	taken = READ_ONCE(qp->sq.taken);
	/* a reset may have it begin anywhere */
	if (watched)
		slice->hits += min(taken - qp->poll.seen, qp->sq.ring.depth);
	qp->poll.seen = taken;
	skr_qp_put(qp);
}

/* All have to kick again. Those who ask anew meanwhile are not watched yet. */
static void skr_poll_let_go(struct skr_poll_slice *slice)
{
	struct skr_poll *poll = slice->poll;
	int budget = SKR_POLL_QPS;
	bool watched = false;
	struct skr_qp *qp;

	do {
		spin_lock_bh(&poll->lock);
		qp = list_first_entry_or_null(&poll->qps, struct skr_qp, poll.node);
		if (qp) {
			watched = test_bit(SKR_QP_WATCHED, &qp->run_flags);
			skr_poll_remove(poll, qp);
		}
		spin_unlock_bh(&poll->lock);
		if (qp)
			skr_poll_run(slice, qp, watched);
	} while (qp && --budget);
}

/* Was the slice worth it? Else the next one has to wait. */
static void skr_poll_judge(const struct skr_poll_slice *slice)
{
	struct skr_poll *poll = slice->poll;

	/* until it is known how long others want the CPU */
	WRITE_ONCE(poll->welcome, false);
	WRITE_ONCE(poll->hits, poll->hits + slice->hits);
	if (slice->hits >= SKR_POLL_WORTH) {
		poll->rest_ms = 0;
		return;
	}
	poll->rest_ms = clamp(2 * poll->rest_ms, 1U, (u32)SKR_POLL_REST_MS);
	WRITE_ONCE(poll->not_before, jiffies + msecs_to_jiffies(poll->rest_ms));
}

/* Does something else want this CPU, at once or when it suits? */
static bool skr_poll_wanted(void)
{
	return need_resched() || test_thread_flag(TIF_NEED_RESCHED_LAZY);
}

/* Preemption is on again: let others have this CPU. Return: false if they wanted it for long. */
static bool skr_poll_yield(void)
{
	u64 start = ktime_get_ns();

	preempt_enable();
	if (skr_poll_wanted())
		schedule();
	return ktime_get_ns() - start < SKR_POLL_BRIEF_NS;
}

/* Return: false if all have gone since the slice was asked for. */
static bool skr_poll_awake(struct skr_poll *poll, bool awake)
{
	bool any;

	spin_lock_bh(&poll->lock);
	any = poll->count;
	WRITE_ONCE(poll->awake, awake && any);
	spin_unlock_bh(&poll->lock);
	return any;
}

static void skr_poll_work(struct work_struct *work)
{
	struct skr_poll *poll = container_of(work, struct skr_poll, work);
	struct skr_poll_slice slice = { .poll = poll, .idle_ns = skr_poll_ns(poll) };
	u64 start, now;
	struct skr_qp *qp;

	if (!skr_poll_awake(poll, true))
		return;
	preempt_disable();
	WRITE_ONCE(poll->cpu, smp_processor_id());
	start = ktime_get_ns();
	now = start;
	while (now - start < SKR_POLL_SLICE_NS && !skr_poll_wanted() &&
	       !list_empty(&poll->qps)) {
		qp = skr_poll_find(&slice, now);
		if (qp)
			skr_poll_run(&slice, qp, true);
		else
			cpu_relax();
		now = ktime_get_ns();
	}
	skr_poll_awake(poll, false);
	skr_poll_let_go(&slice);
	skr_poll_judge(&slice);
	if (skr_poll_yield() && slice.hits >= SKR_POLL_WORTH)
		WRITE_ONCE(poll->welcome, true);
}

void skr_poll_start(struct skr_dev *dev)
{
	struct skr_poll *poll = &dev->poll;

	spin_lock_init(&poll->lock);
	INIT_LIST_HEAD(&poll->qps);
	INIT_WORK(&poll->work, skr_poll_work);
	poll->mode = SKR_POLL_AUTO;
	poll->usecs = SKR_POLL_USECS;
	poll->not_before = jiffies;
}

void skr_poll_stop(struct skr_dev *dev)
{
	WARN_ON(!list_empty(&dev->poll.qps));
	cancel_work_sync(&dev->poll.work);
}

int skr_poll_create(void)
{
	/* suspend waits for a slice; processes, who ask for more, are frozen before */
	skr_poll_wq = alloc_workqueue("skerry_poll",
				      SKR_WQ_PERCPU | WQ_CPU_INTENSIVE | WQ_FREEZABLE, 0);
	return skr_poll_wq ? 0 : -ENOMEM;
}

void skr_poll_destroy(void)
{
	destroy_workqueue(skr_poll_wq);
}
