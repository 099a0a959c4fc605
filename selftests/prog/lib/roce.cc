// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "roce.hh"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "fail.hh"

namespace st
{

constexpr uint8_t GRH_NEXT = 0x1b;

const char *opcode_name(uint8_t opcode)
{
	static const char *const rc[] = { "SEND_FIRST",	    "SEND_MIDDLE",   "SEND_LAST",
					  "SEND_LAST_IMM",  "SEND_ONLY",     "SEND_ONLY_IMM",
					  "WRITE_FIRST",    "WRITE_MIDDLE",  "WRITE_LAST",
					  "WRITE_LAST_IMM", "WRITE_ONLY",    "WRITE_ONLY_IMM",
					  "READ_REQUEST",   "READ_FIRST",    "READ_MIDDLE",
					  "READ_LAST",	    "READ_ONLY",     "ACK",
					  "ATOMIC_ACK",	    "CMP_SWAP",	     "FETCH_ADD",
					  "0x15",	    "SEND_LAST_INV", "SEND_ONLY_INV" };

	if (opcode < std::size(rc))
		return rc[opcode];
	return opcode == 0x81 ? "CNP" : "other";
}

std::optional<size_t> extended_bytes(uint8_t opcode)
{
	static const int8_t rc[] = { 0,	 0, 0, 4, 0, 4, 16, 0,	0,  4,	16, 20,
				     16, 4, 0, 4, 4, 4, 12, 28, 28, -1, 4,  4 };

	if (opcode >= std::size(rc) || rc[opcode] < 0)
		return {};
	return rc[opcode];
}

void put16(Bytes &to, uint16_t v)
{
	to.push_back(v >> 8);
	to.push_back(v);
}

void put32(Bytes &to, uint32_t v)
{
	put16(to, v >> 16);
	put16(to, v);
}

void put64(Bytes &to, uint64_t v)
{
	put32(to, v >> 32);
	put32(to, v);
}

uint16_t get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

uint32_t get24(const uint8_t *p)
{
	return p[0] << 16 | get16(p + 1);
}

uint32_t get32(const uint8_t *p)
{
	return static_cast<uint32_t>(get16(p)) << 16 | get16(p + 2);
}

uint64_t get64(const uint8_t *p)
{
	return static_cast<uint64_t>(get32(p)) << 32 | get32(p + 4);
}

void Bth::put(Bytes &to) const
{
	to.push_back(opcode);
	to.push_back(solicited << 7 | migrated << 6 | (pad & 3) << 4 | (version & 15));
	put16(to, pkey);
	put32(to, static_cast<uint32_t>(congestion) << 24 | (qpn & 0xffffff));
	put32(to, static_cast<uint32_t>(ack_request) << 31 | (reserved & 0x7f) << 24 |
			  (psn & 0xffffff));
}

Bth Bth::get(const uint8_t *p)
{
	Bth b;

	b.opcode = p[0];
	b.solicited = p[1] & 0x80;
	b.migrated = p[1] & 0x40;
	b.pad = p[1] >> 4 & 3;
	b.version = p[1] & 15;
	b.pkey = get16(p + 2);
	b.congestion = p[4];
	b.qpn = get24(p + 5);
	b.ack_request = p[8] & 0x80;
	b.reserved = p[8] & 0x7f;
	b.psn = get24(p + 9);
	return b;
}

Bytes reth(uint64_t va, uint32_t rkey, uint32_t length)
{
	Bytes b;

	put64(b, va);
	put32(b, rkey);
	put32(b, length);
	return b;
}

Bytes aeth(uint8_t syndrome, uint32_t msn)
{
	Bytes b;

	put32(b, static_cast<uint32_t>(syndrome) << 24 | (msn & 0xffffff));
	return b;
}

Bytes atomic_eth(uint64_t va, uint32_t rkey, uint64_t swap_add, uint64_t compare)
{
	Bytes b;

	put64(b, va);
	put32(b, rkey);
	put64(b, swap_add);
	put64(b, compare);
	return b;
}

void Path::addresses(const char *from, const char *to)
{
	v6 = std::strchr(from, ':');
	int family = v6 ? AF_INET6 : AF_INET;

	if (inet_pton(family, from, source.data()) != 1 || inet_pton(family, to, dest.data()) != 1)
		fail("not two addresses of one kind: %s, %s", from, to);
}

Path Path::as_v1() const
{
	auto path = *this;

	path.v1 = path.v6 = true;
	if (!v6)
		for (auto *a : { &path.source, &path.dest }) {
			std::copy_n(a->begin(), 4, a->begin() + 12);
			std::fill_n(a->begin(), 10, 0);
			std::fill_n(a->begin() + 10, 2, 0xff);
		}
	return path;
}

Mac Path::mac(const char *text)
{
	Mac m;
	unsigned int v[6];

	if (std::sscanf(text, "%x:%x:%x:%x:%x:%x", v, v + 1, v + 2, v + 3, v + 4, v + 5) != 6)
		fail("not a MAC address: %s", text);
	for (int i = 0; i < 6; i++)
		m[i] = v[i];
	return m;
}

Path Path::of(const Bytes &frame)
{
	auto v = view(frame.data(), frame.size());
	Path path;

	if (!v)
		fail("not a RoCE frame");
	size_t bytes = v->v6 ? 16 : 4;
	const uint8_t *from = v->ip + (v->v6 ? 8 : 12);
	std::copy_n(frame.begin(), 6, path.dest_mac.begin());
	std::copy_n(frame.begin() + 6, 6, path.source_mac.begin());
	path.v1 = v->v1;
	path.v6 = v->v6;
	std::copy_n(from, bytes, path.source.begin());
	std::copy_n(from + bytes, bytes, path.dest.begin());
	if (!v->v1)
		path.source_port = get16(v->udp());
	path.tos = v->v6 ? get16(v->ip) >> 4 : v->ip[1];
	path.ttl = v->ip[v->v6 ? 7 : 8];
	if (!v->v6)
		path.id = get16(v->ip + 4);
	return path;
}

Path Path::reversed() const
{
	auto back = *this;

	std::swap(back.source_mac, back.dest_mac);
	std::swap(back.source, back.dest);
	return back;
}

static void put_ip4(Bytes &b, const Path &path, size_t payload)
{
	auto at = b.size();
	uint32_t sum = 0;

	b.push_back(0x45);
	b.push_back(path.tos);
	put16(b, 20 + payload);
	put16(b, path.id);
	put16(b, 0x4000);
	b.push_back(path.ttl);
	b.push_back(17);
	put16(b, 0);
	b.insert(b.end(), path.source.begin(), path.source.begin() + 4);
	b.insert(b.end(), path.dest.begin(), path.dest.begin() + 4);
	for (size_t i = at; i < b.size(); i += 2)
		sum += get16(&b[i]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	b[at + 10] = sum >> 8;
	b[at + 11] = sum;
}

static void put_ip6(Bytes &b, const Path &path, size_t payload)
{
	put32(b, 6U << 28 | static_cast<uint32_t>(path.tos) << 20);
	put16(b, payload);
	b.push_back(path.v1 ? GRH_NEXT : 17);
	b.push_back(path.ttl);
	b.insert(b.end(), path.source.begin(), path.source.end());
	b.insert(b.end(), path.dest.begin(), path.dest.end());
}

static void put_udp(Bytes &b, const Path &path, size_t bytes)
{
	put16(b, path.source_port);
	put16(b, path.dest_port);
	put16(b, bytes);
	put16(b, 0);
}

Bytes frame(const Path &path, const Bytes &packet)
{
	Bytes b;
	auto bytes = (path.v1 ? 0 : UDP_BYTES) + packet.size();

	b.insert(b.end(), path.dest_mac.begin(), path.dest_mac.end());
	b.insert(b.end(), path.source_mac.begin(), path.source_mac.end());
	put16(b, path.v1 ? ROCE_V1_TYPE : path.v6 ? 0x86dd : 0x0800);
	if (path.v6)
		put_ip6(b, path, bytes);
	else
		put_ip4(b, path, bytes);
	if (!path.v1)
		put_udp(b, path, bytes);
	b.insert(b.end(), packet.begin(), packet.end());
	return b;
}

Bytes frame(const Path &path, const Bth &bth, const Bytes &body)
{
	Bytes payload;

	bth.put(payload);
	payload.insert(payload.end(), body.begin(), body.end());
	payload.resize(payload.size() + ICRC_BYTES);
	auto b = frame(path, payload);
	fix_icrc(b);
	return b;
}

static uint32_t crc_step(uint32_t crc, const uint8_t *p, size_t n)
{
	static const auto table = [] {
		std::array<uint32_t, 256> t;

		for (uint32_t i = 0; i < 256; i++) {
			uint32_t c = i;

			for (int bit = 0; bit < 8; bit++)
				c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
			t[i] = c;
		}
		return t;
	}();

	while (n--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return crc;
}

uint32_t icrc(const uint8_t *ip, size_t length)
{
	static const uint8_t ones[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	bool v6 = ip[0] >> 4 == 6, v1 = v6 && ip[6] == GRH_NEXT;
	size_t bth = (v6 ? 40 : 20) + (v1 ? 0 : UDP_BYTES), head_bytes = bth + BTH_BYTES;
	uint8_t head[40 + UDP_BYTES + BTH_BYTES];

	std::memcpy(head, ip, head_bytes);
	if (v6) {
		/* traffic class, flow label, hop limit */
		head[0] |= 0x0f;
		head[1] = head[2] = head[3] = head[7] = 0xff;
	} else {
		/* type of service, time to live, header checksum */
		head[1] = head[8] = head[10] = head[11] = 0xff;
	}
	if (!v1)
		head[bth - 2] = head[bth - 1] = 0xff; /* UDP checksum */
	head[bth + 4] = 0xff;			      /* BTH: FECN, BECN, reserved */
	auto crc = crc_step(~0U, ones, sizeof(ones));
	crc = crc_step(crc, head, head_bytes);
	return ~crc_step(crc, ip + head_bytes, length - head_bytes - ICRC_BYTES);
}

void fix_ip_checksum(Bytes &frame)
{
	size_t bytes = (frame[ETH_BYTES] & 15) * 4;
	uint32_t sum = 0;

	if (get16(&frame[12]) != 0x0800)
		return;
	frame[ETH_BYTES + 10] = frame[ETH_BYTES + 11] = 0;
	for (size_t i = 0; i < bytes; i += 2)
		sum += get16(&frame[ETH_BYTES + i]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	frame[ETH_BYTES + 10] = sum >> 8;
	frame[ETH_BYTES + 11] = sum;
}

void fix_icrc(Bytes &frame)
{
	auto crc = icrc(&frame[ETH_BYTES], frame.size() - ETH_BYTES);

	for (size_t i = 0; i < ICRC_BYTES; i++)
		frame[frame.size() - ICRC_BYTES + i] = crc >> (8 * i);
}

uint32_t View::wire_icrc() const
{
	const uint8_t *p = ip + ip_bytes - ICRC_BYTES;

	return p[0] | p[1] << 8 | p[2] << 16 | static_cast<uint32_t>(p[3]) << 24;
}

bool View::icrc_good() const
{
	return icrc(ip, ip_bytes) == wire_icrc();
}

std::optional<View> view(const uint8_t *frame, size_t length)
{
	View v;
	uint16_t type;

	if (length < ETH_BYTES + 20 + UDP_BYTES)
		return {};
	type = get16(frame + 12);
	v.v1 = type == ROCE_V1_TYPE;
	v.v6 = v.v1 || type == 0x86dd;
	if (!v.v6 && type != 0x0800)
		return {};
	v.ip = frame + ETH_BYTES;
	v.header_bytes = v.v6 ? 40 : 20;
	v.ip_bytes = v.v6 ? 40 + get16(v.ip + 4) : get16(v.ip + 2);
	if (v.ip[v.v6 ? 6 : 9] != (v.v1 ? GRH_NEXT : 17) || (!v.v6 && v.ip[0] != 0x45))
		return {};
	auto before = v.header_bytes + (v.v1 ? 0 : UDP_BYTES);
	if (v.ip_bytes + ETH_BYTES > length || v.ip_bytes < before + BTH_BYTES + ICRC_BYTES)
		return {};
	if (!v.v1 && get16(v.udp() + 2) != ROCE_PORT)
		return {};
	v.bth = Bth::get(v.ip + before);
	v.body = v.ip + before + BTH_BYTES;
	v.body_bytes = v.ip_bytes - before - BTH_BYTES - ICRC_BYTES;
	return v;
}

} // namespace st
