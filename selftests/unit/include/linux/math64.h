/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Division and wide products, as the kernel's header of this name */
#ifndef SKR_UNIT_LINUX_MATH64_H
#define SKR_UNIT_LINUX_MATH64_H

#include <linux/types.h>

static inline __u64 div_u64(__u64 dividend, __u32 divisor)
{
	return dividend / divisor;
}

static inline __u64 div64_u64(__u64 dividend, __u64 divisor)
{
	return dividend / divisor;
}

static inline __u64 mul_u64_u32_shr(__u64 a, __u32 mul, unsigned int shift)
{
	return (__u64)((unsigned __int128)a * mul >> shift);
}

#endif /* SKR_UNIT_LINUX_MATH64_H */
