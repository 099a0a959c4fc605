// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The table of algorithms, and the one that does nothing.
 */
#include "cc.h"

#include <linux/kernel.h>
#include <linux/string.h>

static const struct skr_cc_ops *const skr_cc_all[] = {
	&skr_cc_none,
	&skr_cc_dcqcn,
};

const struct skr_cc_ops *skr_cc_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(skr_cc_all); i++)
		if (!strcmp(skr_cc_all[i]->name, name))
			return skr_cc_all[i];
	return NULL;
}

void skr_cc_init(struct skr_cc *cc, const struct skr_cc_ops *ops,
		 const struct skr_cc_params *params, __u64 line_rate)
{
	cc->ops = ops;
	cc->params = params;
	cc->line_rate = line_rate ? line_rate : 1;
	cc->rate = cc->line_rate;
	cc->deadline = SKR_CC_NEVER;
	ops->init(cc);
}

void skr_cc_relimit(struct skr_cc *cc, __u64 line_rate)
{
	cc->line_rate = line_rate ? line_rate : 1;
	if (cc->deadline == SKR_CC_NEVER || cc->rate > cc->line_rate)
		cc->rate = cc->line_rate;
}

static void skr_none_init(struct skr_cc *cc)
{
}

static bool skr_none_sent(struct skr_cc *cc, __u32 bytes, __u64 now)
{
	return false;
}

static bool skr_none_event(struct skr_cc *cc, __u64 now)
{
	return false;
}

static void skr_none_view(const struct skr_cc *cc, __u64 now, struct skr_cc_view *view)
{
	view->rate = cc->rate;
	view->target = cc->rate;
	view->alpha = 0;
	view->stage = "unlimited";
}

/* The line rate, whatever happens */
const struct skr_cc_ops skr_cc_none = {
	.name = "none",
	.init = skr_none_init,
	.sent = skr_none_sent,
	.cnp = skr_none_event,
	.timer = skr_none_event,
	.view = skr_none_view,
};
