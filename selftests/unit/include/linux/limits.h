/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The greatest values of integers, beside what user space has */
#ifndef SKR_UNIT_LINUX_LIMITS_H
#define SKR_UNIT_LINUX_LIMITS_H

#include <linux/types.h>
#include_next <linux/limits.h>

#define U16_MAX	((__u16)~0U)
#define U32_MAX	((__u32)~0U)

#endif /* SKR_UNIT_LINUX_LIMITS_H */
