/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Big-endian access to bytes that lie anywhere */
#ifndef SKR_UNIT_LINUX_UNALIGNED_H
#define SKR_UNIT_LINUX_UNALIGNED_H

#include <linux/types.h>

static inline __u16 get_unaligned_be16(const void *p)
{
	const __u8 *b = (const __u8 *)p;

	return (__u16)(b[0] << 8 | b[1]);
}

static inline __u32 get_unaligned_be24(const void *p)
{
	const __u8 *b = (const __u8 *)p;

	return (__u32)b[0] << 16 | (__u32)b[1] << 8 | b[2];
}

static inline __u32 get_unaligned_be32(const void *p)
{
	const __u8 *b = (const __u8 *)p;

	return (__u32)get_unaligned_be16(b) << 16 | get_unaligned_be16(b + 2);
}

static inline __u64 get_unaligned_be64(const void *p)
{
	const __u8 *b = (const __u8 *)p;

	return (__u64)get_unaligned_be32(b) << 32 | get_unaligned_be32(b + 4);
}

static inline void put_unaligned_be16(__u16 v, void *p)
{
	__u8 *b = (__u8 *)p;

	b[0] = (__u8)(v >> 8);
	b[1] = (__u8)v;
}

static inline void put_unaligned_be24(__u32 v, void *p)
{
	__u8 *b = (__u8 *)p;

	b[0] = (__u8)(v >> 16);
	b[1] = (__u8)(v >> 8);
	b[2] = (__u8)v;
}

static inline void put_unaligned_be32(__u32 v, void *p)
{
	put_unaligned_be16((__u16)(v >> 16), p);
	put_unaligned_be16((__u16)v, (__u8 *)p + 2);
}

static inline void put_unaligned_be64(__u64 v, void *p)
{
	put_unaligned_be32((__u32)(v >> 32), p);
	put_unaligned_be32((__u32)v, (__u8 *)p + 4);
}

#endif /* SKR_UNIT_LINUX_UNALIGNED_H */
