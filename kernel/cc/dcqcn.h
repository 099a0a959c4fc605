/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * DCQCN's reaction point: what a flow remembers. Rates and times are in struct
 * skr_cc, which contains this.
 */
#ifndef SKR_CC_DCQCN_H
#define SKR_CC_DCQCN_H

#include <linux/types.h>

/* alpha is a fraction of 2^30 */
#define SKR_DCQCN_ALPHA_BITS	30
#define SKR_DCQCN_ALPHA_ONE	(1U << SKR_DCQCN_ALPHA_BITS)

/* Increases, by timer or bytes, that one call makes up for */
#define SKR_DCQCN_CATCH_UP	64

/**
 * struct skr_dcqcn - state of a flow's DCQCN
 * @target: Rt, bytes per second
 * @alpha_since: nanoseconds, begin of alpha's current period
 * @cut_at: nanoseconds, the last cut
 * @increase_at: nanoseconds, when the timer raises the rate
 * @bytes: sent since the last increase by byte counter or cut
 * @alpha: as of the begin of its current period, of SKR_DCQCN_ALPHA_ONE
 * @time_stage: increases by timer since the last cut
 * @byte_stage: increases by byte counter since the last cut
 * @limited: a CNP came since the flow was last at its line rate; without,
 *	nothing else here counts
 * @cnp_seen: in alpha's current period (only if alpha is updated by period)
 * @cut_due: a CNP came too early for a cut, which is due as soon as the time
 *	between two cuts is over
 */
struct skr_dcqcn {
	__u64	target;
	__u64	alpha_since;
	__u64	cut_at;
	__u64	increase_at;
	__u64	bytes;
	__u32	alpha;
	__u16	time_stage;
	__u16	byte_stage;
	bool	limited;
	bool	cnp_seen;
	bool	cut_due;
};

#endif /* SKR_CC_DCQCN_H */
