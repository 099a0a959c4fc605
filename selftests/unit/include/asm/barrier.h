/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#pragma once

#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
