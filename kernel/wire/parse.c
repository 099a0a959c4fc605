// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Bytes to facts: the transport headers of an incoming packet.
 */
#include "pkt.h"

#include <linux/bitops.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "iba.h"
#include "layout.h"
#include "opcode.h"

static void skr_parse_bth(struct skr_pkt *pkt, const void *hdr)
{
	const struct skr_bth *bth = hdr;
	__u32 qpn = get_unaligned_be32(&bth->qpn);
	__u32 psn = get_unaligned_be32(&bth->psn);

	pkt->opcode = bth->opcode;
	pkt->bth_flags = bth->flags & (SKR_BTH_SE | SKR_BTH_MIGREQ);
	pkt->pad = (bth->flags & SKR_BTH_PAD_MASK) >> SKR_BTH_PAD_SHIFT;
	pkt->pkey = get_unaligned_be16(&bth->pkey);
	pkt->fecn = !!(qpn & SKR_BTH_FECN);
	pkt->becn = !!(qpn & SKR_BTH_BECN);
	pkt->qpn = qpn & SKR_MASK24;
	pkt->ackreq = !!(psn & SKR_BTH_ACKREQ);
	pkt->psn = psn & SKR_MASK24;
}

static void skr_parse_field(struct skr_pkt *pkt, const struct skr_field *f, const __u8 *hdr)
{
	const __u8 *wire = hdr + f->wire;
	void *fact = (__u8 *)pkt + f->fact;

	switch (f->kind) {
	case SKR_FIELD_U8:
		*(__u8 *)fact = *wire;
		break;
	case SKR_FIELD_U24:
		*(__u32 *)fact = get_unaligned_be24(wire);
		break;
	case SKR_FIELD_U32:
		*(__u32 *)fact = get_unaligned_be32(wire);
		break;
	case SKR_FIELD_U64:
		*(__u64 *)fact = get_unaligned_be64(wire);
		break;
	case SKR_FIELD_BE32:
		memcpy(fact, wire, sizeof(__be32));
		break;
	}
}

/* All of the opcode's hdr_bytes are known to be readable here */
static void skr_parse_ext(struct skr_pkt *pkt, const __u8 *pos)
{
	const struct skr_ext_hdr *ext;
	__u32 rest;
	int i;

	for (rest = pkt->flags & SKR_EXT_HDRS; rest; rest &= rest - 1) {
		ext = &skr_ext_hdrs[__ffs(rest)];
		for (i = 0; i < SKR_EXT_HDR_FIELDS && ext->fields[i].kind; i++)
			skr_parse_field(pkt, &ext->fields[i], pos);
		pos += ext->bytes;
	}
}

enum skr_drop skr_parse(struct skr_pkt *pkt, const void *hdr, __u32 avail, __u32 len)
{
	const struct skr_bth *bth = hdr;
	const struct skr_opcode *op;

	memset(pkt, 0, sizeof(*pkt));

	if (avail < sizeof(*bth) || len < sizeof(*bth) + SKR_ICRC_BYTES)
		return SKR_DROP_SHORT;
	if (bth->flags & SKR_BTH_TVER_MASK)
		return SKR_DROP_TVER;
	op = &skr_opcodes[bth->opcode];
	if (!op->flags)
		return SKR_DROP_OPCODE;

	skr_parse_bth(pkt, bth);
	if (avail < op->hdr_bytes ||
	    len < (__u32)op->hdr_bytes + pkt->pad + SKR_ICRC_BYTES)
		return SKR_DROP_SHORT;

	pkt->flags = op->flags;
	pkt->hdr_bytes = op->hdr_bytes;
	pkt->payload_bytes = len - op->hdr_bytes - pkt->pad - SKR_ICRC_BYTES;
	if (!(op->flags & SKR_HAS_PAYLOAD) && (pkt->payload_bytes || pkt->pad))
		return SKR_DROP_L3;

	skr_parse_ext(pkt, (const __u8 *)hdr + sizeof(*bth));
	return SKR_DROP_NONE;
}
