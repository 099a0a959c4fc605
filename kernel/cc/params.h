/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Parameters of congestion control: one set a device, under the names that
 * mlx5 made known, and a table that says what each may be.
 */
#ifndef SKR_CC_PARAMS_H
#define SKR_CC_PARAMS_H

#include <linux/types.h>

/* Digits after the point of a rate: it is kept in kb/s and shown in Mb/s */
#define SKR_CC_RATE_DIGITS	3
/* Room for a value as text: ten digits, a point, the final 0 */
#define SKR_CC_PARAM_TEXT	12

/* One half of a rate's way into bytes per second */
#define SKR_CC_KBPS		125ULL
#define SKR_CC_NS_PER_US	1000ULL

/**
 * struct skr_cc_params - the parameters of a device
 * @rp_clamp_tgt_rate: each cut sets the target rate to the rate before it
 * @rp_clamp_tgt_rate_ati: a cut does so if the timer has raised the rate since
 *	the cut before; without, only if the byte counter has
 * @rp_time_reset: microseconds from one increase by timer to the next
 * @rp_byte_reset: bytes from one increase by byte counter to the next; 0: none
 * @rp_threshold: increases of fast recovery
 * @rp_ai_rate: kb/s that an additive increase adds to the target rate
 * @rp_max_rate: kb/s at which the limit is lifted; 0: the port's speed
 * @rp_hai_rate: kb/s of a hyper increase
 * @rp_min_dec_fac: percent of the rate that a cut leaves at least
 * @rp_min_rate: kb/s, the lowest rate
 * @rp_rate_to_set_on_first_cnp: kb/s after the first CNP; 0: a cut
 * @rp_dce_tcp_g: what alpha keeps in an update, in 1/1024: 1024 (1 - g)
 * @rp_dce_tcp_rtt: microseconds from one update of alpha to the next
 * @rp_rate_reduce_monitor_period: microseconds between two cuts at least
 * @rp_initial_alpha_value: alpha on the first CNP, in 1/1024
 * @rp_gd: a cut takes away alpha (in 1/1024) / 2^@rp_gd of the rate
 * @rp_alpha_on_cnp: a cut raises alpha and begins a new period of it, as the
 *	paper has it; without, alpha is updated once a period, as mlx5 does
 * @rp_ai_share: no increase of the target by more than so many 1/1024 of it;
 *	0: no such limit
 * @np_min_time_between_cnps: microseconds between two CNPs for a flow at least
 * @np_cnp_dscp: DSCP of CNPs
 * @np_cnp_prio_mode: 0: CNPs have priority @np_cnp_prio, 1: that of the QP
 * @np_cnp_prio: priority of CNPs
 *
 * Each is read once where it is used, and each mixture of old and new values is
 * valid: who writes one needs no lock.
 */
struct skr_cc_params {
	__u32	rp_clamp_tgt_rate;
	__u32	rp_clamp_tgt_rate_ati;
	__u32	rp_time_reset;
	__u32	rp_byte_reset;
	__u32	rp_threshold;
	__u32	rp_ai_rate;
	__u32	rp_max_rate;
	__u32	rp_hai_rate;
	__u32	rp_min_dec_fac;
	__u32	rp_min_rate;
	__u32	rp_rate_to_set_on_first_cnp;
	__u32	rp_dce_tcp_g;
	__u32	rp_dce_tcp_rtt;
	__u32	rp_rate_reduce_monitor_period;
	__u32	rp_initial_alpha_value;
	__u32	rp_gd;
	__u32	rp_alpha_on_cnp;
	__u32	rp_ai_share;
	__u32	np_min_time_between_cnps;
	__u32	np_cnp_dscp;
	__u32	np_cnp_prio_mode;
	__u32	np_cnp_prio;
};

/**
 * enum skr_cc_preset - sets of values
 * @SKR_CC_SCALED: what a device begins with: the paper's, with steps that grow
 *	with the port's speed and shrink with the flow's rate
 * @SKR_CC_PAPER: the constants of the DCQCN paper (SIGCOMM 2015)
 * @SKR_CC_MLX5: what mlx5 adapters begin with
 * @SKR_CC_PRESETS: how many there are
 */
enum skr_cc_preset {
	SKR_CC_SCALED,
	SKR_CC_PAPER,
	SKR_CC_MLX5,
	SKR_CC_PRESETS,
};

/**
 * struct skr_cc_param - what there is to know of a parameter
 * @name: its name
 * @unit: what it counts, as shown
 * @offset: where in struct skr_cc_params it is
 * @digits: decimal digits that are shown after a point
 * @min: least value
 * @max: greatest value
 * @preset: value by enum skr_cc_preset
 * @per_gbps: added to that of SKR_CC_SCALED for each Gb/s of the port
 */
struct skr_cc_param {
	const char	*name;
	const char	*unit;
	__u16		offset;
	__u8		digits;
	__u32		min;
	__u32		max;
	__u32		preset[SKR_CC_PRESETS];
	__u32		per_gbps;
};

/* The table, in the order of struct skr_cc_params */
#define SKR_CC_PARAM_COUNT	(sizeof(struct skr_cc_params) / sizeof(__u32))
extern const struct skr_cc_param skr_cc_param_table[SKR_CC_PARAM_COUNT];
/* Names of the presets */
extern const char *const skr_cc_preset_names[SKR_CC_PRESETS];

/**
 * skr_cc_params_preset() - set all parameters
 * @params: to set
 * @preset: to which values
 * @mbps: speed of the port, in Mb/s; 0: not known, taken as 1 Gb/s
 *
 * Context: any.
 */
void skr_cc_params_preset(struct skr_cc_params *params, enum skr_cc_preset preset, __u32 mbps);

/**
 * skr_cc_param_get() - read a parameter
 * @params: of which set
 * @param: which one
 *
 * Context: any.
 * Return: its value.
 */
__u32 skr_cc_param_get(const struct skr_cc_params *params, const struct skr_cc_param *param);

/**
 * skr_cc_param_set() - change a parameter
 * @params: of which set
 * @param: which one
 * @value: to what
 *
 * Context: any.
 * Return: 0, or -ERANGE if @param does not allow it; nothing is changed then.
 */
int skr_cc_param_set(struct skr_cc_params *params, const struct skr_cc_param *param, __u32 value);

/**
 * skr_cc_param_parse() - read a value as text
 * @param: of which parameter
 * @text: decimal digits, for a parameter with @digits also a point and up to
 *	so many more; a newline may follow
 * @value: the value
 *
 * Context: any.
 * Return: 0, -EINVAL if that is no number, -ERANGE if @param does not allow it.
 */
int skr_cc_param_parse(const struct skr_cc_param *param, const char *text, __u32 *value);

/**
 * skr_cc_param_format() - write a value as text
 * @param: of which parameter
 * @value: the value
 * @text: where to; no zeros at the end behind a point
 *
 * Context: any.
 */
void skr_cc_param_format(const struct skr_cc_param *param, __u32 value,
			 char text[SKR_CC_PARAM_TEXT]);

#endif /* SKR_CC_PARAMS_H */
