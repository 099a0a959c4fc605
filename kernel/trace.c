// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#define CREATE_TRACE_POINTS
#include "trace.h"
