// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the timer codes of the AETH and of the QP attributes stand for.
 */
#include "aeth.h"

/* IBTA 9.7.5.2.8, in units of 10 microseconds; code 0 is the longest wait */
static const __u32 skr_rnr_10us[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12,
	16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072,
	4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

__u64 skr_rnr_ns(__u8 code)
{
	return skr_rnr_10us[code & SKR_AETH_VALUE_MASK] * 10000ULL;
}

__u64 skr_ack_timeout_ns(__u8 code)
{
	code &= 0x1f;
	return code ? 4096ULL << code : 0;
}
