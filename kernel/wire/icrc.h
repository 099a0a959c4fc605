/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Invariant CRC (IBTA 7.8.1, annexes A16 and A17): the Ethernet CRC over eight
 * bytes of ones and the packet from layer 3 to its pad, with what routers may
 * change replaced by ones.
 */
#ifndef SKR_WIRE_ICRC_H
#define SKR_WIRE_ICRC_H

#include <linux/types.h>

#include "pkt.h"

/**
 * skr_icrc_hdr() - start an ICRC over the headers
 * @net: which layer 3 it is
 * @l3: layer 3 header, 20 bytes (IPv4 without options) or 40, with every field
 *	final that routers may not change
 * @udp: UDP header, 8 bytes; NULL with SKR_L3_GRH
 * @bth: BTH and all extended headers
 * @hdr_bytes: bytes at @bth, at most SKR_MAX_HDR_BYTES, at least a BTH's
 *
 * Context: any.
 * Return: running CRC for skr_icrc_add().
 */
__u32 skr_icrc_hdr(enum skr_l3 net, const void *l3, const void *udp, const void *bth,
		   __u32 hdr_bytes);

/**
 * skr_icrc_add() - carry the ICRC over more bytes
 * @crc: running CRC
 * @data: payload or pad
 * @len: bytes at @data
 *
 * Context: any.
 * Return: running CRC.
 */
__u32 skr_icrc_add(__u32 crc, const void *data, __u32 len);

/**
 * skr_icrc_end() - finish an ICRC
 * @crc: running CRC over all bytes up to the pad
 *
 * Return: the four bytes as they stand behind the packet.
 */
__le32 skr_icrc_end(__u32 crc);

#endif /* SKR_WIRE_ICRC_H */
