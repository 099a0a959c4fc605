// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The table of parameters; setting, reading and showing them.
 */
#include "params.h"

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/stddef.h>

#define MBPS	1000	/* in kb/s */

#define VALUE(_name, _unit, _min, _max, _scaled, _paper, _mlx5) \
	{ \
		.name = #_name, \
		.unit = _unit, \
		.offset = offsetof(struct skr_cc_params, _name), \
		.min = _min, \
		.max = _max, \
		.preset = { _scaled, _paper, _mlx5 }, \
	}

/* @_per_gbps is the step of SKR_CC_SCALED, whose base is @_scaled */
#define SCALED(_name, _unit, _digits, _min, _max, _scaled, _per_gbps, _paper, _mlx5) \
	{ \
		.name = #_name, \
		.unit = _unit, \
		.offset = offsetof(struct skr_cc_params, _name), \
		.digits = _digits, \
		.min = _min, \
		.max = _max, \
		.preset = { _scaled, _paper, _mlx5 }, \
		.per_gbps = _per_gbps, \
	}

#define RATE(_name, _min, _scaled, _per_gbps, _paper, _mlx5) \
	SCALED(_name, "Mb/s", SKR_CC_RATE_DIGITS, _min, U32_MAX, _scaled, _per_gbps, _paper, _mlx5)

/*
 * Bounds are the widths of mlx5's fields where those are known; rates and the
 * byte counter may be larger. Periods of time must not be 0 where that would
 * be an event without end.
 *
 * The paper's steps are for 40 Gb/s. SKR_CC_SCALED has them per Gb/s, and adds
 * what keeps thousands of flows apart, see Documentation/dcqcn.rst.
 */
const struct skr_cc_param skr_cc_param_table[SKR_CC_PARAM_COUNT] = {
	/*                                      min, max,     scaled, paper, mlx5 */
	VALUE(rp_clamp_tgt_rate, "0/1",         0,   1,       0,      1,     0),
	VALUE(rp_clamp_tgt_rate_ati, "0/1",     0,   1,       1,      1,     1),
	VALUE(rp_time_reset, "us",              1,   131071,  55,     55,    300),
	/*                                min, max,     scaled, per Gb/s, paper, mlx5 */
	SCALED(rp_byte_reset, "bytes", 0, 0,   U32_MAX, 0,      250000,   10000000, 32767),
	VALUE(rp_threshold, "events",           1,   31,      1,      5,     1),
	/*                                min, scaled, per Gb/s, paper,      mlx5 */
	RATE(rp_ai_rate,                  1,   0,      1000,     40 * MBPS,  5 * MBPS),
	RATE(rp_max_rate,                 0,   0,      0,        0,          0),
	RATE(rp_hai_rate,                 1,   0,      5000,     200 * MBPS, 50 * MBPS),
	VALUE(rp_min_dec_fac, "%",              0,   100,     50,     50,    50),
	RATE(rp_min_rate,                 1,   MBPS,   0,        MBPS,       MBPS),
	RATE(rp_rate_to_set_on_first_cnp, 0,   0,      0,        0,          0),
	VALUE(rp_dce_tcp_g, "1/1024",           0,   1023,    988,    1020,  1019),
	VALUE(rp_dce_tcp_rtt, "us",             1,   131071,  55,     55,    1),
	VALUE(rp_rate_reduce_monitor_period, "us", 0, 131071, 50,     50,    4),
	VALUE(rp_initial_alpha_value, "1/1024", 0,   1024,    1024,   1024,  1023),
	VALUE(rp_gd, "log2",                    0,   15,      11,     11,    11),
	VALUE(rp_alpha_on_cnp, "0/1",           0,   1,       1,      1,     0),
	VALUE(rp_ai_share, "1/1024",            0,   1024,    16,     0,     0),
	VALUE(np_min_time_between_cnps, "us",   0,   131071,  50,     50,    4),
	VALUE(np_cnp_dscp, "DSCP",              0,   63,      48,     48,    48),
	VALUE(np_cnp_prio_mode, "0/1",          0,   1,       0,      0,     0),
	VALUE(np_cnp_prio, "priority",          0,   7,       6,      6,     6),
};

const char *const skr_cc_preset_names[SKR_CC_PRESETS] = {
	[SKR_CC_SCALED] = "scaled",
	[SKR_CC_PAPER] = "paper",
	[SKR_CC_MLX5] = "mlx5",
};

static __u32 *skr_cc_param_at(struct skr_cc_params *params, const struct skr_cc_param *param)
{
	return (__u32 *)((char *)params + param->offset);
}

void skr_cc_params_preset(struct skr_cc_params *params, enum skr_cc_preset preset, __u32 mbps)
{
	const struct skr_cc_param *param;
	__u64 value;

	/* the table is an array of all there is */
	BUILD_BUG_ON(sizeof(struct skr_cc_params) % sizeof(__u32));
	if (!mbps)
		mbps = 1000;
	for (param = skr_cc_param_table; param < skr_cc_param_table + SKR_CC_PARAM_COUNT; param++) {
		value = param->preset[preset];
		if (preset == SKR_CC_SCALED)
			value += div_u64((__u64)param->per_gbps * mbps, 1000);
		if (value < param->min)
			value = param->min;
		if (value > param->max)
			value = param->max;
		WRITE_ONCE(*skr_cc_param_at(params, param), (__u32)value);
	}
}

__u32 skr_cc_param_get(const struct skr_cc_params *params, const struct skr_cc_param *param)
{
	return READ_ONCE(*(const __u32 *)((const char *)params + param->offset));
}

int skr_cc_param_set(struct skr_cc_params *params, const struct skr_cc_param *param, __u32 value)
{
	if (value < param->min || value > param->max)
		return -ERANGE;
	WRITE_ONCE(*skr_cc_param_at(params, param), value);
	return 0;
}

int skr_cc_param_parse(const struct skr_cc_param *param, const char *text, __u32 *value)
{
	int behind = -1;	/* digits behind the point; -1: there was none */
	bool digit = false;
	__u64 v = 0;

	for (; *text && *text != '\n'; text++) {
		if (*text == '.' && param->digits && behind < 0) {
			behind = 0;
			continue;
		}
		if (*text < '0' || *text > '9' || behind == param->digits)
			return -EINVAL;
		digit = true;
		v = v * 10 + (*text - '0');
		if (v > U32_MAX)
			return -ERANGE;
		if (behind >= 0)
			behind++;
	}
	if (!digit || (*text && text[1]))
		return -EINVAL;
	for (behind = behind < 0 ? 0 : behind; behind < param->digits; behind++)
		v *= 10;
	if (v < param->min || v > param->max)
		return -ERANGE;
	*value = v;
	return 0;
}

void skr_cc_param_format(const struct skr_cc_param *param, __u32 value,
			 char text[SKR_CC_PARAM_TEXT])
{
	char reverse[SKR_CC_PARAM_TEXT];
	int digits = param->digits;
	int n = 0;

	for (; digits && value % 10 == 0; digits--)
		value /= 10;
	for (; digits; digits--, value /= 10) {
		reverse[n++] = '0' + value % 10;
		if (digits == 1)
			reverse[n++] = '.';
	}
	do {
		reverse[n++] = '0' + value % 10;
		value /= 10;
	} while (value);
	while (n)
		*text++ = reverse[--n];
	*text = 0;
}
