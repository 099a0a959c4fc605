/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The wire format once more, typed from the standard and written without the
 * driver's tables: what the driver's opcode table, skr_build() and skr_parse()
 * are measured against.
 */
#ifndef SKR_UNIT_WIRE_STANDARD_H
#define SKR_UNIT_WIRE_STANDARD_H

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
#include "wire/iba.h"
#include "wire/opcode.h"
#include "wire/pkt.h"
}

namespace standard {

using Bytes = std::vector<std::uint8_t>;

enum class Role { request, response, notice };
enum class Kind { send, write, read, atomic, flush, atomic_write, other };
enum class Place { first, middle, last, only };

struct Opcode {
	std::uint8_t code;
	const char *name;
	const char *headers;	/* behind the BTH, in order, each with a blank behind it */
	bool payload;
	Role role;
	Kind kind;
	Place place;
};

inline constexpr Role Q = Role::request, A = Role::response;
inline constexpr Kind S = Kind::send, W = Kind::write, R = Kind::read, T = Kind::atomic,
		      X = Kind::flush, Y = Kind::atomic_write, N = Kind::other;
inline constexpr Place F = Place::first, M = Place::middle, L = Place::last, O = Place::only;

inline constexpr Opcode opcodes[] = {
	{ 0x00, "RC SEND First", "", true, Q, S, F },
	{ 0x01, "RC SEND Middle", "", true, Q, S, M },
	{ 0x02, "RC SEND Last", "", true, Q, S, L },
	{ 0x03, "RC SEND Last with Immediate", "ImmDt ", true, Q, S, L },
	{ 0x04, "RC SEND Only", "", true, Q, S, O },
	{ 0x05, "RC SEND Only with Immediate", "ImmDt ", true, Q, S, O },
	{ 0x06, "RC RDMA WRITE First", "RETH ", true, Q, W, F },
	{ 0x07, "RC RDMA WRITE Middle", "", true, Q, W, M },
	{ 0x08, "RC RDMA WRITE Last", "", true, Q, W, L },
	{ 0x09, "RC RDMA WRITE Last with Immediate", "ImmDt ", true, Q, W, L },
	{ 0x0a, "RC RDMA WRITE Only", "RETH ", true, Q, W, O },
	{ 0x0b, "RC RDMA WRITE Only with Immediate", "RETH ImmDt ", true, Q, W, O },
	{ 0x0c, "RC RDMA READ Request", "RETH ", false, Q, R, O },
	{ 0x0d, "RC RDMA READ response First", "AETH ", true, A, R, F },
	{ 0x0e, "RC RDMA READ response Middle", "", true, A, R, M },
	{ 0x0f, "RC RDMA READ response Last", "AETH ", true, A, R, L },
	{ 0x10, "RC RDMA READ response Only", "AETH ", true, A, R, O },
	{ 0x11, "RC Acknowledge", "AETH ", false, A, N, O },
	{ 0x12, "RC ATOMIC Acknowledge", "AETH AtomicAckETH ", false, A, T, O },
	{ 0x13, "RC CmpSwap", "AtomicETH ", false, Q, T, O },
	{ 0x14, "RC FetchAdd", "AtomicETH ", false, Q, T, O },
	{ 0x16, "RC SEND Last with Invalidate", "IETH ", true, Q, S, L },
	{ 0x17, "RC SEND Only with Invalidate", "IETH ", true, Q, S, O },
	{ 0x1c, "RC FLUSH", "FETH RETH ", false, Q, X, O },
	{ 0x1d, "RC ATOMIC WRITE", "RETH ", true, Q, Y, O },

	{ 0x20, "UC SEND First", "", true, Q, S, F },
	{ 0x21, "UC SEND Middle", "", true, Q, S, M },
	{ 0x22, "UC SEND Last", "", true, Q, S, L },
	{ 0x23, "UC SEND Last with Immediate", "ImmDt ", true, Q, S, L },
	{ 0x24, "UC SEND Only", "", true, Q, S, O },
	{ 0x25, "UC SEND Only with Immediate", "ImmDt ", true, Q, S, O },
	{ 0x26, "UC RDMA WRITE First", "RETH ", true, Q, W, F },
	{ 0x27, "UC RDMA WRITE Middle", "", true, Q, W, M },
	{ 0x28, "UC RDMA WRITE Last", "", true, Q, W, L },
	{ 0x29, "UC RDMA WRITE Last with Immediate", "ImmDt ", true, Q, W, L },
	{ 0x2a, "UC RDMA WRITE Only", "RETH ", true, Q, W, O },
	{ 0x2b, "UC RDMA WRITE Only with Immediate", "RETH ImmDt ", true, Q, W, O },

	{ 0x64, "UD SEND Only", "DETH ", true, Q, S, O },
	{ 0x65, "UD SEND Only with Immediate", "DETH ImmDt ", true, Q, S, O },

	{ 0x81, "CNP", "", true, Role::notice, N, O },

	{ 0xa0, "XRC SEND First", "XRCETH ", true, Q, S, F },
	{ 0xa1, "XRC SEND Middle", "XRCETH ", true, Q, S, M },
	{ 0xa2, "XRC SEND Last", "XRCETH ", true, Q, S, L },
	{ 0xa3, "XRC SEND Last with Immediate", "XRCETH ImmDt ", true, Q, S, L },
	{ 0xa4, "XRC SEND Only", "XRCETH ", true, Q, S, O },
	{ 0xa5, "XRC SEND Only with Immediate", "XRCETH ImmDt ", true, Q, S, O },
	{ 0xa6, "XRC RDMA WRITE First", "XRCETH RETH ", true, Q, W, F },
	{ 0xa7, "XRC RDMA WRITE Middle", "XRCETH ", true, Q, W, M },
	{ 0xa8, "XRC RDMA WRITE Last", "XRCETH ", true, Q, W, L },
	{ 0xa9, "XRC RDMA WRITE Last with Immediate", "XRCETH ImmDt ", true, Q, W, L },
	{ 0xaa, "XRC RDMA WRITE Only", "XRCETH RETH ", true, Q, W, O },
	{ 0xab, "XRC RDMA WRITE Only with Immediate", "XRCETH RETH ImmDt ", true, Q, W, O },
	{ 0xac, "XRC RDMA READ Request", "XRCETH RETH ", false, Q, R, O },
	{ 0xad, "XRC RDMA READ response First", "AETH ", true, A, R, F },
	{ 0xae, "XRC RDMA READ response Middle", "", true, A, R, M },
	{ 0xaf, "XRC RDMA READ response Last", "AETH ", true, A, R, L },
	{ 0xb0, "XRC RDMA READ response Only", "AETH ", true, A, R, O },
	{ 0xb1, "XRC Acknowledge", "AETH ", false, A, N, O },
	{ 0xb2, "XRC ATOMIC Acknowledge", "AETH AtomicAckETH ", false, A, T, O },
	{ 0xb3, "XRC CmpSwap", "XRCETH AtomicETH ", false, Q, T, O },
	{ 0xb4, "XRC FetchAdd", "XRCETH AtomicETH ", false, Q, T, O },
	{ 0xb6, "XRC SEND Last with Invalidate", "XRCETH IETH ", true, Q, S, L },
	{ 0xb7, "XRC SEND Only with Invalidate", "XRCETH IETH ", true, Q, S, O },
	{ 0xbc, "XRC FLUSH", "XRCETH FETH RETH ", false, Q, X, O },
	{ 0xbd, "XRC ATOMIC WRITE", "XRCETH RETH ", true, Q, Y, O },
};

inline const Opcode *find(unsigned code)
{
	for (const Opcode &op : opcodes)
		if (op.code == code)
			return &op;
	return nullptr;
}

inline std::vector<std::string> headers(const Opcode &op)
{
	std::istringstream in(op.headers);
	std::vector<std::string> out;

	for (std::string name; in >> name;)
		out.push_back(name);
	return out;
}

struct Header {
	const char *name;
	std::uint32_t flag;
	unsigned bytes;
};

inline constexpr Header header_list[] = {
	{ "XRCETH", SKR_HAS_XRCETH, 4 },
	{ "DETH", SKR_HAS_DETH, 8 },
	{ "FETH", SKR_HAS_FETH, 4 },
	{ "RETH", SKR_HAS_RETH, 16 },
	{ "AtomicETH", SKR_HAS_ATOMICETH, 28 },
	{ "AETH", SKR_HAS_AETH, 4 },
	{ "AtomicAckETH", SKR_HAS_ATOMICACKETH, 8 },
	{ "ImmDt", SKR_HAS_IMM, 4 },
	{ "IETH", SKR_HAS_IETH, 4 },
};

inline const Header &header(std::string_view name)
{
	for (const Header &h : header_list)
		if (name == h.name)
			return h;
	throw std::invalid_argument(std::string(name));
}

inline constexpr unsigned bth_bytes = 12, icrc_bytes = 4;

inline unsigned header_bytes(const Opcode &op)
{
	unsigned sum = bth_bytes;

	for (const std::string &name : headers(op))
		sum += header(name).bytes;
	return sum;
}

/* Big-endian writer */
class Writer {
public:
	Writer &put(std::uint64_t value, unsigned bytes)
	{
		while (bytes--)
			out_.push_back(static_cast<std::uint8_t>(value >> 8 * bytes));
		return *this;
	}
	Writer &put(const Bytes &more)
	{
		out_.insert(out_.end(), more.begin(), more.end());
		return *this;
	}
	const Bytes &bytes() const { return out_; }

private:
	Bytes out_;
};

inline void put_header(Writer &w, std::string_view name, const skr_pkt &p)
{
	if (name == "XRCETH") {
		w.put(0, 1).put(p.srqn, 3);
	} else if (name == "DETH") {
		w.put(p.qkey, 4).put(0, 1).put(p.src_qpn, 3);
	} else if (name == "FETH") {
		w.put(p.feth, 4);
	} else if (name == "RETH") {
		w.put(p.va, 8).put(p.rkey, 4).put(p.dmalen, 4);
	} else if (name == "AtomicETH") {
		w.put(p.va, 8).put(p.rkey, 4).put(p.swap_add, 8).put(p.compare, 8);
	} else if (name == "AETH") {
		w.put(p.syndrome, 1).put(p.msn, 3);
	} else if (name == "AtomicAckETH") {
		w.put(p.orig, 8);
	} else if (name == "ImmDt") {
		Bytes raw(4);

		std::memcpy(raw.data(), &p.imm, 4);
		w.put(raw);
	} else if (name == "IETH") {
		w.put(p.ieth, 4);
	} else {
		throw std::invalid_argument(std::string(name));
	}
}

/* The transport headers of a packet with these facts */
inline Bytes encode(const Opcode &op, const skr_pkt &p)
{
	Writer w;

	w.put(op.code, 1).put(p.bth_flags | p.pad << 4, 1).put(p.pkey, 2);
	w.put(p.fecn << 7 | p.becn << 6, 1).put(p.qpn, 3);
	w.put(p.ackreq << 7, 1).put(p.psn, 3);
	for (const std::string &name : headers(op))
		put_header(w, name, p);
	return w.bytes();
}

inline std::uint32_t flags(const Opcode &op)
{
	std::uint32_t f = op.payload ? SKR_HAS_PAYLOAD : 0;

	f |= op.role == Role::request ? SKR_IS_REQUEST : 0;
	f |= op.role == Role::response ? SKR_IS_RESPONSE : 0;
	f |= op.kind == Kind::send ? SKR_IS_SEND : 0;
	f |= op.kind == Kind::write ? SKR_IS_WRITE : 0;
	f |= op.kind == Kind::read ? SKR_IS_READ : 0;
	f |= op.kind == Kind::atomic ? SKR_IS_ATOMIC : 0;
	f |= op.kind == Kind::flush ? SKR_IS_FLUSH : 0;
	f |= op.kind == Kind::atomic_write ? SKR_IS_ATOMIC_WRITE : 0;
	f |= op.place == Place::first || op.place == Place::only ? SKR_IS_FIRST : 0;
	f |= op.place == Place::last || op.place == Place::only ? SKR_IS_LAST : 0;
	for (const std::string &name : headers(op))
		f |= header(name).flag;
	return f;
}

/* The facts as skr_parse() has to find them, in fields that the opcode has */
inline skr_pkt random_facts(const Opcode &op, std::uint32_t payload, std::mt19937_64 &rng)
{
	auto u = [&rng](unsigned bits) { return rng() >> (64 - bits); };
	skr_pkt p;

	std::memset(&p, 0, sizeof(p));
	p.flags = flags(op);
	p.opcode = op.code;
	p.bth_flags = static_cast<std::uint8_t>(u(2) << 6);
	p.pad = static_cast<std::uint8_t>((4 - payload % 4) % 4);
	p.fecn = u(1) & 1;
	p.becn = u(1) & 1;
	p.ackreq = u(1) & 1;
	p.pkey = static_cast<std::uint16_t>(u(16));
	p.qpn = static_cast<std::uint32_t>(u(24));
	p.psn = static_cast<std::uint32_t>(u(24));
	p.hdr_bytes = static_cast<std::uint8_t>(header_bytes(op));
	p.payload_bytes = payload;
	for (const std::string &name : headers(op)) {
		if (name == "XRCETH") {
			p.srqn = static_cast<std::uint32_t>(u(24));
		} else if (name == "DETH") {
			p.qkey = static_cast<std::uint32_t>(u(32));
			p.src_qpn = static_cast<std::uint32_t>(u(24));
		} else if (name == "FETH") {
			p.feth = static_cast<std::uint32_t>(u(32));
		} else if (name == "RETH") {
			p.va = u(64);
			p.rkey = static_cast<std::uint32_t>(u(32));
			p.dmalen = static_cast<std::uint32_t>(u(32));
		} else if (name == "AtomicETH") {
			p.va = u(64);
			p.rkey = static_cast<std::uint32_t>(u(32));
			p.swap_add = u(64);
			p.compare = u(64);
		} else if (name == "AETH") {
			p.syndrome = static_cast<std::uint8_t>(u(8));
			p.msn = static_cast<std::uint32_t>(u(24));
		} else if (name == "AtomicAckETH") {
			p.orig = u(64);
		} else if (name == "ImmDt") {
			p.imm = static_cast<std::uint32_t>(u(32));
		} else if (name == "IETH") {
			p.ieth = static_cast<std::uint32_t>(u(32));
		}
	}
	return p;
}

/* All facts as text: to compare, and to read when they differ */
inline std::string facts(const skr_pkt &p)
{
	std::ostringstream s;

	s << std::hex << "flags=" << p.flags << " opcode=" << +p.opcode
	  << " bth_flags=" << +p.bth_flags << " pad=" << +p.pad << " fecn=" << +p.fecn
	  << " becn=" << +p.becn << " ackreq=" << +p.ackreq << " pkey=" << p.pkey
	  << " hdr_bytes=" << +p.hdr_bytes << " syndrome=" << +p.syndrome << " qpn=" << p.qpn
	  << " psn=" << p.psn << " msn=" << p.msn << " payload_bytes=" << p.payload_bytes
	  << " rkey=" << p.rkey << " va=" << p.va << " dmalen=" << p.dmalen << " imm=" << p.imm
	  << " swap_add=" << p.swap_add << " compare=" << p.compare << " orig=" << p.orig
	  << " ieth=" << p.ieth << " feth=" << p.feth << " qkey=" << p.qkey
	  << " src_qpn=" << p.src_qpn << " srqn=" << p.srqn;
	return s.str();
}

/*
 * Heap memory of exactly so many bytes, so that the address sanitizer sees the
 * first byte behind it. Of no bytes, too: then not even the first is readable.
 */
class Exactly {
public:
	explicit Exactly(std::size_t n) : mem_(new std::uint8_t[n ? n : 1]), n_(n) {}
	explicit Exactly(const Bytes &b) : Exactly(b, b.size()) {}
	Exactly(const Bytes &b, std::size_t n) : Exactly(n)
	{
		if (n)
			std::memcpy(mem_.get(), b.data(), n);
	}
	std::uint8_t *data() { return mem_.get() + (n_ ? 0 : 1); }
	Bytes bytes() const { return Bytes(mem_.get(), mem_.get() + n_); }

private:
	std::unique_ptr<std::uint8_t[]> mem_;
	std::size_t n_;
};

} /* namespace standard */

#endif /* SKR_UNIT_WIRE_STANDARD_H */
