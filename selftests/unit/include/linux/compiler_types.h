/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Attributes that the kernel's header of this name gives to every file */
#ifndef SKR_UNIT_LINUX_COMPILER_TYPES_H
#define SKR_UNIT_LINUX_COMPILER_TYPES_H

#define __packed	__attribute__((packed))
#define __uninitialized

#endif /* SKR_UNIT_LINUX_COMPILER_TYPES_H */
