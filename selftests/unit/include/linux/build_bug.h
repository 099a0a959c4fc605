/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Checks at compile time, as the kernel's header of this name */
#ifndef SKR_UNIT_LINUX_BUILD_BUG_H
#define SKR_UNIT_LINUX_BUILD_BUG_H

#ifdef __cplusplus
#define BUILD_BUG_ON(cond)	static_assert(!(cond), #cond)
#else
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
/* 0, or an array of negative size */
#define BUILD_BUG_ON_ZERO(cond)	(0 * (int)sizeof(char[1 - 2 * !!(cond)]))
#endif

#endif /* SKR_UNIT_LINUX_BUILD_BUG_H */
