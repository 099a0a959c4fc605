/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The C library's, under the kernel's name */
#ifndef SKR_UNIT_LINUX_STRING_H
#define SKR_UNIT_LINUX_STRING_H

#include <string.h>

#endif /* SKR_UNIT_LINUX_STRING_H */
