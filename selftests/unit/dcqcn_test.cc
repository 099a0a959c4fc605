// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * DCQCN's reaction point: trajectories that can be told beforehand, each rule on
 * its own, and random sequences of events beside a floating-point reference.
 */
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "../prog/lib/rng.hh"
#include "dcqcn_reference.hh"

extern "C" {
#include "cc/cc.h"
}

namespace
{

constexpr uint64_t US = 1000;
constexpr uint64_t GBPS = 125000000; /* bytes per second */
constexpr uint64_t LINE = 40 * GBPS;

/* A flow of its own parameters */
struct Flow {
	skr_cc_params params;
	skr_cc cc;

	explicit Flow(skr_cc_preset preset, uint64_t line = LINE)
	{
		skr_cc_params_preset(&params, preset, static_cast<uint32_t>(line * 8 / 1000000));
		skr_cc_init(&cc, &skr_cc_dcqcn, &params, line);
	}

	double share() const
	{
		return static_cast<double>(cc.rate) / static_cast<double>(cc.line_rate);
	}

	skr_cc_view view(uint64_t now) const
	{
		skr_cc_view v;

		skr_cc_show(&cc, now, &v);
		return v;
	}

	/* the timer, as often as it is due up to then; how often */
	int run_until(uint64_t now)
	{
		int n = 0;

		for (; cc.deadline <= now; n++)
			skr_cc_timer(&cc, cc.deadline);
		return n;
	}
};

TEST(None, HasTheLineRateWhateverHappens)
{
	skr_cc_params params;
	skr_cc cc;

	skr_cc_params_preset(&params, SKR_CC_SCALED, 40000);
	skr_cc_init(&cc, &skr_cc_none, &params, LINE);
	EXPECT_FALSE(skr_cc_cnp(&cc, 1));
	EXPECT_FALSE(skr_cc_sent(&cc, 1 << 30, 2));
	EXPECT_FALSE(skr_cc_timer(&cc, 1ULL << 60));
	EXPECT_EQ(cc.rate, LINE);
	EXPECT_EQ(cc.deadline, SKR_CC_NEVER);
	EXPECT_FALSE(skr_cc_none.marks);
}

TEST(Ops, AreFoundByName)
{
	EXPECT_EQ(skr_cc_find("none"), &skr_cc_none);
	EXPECT_EQ(skr_cc_find("dcqcn"), &skr_cc_dcqcn);
	EXPECT_EQ(skr_cc_find("cubic"), nullptr);
	EXPECT_TRUE(skr_cc_dcqcn.marks);
}

TEST(Ops, NoFlowIsWithoutARate)
{
	skr_cc_params params;
	skr_cc cc;

	skr_cc_params_preset(&params, SKR_CC_PAPER, 0);
	for (auto *ops : { &skr_cc_none, &skr_cc_dcqcn }) {
		skr_cc_init(&cc, ops, &params, 0);
		skr_cc_cnp(&cc, 0);
		EXPECT_EQ(cc.rate, 1u) << ops->name;
	}
}

TEST(Dcqcn, IsNotLimitedBeforeTheFirstCnp)
{
	Flow f(SKR_CC_PAPER);

	EXPECT_FALSE(skr_cc_sent(&f.cc, 1 << 30, 5 * US));
	EXPECT_FALSE(skr_cc_timer(&f.cc, 1000 * US));
	EXPECT_EQ(f.cc.rate, LINE);
	EXPECT_EQ(f.cc.deadline, SKR_CC_NEVER);
	EXPECT_STREQ(f.view(0).stage, "unlimited");
}

/* 1/2, 3/4, 7/8, 15/16 ... one timer each; alpha was 1 */
TEST(Dcqcn, OneCnpHalvesAndFastRecoveryHalvesTheGap)
{
	Flow f(SKR_CC_PAPER);
	double gap = 0.5;
	uint64_t t = 7777;

	EXPECT_TRUE(skr_cc_cnp(&f.cc, t));
	EXPECT_EQ(f.cc.rate, LINE / 2);
	EXPECT_EQ(f.cc.dcqcn.target, LINE);
	for (int i = 0; i < 20; i++) {
		t += 55 * US;
		EXPECT_EQ(f.cc.deadline, t);
		EXPECT_FALSE(skr_cc_timer(&f.cc, t - 1));
		EXPECT_TRUE(skr_cc_timer(&f.cc, t));
		gap /= 2;
		EXPECT_NEAR(f.share(), 1 - gap, 2e-9) << i;
	}
}

/* The same from the same rate at another speed and with mlx5's alpha, 1023/1024 */
TEST(Dcqcn, AnotherLineRateForgetsNoCongestion)
{
	Flow f(SKR_CC_PAPER);

	skr_cc_relimit(&f.cc, LINE / 2);
	EXPECT_EQ(f.cc.rate, LINE / 2);
	skr_cc_relimit(&f.cc, LINE);
	EXPECT_EQ(f.cc.rate, LINE);

	skr_cc_cnp(&f.cc, 0);
	const auto slow = f.cc.rate;
	EXPECT_LT(slow, LINE);
	skr_cc_relimit(&f.cc, LINE);
	EXPECT_EQ(f.cc.rate, slow);
	skr_cc_relimit(&f.cc, slow / 2);
	EXPECT_EQ(f.cc.rate, slow / 2);
	skr_cc_relimit(&f.cc, LINE);
	EXPECT_EQ(f.cc.rate, slow / 2);
}

TEST(Dcqcn, OneCnpOfMlx5)
{
	Flow f(SKR_CC_MLX5, 25 * GBPS);
	double gap = 1023.0 / 2048;

	skr_cc_cnp(&f.cc, 0);
	EXPECT_NEAR(f.share(), 1 - gap, 1e-9);
	for (int i = 1; i < 15; i++) {
		skr_cc_timer(&f.cc, 300 * US * static_cast<uint64_t>(i));
		gap /= 2;
		EXPECT_NEAR(f.share(), 1 - gap, 1e-9) << i;
	}
}

/* The gap is gone after as many halvings as it has bits, and then nothing runs */
TEST(Dcqcn, TheLimitIsLiftedAtTheLineRate)
{
	Flow f(SKR_CC_PAPER);

	skr_cc_cnp(&f.cc, 0);
	/* 2.5e9 has 32 bits */
	EXPECT_EQ(f.run_until(1000000 * US), 32);
	EXPECT_EQ(f.cc.rate, LINE);
	EXPECT_EQ(f.cc.deadline, SKR_CC_NEVER);
	/* and the next one is a first one */
	skr_cc_cnp(&f.cc, 2000000 * US);
	EXPECT_EQ(f.cc.rate, LINE / 2);
}

TEST(Dcqcn, ACutIsOneMinusHalfOfAlpha)
{
	Flow f(SKR_CC_PAPER);
	double alpha = 1, rate = 1;
	uint64_t t = 0;

	/* one each 50 us, before alpha's period of 55 us is over */
	for (int i = 0; i < 8; i++, t += 50 * US) {
		skr_cc_cnp(&f.cc, t);
		rate *= 1 - alpha / 2;
		alpha = alpha * 255 / 256 + 1.0 / 256;
		EXPECT_NEAR(f.share(), rate, 1e-8);
		EXPECT_NEAR(f.view(t).alpha / 1024.0, alpha, 1e-3);
	}
	/* then 281 periods without one: about a third is left, a cut is 5/6 */
	Flow h(SKR_CC_PAPER);
	h.params.rp_ai_rate = 1;
	h.params.rp_time_reset = 131071;
	skr_cc_cnp(&h.cc, 0);
	uint64_t before = h.cc.rate;
	skr_cc_cnp(&h.cc, 281 * 55 * US);
	EXPECT_NEAR(static_cast<double>(h.cc.rate) / static_cast<double>(before),
		    1 - std::pow(255.0 / 256, 281) / 2, 1e-6);
	EXPECT_NEAR(static_cast<double>(h.cc.rate) / static_cast<double>(before), 5.0 / 6, 1e-3);
}

/* mlx5: alpha moves once a period, however many CNPs there are in it */
TEST(Dcqcn, AlphaByPeriod)
{
	Flow f(SKR_CC_MLX5);

	f.params.rp_dce_tcp_rtt = 10;
	f.params.rp_initial_alpha_value = 512;
	skr_cc_cnp(&f.cc, 0);
	EXPECT_EQ(f.view(9 * US).alpha, 512u);
	/* the first CNP set alpha, its period has seen none */
	EXPECT_EQ(f.view(10 * US).alpha, 512u * 1019 / 1024);
	for (int i = 0; i < 5; i++)
		skr_cc_cnp(&f.cc, 12 * US + static_cast<uint64_t>(i));
	EXPECT_EQ(f.view(19 * US).alpha, 512u * 1019 / 1024);
	EXPECT_EQ(f.view(20 * US).alpha,
		  static_cast<unsigned>(512 * (1019. / 1024) * (1019. / 1024) + 5));
}

TEST(Dcqcn, AlphaGoesToNothing)
{
	Flow f(SKR_CC_MLX5);

	skr_cc_cnp(&f.cc, 0);
	EXPECT_EQ(f.view(65536 * US).alpha, 0u);
	EXPECT_EQ(f.view(1ULL << 62).alpha, 0u);
	EXPECT_NEAR(f.view(139 * US).alpha, 1023 * std::pow(1019. / 1024, 139), 1);
}

TEST(Dcqcn, OneCutAWindow)
{
	Flow f(SKR_CC_PAPER);
	uint64_t t = 1000 * US;

	skr_cc_cnp(&f.cc, t);
	uint64_t once = f.cc.rate;
	/* within the window they are one cut, at its end */
	for (int i = 1; i < 10; i++)
		EXPECT_FALSE(skr_cc_cnp(&f.cc, t + static_cast<uint64_t>(i) * US));
	EXPECT_EQ(f.cc.rate, once);
	EXPECT_EQ(f.cc.deadline, t + 50 * US);
	EXPECT_FALSE(skr_cc_timer(&f.cc, t + 50 * US - 1));
	EXPECT_TRUE(skr_cc_timer(&f.cc, t + 50 * US));
	EXPECT_NEAR(f.share(), 0.25, 1e-8);
	/* recovery begins there */
	EXPECT_EQ(f.cc.deadline, t + 105 * US);
	/* without a window each CNP cuts */
	f.params.rp_rate_reduce_monitor_period = 0;
	EXPECT_TRUE(skr_cc_cnp(&f.cc, t + 60 * US));
	EXPECT_TRUE(skr_cc_cnp(&f.cc, t + 60 * US));
	EXPECT_NEAR(f.share(), 0.0625, 1e-7);
}

/* A CNP that waits for its cut is not forgotten because the line rate was reached */
TEST(Dcqcn, ACutThatIsDueKeepsTheLimit)
{
	Flow f(SKR_CC_PAPER);

	f.params.rp_time_reset = 1;
	skr_cc_cnp(&f.cc, 0);
	skr_cc_cnp(&f.cc, 1 * US);
	f.run_until(50 * US - 1);
	EXPECT_EQ(f.cc.rate, LINE);
	EXPECT_EQ(f.cc.deadline, 50 * US);
	f.run_until(50 * US);
	EXPECT_NEAR(f.share(), 0.5, 1e-6);
}

/* A cut that was due before a timer or a CNP comes first, however late we are */
TEST(Dcqcn, LateIsAsInTime)
{
	Flow in_time(SKR_CC_PAPER), late(SKR_CC_PAPER);

	for (Flow *f : { &in_time, &late }) {
		skr_cc_cnp(&f->cc, 0);
		skr_cc_cnp(&f->cc, 20 * US);
	}
	in_time.run_until(500 * US);
	skr_cc_timer(&late.cc, 500 * US);
	EXPECT_EQ(in_time.cc.rate, late.cc.rate);
	EXPECT_EQ(in_time.cc.deadline, late.cc.deadline);
	in_time.run_until(900 * US);
	skr_cc_cnp(&in_time.cc, 900 * US);
	skr_cc_cnp(&late.cc, 900 * US);
	EXPECT_EQ(in_time.cc.rate, late.cc.rate);
	EXPECT_EQ(in_time.cc.dcqcn.target, late.cc.dcqcn.target);
}

/* ... but only so many are made up for in one call */
TEST(Dcqcn, VeryLateIsBounded)
{
	Flow f(SKR_CC_PAPER);

	f.params.rp_ai_rate = 1;
	f.params.rp_hai_rate = 1;
	skr_cc_cnp(&f.cc, 0);
	skr_cc_cnp(&f.cc, 20 * US);
	EXPECT_TRUE(skr_cc_timer(&f.cc, 1ULL << 60));
	EXPECT_EQ(f.cc.dcqcn.time_stage, SKR_DCQCN_CATCH_UP - 1); /* one was the cut */
	EXPECT_EQ(f.cc.deadline, (1ULL << 60) + 55 * US);
	f.params.rp_byte_reset = 1;
	EXPECT_TRUE(skr_cc_sent(&f.cc, UINT32_MAX, 1ULL << 60));
	EXPECT_EQ(f.cc.dcqcn.byte_stage, SKR_DCQCN_CATCH_UP);
	EXPECT_EQ(f.cc.dcqcn.bytes, 0u);
}

/* clamp_tgt_rate: the target follows each cut */
TEST(Clamp, Always)
{
	Flow f(SKR_CC_MLX5);

	f.params.rp_clamp_tgt_rate = 1;
	skr_cc_cnp(&f.cc, 0);
	uint64_t first = f.cc.rate;
	EXPECT_EQ(f.cc.dcqcn.target, LINE);
	skr_cc_cnp(&f.cc, 4 * US);
	EXPECT_EQ(f.cc.dcqcn.target, first);
	EXPECT_LT(f.cc.rate, first);
}

/* CNPs one upon the other leave it where it was */
TEST(Clamp, NotWithoutAnIncrease)
{
	Flow f(SKR_CC_MLX5);

	for (uint64_t i = 0; i < 6; i++)
		skr_cc_cnp(&f.cc, i * 4 * US);
	EXPECT_EQ(f.cc.dcqcn.target, LINE);
	EXPECT_LT(f.share(), 0.05);
}

TEST(Clamp, AfterAnIncreaseByTimer)
{
	for (uint32_t ati : { 0, 1 }) {
		Flow f(SKR_CC_MLX5);

		f.params.rp_clamp_tgt_rate_ati = ati;
		skr_cc_cnp(&f.cc, 0);
		skr_cc_timer(&f.cc, 300 * US);
		uint64_t raised = f.cc.rate;
		skr_cc_cnp(&f.cc, 310 * US);
		EXPECT_EQ(f.cc.dcqcn.target, ati ? raised : LINE) << ati;
	}
}

TEST(Clamp, AfterAnIncreaseByByteCounter)
{
	for (uint32_t ati : { 0, 1 }) {
		Flow f(SKR_CC_MLX5);

		f.params.rp_clamp_tgt_rate_ati = ati;
		skr_cc_cnp(&f.cc, 0);
		EXPECT_FALSE(skr_cc_sent(&f.cc, 32766, 5 * US));
		EXPECT_TRUE(skr_cc_sent(&f.cc, 1, 5 * US));
		uint64_t raised = f.cc.rate;
		skr_cc_cnp(&f.cc, 10 * US);
		EXPECT_EQ(f.cc.dcqcn.target, raised) << ati;
	}
}

TEST(Dcqcn, TheByteCounterCountsFromTheLastCut)
{
	Flow f(SKR_CC_PAPER);

	skr_cc_cnp(&f.cc, 0);
	skr_cc_sent(&f.cc, 9999999, 0);
	skr_cc_cnp(&f.cc, 50 * US);
	EXPECT_FALSE(skr_cc_sent(&f.cc, 9999999, 51 * US));
	EXPECT_TRUE(skr_cc_sent(&f.cc, 10000001, 52 * US));
	/* two at once: the gap of a half is now an eighth */
	EXPECT_EQ(f.cc.dcqcn.byte_stage, 2);
	EXPECT_NEAR(f.share(), 0.4375, 1e-8);
	EXPECT_EQ(f.cc.dcqcn.bytes, 0u);
}

/* F times recovery, then the target moves: by timer alone it is additive */
TEST(Stages, AdditiveAfterFiveOfTheTimer)
{
	Flow f(SKR_CC_PAPER);
	uint64_t t = 0, step = 40 * GBPS / 1000; /* 40 Mb/s */

	skr_cc_cnp(&f.cc, 0);
	skr_cc_cnp(&f.cc, 50 * US);
	t = 50 * US;
	uint64_t target = f.cc.dcqcn.target;
	for (int i = 0; i < 5; i++) {
		EXPECT_STREQ(f.view(t).stage, "recovery");
		skr_cc_timer(&f.cc, t += 55 * US);
		EXPECT_EQ(f.cc.dcqcn.target, target) << i;
	}
	for (int i = 1; i < 40; i++) {
		EXPECT_STREQ(f.view(t).stage, "additive");
		uint64_t before = f.cc.rate;
		skr_cc_timer(&f.cc, t += 55 * US);
		EXPECT_EQ(f.cc.dcqcn.target, target + static_cast<uint64_t>(i) * step);
		EXPECT_EQ(f.cc.rate, (before + f.cc.dcqcn.target + 1) / 2);
	}
}

/* Hyper when both have passed F, with steps that grow */
TEST(Stages, HyperWhenBothHavePassed)
{
	Flow f(SKR_CC_PAPER);
	uint64_t t = 50 * US, hyper = 200 * GBPS / 1000;

	skr_cc_cnp(&f.cc, 0);
	skr_cc_cnp(&f.cc, t);
	for (int i = 0; i < 6; i++)
		skr_cc_timer(&f.cc, t += 55 * US);
	for (int i = 0; i < 6; i++)
		skr_cc_sent(&f.cc, 10000000, t);
	EXPECT_STREQ(f.view(t).stage, "hyper");
	uint64_t target = f.cc.dcqcn.target;
	skr_cc_timer(&f.cc, t += 55 * US);
	EXPECT_EQ(f.cc.dcqcn.target, target + hyper); /* min(6, 6) - 5 */
	skr_cc_sent(&f.cc, 10000000, t);
	EXPECT_EQ(f.cc.dcqcn.target, target + 2 * hyper); /* min(7, 6) - 5 */
	skr_cc_timer(&f.cc, t += 55 * US);
	EXPECT_EQ(f.cc.dcqcn.target, target + 4 * hyper); /* min(7, 7) - 5 */
}

/* Without a byte counter the timer alone: recovery, one additive, hyper */
TEST(Stages, TimerAlone)
{
	Flow f(SKR_CC_MLX5);
	uint64_t t = 0, mbps = GBPS / 1000;

	f.params.rp_byte_reset = 0;
	f.params.rp_clamp_tgt_rate = 1;
	skr_cc_cnp(&f.cc, 0);
	skr_cc_cnp(&f.cc, t = 4 * US);
	uint64_t target = f.cc.dcqcn.target;
	skr_cc_timer(&f.cc, t += 300 * US);
	EXPECT_EQ(f.cc.dcqcn.target, target);
	skr_cc_timer(&f.cc, t += 300 * US);
	EXPECT_EQ(f.cc.dcqcn.target, target += 5 * mbps);
	skr_cc_timer(&f.cc, t += 300 * US);
	EXPECT_EQ(f.cc.dcqcn.target, target += 50 * mbps);
	EXPECT_FALSE(skr_cc_sent(&f.cc, UINT32_MAX, t));
}

TEST(Bounds, MinimumRate)
{
	Flow f(SKR_CC_PAPER);

	f.params.rp_min_rate = 100000;
	for (uint64_t i = 0; i < 100; i++)
		skr_cc_cnp(&f.cc, i * 50 * US);
	EXPECT_EQ(f.cc.rate, GBPS / 10);
	/* above the line there is no rate */
	Flow slow(SKR_CC_PAPER, GBPS / 100);
	slow.params.rp_min_rate = 100000;
	skr_cc_cnp(&slow.cc, 0);
	EXPECT_EQ(slow.cc.rate, GBPS / 100);
}

TEST(Bounds, ACutLeavesItsShare)
{
	for (uint32_t gd : { 0u, 5u, 9u, 10u, 11u, 15u }) {
		Flow f(SKR_CC_PAPER);

		f.params.rp_gd = gd;
		f.params.rp_min_dec_fac = 20;
		skr_cc_cnp(&f.cc, 0);
		EXPECT_NEAR(f.share(), std::max(1 - 1024 / std::pow(2, gd), 0.2), 1e-6) << gd;
	}
	Flow f(SKR_CC_PAPER);
	f.params.rp_min_dec_fac = 100;
	EXPECT_FALSE(skr_cc_cnp(&f.cc, 0));
	EXPECT_EQ(f.cc.rate, LINE);
}

TEST(Bounds, FirstCnpRate)
{
	Flow f(SKR_CC_MLX5);

	f.params.rp_rate_to_set_on_first_cnp = 8500000;
	skr_cc_cnp(&f.cc, 0);
	EXPECT_EQ(f.cc.rate, 8500 * (GBPS / 1000));
	EXPECT_EQ(f.cc.dcqcn.target, f.cc.rate);
	/* only the first */
	skr_cc_cnp(&f.cc, 4 * US);
	EXPECT_NEAR(static_cast<double>(f.cc.rate),
		    8.5 * GBPS * (1 - 1023. / 2048 * std::pow(1019. / 1024, 4)), 100);
	Flow slow(SKR_CC_MLX5, GBPS);
	slow.params.rp_rate_to_set_on_first_cnp = 8500000;
	skr_cc_cnp(&slow.cc, 0);
	EXPECT_EQ(slow.cc.rate, GBPS);
}

TEST(Bounds, MaximumRate)
{
	Flow f(SKR_CC_PAPER);

	f.params.rp_max_rate = 10000000;
	skr_cc_cnp(&f.cc, 0);
	EXPECT_EQ(f.cc.rate, 5 * GBPS);
	f.run_until(20 * 55 * US);
	EXPECT_GT(f.cc.rate, 99 * GBPS / 10);
	EXPECT_LE(f.cc.rate, 10 * GBPS);
	/* where it is reached, the limit is lifted */
	f.run_until(100 * 55 * US);
	EXPECT_EQ(f.cc.rate, LINE);
	EXPECT_EQ(f.cc.deadline, SKR_CC_NEVER);
}

/* What keeps many flows apart: steps in proportion */
TEST(Scaled, StepsAreAShareOfTheTarget)
{
	Flow f(SKR_CC_SCALED);
	uint64_t t = 0;

	f.params.rp_threshold = 5;
	f.params.rp_clamp_tgt_rate = 1;
	for (int i = 0; i < 40; i++)
		skr_cc_cnp(&f.cc, t += 50 * US);
	skr_cc_cnp(&f.cc, t += 50 * US);
	for (int i = 0; i < 5; i++)
		skr_cc_timer(&f.cc, t += 55 * US);
	uint64_t target = f.cc.dcqcn.target;
	skr_cc_timer(&f.cc, t += 55 * US);
	EXPECT_EQ(f.cc.dcqcn.target, target + target * f.params.rp_ai_share / 1024);
	EXPECT_LT(f.cc.dcqcn.target - target, 40 * GBPS / 1000);
}

/* Random parameters, within what makes sense together */
skr_cc_params random_params(st::Rng &rng, skr_cc_preset preset, uint32_t mbps)
{
	skr_cc_params p;

	skr_cc_params_preset(&p, preset, mbps);
	if (rng.percent(50))
		return p;
	p.rp_clamp_tgt_rate = rng.percent(50);
	p.rp_clamp_tgt_rate_ati = rng.percent(50);
	p.rp_time_reset = static_cast<uint32_t>(rng.between(20, 400));
	p.rp_byte_reset = rng.percent(30) ? 0 : static_cast<uint32_t>(rng.between(20000, 1 << 22));
	p.rp_threshold = static_cast<uint32_t>(rng.between(1, 7));
	p.rp_ai_rate = static_cast<uint32_t>(rng.between(1000, 100000));
	p.rp_hai_rate = static_cast<uint32_t>(rng.between(1000, 500000));
	p.rp_max_rate = rng.percent(80) ? 0 : static_cast<uint32_t>(rng.between(10, mbps)) * 1000;
	p.rp_min_dec_fac = static_cast<uint32_t>(rng.below(101));
	p.rp_min_rate = static_cast<uint32_t>(rng.between(1000, 20000));
	p.rp_rate_to_set_on_first_cnp =
		rng.percent(70) ? 0 : static_cast<uint32_t>(rng.between(1000, 40000000));
	p.rp_dce_tcp_g = static_cast<uint32_t>(rng.between(900, 1023));
	p.rp_dce_tcp_rtt = static_cast<uint32_t>(rng.between(1, 100));
	p.rp_rate_reduce_monitor_period = static_cast<uint32_t>(rng.below(100));
	p.rp_initial_alpha_value = static_cast<uint32_t>(rng.below(1025));
	p.rp_gd = static_cast<uint32_t>(rng.between(9, 13));
	p.rp_alpha_on_cnp = rng.percent(50);
	p.rp_ai_share = rng.percent(50) ? 0 : static_cast<uint32_t>(rng.between(1, 1024));
	return p;
}

/* A flow and its reference side by side */
class Pair
{
public:
	skr_cc cc;
	Reference ref;
	uint64_t checked = 0;

	Pair(const skr_cc_params &p, uint64_t line) : ref(p, static_cast<double>(line))
	{
		skr_cc_init(&cc, &skr_cc_dcqcn, &p, line);
	}

	/* time goes on, with each deadline met or with all of them late */
	void advance(uint64_t now, bool late)
	{
		if (late) {
			skr_cc_timer(&cc, now);
			while (ref.next() <= now)
				ref.step();
		} else {
			while (cc.deadline <= now) {
				uint64_t at = cc.deadline;

				skr_cc_timer(&cc, at);
				ref.step();
				compare(at);
			}
		}
		compare(now);
	}

	void compare(uint64_t now)
	{
		/* the limit is lifted within a few bytes per second of the same place */
		if (ref.limited && !cc.dcqcn.limited) {
			ASSERT_LT(ref.gap(), 64);
			ref.release();
		}
		ASSERT_EQ(ref.limited, cc.dcqcn.limited);
		near(static_cast<double>(cc.rate), ref.rc, 1, "rate");
		ASSERT_GE(cc.rate, 1u);
		ASSERT_LE(cc.rate, cc.line_rate);
		if (!ref.limited) {
			ASSERT_EQ(cc.deadline, SKR_CC_NEVER);
			return;
		}
		/* a cut may leave the rate where it was; an increase to there lifts the limit */
		if ((cc.dcqcn.time_stage || cc.dcqcn.byte_stage) && !cc.dcqcn.cut_due) {
			ASSERT_GT(ref.gap(), 1. / 64);
		}
		near(static_cast<double>(cc.dcqcn.target), ref.rt, 1, "target");
		ref.alpha_until(now);
		skr_cc_view v;
		skr_cc_show(&cc, now, &v);
		ASSERT_NEAR(v.alpha / 1024.0, ref.alpha, 1. / 1024 + 1e-5);
		ASSERT_EQ(cc.deadline, ref.next());
		checked++;
	}

	static void near(double is, double should, double grain, const char *what)
	{
		ASSERT_NEAR(is, should, 1e-3 * should + grain) << what;
	}
};

void random_run(uint64_t seed, skr_cc_preset preset, uint64_t &checked)
{
	st::Rng rng(seed);
	static const uint32_t speeds[] = { 100, 1000, 10000, 25000, 40000, 100000, 400000 };
	uint32_t mbps = speeds[rng.below(7)];
	skr_cc_params p = random_params(rng, preset, mbps);
	Pair pair(p, mbps * uint64_t{ 125000 });
	uint64_t now = rng.below(1ULL << 40);

	for (int i = 0; i < 1500 && !testing::Test::HasFatalFailure(); i++) {
		/* few periods at a time: a late call makes up for 64 */
		uint64_t dt = rng.magnitude(rng.percent(5) ? 5000 * US : 200 * US);
		bool late = rng.percent(30) && dt < 30 * p.rp_time_reset * US;

		now += dt;
		pair.advance(now, late);
		switch (rng.below(4)) {
		case 0:
		case 1: {
			auto bytes = static_cast<uint32_t>(rng.magnitude(65536));

			skr_cc_sent(&pair.cc, bytes, now);
			pair.ref.sent(bytes);
			break;
		}
		case 2:
			skr_cc_cnp(&pair.cc, now);
			pair.ref.cnp(now);
			break;
		}
		pair.compare(now);
	}
	checked += pair.checked;
}

TEST(Random, WithinATenthOfAPercentOfTheReference)
{
	uint64_t checked = 0;

	for (uint64_t seed = 0; seed < 300; seed++) {
		auto preset = static_cast<skr_cc_preset>(seed % SKR_CC_PRESETS);

		random_run(seed, preset, checked);
		ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
	}
	EXPECT_GT(checked, 300000u);
}

} // namespace
