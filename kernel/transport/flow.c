// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Pacing. A flow that is slower than its port may be ahead of its rate by
 * SKR_FLOW_BURST_NS; then it waits until it is not. What it does not use is not
 * saved up.
 */
#include "flow.h"
#include "qp.h"

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/math64.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>

#include "../trace.h"

/* How long the bytes of one burst take at the flow's rate */
#define SKR_FLOW_BURST_NS	(20 * NSEC_PER_USEC)
/* Rates stay below 2^42 bytes a second: this long, products fit 64 bits */
#define SKR_FLOW_MAX_NS		(4 * NSEC_PER_MSEC)
/* Nor longer than this without a look at the rate, which may have changed */
#define SKR_FLOW_WAIT_NS	(10 * NSEC_PER_MSEC)
/* Ethernet header and frame check sequence */
#define SKR_FLOW_FRAME_BYTES	18

void skr_flow_start(struct skr_qp *qp)
{
	struct skr_congestion *dev_cc = &qp->dev->cc;
	struct skr_flow *flow = &qp->flow;

	lockdep_assert_held(&qp->lock);
	skr_cc_init(&flow->cc, READ_ONCE(dev_cc->ops), &dev_cc->params,
		    mul_u32_u32(READ_ONCE(dev_cc->mbps), 1000 * SKR_CC_KBPS));
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
	return flow->cc.rate < flow->cc.line_rate;
}

/* Bring the debt up to date. */
static void skr_flow_pay(struct skr_flow *flow, u64 now)
{
	u64 ns = min_t(u64, now - flow->as_of, SKR_FLOW_MAX_NS);
	u64 paid = mul_u64_u64_div_u64(flow->cc.rate, ns, NSEC_PER_SEC);

	if (!paid && flow->debt)
		return;		/* less than a byte: let it add up */
	flow->debt -= min(flow->debt, paid);
	flow->as_of = now;
}

bool skr_flow_blocked(struct skr_qp *qp, u32 waiting)
{
	struct skr_flow *flow = &qp->flow;
	u64 now, burst, wait;

	lockdep_assert_held(&qp->lock);
	if (!skr_flow_limited(flow))
		return false;
	now = ktime_get_ns();
	if (skr_cc_timer(&flow->cc, now))
		skr_flow_changed(qp, now);
	skr_flow_pay(flow, now);
	burst = mul_u64_u64_div_u64(flow->cc.rate, SKR_FLOW_BURST_NS, NSEC_PER_SEC);
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

void skr_flow_sent(struct skr_qp *qp, u32 packets, u32 bytes)
{
	struct skr_flow *flow = &qp->flow;
	u64 now;

	lockdep_assert_held(&qp->lock);
	if (!skr_flow_limited(flow))
		return;
	now = ktime_get_ns();
	bytes += packets * (SKR_FLOW_FRAME_BYTES + sizeof(struct udphdr) +
			    (qp->av.net == SKR_L3_IPV4 ? sizeof(struct iphdr) :
							 sizeof(struct ipv6hdr)));
	flow->debt += bytes;
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
