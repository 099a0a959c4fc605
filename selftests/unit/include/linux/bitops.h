/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The lowest bit that is set */
#ifndef SKR_UNIT_LINUX_BITOPS_H
#define SKR_UNIT_LINUX_BITOPS_H

#define __ffs(word)	((unsigned long)__builtin_ctzl(word))

#endif /* SKR_UNIT_LINUX_BITOPS_H */
