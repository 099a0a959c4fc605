/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SKR_COMPAT_LINUX_HRTIMER_H
#define SKR_COMPAT_LINUX_HRTIMER_H

#include_next <linux/hrtimer.h>

#ifndef SKR_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* SKR_COMPAT_LINUX_HRTIMER_H */
