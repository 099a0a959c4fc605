// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Invariant CRC.
 */
#include "icrc.h"

#include <linux/crc32.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "iba.h"

/*
 * The CRC register after eight bytes of ones, from all ones on. They stand for
 * the InfiniBand local route header, which no RoCE packet has.
 */
#define SKR_ICRC_SEED	0xdebb20e3U

#define SKR_GRH_BYTES	40	/* and IPv6's, which has the same layout */
#define SKR_IPV4_BYTES	20
#define SKR_UDP_BYTES	8

/* Ones over what routers may change in a copy of the layer 3 header */
static __u32 skr_icrc_l3(__u8 *copy, enum skr_l3 net, const void *l3)
{
	if (net == SKR_L3_IPV4) {
		memcpy(copy, l3, SKR_IPV4_BYTES);
		copy[1] = 0xff;			/* DSCP, ECN */
		copy[8] = 0xff;			/* time to live */
		copy[10] = 0xff;		/* header checksum */
		copy[11] = 0xff;
		return SKR_IPV4_BYTES;
	}

	memcpy(copy, l3, SKR_GRH_BYTES);
	copy[0] |= 0x0f;			/* traffic class */
	copy[1] = 0xff;				/* traffic class, flow label */
	copy[2] = 0xff;				/* flow label */
	copy[3] = 0xff;
	copy[7] = 0xff;				/* hop limit */
	return SKR_GRH_BYTES;
}

__u32 skr_icrc_hdr(enum skr_l3 net, const void *l3, const void *udp, const void *bth,
		   __u32 hdr_bytes)
{
	__u8 copy[SKR_GRH_BYTES + SKR_UDP_BYTES + SKR_MAX_HDR_BYTES] __uninitialized;
	__u32 n = skr_icrc_l3(copy, net, l3);

	if (net != SKR_L3_GRH) {
		memcpy(copy + n, udp, SKR_UDP_BYTES);
		copy[n + 6] = 0xff;		/* checksum */
		copy[n + 7] = 0xff;
		n += SKR_UDP_BYTES;
	}

	/* most packets have nothing else, and what has a constant size is copied at once */
	memcpy(copy + n, bth, sizeof(struct skr_bth));
	if (hdr_bytes > sizeof(struct skr_bth))
		memcpy(copy + n + sizeof(struct skr_bth), bth + sizeof(struct skr_bth),
		       hdr_bytes - sizeof(struct skr_bth));
	copy[n + SKR_BTH_RESV8A] = 0xff;
	return crc32_le(SKR_ICRC_SEED, copy, n + hdr_bytes);
}

__u32 skr_icrc_add(__u32 crc, const void *data, __u32 len)
{
	return crc32_le(crc, data, len);
}

__le32 skr_icrc_end(__u32 crc)
{
	return cpu_to_le32(~crc);
}
