/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A packet's facts, from the door on: parsed once from the wire, or to be put
 * on the wire. Pure format: no sockets, no queue pairs, no skbs.
 */
#ifndef SKR_WIRE_PKT_H
#define SKR_WIRE_PKT_H

#include <linux/types.h>

#include "iba.h"
#include "opcode.h"

/* Layer 3 under the BTH; values of skerry_cqe.net */
enum skr_l3 {
	SKR_L3_GRH	= 0,	/* RoCEv1: GRH, then BTH */
	SKR_L3_IPV4	= 1,	/* RoCEv2: IPv4, UDP, BTH */
	SKR_L3_IPV6	= 2,	/* RoCEv2: IPv6, UDP, BTH */
};

/**
 * enum skr_drop - why a packet was dropped; each has a counter of its own
 * @SKR_DROP_NONE: it was not
 * @SKR_DROP_SHORT: shorter than its headers, its pad and its ICRC
 * @SKR_DROP_TVER: BTH header version is not 0
 * @SKR_DROP_OPCODE: opcode that does not exist
 * @SKR_DROP_L3: IP options, fragment, or lengths that contradict each other
 * @SKR_DROP_ICRC: wrong ICRC
 * @SKR_DROP_QPN: no such QP
 * @SKR_DROP_TYPE: opcode of another transport than the QP's
 * @SKR_DROP_STATE: QP not ready to receive
 * @SKR_DROP_PKEY: P_Key does not match
 * @SKR_DROP_QKEY: Q_Key does not match
 * @SKR_DROP_ADDR: not from the QP's peer, or not to the QP's address
 * @SKR_DROP_BUSY: receive backlog of the QP is full
 * @SKR_DROP_NOMEM: no memory
 * @SKR_DROP_COUNT: number of reasons
 */
enum skr_drop {
	SKR_DROP_NONE,
	SKR_DROP_SHORT,
	SKR_DROP_TVER,
	SKR_DROP_OPCODE,
	SKR_DROP_L3,
	SKR_DROP_ICRC,
	SKR_DROP_QPN,
	SKR_DROP_TYPE,
	SKR_DROP_STATE,
	SKR_DROP_PKEY,
	SKR_DROP_QKEY,
	SKR_DROP_ADDR,
	SKR_DROP_BUSY,
	SKR_DROP_NOMEM,
	SKR_DROP_COUNT,
};

/**
 * struct skr_pkt - a packet's facts
 * @flags: SKR_HAS_*, SKR_IS_* of its opcode
 * @opcode: BTH opcode
 * @bth_flags: SKR_BTH_SE, SKR_BTH_MIGREQ; never pad count or version
 * @pad: bytes of pad, 0 to 3
 * @fecn: BTH FECN
 * @becn: BTH BECN
 * @ackreq: BTH AckReq
 * @pkey: P_Key
 * @qpn: destination QP
 * @psn: packet sequence number
 * @hdr_bytes: BTH and extended headers
 * @payload_bytes: payload without pad
 * @syndrome: AETH
 * @msn: AETH
 * @rkey: RETH or AtomicETH; XRCETH's SRQ number is @srqn
 * @va: RETH or AtomicETH
 * @dmalen: RETH
 * @swap_add: AtomicETH
 * @compare: AtomicETH
 * @orig: AtomicAckETH
 * @imm: ImmDt as on the wire
 * @ieth: key to invalidate
 * @feth: FETH
 * @qkey: DETH
 * @src_qpn: DETH
 * @srqn: XRCETH
 */
struct skr_pkt {
	__u32	flags;
	__u8	opcode;
	__u8	bth_flags;
	__u8	pad;
	__u8	fecn : 1;
	__u8	becn : 1;
	__u8	ackreq : 1;
	__u16	pkey;
	__u8	hdr_bytes;
	__u8	syndrome;
	__u32	qpn;
	__u32	psn;
	__u32	msn;
	__u32	payload_bytes;
	__u32	rkey;
	__u64	va;
	__u32	dmalen;
	__be32	imm;
	__u64	swap_add;
	__u64	compare;
	__u64	orig;
	__u32	ieth;
	__u32	feth;
	__u32	qkey;
	__u32	src_qpn;
	__u32	srqn;
};

/**
 * skr_parse() - read a packet's transport headers
 * @pkt: where the facts go; wholly overwritten
 * @hdr: first bytes of the packet from the BTH on
 * @avail: bytes readable at @hdr; SKR_MAX_HDR_BYTES always suffice
 * @len: bytes of the packet from the BTH to the end of the ICRC, as the
 *	headers below say (never the length of a frame with Ethernet padding)
 *
 * Proves every length before it is used. A header version other than 0, an
 * opcode that does not exist and a packet too short for its headers, pad and
 * ICRC are refused. A packet whose opcode has no payload must have neither
 * payload nor pad; its lengths contradict each other otherwise.
 *
 * Context: any.
 * Return: SKR_DROP_NONE, or the reason.
 */
enum skr_drop skr_parse(struct skr_pkt *pkt, const void *hdr, __u32 avail, __u32 len);

/**
 * skr_build() - write a packet's transport headers
 * @pkt: opcode and the facts that its headers need; flags and hdr_bytes are
 *	not looked at
 * @hdr: room for skr_opcodes[@pkt->opcode].hdr_bytes bytes
 *
 * Context: any.
 * Return: bytes written: the opcode's hdr_bytes.
 */
__u32 skr_build(const struct skr_pkt *pkt, void *hdr);

/**
 * skr_pad() - pad bytes behind a payload
 * @payload_bytes: its length
 *
 * Return: 0 to 3.
 */
static inline __u8 skr_pad(__u32 payload_bytes)
{
	return -payload_bytes & 3;
}

#endif /* SKR_WIRE_PKT_H */
