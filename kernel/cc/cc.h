/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Congestion control: what happens to a flow goes in, the rate it may send at
 * comes out. A flow is a QP in one of its directions.
 *
 * Bytes, times and rates are all that is known here. Who owns a flow calls
 *
 *	skr_cc_sent()	for each packet, or train of packets, that it sent;
 *	skr_cc_cnp()	for each valid CNP;
 *	skr_cc_timer()	at skr_cc.deadline or later,
 *
 * and obeys skr_cc.rate and looks at skr_cc.deadline afterwards. Calls for one
 * flow are serialized by its owner, and times never go back. A timer that is late
 * is made up for, within bounds: a flow that has nothing to send needs no timer
 * at all if its owner calls skr_cc_timer() before it sends again.
 */
#ifndef SKR_CC_CC_H
#define SKR_CC_CC_H

#include <linux/types.h>

#include "dcqcn.h"
#include "params.h"

/* No deadline */
#define SKR_CC_NEVER	(~0ULL)

struct skr_cc;

/**
 * struct skr_cc_view - what there is to see of a flow
 * @rate: bytes per second it may send
 * @target: bytes per second that it recovers to
 * @alpha: estimate of congestion, in 1/1024
 * @stage: name of what it does
 */
struct skr_cc_view {
	__u64		rate;
	__u64		target;
	__u32		alpha;
	const char	*stage;
};

/**
 * struct skr_cc_ops - an algorithm
 * @name: what users call it
 * @marks: its packets are ECN-capable
 * @init: begin, with the flow's rate at its line rate
 * @sent: bytes were sent
 * @cnp: a CNP came in
 * @timer: the deadline may have passed
 * @view: show the flow
 *
 * @sent, @cnp and @timer return whether the rate changed. None of them sleeps,
 * allocates or takes a lock, and each ends in bounded time.
 */
struct skr_cc_ops {
	const char	*name;
	bool		marks;
	void		(*init)(struct skr_cc *cc);
	bool		(*sent)(struct skr_cc *cc, __u32 bytes, __u64 now);
	bool		(*cnp)(struct skr_cc *cc, __u64 now);
	bool		(*timer)(struct skr_cc *cc, __u64 now);
	void		(*view)(const struct skr_cc *cc, __u64 now, struct skr_cc_view *view);
};

/**
 * struct skr_cc - a flow
 * @ops: its algorithm
 * @params: its device's parameters
 * @line_rate: bytes per second of the port, or the rate the user allows if that
 *	is less; at least 1
 * @rate: bytes per second that the flow may send; out
 * @deadline: nanoseconds, when skr_cc_timer() is due; out
 * @dcqcn: state of DCQCN
 */
struct skr_cc {
	const struct skr_cc_ops		*ops;
	const struct skr_cc_params	*params;
	__u64				line_rate;
	__u64				rate;
	__u64				deadline;
	union {
		struct skr_dcqcn	dcqcn;
	};
};

extern const struct skr_cc_ops skr_cc_none;
extern const struct skr_cc_ops skr_cc_dcqcn;

/**
 * skr_cc_find() - an algorithm by name
 * @name: its name
 *
 * Context: any.
 * Return: the algorithm, or NULL.
 */
const struct skr_cc_ops *skr_cc_find(const char *name);

/**
 * skr_cc_init() - begin with a flow, or begin anew
 * @cc: the flow
 * @ops: its algorithm
 * @params: parameters; must live as long as the flow
 * @line_rate: bytes per second it may reach
 *
 * Also for a new algorithm or a new path: what was known of the old one is forgotten.
 *
 * Context: any; the caller serializes.
 */
void skr_cc_init(struct skr_cc *cc, const struct skr_cc_ops *ops,
		 const struct skr_cc_params *params, __u64 line_rate);

/**
 * skr_cc_relimit() - another line rate, on the same path
 * @cc: flow
 * @line_rate: bytes per second it may reach from now on
 *
 * What is known of the path stays: a flow that congestion has made slower stays as
 * slow, and recovers as far as the new rate.
 *
 * Context: any; the caller serializes.
 */
void skr_cc_relimit(struct skr_cc *cc, __u64 line_rate);

/**
 * skr_cc_sent() - bytes were sent
 * @cc: flow
 * @bytes: how many, of at most one train of packets
 * @now: nanoseconds
 *
 * Context: any; the caller serializes.
 * Return: whether the rate changed.
 */
static inline bool skr_cc_sent(struct skr_cc *cc, __u32 bytes, __u64 now)
{
	return cc->ops->sent(cc, bytes, now);
}

/**
 * skr_cc_cnp() - a CNP came in
 * @cc: flow that it names
 * @now: nanoseconds
 *
 * Context: any; the caller serializes.
 * Return: whether the rate changed.
 */
static inline bool skr_cc_cnp(struct skr_cc *cc, __u64 now)
{
	return cc->ops->cnp(cc, now);
}

/**
 * skr_cc_timer() - do what is due
 * @cc: flow
 * @now: nanoseconds; before the deadline nothing happens
 *
 * Context: any; the caller serializes.
 * Return: whether the rate changed.
 */
static inline bool skr_cc_timer(struct skr_cc *cc, __u64 now)
{
	return now >= cc->deadline && cc->ops->timer(cc, now);
}

/**
 * skr_cc_show() - show a flow
 * @cc: flow
 * @now: nanoseconds
 * @view: what is shown
 *
 * Context: any; the caller serializes.
 */
static inline void skr_cc_show(const struct skr_cc *cc, __u64 now, struct skr_cc_view *view)
{
	cc->ops->view(cc, now, view);
}

#endif /* SKR_CC_CC_H */
