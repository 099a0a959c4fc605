/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What each BTH opcode means: which headers follow, where the packet stands
 * in its message, and what it does to the receiver.
 */
#ifndef SKR_WIRE_OPCODE_H
#define SKR_WIRE_OPCODE_H

#include <linux/bits.h>
#include <linux/types.h>

/* Transports: bits 7:5 of the opcode */
#define SKR_TRANS_RC		0x00
#define SKR_TRANS_UC		0x20
#define SKR_TRANS_UD		0x60
#define SKR_TRANS_CNP		0x80
#define SKR_TRANS_XRC		0xa0
#define SKR_TRANS_MASK		0xe0

/* Operations: bits 4:0, common to all transports that have them */
enum skr_wire_op {
	SKR_SEND_FIRST		= 0x00,
	SKR_SEND_MIDDLE		= 0x01,
	SKR_SEND_LAST		= 0x02,
	SKR_SEND_LAST_IMM	= 0x03,
	SKR_SEND_ONLY		= 0x04,
	SKR_SEND_ONLY_IMM	= 0x05,
	SKR_WRITE_FIRST		= 0x06,
	SKR_WRITE_MIDDLE	= 0x07,
	SKR_WRITE_LAST		= 0x08,
	SKR_WRITE_LAST_IMM	= 0x09,
	SKR_WRITE_ONLY		= 0x0a,
	SKR_WRITE_ONLY_IMM	= 0x0b,
	SKR_READ_REQUEST	= 0x0c,
	SKR_READ_RESP_FIRST	= 0x0d,
	SKR_READ_RESP_MIDDLE	= 0x0e,
	SKR_READ_RESP_LAST	= 0x0f,
	SKR_READ_RESP_ONLY	= 0x10,
	SKR_ACKNOWLEDGE		= 0x11,
	SKR_ATOMIC_ACK		= 0x12,
	SKR_COMPARE_SWAP	= 0x13,
	SKR_FETCH_ADD		= 0x14,
	SKR_SEND_LAST_INV	= 0x16,
	SKR_SEND_ONLY_INV	= 0x17,
	SKR_FLUSH		= 0x1c,
	SKR_ATOMIC_WRITE	= 0x1d,
};

#define SKR_OP_MASK		0x1f
#define SKR_OPCODE_CNP		0x81

/* struct skr_opcode.flags: headers in the order in which they follow the BTH */
#define SKR_HAS_XRCETH		BIT(0)
#define SKR_HAS_DETH		BIT(1)
#define SKR_HAS_FETH		BIT(2)
#define SKR_HAS_RETH		BIT(3)
#define SKR_HAS_ATOMICETH	BIT(4)
#define SKR_HAS_AETH		BIT(5)
#define SKR_HAS_ATOMICACKETH	BIT(6)
#define SKR_HAS_IMM		BIT(7)
#define SKR_HAS_IETH		BIT(8)
#define SKR_HAS_PAYLOAD		BIT(9)
/* ... what kind of packet it is */
#define SKR_IS_REQUEST		BIT(12)
#define SKR_IS_RESPONSE		BIT(13)
#define SKR_IS_SEND		BIT(14)
#define SKR_IS_WRITE		BIT(15)
#define SKR_IS_READ		BIT(16)
#define SKR_IS_ATOMIC		BIT(17)
#define SKR_IS_FLUSH		BIT(18)
#define SKR_IS_ATOMIC_WRITE	BIT(19)
/* ... and its place in the message; an ONLY packet is both first and last */
#define SKR_IS_FIRST		BIT(20)
#define SKR_IS_LAST		BIT(21)

/**
 * struct skr_opcode - properties of one opcode
 * @flags: SKR_HAS_*, SKR_IS_*; 0: the opcode does not exist for us
 * @hdr_bytes: BTH and all headers up to the payload, in bytes
 */
struct skr_opcode {
	__u32	flags;
	__u8	hdr_bytes;
};

/** skr_opcodes - indexed by BTH opcode */
extern const struct skr_opcode skr_opcodes[256];

#endif /* SKR_WIRE_OPCODE_H */
