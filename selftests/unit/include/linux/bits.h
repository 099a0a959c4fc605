/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* One bit, as wide as the kernel makes it */
#ifndef SKR_UNIT_LINUX_BITS_H
#define SKR_UNIT_LINUX_BITS_H

#define BIT(nr)	(1UL << (nr))

#endif /* SKR_UNIT_LINUX_BITS_H */
