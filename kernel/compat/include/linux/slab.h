/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SKR_COMPAT_LINUX_SLAB_H
#define SKR_COMPAT_LINUX_SLAB_H

#include_next <linux/slab.h>

/* Early kernels of the 6.12 series lack it. Ours takes a variable only. */
#ifndef kzalloc_obj
#define kzalloc_obj(obj, gfp)	kzalloc(sizeof(obj), gfp)
#endif

#endif /* SKR_COMPAT_LINUX_SLAB_H */
