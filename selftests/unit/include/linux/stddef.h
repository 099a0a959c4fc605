/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* offsetof() and sizeof_field(), as the kernel's header of this name */
#ifndef SKR_UNIT_LINUX_STDDEF_H
#define SKR_UNIT_LINUX_STDDEF_H

#include <stddef.h>
#include_next <linux/stddef.h>

#define sizeof_field(type, member)	sizeof(((type *)0)->member)

#endif /* SKR_UNIT_LINUX_STDDEF_H */
