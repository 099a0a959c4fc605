// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * DCQCN's reaction point (Zhu et al., SIGCOMM 2015), with what mlx5 adapters
 * made of it where the parameters ask for that. Documentation/dcqcn.rst has the
 * equations.
 *
 * The rate needs a timer, alpha needs none: it is brought up to date when it is
 * looked at, however many of its periods have passed.
 *
 * Here, all rates are below 2^42 and all parameters 32 bits wide, so that no
 * product below leaves 64 bits.
 */
#include "dcqcn.h"

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "cc.h"

#define NS_PER_S	1000000000ULL
/* Parameters have alpha, and the weight in its updates, in 1/1024 */
#define ALPHA_SHIFT	(SKR_DCQCN_ALPHA_BITS - 10)
/* After so many periods nothing is left of alpha: (1023/1024)^65536 < 2^-92 */
#define ALPHA_PERIODS	65536

static __u64 skr_dcqcn_ns(const __u32 *us)
{
	return READ_ONCE(*us) * SKR_CC_NS_PER_US;
}

static __u64 skr_dcqcn_rate(const __u32 *kbps)
{
	return READ_ONCE(*kbps) * SKR_CC_KBPS;
}

/* Where the limit is lifted */
static __u64 skr_dcqcn_max_rate(const struct skr_cc *cc)
{
	__u64 rate = skr_dcqcn_rate(&cc->params->rp_max_rate);

	return rate ? min(rate, cc->line_rate) : cc->line_rate;
}

/* A product of two fractions of SKR_DCQCN_ALPHA_ONE, rounded */
static __u32 skr_dcqcn_mul(__u32 a, __u32 b)
{
	return ((__u64)a * b + SKR_DCQCN_ALPHA_ONE / 2) >> SKR_DCQCN_ALPHA_BITS;
}

/* alpha after one period */
static __u32 skr_dcqcn_alpha_step(const struct skr_cc *cc, __u32 alpha, bool cnp)
{
	__u32 keep = READ_ONCE(cc->params->rp_dce_tcp_g) << ALPHA_SHIFT;

	alpha = skr_dcqcn_mul(alpha, keep);
	return cnp ? alpha + SKR_DCQCN_ALPHA_ONE - keep : alpha;
}

/* alpha after @periods without a CNP */
static __u32 skr_dcqcn_alpha_decay(const struct skr_cc *cc, __u32 alpha, __u64 periods)
{
	__u32 keep = READ_ONCE(cc->params->rp_dce_tcp_g) << ALPHA_SHIFT;

	if (periods >= ALPHA_PERIODS)
		return 0;
	for (; periods; periods >>= 1) {
		if (periods & 1)
			alpha = skr_dcqcn_mul(alpha, keep);
		keep = skr_dcqcn_mul(keep, keep);
	}
	return alpha;
}

/*
 * alpha as of @now. @since becomes the begin of the period that @now is in, and
 * @cnp whether a CNP was seen in that one.
 */
static __u32 skr_dcqcn_alpha(const struct skr_cc *cc, __u64 now, __u64 *since, bool *cnp)
{
	const struct skr_dcqcn *rp = &cc->dcqcn;
	__u64 period = skr_dcqcn_ns(&cc->params->rp_dce_tcp_rtt);
	__u64 passed = now > rp->alpha_since ? div64_u64(now - rp->alpha_since, period) : 0;
	__u32 alpha = rp->alpha;

	*since = rp->alpha_since + passed * period;
	*cnp = rp->cnp_seen && !passed;
	if (!passed)
		return alpha;
	alpha = skr_dcqcn_alpha_step(cc, alpha, rp->cnp_seen);
	return skr_dcqcn_alpha_decay(cc, alpha, passed - 1);
}

static void skr_dcqcn_alpha_update(struct skr_cc *cc, __u64 now)
{
	struct skr_dcqcn *rp = &cc->dcqcn;
	__u64 since;
	bool cnp;

	rp->alpha = skr_dcqcn_alpha(cc, now, &since, &cnp);
	rp->alpha_since = since;
	rp->cnp_seen = cnp;
}

/* From one increase by timer to the next */
static __u64 skr_dcqcn_interval(const struct skr_cc *cc)
{
	__u64 ns = skr_dcqcn_ns(&cc->params->rp_time_reset);
	__u32 bytes = READ_ONCE(cc->params->rp_time_min_bytes);

	return bytes ? max(ns, div64_u64(bytes * NS_PER_S, cc->rate)) : ns;
}

static void skr_dcqcn_deadline(struct skr_cc *cc)
{
	const struct skr_dcqcn *rp = &cc->dcqcn;
	__u64 cut;

	cc->deadline = rp->limited ? rp->increase_at : SKR_CC_NEVER;
	if (!rp->limited || !rp->cut_due)
		return;
	cut = rp->cut_at + skr_dcqcn_ns(&cc->params->rp_rate_reduce_monitor_period);
	cc->deadline = min(cc->deadline, cut);
}

/* The rate after a cut: never less than the parameters allow */
static __u64 skr_dcqcn_reduced(const struct skr_cc *cc)
{
	const struct skr_cc_params *p = cc->params;
	__u64 rate = cc->rate;
	__u64 part = mul_u64_u32_shr(rate, cc->dcqcn.alpha, SKR_DCQCN_ALPHA_BITS);
	__u64 floor = div_u64(rate * READ_ONCE(p->rp_min_dec_fac), 100);

	part = part << 10 >> READ_ONCE(p->rp_gd);
	rate = max(rate - min(part, rate), floor);
	rate = max(rate, skr_dcqcn_rate(&p->rp_min_rate));
	return min(rate, skr_dcqcn_max_rate(cc));
}

/* Whether a cut leaves recovery a new target: has the rate been raised since the last one? */
static bool skr_dcqcn_clamps(const struct skr_cc *cc)
{
	const struct skr_cc_params *p = cc->params;
	const struct skr_dcqcn *rp = &cc->dcqcn;

	return READ_ONCE(p->rp_clamp_tgt_rate) || rp->byte_stage ||
	       (READ_ONCE(p->rp_clamp_tgt_rate_ati) && rp->time_stage);
}

/* After a cut, recovery begins anew */
static void skr_dcqcn_restart(struct skr_cc *cc, __u64 now)
{
	struct skr_dcqcn *rp = &cc->dcqcn;

	rp->cut_at = now;
	rp->cut_due = false;
	rp->time_stage = 0;
	rp->byte_stage = 0;
	rp->bytes = 0;
	rp->increase_at = now + skr_dcqcn_interval(cc);
}

static void skr_dcqcn_cut(struct skr_cc *cc, __u64 now)
{
	struct skr_dcqcn *rp = &cc->dcqcn;

	skr_dcqcn_alpha_update(cc, now);
	if (skr_dcqcn_clamps(cc))
		rp->target = cc->rate;
	/* with the alpha that was, as the paper has it */
	cc->rate = skr_dcqcn_reduced(cc);
	if (READ_ONCE(cc->params->rp_alpha_on_cnp)) {
		rp->alpha = skr_dcqcn_alpha_step(cc, rp->alpha, true);
		rp->alpha_since = now;
	}
	skr_dcqcn_restart(cc, now);
}

/* The flow was not limited until now */
static void skr_dcqcn_first_cnp(struct skr_cc *cc, __u64 now)
{
	const struct skr_cc_params *p = cc->params;
	struct skr_dcqcn *rp = &cc->dcqcn;
	__u64 rate = skr_dcqcn_rate(&p->rp_rate_to_set_on_first_cnp);

	rp->limited = true;
	rp->alpha = READ_ONCE(p->rp_initial_alpha_value) << ALPHA_SHIFT;
	rp->alpha_since = now;
	rp->cnp_seen = false;
	cc->rate = skr_dcqcn_max_rate(cc);
	rp->target = cc->rate;
	if (!rate) {
		skr_dcqcn_cut(cc, now);
		return;
	}
	cc->rate = min(rate, cc->rate);
	rp->target = cc->rate;
	skr_dcqcn_restart(cc, now);
}

/*
 * An additive or hyper increase of the target, the latter with its step made
 * @times as large
 */
static void skr_dcqcn_raise_target(struct skr_cc *cc, const __u32 *kbps, __u32 times)
{
	struct skr_dcqcn *rp = &cc->dcqcn;
	__u32 share = READ_ONCE(cc->params->rp_ai_share);
	__u64 step = skr_dcqcn_rate(kbps);

	if (share)
		step = min(step, max((rp->target * share) >> 10, 1ULL));
	rp->target += step * times;
}

/* The timer or the byte counter, whose stage is @stage, raises the rate */
static void skr_dcqcn_increase(struct skr_cc *cc, __u16 *stage)
{
	const struct skr_cc_params *p = cc->params;
	struct skr_dcqcn *rp = &cc->dcqcn;
	__u32 threshold = READ_ONCE(p->rp_threshold);
	__u64 max_rate = skr_dcqcn_max_rate(cc);
	__u32 high = max(rp->time_stage, rp->byte_stage);
	/* without a byte counter, the timer counts for both */
	__u32 low = READ_ONCE(p->rp_byte_reset) ? min(rp->time_stage, rp->byte_stage) :
						  rp->time_stage;

	if (low > threshold)
		skr_dcqcn_raise_target(cc, &p->rp_hai_rate, low - threshold);
	else if (high >= threshold)
		skr_dcqcn_raise_target(cc, &p->rp_ai_rate, 1);
	rp->target = min(rp->target, max_rate);
	/* rounded up, so that the target is reached */
	cc->rate = min((cc->rate + rp->target + 1) / 2, max_rate);
	if (*stage < U16_MAX)
		(*stage)++;
	if (cc->rate < max_rate || rp->cut_due)
		return;
	rp->limited = false;
	cc->rate = cc->line_rate;
}

static void skr_dcqcn_init(struct skr_cc *cc)
{
	cc->dcqcn = (struct skr_dcqcn) { .target = cc->line_rate };
}

static bool skr_dcqcn_sent(struct skr_cc *cc, __u32 bytes, __u64 now)
{
	struct skr_dcqcn *rp = &cc->dcqcn;
	__u32 reset = READ_ONCE(cc->params->rp_byte_reset);
	__u64 before = cc->rate;
	int i;

	if (!rp->limited || !reset)
		return false;
	rp->bytes += bytes;
	if (rp->bytes < reset)
		return false;
	for (i = 0; i < SKR_DCQCN_CATCH_UP && rp->limited && rp->bytes >= reset; i++) {
		rp->bytes -= reset;
		skr_dcqcn_increase(cc, &rp->byte_stage);
	}
	if (rp->bytes >= reset)
		rp->bytes = 0;
	skr_dcqcn_deadline(cc);
	return cc->rate != before;
}

static bool skr_dcqcn_cnp(struct skr_cc *cc, __u64 now)
{
	const struct skr_cc_params *p = cc->params;
	struct skr_dcqcn *rp = &cc->dcqcn;
	__u64 before = cc->rate;

	/* what came first has its effect first */
	if (now >= cc->deadline)
		cc->ops->timer(cc, now);
	if (!rp->limited) {
		skr_dcqcn_first_cnp(cc, now);
		skr_dcqcn_deadline(cc);
		return cc->rate != before;
	}
	if (!READ_ONCE(p->rp_alpha_on_cnp)) {
		skr_dcqcn_alpha_update(cc, now);
		rp->cnp_seen = true;
	}
	if (now >= rp->cut_at + skr_dcqcn_ns(&p->rp_rate_reduce_monitor_period))
		skr_dcqcn_cut(cc, now);
	else
		rp->cut_due = true;
	skr_dcqcn_deadline(cc);
	return cc->rate != before;
}

static bool skr_dcqcn_timer(struct skr_cc *cc, __u64 now)
{
	struct skr_dcqcn *rp = &cc->dcqcn;
	__u64 before = cc->rate;
	int i;

	for (i = 0; i < SKR_DCQCN_CATCH_UP && now >= cc->deadline; i++) {
		if (cc->deadline < rp->increase_at) {
			skr_dcqcn_cut(cc, cc->deadline);
		} else {
			skr_dcqcn_increase(cc, &rp->time_stage);
			rp->increase_at += skr_dcqcn_interval(cc);
		}
		skr_dcqcn_deadline(cc);
	}
	/* so late that periods are lost: go on from here */
	if (now >= cc->deadline) {
		rp->increase_at = now + skr_dcqcn_interval(cc);
		skr_dcqcn_deadline(cc);
	}
	return cc->rate != before;
}

static const char *skr_dcqcn_stage(const struct skr_cc *cc)
{
	const struct skr_dcqcn *rp = &cc->dcqcn;
	__u32 threshold = READ_ONCE(cc->params->rp_threshold);
	bool by_bytes = READ_ONCE(cc->params->rp_byte_reset);

	if (!rp->limited)
		return "unlimited";
	if (max(rp->time_stage, rp->byte_stage) < threshold)
		return "recovery";
	if (rp->time_stage > threshold && (!by_bytes || rp->byte_stage > threshold))
		return "hyper";
	return "additive";
}

static void skr_dcqcn_view(const struct skr_cc *cc, __u64 now, struct skr_cc_view *view)
{
	__u64 since;
	bool cnp;

	view->rate = cc->rate;
	view->target = cc->dcqcn.limited ? cc->dcqcn.target : cc->rate;
	view->alpha = cc->dcqcn.limited ?
		      skr_dcqcn_alpha(cc, now, &since, &cnp) >> ALPHA_SHIFT : 0;
	view->stage = skr_dcqcn_stage(cc);
}

const struct skr_cc_ops skr_cc_dcqcn = {
	.name = "dcqcn",
	.marks = true,
	.init = skr_dcqcn_init,
	.sent = skr_dcqcn_sent,
	.cnp = skr_dcqcn_cnp,
	.timer = skr_dcqcn_timer,
	.view = skr_dcqcn_view,
};
