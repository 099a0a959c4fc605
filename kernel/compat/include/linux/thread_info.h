/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SKR_COMPAT_LINUX_THREAD_INFO_H
#define SKR_COMPAT_LINUX_THREAD_INFO_H

#include_next <linux/thread_info.h>

/* Older kernels know one way to ask for a CPU. */
#ifndef TIF_NEED_RESCHED_LAZY
#define TIF_NEED_RESCHED_LAZY	TIF_NEED_RESCHED
#endif

#endif /* SKR_COMPAT_LINUX_THREAD_INFO_H */
