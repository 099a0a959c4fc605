/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What else the pure sources take from the kernel */
#ifndef SKR_UNIT_LINUX_KERNEL_H
#define SKR_UNIT_LINUX_KERNEL_H

#include_next <linux/kernel.h>

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif /* SKR_UNIT_LINUX_KERNEL_H */
