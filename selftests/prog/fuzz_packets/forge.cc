// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "forge.hh"

#include <algorithm>

namespace st
{

/* extended headers, in the order in which they lie behind the BTH */
enum : uint16_t {
	XRCETH = 1 << 0,
	DETH = 1 << 1,
	FETH = 1 << 2,
	RETH = 1 << 3,
	ATOMICETH = 1 << 4,
	AETH = 1 << 5,
	ATOMICACKETH = 1 << 6,
	IMMDT = 1 << 7,
	IETH = 1 << 8,
	DATA = 1 << 9,
};

/* operations by the low five bits of an opcode, as RC has them */
static constexpr uint16_t OPERATIONS[32] = {
	DATA,
	DATA,
	DATA,
	DATA | IMMDT,
	DATA,
	DATA | IMMDT,
	DATA | RETH,
	DATA,
	DATA,
	DATA | IMMDT,
	DATA | RETH,
	DATA | RETH | IMMDT,
	RETH,
	DATA | AETH,
	DATA,
	DATA | AETH,
	DATA | AETH,
	AETH,
	AETH | ATOMICACKETH,
	ATOMICETH,
	ATOMICETH,
	0,
	DATA | IETH,
	DATA | IETH,
	0,
	0,
	0,
	0,
	FETH | RETH,
	DATA | RETH,
	0,
	0,
};

/* ... of which these are responses */
static bool is_response(uint8_t opcode)
{
	const uint8_t operation = opcode & 0x1f;

	return operation >= 0x0d && operation <= 0x12;
}

static uint16_t headers_of(uint8_t opcode)
{
	uint16_t headers = OPERATIONS[opcode & 0x1f];

	if ((opcode & TRANSPORT_MASK) == TRANSPORT_UD)
		headers |= DETH;
	if ((opcode & TRANSPORT_MASK) == TRANSPORT_XRC && !is_response(opcode))
		headers |= XRCETH;
	return headers;
}

uint32_t Forge::number()
{
	static const uint32_t edges[] = { 0,	      1,	 2,	     3,		 0xff,
					  0x7fff,     0xffff,	 0x10000,    0x7fffff,	 0x800000,
					  0xffffff,   0x1000000, 0x7fffffff, 0x80000000, 0x80000001,
					  0xfffffffe, 0xffffffff };

	return rng.percent(50) ? edges[rng.below(std::size(edges))] : rng.next();
}

/* mostly one that the target's transport has */
uint8_t Forge::opcode(const Target &target)
{
	static const uint8_t datagrams[] = { 0x64, 0x65 };
	static const uint8_t unreliable[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };

	if (rng.percent(3))
		return rng.next();
	if (rng.percent(3))
		return 0x81;
	if (target.transport == TRANSPORT_UD)
		return datagrams[rng.below(2)];
	if (target.transport == TRANSPORT_UC)
		return TRANSPORT_UC | unreliable[rng.below(std::size(unreliable))];
	return target.transport | rng.below(0x1e);
}

void Forge::extend(Draft &d, const Target &t)
{
	const uint16_t has = headers_of(d.bth.opcode);
	const uint32_t room = t.bytes - 8;
	const uint64_t va = t.va + (rng.below(room) & ~7U);
	auto &h = d.headers;
	auto append = [&](const Bytes &b) { h.insert(h.end(), b.begin(), b.end()); };

	if (has & XRCETH)
		put32(h, t.srqn);
	if (has & DETH) {
		put32(h, t.qkey);
		put32(h, t.peer_qpn);
	}
	if (has & FETH)
		put32(h, rng.percent(70) ? rng.below(3) | rng.below(2) << 4 : number());
	if (has & RETH) {
		const bool asks = (d.bth.opcode & 0x1f) == RC_READ_REQUEST || has & FETH;
		const uint32_t length = rng.percent(20) ? number()
					: asks		? rng.magnitude(8192)
					       : d.payload.size() + (rng.percent(30) ? 2000 : 0);

		append(reth(va, t.rkey, length));
	}
	if (has & ATOMICETH)
		append(atomic_eth(va, t.rkey, rng.next(), rng.percent(50) ? 0 : rng.next()));
	if (has & AETH)
		append(aeth(rng.percent(70)   ? 0x1f
			    : rng.percent(50) ? 0x20 | rng.below(32)
					      : 0x60 | rng.below(6),
			    rng.below(64)));
	if (has & ATOMICACKETH)
		put64(h, rng.next());
	if (has & IMMDT)
		put32(h, rng.next());
	if (has & IETH)
		put32(h, rng.percent(50) ? t.rkey : number());
	if (d.bth.opcode == 0x81)
		h.resize(16);
}

void Forge::fill(Draft &d, const Target &t, uint8_t opcode)
{
	const uint8_t operation = opcode & 0x1f;
	const bool whole = operation == RC_SEND_FIRST || operation == RC_SEND_MIDDLE ||
			   operation == RC_WRITE_FIRST || operation == RC_WRITE_MIDDLE ||
			   operation == RC_READ_FIRST || operation == RC_READ_MIDDLE;
	size_t bytes = 0;

	if (headers_of(opcode) & DATA)
		bytes = rng.percent(5)	    ? rng.below(4000)
			: whole		    ? t.mtu
			: operation == 0x1d ? 8
					    : rng.magnitude(t.mtu);
	d.payload.assign(bytes, rng.next());
	d.bth.pad = -bytes & 3;
}

Forge::Draft Forge::draft(Target &t, uint8_t opcode)
{
	Draft d;

	d.path = t.path;
	d.path.source_port = 0xc000 | rng.below(0x4000);
	d.bth.opcode = opcode;
	d.bth.qpn = t.qpn;
	d.bth.ack_request = rng.percent(30);
	d.bth.solicited = rng.percent(20);
	if (is_response(opcode)) {
		d.bth.psn = t.next - 1 - rng.below(rng.percent(80) ? 4 : 100);
	} else if (rng.percent(85)) {
		d.bth.psn = t.expected++;
	} else {
		/* before, or after what is missing */
		d.bth.psn = t.expected + rng.below(80) - 60;
	}
	if (opcode == 0x81)
		d.bth.congestion = 0x40;
	fill(d, t, opcode);
	extend(d, t);
	return d;
}

void Forge::mutate_bth(Bth &bth)
{
	switch (rng.below(10)) {
	case 0:
		bth.opcode = rng.percent(50) ? bth.opcode ^ (1U << rng.below(8)) : rng.next();
		break;
	case 1:
		bth.solicited = !bth.solicited;
		bth.migrated = !bth.migrated;
		break;
	case 2:
		bth.pad = rng.below(4);
		break;
	case 3:
		bth.version = rng.below(16);
		break;
	case 4:
		bth.pkey = rng.percent(50) ? 0x7fff : rng.next();
		break;
	case 5:
		bth.congestion = rng.next();
		break;
	case 6:
		bth.qpn = rng.percent(50) ? number() : bth.qpn ^ (1U << rng.below(24));
		break;
	case 7:
		bth.ack_request = !bth.ack_request;
		bth.reserved = rng.next();
		break;
	default:
		bth.psn = rng.percent(50) ? number() : bth.psn + rng.below(2000) - 1000;
	}
}

void Forge::mutate_path(Path &path)
{
	switch (rng.below(7)) {
	case 0:
		path.source[rng.below(path.v6 ? 16 : 4)] = rng.next();
		break;
	case 1:
		path.dest[rng.below(path.v6 ? 16 : 4)] = rng.next();
		break;
	case 2:
		path.source_port = number();
		break;
	case 3:
		path.tos = rng.next();
		break;
	case 4:
		path.ttl = rng.percent(50) ? 0 : rng.next();
		break;
	case 5:
		path.id = rng.next();
		break;
	default:
		path.source_mac[5] = rng.next();
	}
}

void Forge::mutate(Draft &d)
{
	switch (rng.below(6)) {
	case 0:
	case 1:
		mutate_bth(d.bth);
		break;
	case 2:
		mutate_path(d.path);
		break;
	case 3:
		/* a field of an extended header */
		if (d.headers.size() >= 4) {
			Bytes word;
			const size_t at = rng.below(d.headers.size() / 4) * 4;

			put32(word, number());
			std::copy(word.begin(), word.end(), d.headers.begin() + at);
		}
		break;
	case 4:
		d.headers.resize(rng.percent(50) ? rng.below(d.headers.size() + 1)
						 : d.headers.size() + rng.below(40));
		break;
	default:
		d.payload.resize(rng.percent(50) ? rng.below(d.payload.size() + 1)
						 : d.payload.size() + rng.below(300));
	}
}

Bytes Forge::build(const Draft &d)
{
	Bytes body = d.headers;

	body.insert(body.end(), d.payload.begin(), d.payload.end());
	body.resize(body.size() + (rng.percent(97) ? d.bth.pad : 0));
	return frame(d.path, d.bth, body);
}

/* what the layers below say, and the bytes as such */
void Forge::mutate_frame(Bytes &f)
{
	const bool v4 = get16(&f[12]) == 0x0800, v1 = get16(&f[12]) == ROCE_V1_TYPE;
	const size_t ip = ETH_BYTES, udp = ip + (v4 ? 20 : 40);
	auto put = [&](size_t at, uint16_t v) {
		f[at] = v >> 8;
		f[at + 1] = v;
	};

	switch (rng.below(7)) {
	case 0:
		/* the length of the IP packet or GRH */
		put(ip + (v4 ? 2 : 4),
		    rng.percent(50) ? get16(&f[ip + (v4 ? 2 : 4)]) + rng.below(9) - 4 : rng.next());
		break;
	case 1:
		if (!v1)
			put(udp + 4,
			    rng.percent(50) ? get16(&f[udp + 4]) + rng.below(9) - 4 : rng.next());
		break;
	case 2:
		/* version, options; fragments; next header, type of service */
		f[ip + rng.below(v4 ? 10 : 8)] = rng.next();
		break;
	case 3:
		if (!v1)
			put(udp + 6, rng.next());
		break;
	case 4:
		f.resize(rng.between(ETH_BYTES, f.size()));
		break;
	case 5:
		f.resize(f.size() + rng.below(60));
		break;
	default:
		f[rng.between(ETH_BYTES, f.size() - 1)] ^= 1U << rng.below(8);
	}
	if (f.size() >= ip + 20 && v4 && (f[ip] & 15) == 5 && rng.percent(90))
		fix_ip_checksum(f);
}

/* nothing that a QP which is to be spared would take for its peer's */
void Forge::spare(Bytes &f) const
{
	const auto v = view(f.data(), f.size());

	if (v && spared.count(v->bth.qpn) && v->icrc_good())
		f[v->ip + v->ip_bytes - 1 - f.data()] ^= 0x55;
}

Bytes Forge::strike(Target &target)
{
	auto d = draft(target, opcode(target));

	while (rng.percent(60))
		mutate(d);
	auto f = build(d);
	if (rng.percent(15)) {
		mutate_frame(f);
		/* whatever came of it may have the right ICRC again */
		if (rng.percent(50) && view(f.data(), f.size()) &&
		    view(f.data(), f.size())->ip_bytes == f.size() - ETH_BYTES)
			fix_icrc(f);
	} else if (rng.percent(10)) {
		f.back() ^= 1U << rng.below(8);
	}
	spare(f);
	return f;
}

Bytes Forge::graze(const Target &like, uint32_t qpn)
{
	Target t = like;

	t.qpn = qpn;
	auto d = draft(t, opcode(t));
	auto f = build(d);
	f[f.size() - 1 - rng.below(4)] ^= rng.between(1, 255);
	return f;
}

} // namespace st
