/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The kernel's Ethernet CRC, bit by bit: slow, and plainly right */
#ifndef SKR_UNIT_LINUX_CRC32_H
#define SKR_UNIT_LINUX_CRC32_H

#include <linux/types.h>
#include <stddef.h>

static inline __u32 crc32_le(__u32 crc, const void *p, size_t len)
{
	const __u8 *b = (const __u8 *)p;
	int i;

	for (; len; len--) {
		crc ^= *b++;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
	}
	return crc;
}

#endif /* SKR_UNIT_LINUX_CRC32_H */
