// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Facts to bytes: the transport headers of an outgoing packet.
 */
#include "pkt.h"

#include <linux/bitops.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "iba.h"
#include "layout.h"
#include "opcode.h"

static void skr_build_bth(const struct skr_pkt *pkt, void *hdr)
{
	struct skr_bth *bth = hdr;

	bth->opcode = pkt->opcode;
	bth->flags = (pkt->bth_flags & (SKR_BTH_SE | SKR_BTH_MIGREQ)) |
		     (pkt->pad << SKR_BTH_PAD_SHIFT & SKR_BTH_PAD_MASK);
	put_unaligned_be16(pkt->pkey, &bth->pkey);
	put_unaligned_be32((pkt->qpn & SKR_MASK24) |
			   (pkt->fecn ? SKR_BTH_FECN : 0) |
			   (pkt->becn ? SKR_BTH_BECN : 0), &bth->qpn);
	put_unaligned_be32((pkt->psn & SKR_MASK24) |
			   (pkt->ackreq ? SKR_BTH_ACKREQ : 0), &bth->psn);
}

static void skr_build_field(const struct skr_pkt *pkt, const struct skr_field *f, __u8 *hdr)
{
	const void *fact = (const __u8 *)pkt + f->fact;
	__u8 *wire = hdr + f->wire;

	switch (f->kind) {
	case SKR_FIELD_U8:
		*wire = *(const __u8 *)fact;
		break;
	case SKR_FIELD_U24:
		put_unaligned_be24(*(const __u32 *)fact, wire);
		break;
	case SKR_FIELD_U32:
		put_unaligned_be32(*(const __u32 *)fact, wire);
		break;
	case SKR_FIELD_U64:
		put_unaligned_be64(*(const __u64 *)fact, wire);
		break;
	case SKR_FIELD_BE32:
		memcpy(wire, fact, sizeof(__be32));
		break;
	}
}

__u32 skr_build(const struct skr_pkt *pkt, void *hdr)
{
	const struct skr_opcode *op = &skr_opcodes[pkt->opcode];
	const struct skr_ext_hdr *ext;
	__u8 *pos = hdr;
	__u32 rest;
	int i;

	if (!op->flags)
		return 0;

	memset(hdr, 0, op->hdr_bytes);
	skr_build_bth(pkt, hdr);
	pos += sizeof(struct skr_bth);

	for (rest = op->flags & SKR_EXT_HDRS; rest; rest &= rest - 1) {
		ext = &skr_ext_hdrs[__ffs(rest)];
		for (i = 0; i < SKR_EXT_HDR_FIELDS && ext->fields[i].kind; i++)
			skr_build_field(pkt, &ext->fields[i], pos);
		pos += ext->bytes;
	}
	return op->hdr_bytes;
}
