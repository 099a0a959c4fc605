/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * RoCE packets as bytes: building, taking apart, and the invariant CRC,
 * written from the standard's tables alone, so that it can bear witness.
 * Unless a packet is said to be RoCEv1, it is RoCEv2.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace st
{

constexpr uint16_t ROCE_PORT = 4791;
constexpr uint16_t ROCE_V1_TYPE = 0x8915;
constexpr size_t ETH_BYTES = 14, UDP_BYTES = 8, BTH_BYTES = 12, ICRC_BYTES = 4;

using Bytes = std::vector<uint8_t>;
using Mac = std::array<uint8_t, 6>;

/* opcodes of the RC service */
enum RcOpcode : uint8_t {
	RC_SEND_FIRST = 0x00,
	RC_SEND_MIDDLE = 0x01,
	RC_SEND_LAST = 0x02,
	RC_SEND_LAST_IMM = 0x03,
	RC_SEND_ONLY = 0x04,
	RC_SEND_ONLY_IMM = 0x05,
	RC_WRITE_FIRST = 0x06,
	RC_WRITE_MIDDLE = 0x07,
	RC_WRITE_LAST = 0x08,
	RC_WRITE_LAST_IMM = 0x09,
	RC_WRITE_ONLY = 0x0a,
	RC_WRITE_ONLY_IMM = 0x0b,
	RC_READ_REQUEST = 0x0c,
	RC_READ_FIRST = 0x0d,
	RC_READ_MIDDLE = 0x0e,
	RC_READ_LAST = 0x0f,
	RC_READ_ONLY = 0x10,
	RC_ACK = 0x11,
	RC_ATOMIC_ACK = 0x12,
	RC_CMP_SWAP = 0x13,
	RC_FETCH_ADD = 0x14,
	RC_SEND_LAST_INV = 0x16,
	RC_SEND_ONLY_INV = 0x17,
};

const char *opcode_name(uint8_t opcode);
/* bytes of extended headers that follow the BTH of this RC opcode; none if it
 * is not one */
std::optional<size_t> extended_bytes(uint8_t opcode);

struct Bth {
	uint8_t opcode = 0;
	bool solicited = false, migrated = true;
	uint8_t pad = 0, version = 0;
	uint16_t pkey = 0xffff;
	uint8_t congestion = 0; /* FECN, BECN and six reserved bits */
	uint32_t qpn = 0;
	bool ack_request = false;
	uint8_t reserved = 0; /* seven bits */
	uint32_t psn = 0;

	void put(Bytes &to) const;
	static Bth get(const uint8_t *from);
};

/* big-endian fields at the end of / inside a run of bytes */
void put16(Bytes &to, uint16_t v);
void put32(Bytes &to, uint32_t v);
void put64(Bytes &to, uint64_t v);
uint16_t get16(const uint8_t *p);
uint32_t get24(const uint8_t *p);
uint32_t get32(const uint8_t *p);
uint64_t get64(const uint8_t *p);

/* extended headers */
Bytes reth(uint64_t va, uint32_t rkey, uint32_t length);
Bytes aeth(uint8_t syndrome, uint32_t msn);
Bytes atomic_eth(uint64_t va, uint32_t rkey, uint64_t swap_add, uint64_t compare);

/* where a frame goes */
struct Path {
	Mac source_mac = {}, dest_mac = {};
	bool v1 = false; /* RoCEv1: GRH, with IPv6 addresses */
	bool v6 = false;
	std::array<uint8_t, 16> source = {}, dest = {}; /* IPv4: the first four */
	uint16_t source_port = 0xc000, dest_port = ROCE_PORT;
	uint8_t tos = 0, ttl = 64;
	uint16_t id = 0;

	/* from text; IPv4 or IPv6 */
	void addresses(const char *from, const char *to);
	/* the same addresses as RoCEv1 GIDs */
	Path as_v1() const;
	static Mac mac(const char *text);
	/* that of a RoCE frame */
	static Path of(const Bytes &frame);
	/* the way back */
	Path reversed() const;
};

/* a whole Ethernet frame around a packet from the BTH to the ICRC, as it is */
Bytes frame(const Path &path, const Bytes &packet);
/* the same with BTH, body and the right ICRC */
Bytes frame(const Path &path, const Bth &bth, const Bytes &body);

/* ICRC over a packet that starts at its IP header or GRH and whose last four
 * bytes are the ICRC; length is that of the IP packet */
uint32_t icrc(const uint8_t *ip, size_t length);

/* make right again what depends on the rest of a frame: the IPv4 header's checksum,
 * whatever its options, and the ICRC at the frame's end */
void fix_ip_checksum(Bytes &frame);
void fix_icrc(Bytes &frame);

/* where the parts of a RoCE frame are */
struct View {
	const uint8_t *ip;   /* IP header or GRH */
	size_t ip_bytes;     /* whole packet from there, by its own length field */
	size_t header_bytes; /* of IP alone, or the GRH */
	bool v1, v6;	     /* a GRH counts as IPv6 as well */
	Bth bth;
	const uint8_t *body; /* behind the BTH */
	size_t body_bytes;   /* up to the ICRC */

	const uint8_t *udp() const { return ip + header_bytes; } /* RoCEv2 */
	uint32_t wire_icrc() const;				 /* as in the packet */
	bool icrc_good() const;
};

/* nothing if the frame is not whole RoCE */
std::optional<View> view(const uint8_t *frame, size_t length);

} // namespace st
