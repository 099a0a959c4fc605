/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A QP as a flow: the rate at which it sends. One rate is for all that a QP
 * sends with data in it, requests and READ responses, as adapters have it:
 * nothing in a CNP says which of them met congestion.
 */
#ifndef SKR_TRANSPORT_FLOW_H
#define SKR_TRANSPORT_FLOW_H

#include <linux/hrtimer.h>
#include <linux/types.h>

#include "../cc/cc.h"

/**
 * struct skr_flow - pacing of a QP
 * @cc: its congestion control
 * @debt: bytes sent ahead of the rate
 * @as_of: nanoseconds, when @debt was true
 * @cnp_sent: nanoseconds, the last CNP that this QP sent
 * @owed: sending waits until the debt is paid
 * @timer: wakes the QP then
 */
struct skr_flow {
	struct skr_cc	cc;
	u64		debt;
	u64		as_of;
	u64		cnp_sent;
	bool		owed;
	struct hrtimer	timer;
};

#endif /* SKR_TRANSPORT_FLOW_H */
