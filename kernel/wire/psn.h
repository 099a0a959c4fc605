/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Packet sequence numbers: 24 bits, compared in half spaces (IBTA 9.7.1).
 */
#ifndef SKR_WIRE_PSN_H
#define SKR_WIRE_PSN_H

#include <linux/types.h>

#include "iba.h"

/**
 * skr_psn_add() - advance a PSN
 * @psn: PSN
 * @n: packets to go on; may be negative
 *
 * Return: @psn + @n modulo 2^24.
 */
static inline __u32 skr_psn_add(__u32 psn, __s32 n)
{
	return (psn + (__u32)n) & SKR_MASK24;
}

/**
 * skr_psn_diff() - signed distance between two PSNs
 * @a: PSN
 * @b: PSN
 *
 * Return: a - b as a number in [-2^23, 2^23 - 1].
 */
static inline __s32 skr_psn_diff(__u32 a, __u32 b)
{
	return (__s32)((a - b) << 8) >> 8;
}

#endif /* SKR_WIRE_PSN_H */
