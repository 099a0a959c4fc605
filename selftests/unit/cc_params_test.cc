// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Parameters of congestion control: the table, the presets, bounds, text.
 */
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>

extern "C" {
#include "cc/params.h"
}

namespace
{

const skr_cc_param &named(const char *name)
{
	for (auto &p : skr_cc_param_table)
		if (!std::strcmp(p.name, name))
			return p;
	throw std::runtime_error(name);
}

TEST(Table, HasEachFieldOnceInOrder)
{
	std::set<std::string> names;
	uint32_t at = 0;

	for (auto &p : skr_cc_param_table) {
		ASSERT_NE(p.name, nullptr);
		EXPECT_TRUE(names.insert(p.name).second) << p.name;
		EXPECT_EQ(p.offset, at) << p.name;
		EXPECT_LT(p.min, p.max) << p.name;
		EXPECT_TRUE(!std::strncmp(p.name, "rp_", 3) || !std::strncmp(p.name, "np_", 3));
		at += sizeof(uint32_t);
	}
	EXPECT_EQ(at, sizeof(skr_cc_params));
	EXPECT_EQ(&named("rp_ai_rate") - skr_cc_param_table, 5);
}

TEST(Table, HasWhatMlx5Has)
{
	/* but for the rtt_resp ones, which are of another algorithm */
	for (auto *name : { "rp_clamp_tgt_rate",
			    "rp_clamp_tgt_rate_ati",
			    "rp_time_reset",
			    "rp_byte_reset",
			    "rp_threshold",
			    "rp_ai_rate",
			    "rp_max_rate",
			    "rp_hai_rate",
			    "rp_min_dec_fac",
			    "rp_min_rate",
			    "rp_rate_to_set_on_first_cnp",
			    "rp_dce_tcp_g",
			    "rp_dce_tcp_rtt",
			    "rp_rate_reduce_monitor_period",
			    "rp_initial_alpha_value",
			    "rp_gd",
			    "np_min_time_between_cnps",
			    "np_cnp_dscp",
			    "np_cnp_prio_mode",
			    "np_cnp_prio" })
		EXPECT_NO_THROW(named(name)) << name;
}

TEST(Presets, AreWithinBounds)
{
	for (int preset = 0; preset < SKR_CC_PRESETS; preset++) {
		for (uint32_t mbps : { 0u, 1u, 10u, 1000u, 400000u, 1600000u, UINT32_MAX }) {
			skr_cc_params p;

			std::memset(&p, 0xff, sizeof(p));
			skr_cc_params_preset(&p, static_cast<skr_cc_preset>(preset), mbps);
			for (auto &param : skr_cc_param_table) {
				EXPECT_GE(skr_cc_param_get(&p, &param), param.min) << param.name;
				EXPECT_LE(skr_cc_param_get(&p, &param), param.max) << param.name;
			}
		}
	}
}

TEST(Presets, Paper)
{
	for (uint32_t mbps : { 1000u, 40000u, 100000u }) {
		skr_cc_params p;

		skr_cc_params_preset(&p, SKR_CC_PAPER, mbps);
		EXPECT_EQ(p.np_min_time_between_cnps, 50u);
		EXPECT_EQ(p.rp_dce_tcp_rtt, 55u);
		EXPECT_EQ(p.rp_dce_tcp_g, 1024u - 1024 / 256);
		EXPECT_EQ(p.rp_time_reset, 55u);
		EXPECT_EQ(p.rp_byte_reset, 10000000u);
		EXPECT_EQ(p.rp_threshold, 5u);
		EXPECT_EQ(p.rp_ai_rate, 40000u);
		EXPECT_EQ(p.rp_initial_alpha_value, 1024u);
		EXPECT_EQ(p.rp_clamp_tgt_rate, 1u);
		EXPECT_EQ(p.rp_ai_share, 0u);
	}
	EXPECT_STREQ(skr_cc_preset_names[SKR_CC_PAPER], "paper");
}

TEST(Presets, Mlx5)
{
	skr_cc_params p;

	skr_cc_params_preset(&p, SKR_CC_MLX5, 100000);
	EXPECT_EQ(p.np_min_time_between_cnps, 4u);
	EXPECT_EQ(p.rp_dce_tcp_rtt, 1u);
	EXPECT_EQ(p.rp_dce_tcp_g, 1019u);
	EXPECT_EQ(p.rp_time_reset, 300u);
	EXPECT_EQ(p.rp_byte_reset, 32767u);
	EXPECT_EQ(p.rp_threshold, 1u);
	EXPECT_EQ(p.rp_ai_rate, 5000u);
	EXPECT_EQ(p.rp_hai_rate, 50000u);
	EXPECT_EQ(p.rp_rate_reduce_monitor_period, 4u);
	EXPECT_EQ(p.rp_initial_alpha_value, 1023u);
	EXPECT_EQ(p.rp_gd, 11u);
	EXPECT_EQ(p.rp_min_dec_fac, 50u);
	EXPECT_EQ(p.rp_min_rate, 1000u);
	EXPECT_EQ(p.rp_clamp_tgt_rate, 0u);
	EXPECT_EQ(p.rp_clamp_tgt_rate_ati, 1u);
	EXPECT_EQ(p.np_cnp_dscp, 48u);
	EXPECT_EQ(p.np_cnp_prio, 6u);
	EXPECT_STREQ(skr_cc_preset_names[SKR_CC_MLX5], "mlx5");
}

/* At 40 Gb/s the paper's steps, in proportion elsewhere */
TEST(Presets, ScaledGrowsWithThePort)
{
	skr_cc_params p;

	for (uint32_t mbps : { 100u, 1000u, 10000u, 40000u, 400000u }) {
		skr_cc_params_preset(&p, SKR_CC_SCALED, mbps);
		EXPECT_EQ(p.rp_clamp_tgt_rate, 0u);
		EXPECT_EQ(p.rp_dce_tcp_g, 988u);
		EXPECT_EQ(p.rp_ai_rate, mbps);
		EXPECT_EQ(p.rp_hai_rate, 5 * mbps);
		EXPECT_EQ(p.rp_byte_reset, 250 * mbps);
	}
	skr_cc_params_preset(&p, SKR_CC_SCALED, 0);
	EXPECT_EQ(p.rp_ai_rate, 1000u);
}

TEST(Set, KeepsBounds)
{
	skr_cc_params p;

	skr_cc_params_preset(&p, SKR_CC_SCALED, 10000);
	for (auto &param : skr_cc_param_table) {
		for (uint32_t ok : { param.min, param.max }) {
			EXPECT_EQ(skr_cc_param_set(&p, &param, ok), 0);
			EXPECT_EQ(skr_cc_param_get(&p, &param), ok);
		}
		if (param.min) {
			EXPECT_EQ(skr_cc_param_set(&p, &param, param.min - 1), -ERANGE);
		}
		if (param.max != UINT32_MAX) {
			EXPECT_EQ(skr_cc_param_set(&p, &param, param.max + 1), -ERANGE);
		}
		EXPECT_EQ(skr_cc_param_get(&p, &param), param.max) << param.name;
	}
}

TEST(Text, Numbers)
{
	auto &gd = named("rp_gd");
	uint32_t v = 99;

	EXPECT_EQ(skr_cc_param_parse(&gd, "11", &v), 0);
	EXPECT_EQ(v, 11u);
	EXPECT_EQ(skr_cc_param_parse(&gd, "7\n", &v), 0);
	EXPECT_EQ(v, 7u);
	for (auto *bad :
	     { "", "\n", " 1", "1 ", "-1", "+1", "0x1", "1.", "1.0", "1\n\n", "1\n2", "a" })
		EXPECT_EQ(skr_cc_param_parse(&gd, bad, &v), -EINVAL) << bad;
	for (auto *out : { "16", "4294967296", "18446744073709551617", "99999999999999999999999" })
		EXPECT_EQ(skr_cc_param_parse(&gd, out, &v), -ERANGE) << out;
	EXPECT_EQ(v, 7u);
	EXPECT_EQ(skr_cc_param_parse(&named("rp_time_reset"), "0", &v), -ERANGE);
}

TEST(Text, RatesAreMegabitsWithDecimals)
{
	auto &rate = named("rp_ai_rate");
	uint32_t v = 0;

	const struct {
		const char *text;
		uint32_t kbps;
	} good[] = { { "40", 40000 }, { "0.2", 200 },
		     { "0.001", 1 },  { ".5", 500 },
		     { "1.", 1000 },  { "12.345\n", 12345 },
		     { "007", 7000 }, { "4294967.295", UINT32_MAX } };
	for (auto &g : good) {
		EXPECT_EQ(skr_cc_param_parse(&rate, g.text, &v), 0) << g.text;
		EXPECT_EQ(v, g.kbps) << g.text;
	}
	for (auto *bad : { ".", "1.2.3", "0.0001", "1,5", "1e3" })
		EXPECT_EQ(skr_cc_param_parse(&rate, bad, &v), -EINVAL) << bad;
	for (auto *out : { "0", "0.000", "4294967.296", "4294968" })
		EXPECT_EQ(skr_cc_param_parse(&rate, out, &v), -ERANGE) << out;
}

TEST(Text, WhatIsShownCanBeReadBack)
{
	char text[SKR_CC_PARAM_TEXT];
	uint32_t back;

	for (auto &param : skr_cc_param_table) {
		for (uint64_t v = param.min; v <= param.max; v = v * 3 + 7) {
			skr_cc_param_format(&param, static_cast<uint32_t>(v), text);
			ASSERT_EQ(skr_cc_param_parse(&param, text, &back), 0) << text;
			EXPECT_EQ(back, v) << text;
		}
		skr_cc_param_format(&param, param.max, text);
		EXPECT_EQ(skr_cc_param_parse(&param, text, &back), 0) << text;
		EXPECT_EQ(back, param.max);
	}
	const struct {
		uint32_t kbps;
		const char *text;
	} shown[] = { { 0, "0" },
		      { 5000, "5" },
		      { 200, "0.2" },
		      { 1, "0.001" },
		      { 1050, "1.05" },
		      { 100000, "100" },
		      { UINT32_MAX, "4294967.295" } };
	for (auto &s : shown) {
		skr_cc_param_format(&named("rp_max_rate"), s.kbps, text);
		EXPECT_STREQ(text, s.text);
	}
}

} // namespace
