/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#pragma once

#define xchg(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
