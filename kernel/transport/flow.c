// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Pacing. A flow that is slower than its port may be ahead of its rate by
 * SKR_FLOW_BURST_NS; then it waits until it is not. What it does not use is not
 * saved up, but what it could not use because a timer was late, a little of it:
 * slow flows have a timer for each packet, and would be slower by all that these
 * are late.
 */
#include "flow.h"
#include "qp.h"

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/math64.h>
#include <linux/sizes.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>

#include "../trace.h"

/* How long the bytes of one burst take at the flow's rate */
#define SKR_FLOW_BURST_NS	(20 * NSEC_PER_USEC)
/* What may be made up for at least, however slow the flow: some packets */
#define SKR_FLOW_LATE_BYTES	SZ_16K
/* Longer than this nothing is owed: the largest packet at the least rate */
#define SKR_FLOW_MAX_NS		NSEC_PER_SEC
/* Nor longer than this without a look at the rate, which may have changed */
#define SKR_FLOW_WAIT_NS	(10 * NSEC_PER_MSEC)
/* Ethernet header and frame check sequence */
#define SKR_FLOW_FRAME_BYTES	18

static u64 skr_flow_mbps(u32 mbps)
{
	return mul_u32_u32(mbps, 1000 * SKR_CC_KBPS);
}

/* The fastest that port and user allow */
static u64 skr_flow_line_rate(const struct skr_qp *qp)
{
	u64 rate = qp->flow.port;

	if (qp->flow.allowed)
		rate = min(rate, qp->flow.allowed);
	if (qp->av.mbps)
		rate = min(rate, skr_flow_mbps(qp->av.mbps));
	return rate;
}

const struct skr_cc_ops *skr_flow_algorithm(const struct skr_qp *qp)
{
	const struct skr_cc_ops *ops = READ_ONCE(qp->dev->cc.ops);

	switch (qp->flow.wish) {
	case SKR_WISH_ON:
		return ops->marks ? ops : &skr_cc_dcqcn;
	case SKR_WISH_OFF:
		return &skr_cc_none;
	default:
		return ops;
	}
}

const char *skr_flow_wish_name(const struct skr_qp *qp)
{
	static const char *const names[] = {
		[SKR_WISH_NONE] = "device",
		[SKR_WISH_ON] = "on",
		[SKR_WISH_OFF] = "off",
	};

	return names[qp->flow.wish];
}

void skr_flow_start(struct skr_qp *qp)
{
	struct skr_congestion *dev_cc = &qp->dev->cc;
	const struct skr_cc_ops *ops = &skr_cc_none;
	struct skr_flow *flow = &qp->flow;

	lockdep_assert_held(&qp->lock);
	/* nobody tells who sent a datagram that it met congestion */
	if (qp->trans != SKR_TRANS_UD)
		ops = skr_flow_algorithm(qp);
	flow->port = skr_flow_mbps(READ_ONCE(dev_cc->mbps));
	skr_cc_init(&flow->cc, ops, &dev_cc->params, skr_flow_line_rate(qp));
	flow->debt = 0;
	flow->as_of = ktime_get_ns();
	flow->owed = false;
	qp->av.ecn = flow->cc.ops->marks ? INET_ECN_ECT_0 : 0;
}

static void skr_flow_changed(struct skr_qp *qp, u64 now)
{
	struct skr_cc_view view;

	if (!trace_skr_rate_enabled())
		return;
	skr_cc_show(&qp->flow.cc, now, &view);
	trace_skr_rate(qp->dev, qp->qpn, &view);
}

static bool skr_flow_limited(const struct skr_flow *flow)
{
	return flow->cc.rate < flow->port;
}

static u64 skr_flow_bytes(const struct skr_flow *flow, u64 ns)
{
	return mul_u64_u64_div_u64(flow->cc.rate, ns, NSEC_PER_SEC);
}

/* Bring the debt up to date. */
static void skr_flow_pay(struct skr_flow *flow, u64 now)
{
	s64 paid = skr_flow_bytes(flow, min_t(u64, now - flow->as_of, SKR_FLOW_MAX_NS));
	s64 least = min_t(s64, flow->debt, 0);

	if (flow->owed)
		least = -max_t(s64, skr_flow_bytes(flow, SKR_FLOW_BURST_NS),
			       SKR_FLOW_LATE_BYTES);
	if (!paid && flow->debt > least)
		return;		/* less than a byte: let it add up */
	flow->debt = max(flow->debt - paid, least);
	flow->as_of = now;
}

void skr_flow_limit(struct skr_qp *qp, u32 kbps)
{
	struct skr_flow *flow = &qp->flow;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->lock);
	flow->allowed = kbps * SKR_CC_KBPS;
	/* a QP without an address begins when it has one */
	if (!flow->cc.ops)
		return;
	skr_flow_pay(flow, now);
	skr_cc_relimit(&flow->cc, skr_flow_line_rate(qp));
	skr_flow_changed(qp, now);
}

bool skr_flow_blocked(struct skr_qp *qp, u32 waiting)
{
	struct skr_flow *flow = &qp->flow;
	u64 now, wait;
	s64 burst;

	lockdep_assert_held(&qp->lock);
	if (!skr_flow_limited(flow) && flow->debt <= 0) {
		flow->owed = false;
		return false;
	}
	now = ktime_get_ns();
	if (skr_cc_timer(&flow->cc, now))
		skr_flow_changed(qp, now);
	skr_flow_pay(flow, now);
	burst = skr_flow_bytes(flow, SKR_FLOW_BURST_NS);
	if (flow->debt + waiting <= (flow->owed ? 0 : burst)) {
		flow->owed = false;
		return false;
	}
	flow->owed = true;
	wait = mul_u64_u64_div_u64(flow->debt + waiting, NSEC_PER_SEC, flow->cc.rate) + 1;
	hrtimer_start(&flow->timer, ns_to_ktime(now + min_t(u64, wait, SKR_FLOW_WAIT_NS)),
		      HRTIMER_MODE_ABS_SOFT);
	return true;
}

void skr_flow_sent(struct skr_qp *qp, const struct skr_av *av, u32 packets, u32 bytes)
{
	u64 slow = skr_flow_mbps(av->mbps);
	struct skr_flow *flow = &qp->flow;
	u64 now;

	lockdep_assert_held(&qp->lock);
	/* an address handle's rate is not the QP's */
	if (slow >= flow->cc.rate)
		slow = 0;
	if (!skr_flow_limited(flow) && !slow)
		return;
	now = ktime_get_ns();
	bytes += packets * (SKR_FLOW_FRAME_BYTES + sizeof(struct udphdr) +
			    (av->net == SKR_L3_IPV4 ? sizeof(struct iphdr) :
						      sizeof(struct ipv6hdr)));
	skr_flow_pay(flow, now);
	flow->debt += slow ? mul_u64_u64_div_u64(bytes, flow->cc.rate, slow) : bytes;
	if (skr_cc_sent(&flow->cc, bytes, now))
		skr_flow_changed(qp, now);
}

void skr_flow_cnp(struct skr_qp *qp)
{
	struct skr_flow *flow = &qp->flow;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->lock);
	if (!flow->cc.ops->marks) {
		skr_qp_count(qp, SKR_CNT_RP_CNP_IGNORED);
		return;
	}
	skr_qp_count(qp, SKR_CNT_RP_CNP_HANDLED);
	skr_flow_pay(flow, now);
	skr_cc_timer(&flow->cc, now);
	skr_cc_cnp(&flow->cc, now);
	skr_flow_changed(qp, now);
}
