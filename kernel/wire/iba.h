/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The transport headers of IBTA chapter 9 as they lie on the wire. All fields
 * are big-endian; only the ICRC behind the packet is little-endian.
 */
#ifndef SKR_WIRE_IBA_H
#define SKR_WIRE_IBA_H

#include <linux/types.h>

/**
 * struct skr_bth - base transport header, 12 bytes (IBTA 9.2)
 * @opcode: transport in bits 7:5, operation in bits 4:0
 * @flags: SKR_BTH_SE, SKR_BTH_MIGREQ, pad count, header version
 * @pkey: partition key
 * @qpn: FECN, BECN, six reserved bits, then 24 bits of destination QP
 * @psn: AckReq, seven reserved bits, then 24 bits of packet sequence number
 */
struct skr_bth {
	__u8	opcode;
	__u8	flags;
	__be16	pkey;
	__be32	qpn;
	__be32	psn;
} __packed;

#define SKR_BTH_SE		0x80
#define SKR_BTH_MIGREQ		0x40
#define SKR_BTH_PAD_SHIFT	4
#define SKR_BTH_PAD_MASK	0x30
#define SKR_BTH_TVER_MASK	0x0f
#define SKR_BTH_FECN		0x80000000U
#define SKR_BTH_BECN		0x40000000U
#define SKR_BTH_ACKREQ		0x80000000U
#define SKR_MASK24		0x00ffffffU

/* The byte of the BTH that the ICRC leaves out: FECN, BECN, reserved */
#define SKR_BTH_RESV8A		4

/**
 * struct skr_deth - datagram extended header, 8 bytes
 * @qkey: queue key
 * @src_qpn: 24 bits of source QP
 */
struct skr_deth {
	__be32	qkey;
	__be32	src_qpn;
} __packed;

/**
 * struct skr_reth - RDMA extended header, 16 bytes
 * @va: address in the peer's region
 * @rkey: the region's key
 * @dmalen: bytes of the whole request, at most 2^31
 */
struct skr_reth {
	__be64	va;
	__be32	rkey;
	__be32	dmalen;
} __packed;

/**
 * struct skr_atomiceth - atomic extended header, 28 bytes
 * @va: address in the peer's region, a multiple of 8
 * @rkey: the region's key
 * @swap_add: value to store, or to add
 * @compare: value to compare with
 */
struct skr_atomiceth {
	__be64	va;
	__be32	rkey;
	__be64	swap_add;
	__be64	compare;
} __packed;

/**
 * struct skr_aeth - acknowledge extended header, 4 bytes
 * @syndrome_msn: syndrome in the high byte, 24 bits of message sequence number
 */
struct skr_aeth {
	__be32	syndrome_msn;
} __packed;

/**
 * struct skr_atomicacketh - atomic acknowledge extended header, 8 bytes
 * @orig: value that was in memory before the operation
 */
struct skr_atomicacketh {
	__be64	orig;
} __packed;

/* FETH: what a FLUSH does (annex A19): placement in bits 3:0, selectivity in 5:4 */
#define SKR_FETH_GLOBAL		0x1	/* placement: visible to all */
#define SKR_FETH_PERSISTENT	0x2	/* placement: survives a power failure */
#define SKR_FETH_PLACEMENT	0xf
#define SKR_FETH_SEL_SHIFT	4
#define SKR_FETH_SEL_MASK	0x3
#define SKR_FETH_RANGE		0	/* selectivity: what the RETH says */
#define SKR_FETH_REGION		1	/* selectivity: all of the key's region */

/* What an ATOMIC WRITE carries, no more and no less */
#define SKR_ATOMIC_WRITE_BYTES	8

#define SKR_ICRC_BYTES		4
#define SKR_IMMDT_BYTES		4
#define SKR_IETH_BYTES		4

/* Largest sum of transport headers: BTH, RETH or AtomicETH, ImmDt */
#define SKR_MAX_HDR_BYTES	64

/* RETH.dmalen and message lengths end at 2 GiB (IBTA 9.7.4.1.5) */
#define SKR_MAX_MSG_BYTES	0x80000000U

/* QP numbers with a meaning (IBTA 3.5.3, 10.5) */
#define SKR_QPN_GSI		1
#define SKR_QPN_MULTICAST	0xffffffU

/* A Q_Key that a work request may not name stands for the QP's own (10.2.5) */
#define SKR_QKEY_CONTROLLED	0x80000000U

/* What precedes the payload of a received datagram (11.4.1.2, A17.4.5.2) */
#define SKR_GRH_BYTES		40
#define SKR_GRH_NEXT_HDR	0x1b

#define SKR_PKEY_FULL		0xffff
#define SKR_PKEY_MEMBER		0x8000

#endif /* SKR_WIRE_IBA_H */
