// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Flows under DCQCN in a simulated network: what takes seconds. What takes longer is
 * in selftests/sim, as is the simulator.
 */
#include <gtest/gtest.h>

#include "../sim/alone.hh"
#include "../sim/fluid.hh"
#include "../sim/scenario.hh"

namespace
{

using namespace sim;

class Incast : public testing::TestWithParam<std::tuple<unsigned, unsigned>>
{
};

TEST_P(Incast, IsFairAndFullAndLosesNothing)
{
	auto [flows, gbps] = GetParam();
	Scenario s = make_scenario(SKR_CC_SCALED, flows, gbps);
	Result r = simulate(s);

	EXPECT_GE(r.jain, 0.99);
	EXPECT_GE(r.utilisation, 0.95);
	EXPECT_LE(r.utilisation, 1.001);
	EXPECT_EQ(r.drops, 0u);
	EXPECT_LT(r.queue, s.red.kmax);
}

INSTANTIATE_TEST_SUITE_P(Recommended, Incast,
			 testing::Combine(testing::Values(2, 4, 8), testing::Values(10, 40, 100)));

class Joiner : public testing::TestWithParam<unsigned>
{
};

TEST_P(Joiner, HasNineTenthsOfItsShareIn20Ms)
{
	Scenario s = make_scenario(SKR_CC_SCALED, 2, GetParam());
	double share = GetParam() * 125e6 / 2;

	s.stagger = 0.05;
	s.seconds = 0.09;
	Result r = simulate(s);

	/* until then the other one had it all */
	EXPECT_GT(r.rate(0, 0.04, 0.05), 1.9 * share);
	EXPECT_LE(r.reaches(1, 0.05, 0.09, 0.9 * share), 0.020);
	/* and more or less keeps it: rates go up and down */
	EXPECT_GE(r.rate(1, 0.07, 0.09), 0.8 * share);
}

INSTANTIATE_TEST_SUITE_P(Late, Joiner, testing::Values(10, 40, 100));

/* One more each 40 ms: each finds those before it settled */
class Joiners : public testing::TestWithParam<std::tuple<unsigned, unsigned>>
{
};

TEST_P(Joiners, EachHasNineTenthsOfItsShareIn20Ms)
{
	auto [gbps, seed] = GetParam();
	Scenario s = make_scenario(SKR_CC_SCALED, 8, gbps);

	s.stagger = 0.04;
	s.seconds = 0.32;
	s.seed = seed;
	Result r = simulate(s);
	for (unsigned i = 1; i < s.flows; i++) {
		double share = gbps * 125e6 / (i + 1), at = i * s.stagger;

		EXPECT_LE(r.reaches(i, at, at + s.stagger, 0.9 * share), 0.020) << i + 1;
	}
}

INSTANTIATE_TEST_SUITE_P(Late, Joiners,
			 testing::Combine(testing::Values(10, 40, 100), testing::Values(1, 2, 3)));

/* The models, where marking does not saturate: see Documentation/dcqcn.rst */
TEST(Model, FourFlowsSettleWhereTheyShould)
{
	Scenario s = make_scenario(SKR_CC_PAPER, 4, 40);
	Result r = simulate(s);
	FixedPoint fluid = fluid_point(s.params, s.red, 40 * 125e6, 4, s.timing.packet);
	FixedPoint renewal = renewal_point(s.params, s.red, 40 * 125e6, 4, s.timing.packet);

	EXPECT_FALSE(fluid.saturated);
	EXPECT_NEAR(r.alpha / fluid.alpha, 1, 0.10);
	EXPECT_NEAR(r.alpha / renewal.alpha, 1, 0.10);
	EXPECT_NEAR(r.queue / renewal.queue, 1, 0.10);
}

/*
 * The fluid model's fixed points, for each share of a port that a flow has in the
 * table below and in Documentation/dcqcn.rst. Where a few flows would be much of the
 * queue, more of them have the same share of a faster port.
 */
class Fluid : public testing::TestWithParam<std::tuple<unsigned, unsigned, unsigned>>
{
};

TEST_P(Fluid, FlowsSettleThereIfEachMarkIsAnswered)
{
	auto [gbps, flows, times] = GetParam();
	Scenario s = fluid_scenario(flows, gbps, times);

	s.seconds = 0.3;
	Result r = simulate(s);
	FixedPoint fluid = fluid_point(s.params, s.red, s.gbps * 125e6, s.flows, s.timing.packet);

	ASSERT_FALSE(fluid.saturated);
	EXPECT_NEAR(r.alpha / fluid.alpha, 1, 0.10);
	EXPECT_NEAR(r.queue / fluid.queue, 1, 0.10);
	EXPECT_NEAR(r.marked / fluid.p, 1, 0.10);
}

INSTANTIATE_TEST_SUITE_P(NotSaturated, Fluid,
			 testing::Values(std::tuple{ 10, 2, 1 }, std::tuple{ 40, 2, 4 },
					 std::tuple{ 40, 4, 1 }, std::tuple{ 40, 8, 1 },
					 std::tuple{ 40, 10, 1 }, std::tuple{ 100, 2, 4 },
					 std::tuple{ 100, 4, 2 }, std::tuple{ 100, 8, 1 },
					 std::tuple{ 100, 16, 1 }));

/* More flows with the same share of a faster port: the same fixed point */
TEST(Model, TheFixedPointIsOfAShare)
{
	Scenario one = fluid_scenario(2, 100, 1), four = fluid_scenario(2, 100, 4);
	FixedPoint a = fluid_point(one.params, one.red, 100 * 125e6, 2, 1000);
	FixedPoint b = fluid_point(four.params, four.red, 400 * 125e6, 8, 1000);

	EXPECT_DOUBLE_EQ(a.p, b.p);
	EXPECT_DOUBLE_EQ(a.alpha, b.alpha);
	EXPECT_NEAR((b.queue - four.red.kmin) / (a.queue - one.red.kmin), 4, 1e-6);
	/* nor does it matter whose spacing it is, nor where the line ends */
	Scenario paper = make_scenario(SKR_CC_PAPER, 2, 100);
	FixedPoint c = fluid_point(paper.params, paper.red, 100 * 125e6, 2, 1000);
	EXPECT_DOUBLE_EQ(a.p, c.p);
	EXPECT_NEAR(a.queue / c.queue, 1, 1e-6);
}

/* What others computed of the fluid model, for packets of 1000 bytes */
TEST(Model, FluidIsTheOneOfTheLiterature)
{
	const struct {
		unsigned gbps, flows;
		double p, alpha, queue;
	} table[] = { { 10, 2, .00455, .145, 94e3 },   { 40, 2, .00078, .101, 20e3 },
		      { 40, 8, .00455, .145, 94e3 },   { 40, 10, .00603, .153, 123e3 },
		      { 100, 2, .00024, .079, 9.7e3 }, { 100, 16, .00343, .137, 72e3 } };

	for (auto &row : table) {
		Scenario s = make_scenario(SKR_CC_PAPER, row.flows, row.gbps);
		FixedPoint f = fluid_point(s.params, s.red, row.gbps * 125e6, row.flows, 1000);

		EXPECT_NEAR(f.p / row.p, 1, 0.025) << row.gbps << " " << row.flows;
		EXPECT_NEAR(f.alpha, row.alpha, 0.001);
		EXPECT_NEAR(f.queue / row.queue, 1, 0.025);
	}
	Scenario s = make_scenario(SKR_CC_PAPER, 8, 10);
	EXPECT_TRUE(fluid_point(s.params, s.red, 10 * 125e6, 8, 1000).saturated);
}

/*
 * The kernel's unit where the models' assumptions hold: at the share of marks that a
 * model says, its rate is the fair one. The fluid model knows no spacing of CNPs, the
 * renewal model does: that is all that is between them.
 */
class Assumptions : public testing::TestWithParam<std::tuple<unsigned, unsigned>>
{
};

TEST_P(Assumptions, HoldForTheUnit)
{
	auto [gbps, flows] = GetParam();
	Scenario s = make_scenario(SKR_CC_PAPER, flows, gbps);
	double line = gbps * 125e6, fair = line / flows, packet = s.timing.packet;
	FixedPoint fluid = fluid_point(s.params, s.red, line, flows, packet);
	FixedPoint renewal = renewal_point(s.params, s.red, line, flows, packet);
	double spacing = s.params.np_min_time_between_cnps * 1e-6;

	ASSERT_FALSE(fluid.saturated);
	Alone a = flow_alone(s.params, line, fluid.p, 0, packet, 4, 1);
	EXPECT_NEAR(a.rate / fair, 1, 0.05);
	EXPECT_NEAR(a.alpha / fluid.alpha, 1, 0.05);
	a = flow_alone(s.params, line, renewal.p, spacing, packet, 4, 2);
	EXPECT_NEAR(a.rate / fair, 1, 0.05);
	EXPECT_NEAR(a.alpha / renewal.alpha, 1, 0.05);
	/* and without the spacing the one model is the other */
	s.params.np_min_time_between_cnps = 0;
	renewal = renewal_point(s.params, s.red, line, flows, packet);
	EXPECT_NEAR(renewal.p / fluid.p, 1, 0.02);
	EXPECT_NEAR(renewal.alpha / fluid.alpha, 1, 0.02);
}

INSTANTIATE_TEST_SUITE_P(NotSaturated, Assumptions,
			 testing::Values(std::tuple{ 40, 2 }, std::tuple{ 40, 4 },
					 std::tuple{ 100, 2 }, std::tuple{ 100, 4 },
					 std::tuple{ 100, 8 }));

TEST(Simulator, TheSameSeedGivesTheSame)
{
	Scenario s = make_scenario(SKR_CC_SCALED, 3, 10);

	s.seconds = 0.04;
	Result a = simulate(s), b = simulate(s);
	EXPECT_EQ(a.events, b.events);
	EXPECT_EQ(a.queue, b.queue);
	EXPECT_EQ(a.samples.back().rate, b.samples.back().rate);
	s.seed = 2;
	EXPECT_NE(simulate(s).queue, a.queue);
}

/* Without control the senders are paused all the time, and the queue is deep */
TEST(Simulator, WithoutControlOnlyPausesHelp)
{
	Scenario s = make_scenario(SKR_CC_SCALED, 4, 10);

	s.algorithm = "none";
	s.seconds = 0.06;
	Result r = simulate(s);
	EXPECT_GT(r.paused, 0.02);
	EXPECT_GT(r.queue, 10 * s.red.kmax);
	EXPECT_EQ(r.drops, 0u);
	/* and without pauses nothing does */
	s.xoff = 1e12;
	EXPECT_GT(simulate(s).drops, 1000u);
}

/* Timers only looked at before sending: no timer of its own for a flow */
TEST(Simulator, LazyTimersDoAsWell)
{
	Scenario s = make_scenario(SKR_CC_SCALED, 4, 10);

	s.timing.timers_on_send = true;
	Result r = simulate(s);
	EXPECT_GE(r.jain, 0.99);
	EXPECT_GE(r.utilisation, 0.95);
}

TEST(Simulator, SharesAddUp)
{
	EXPECT_DOUBLE_EQ(jain({ 1, 1, 1 }), 1);
	EXPECT_DOUBLE_EQ(jain({ 4, 0, 0, 0 }), 0.25);
	Scenario s = make_scenario(SKR_CC_SCALED, 1, 10);

	/* a flow alone has its line rate and no queue */
	Result r = simulate(s);
	EXPECT_NEAR(r.utilisation, 1, 1e-3);
	EXPECT_EQ(r.cnps_per_second, 0);
	EXPECT_LE(r.deepest, s.timing.packet);
}

} // namespace
