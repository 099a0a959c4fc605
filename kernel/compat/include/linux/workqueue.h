/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SKR_COMPAT_LINUX_WORKQUEUE_H
#define SKR_COMPAT_LINUX_WORKQUEUE_H

#include_next <linux/workqueue.h>

/* What runs on the CPU that it was queued on: newer kernels want it said, also of softirq. */
#ifdef SKR_HAVE_BH_PERCPU
#define SKR_WQ_BH	(WQ_BH | WQ_PERCPU)
#define SKR_WQ_PERCPU	WQ_PERCPU
#else
#define SKR_WQ_BH	WQ_BH
#define SKR_WQ_PERCPU	0
#endif

/* Newer kernels have another name for what is bound to no CPU. */
#ifndef SKR_HAVE_DFL_WQ
#define system_dfl_wq	system_unbound_wq
#endif

#endif /* SKR_COMPAT_LINUX_WORKQUEUE_H */
