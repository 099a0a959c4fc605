// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A QP's timers: local ACK timeout, the waits that RNR NAKs and local congestion
 * ask for, and those of its rate. All only wake the QP; the decision is made under its
 * lock, by the clock.
 */
#include "engine.h"
#include "sched.h"

#include "../wire/aeth.h"

static enum hrtimer_restart skr_timer_ack_fn(struct hrtimer *timer)
{
	struct skr_qp *qp = container_of(timer, struct skr_qp, ack_timer);

	set_bit(SKR_QP_TIMER_ACK, &qp->run_flags);
	skr_qp_run(qp);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart skr_timer_wait_fn(struct hrtimer *timer)
{
	skr_qp_run(container_of(timer, struct skr_qp, wait_timer));
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart skr_timer_flow_fn(struct hrtimer *timer)
{
	skr_qp_run(container_of(timer, struct skr_qp, flow.timer));
	return HRTIMER_NORESTART;
}

void skr_timer_init(struct skr_qp *qp)
{
	hrtimer_setup(&qp->ack_timer, skr_timer_ack_fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	hrtimer_setup(&qp->flow.timer, skr_timer_flow_fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	hrtimer_setup(&qp->wait_timer, skr_timer_wait_fn, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

void skr_timer_stop(struct skr_qp *qp)
{
	hrtimer_cancel(&qp->ack_timer);
	hrtimer_cancel(&qp->wait_timer);
	hrtimer_cancel(&qp->flow.timer);
}

void skr_timer_ack(struct skr_qp *qp)
{
	u64 ns = skr_ack_timeout_ns(qp->attr.timeout);

	lockdep_assert_held(&qp->lock);
	if (!ns)
		return;
	ns <<= qp->req.timeouts;
	if (qp->req.hurry)
		ns = min_t(u64, ns, SKR_HURRY_NS << (SKR_HURRIES - qp->req.hurry));
	qp->req.ack_deadline = ktime_add_ns(ktime_get(), ns);
	/* a timer that runs finds the later deadline when it expires, but not an earlier one */
	if (qp->req.hurry || !hrtimer_is_queued(&qp->ack_timer))
		hrtimer_start(&qp->ack_timer, qp->req.ack_deadline, HRTIMER_MODE_ABS_SOFT);
}

void skr_timer_wait(struct skr_qp *qp, u64 ns)
{
	lockdep_assert_held(&qp->lock);
	qp->req.waiting = true;
	qp->req.wait_until = ktime_add_ns(ktime_get(), ns);
}

bool skr_timer_waiting(struct skr_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	if (!qp->req.waiting)
		return false;
	if (ktime_before(ktime_get(), qp->req.wait_until)) {
		/* a pause of the responder's ends before that: then this is asked again */
		if (!hrtimer_is_queued(&qp->wait_timer) ||
		    ktime_before(qp->req.wait_until, hrtimer_get_expires(&qp->wait_timer)))
			hrtimer_start(&qp->wait_timer, qp->req.wait_until,
				      HRTIMER_MODE_ABS_SOFT);
		return true;
	}
	qp->req.waiting = false;
	return false;
}

void skr_timer_pause(struct skr_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	hrtimer_start(&qp->wait_timer, ktime_add_ns(ktime_get(), SKR_CONGESTED_NS),
		      HRTIMER_MODE_ABS_SOFT);
}
