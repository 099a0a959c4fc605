/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Where each field of the extended headers lies, on the wire and in struct
 * skr_pkt. Private to this folder: skr_parse() and skr_build() walk the same
 * description, so that one is the other's inverse.
 */
#ifndef SKR_WIRE_LAYOUT_H
#define SKR_WIRE_LAYOUT_H

#include <linux/types.h>

#include "iba.h"
#include "opcode.h"

/* SKR_HAS_* flags that stand for an extended header, and their number */
#define SKR_EXT_HDRS		(SKR_HAS_PAYLOAD - 1)
#define SKR_EXT_HDR_COUNT	9

/* Bytes of all extended headers that @flags name; a constant if @flags is */
#define SKR_EXT_HDR_BYTES(flags)					\
	(((flags) & SKR_HAS_XRCETH ? 4 : 0) +				\
	 ((flags) & SKR_HAS_DETH ? sizeof(struct skr_deth) : 0) +	\
	 ((flags) & SKR_HAS_FETH ? 4 : 0) +				\
	 ((flags) & SKR_HAS_RETH ? sizeof(struct skr_reth) : 0) +	\
	 ((flags) & SKR_HAS_ATOMICETH ? sizeof(struct skr_atomiceth) : 0) +	\
	 ((flags) & SKR_HAS_AETH ? sizeof(struct skr_aeth) : 0) +	\
	 ((flags) & SKR_HAS_ATOMICACKETH ? sizeof(struct skr_atomicacketh) : 0) + \
	 ((flags) & SKR_HAS_IMM ? SKR_IMMDT_BYTES : 0) +		\
	 ((flags) & SKR_HAS_IETH ? SKR_IETH_BYTES : 0))

/**
 * enum skr_field_kind - how a field is written
 * @SKR_FIELD_NONE: end of a header's fields
 * @SKR_FIELD_U8: one byte; __u8 in struct skr_pkt
 * @SKR_FIELD_U24: three bytes, big-endian; __u32 in struct skr_pkt
 * @SKR_FIELD_U32: four bytes, big-endian; __u32 in struct skr_pkt
 * @SKR_FIELD_U64: eight bytes, big-endian; __u64 in struct skr_pkt
 * @SKR_FIELD_BE32: four bytes that nobody swaps; __be32 in struct skr_pkt
 */
enum skr_field_kind {
	SKR_FIELD_NONE,
	SKR_FIELD_U8,
	SKR_FIELD_U24,
	SKR_FIELD_U32,
	SKR_FIELD_U64,
	SKR_FIELD_BE32,
};

/**
 * struct skr_field - one field of an extended header
 * @kind: enum skr_field_kind
 * @wire: its offset in the header
 * @fact: its offset in struct skr_pkt
 */
struct skr_field {
	__u8	kind;
	__u8	wire;
	__u8	fact;
};

#define SKR_EXT_HDR_FIELDS	4

/**
 * struct skr_ext_hdr - one extended header
 * @bytes: its length; what no field covers is reserved: sent as 0, not looked
 *	at on receipt
 * @fields: its fields, up to the first SKR_FIELD_NONE
 */
struct skr_ext_hdr {
	__u8			bytes;
	struct skr_field	fields[SKR_EXT_HDR_FIELDS];
};

/** var skr_ext_hdrs - indexed by bit number of the header's SKR_HAS_* flag */
extern const struct skr_ext_hdr skr_ext_hdrs[SKR_EXT_HDR_COUNT];

#endif /* SKR_WIRE_LAYOUT_H */
