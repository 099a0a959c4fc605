// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The opcode table (IBTA 9.2 and annexes A14, A17, A19) and the layout of
 * the extended headers that it names.
 */
#include "opcode.h"

#include <linux/build_bug.h>
#include <linux/stddef.h>

#include "iba.h"
#include "layout.h"
#include "pkt.h"

#define AT_FIRST	SKR_IS_FIRST
#define AT_LAST		SKR_IS_LAST
#define AT_ONLY		(SKR_IS_FIRST | SKR_IS_LAST)
#define KIND_SEND	(SKR_IS_REQUEST | SKR_IS_SEND | SKR_HAS_PAYLOAD)
#define KIND_WRITE	(SKR_IS_REQUEST | SKR_IS_WRITE | SKR_HAS_PAYLOAD)
#define KIND_READ_RESP	(SKR_IS_RESPONSE | SKR_IS_READ | SKR_HAS_PAYLOAD)
#define KIND_ATOMIC	(SKR_IS_REQUEST | SKR_IS_ATOMIC | SKR_HAS_ATOMICETH)

#define OP(opcode, f)							\
	[opcode] = {							\
		.flags = (f),						\
		.hdr_bytes = sizeof(struct skr_bth) + SKR_EXT_HDR_BYTES(f),	\
	}

/* What RC, UC and XRC have alike; @x is SKR_HAS_XRCETH on XRC, else 0 */
#define SEND_AND_WRITE(t, x)						\
	OP((t) | SKR_SEND_FIRST,	(x) | KIND_SEND | AT_FIRST),	\
	OP((t) | SKR_SEND_MIDDLE,	(x) | KIND_SEND),		\
	OP((t) | SKR_SEND_LAST,		(x) | KIND_SEND | AT_LAST),	\
	OP((t) | SKR_SEND_LAST_IMM,	(x) | KIND_SEND | AT_LAST | SKR_HAS_IMM), \
	OP((t) | SKR_SEND_ONLY,		(x) | KIND_SEND | AT_ONLY),	\
	OP((t) | SKR_SEND_ONLY_IMM,	(x) | KIND_SEND | AT_ONLY | SKR_HAS_IMM), \
	OP((t) | SKR_WRITE_FIRST,	(x) | KIND_WRITE | AT_FIRST | SKR_HAS_RETH), \
	OP((t) | SKR_WRITE_MIDDLE,	(x) | KIND_WRITE),		\
	OP((t) | SKR_WRITE_LAST,	(x) | KIND_WRITE | AT_LAST),	\
	OP((t) | SKR_WRITE_LAST_IMM,	(x) | KIND_WRITE | AT_LAST | SKR_HAS_IMM), \
	OP((t) | SKR_WRITE_ONLY,	(x) | KIND_WRITE | AT_ONLY | SKR_HAS_RETH), \
	OP((t) | SKR_WRITE_ONLY_IMM,					\
	   (x) | KIND_WRITE | AT_ONLY | SKR_HAS_RETH | SKR_HAS_IMM)

/*
 * What RC and XRC have alike. Responses carry no XRCETH: they go to the QP
 * that asked, not to an SRQ. FLUSH and ATOMIC WRITE are kinds of their own: code
 * that knows only SEND, WRITE, READ and ATOMIC must not take them for one.
 */
#define RELIABLE(t, x)							\
	OP((t) | SKR_READ_REQUEST,					\
	   (x) | SKR_IS_REQUEST | SKR_IS_READ | AT_ONLY | SKR_HAS_RETH),	\
	OP((t) | SKR_READ_RESP_FIRST,	KIND_READ_RESP | AT_FIRST | SKR_HAS_AETH), \
	OP((t) | SKR_READ_RESP_MIDDLE,	KIND_READ_RESP),		\
	OP((t) | SKR_READ_RESP_LAST,	KIND_READ_RESP | AT_LAST | SKR_HAS_AETH), \
	OP((t) | SKR_READ_RESP_ONLY,	KIND_READ_RESP | AT_ONLY | SKR_HAS_AETH), \
	OP((t) | SKR_ACKNOWLEDGE,	SKR_IS_RESPONSE | AT_ONLY | SKR_HAS_AETH), \
	OP((t) | SKR_ATOMIC_ACK,					\
	   SKR_IS_RESPONSE | SKR_IS_ATOMIC | AT_ONLY | SKR_HAS_AETH |	\
	   SKR_HAS_ATOMICACKETH),					\
	OP((t) | SKR_COMPARE_SWAP,	(x) | KIND_ATOMIC | AT_ONLY),	\
	OP((t) | SKR_FETCH_ADD,		(x) | KIND_ATOMIC | AT_ONLY),	\
	OP((t) | SKR_SEND_LAST_INV,	(x) | KIND_SEND | AT_LAST | SKR_HAS_IETH), \
	OP((t) | SKR_SEND_ONLY_INV,	(x) | KIND_SEND | AT_ONLY | SKR_HAS_IETH), \
	OP((t) | SKR_FLUSH,						\
	   (x) | SKR_IS_REQUEST | SKR_IS_FLUSH | AT_ONLY | SKR_HAS_FETH |	\
	   SKR_HAS_RETH),						\
	OP((t) | SKR_ATOMIC_WRITE,					\
	   (x) | SKR_IS_REQUEST | SKR_IS_ATOMIC_WRITE | AT_ONLY |	\
	   SKR_HAS_RETH | SKR_HAS_PAYLOAD)

const struct skr_opcode skr_opcodes[256] = {
	SEND_AND_WRITE(SKR_TRANS_RC, 0),
	RELIABLE(SKR_TRANS_RC, 0),

	SEND_AND_WRITE(SKR_TRANS_UC, 0),

	OP(SKR_TRANS_UD | SKR_SEND_ONLY,	KIND_SEND | AT_ONLY | SKR_HAS_DETH),
	OP(SKR_TRANS_UD | SKR_SEND_ONLY_IMM,
	   KIND_SEND | AT_ONLY | SKR_HAS_DETH | SKR_HAS_IMM),

	/* Neither asks nor answers; its 16 reserved bytes pass as payload */
	OP(SKR_OPCODE_CNP,			SKR_HAS_PAYLOAD | AT_ONLY),

	SEND_AND_WRITE(SKR_TRANS_XRC, SKR_HAS_XRCETH),
	RELIABLE(SKR_TRANS_XRC, SKR_HAS_XRCETH),
};

/* The width of @member is proven to be what @k makes of it */
#define FIELD(k, offset, member)					\
	{								\
		.kind = SKR_FIELD_##k,					\
		.wire = (offset),					\
		.fact = offsetof(struct skr_pkt, member) +		\
			BUILD_BUG_ON_ZERO(sizeof_field(struct skr_pkt, member) != \
					  FACT_BYTES_##k),		\
	}
#define FACT_BYTES_U8	1
#define FACT_BYTES_U24	4
#define FACT_BYTES_U32	4
#define FACT_BYTES_U64	8
#define FACT_BYTES_BE32	4

#define EXT_HDR(flag, ...)						\
	{								\
		.bytes = SKR_EXT_HDR_BYTES(flag),			\
		.fields = { __VA_ARGS__ },				\
	}

const struct skr_ext_hdr skr_ext_hdrs[SKR_EXT_HDR_COUNT] = {
	EXT_HDR(SKR_HAS_XRCETH,
		FIELD(U24, 1, srqn)),
	EXT_HDR(SKR_HAS_DETH,
		FIELD(U32, offsetof(struct skr_deth, qkey), qkey),
		FIELD(U24, offsetof(struct skr_deth, src_qpn) + 1, src_qpn)),
	EXT_HDR(SKR_HAS_FETH,
		FIELD(U32, 0, feth)),
	EXT_HDR(SKR_HAS_RETH,
		FIELD(U64, offsetof(struct skr_reth, va), va),
		FIELD(U32, offsetof(struct skr_reth, rkey), rkey),
		FIELD(U32, offsetof(struct skr_reth, dmalen), dmalen)),
	EXT_HDR(SKR_HAS_ATOMICETH,
		FIELD(U64, offsetof(struct skr_atomiceth, va), va),
		FIELD(U32, offsetof(struct skr_atomiceth, rkey), rkey),
		FIELD(U64, offsetof(struct skr_atomiceth, swap_add), swap_add),
		FIELD(U64, offsetof(struct skr_atomiceth, compare), compare)),
	EXT_HDR(SKR_HAS_AETH,
		FIELD(U8, offsetof(struct skr_aeth, syndrome_msn), syndrome),
		FIELD(U24, offsetof(struct skr_aeth, syndrome_msn) + 1, msn)),
	EXT_HDR(SKR_HAS_ATOMICACKETH,
		FIELD(U64, offsetof(struct skr_atomicacketh, orig), orig)),
	EXT_HDR(SKR_HAS_IMM,
		FIELD(BE32, 0, imm)),
	EXT_HDR(SKR_HAS_IETH,
		FIELD(U32, 0, ieth)),
};
