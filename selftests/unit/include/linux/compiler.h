/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#pragma once

#include <stdbool.h>

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
