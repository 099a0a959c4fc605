// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Damaged packets: every bit of the ICRC, every byte that it covers and every one
 * that it does not, and every packet cut at every length.
 */
#include <algorithm>

#include "rules.hh"

namespace st
{

namespace
{

/* an example of each opcode that has something behind its BTH */
Bytes example(const Peer &peer, uint8_t opcode)
{
	Bytes body;

	switch (opcode & 0x1f) {
	case RC_WRITE_FIRST:
	case RC_WRITE_ONLY:
	case RC_WRITE_ONLY_IMM:
	case RC_READ_REQUEST:
		body = peer.to_memory(0, 8);
		break;
	case RC_CMP_SWAP:
	case RC_FETCH_ADD:
		return atomic_eth(peer.end.mr.addr(0), peer.end.mr.rkey(), 1, 0);
	}
	body.resize(extended_bytes(opcode & 0x1f).value_or(0));
	return body;
}

Out victim(const Peer &peer)
{
	return peer.out(RC_WRITE_ONLY, peer.numbers.psn, peer.write_body(0, 12, 1), true);
}

/* a bit of the ICRC itself */
void icrc_bit(Bench &bench, unsigned int bit)
{
	Peer peer(bench);
	auto frame = victim(peer).frame();

	frame[frame.size() - ICRC_BYTES + bit / 8] ^= 1 << bit % 8;
	peer.raw(frame);
	peer.nothing_came_of_it();
}

/* the ICRC as it would be if somebody had got it wrong */
struct Mistake {
	const char *name;
	uint32_t (*make)(uint32_t right);
};

const Mistake MISTAKES[] = {
	{ "all zero", [](uint32_t) { return 0U; } },
	{ "all ones", [](uint32_t) { return ~0U; } },
	{ "big-endian", [](uint32_t right) { return __builtin_bswap32(right); } },
	{ "not complemented", [](uint32_t right) { return ~right; } },
};

void mistaken(Bench &bench, const Mistake &m)
{
	Peer peer(bench);
	auto frame = victim(peer).frame();
	auto wrong = m.make(icrc(&frame[ETH_BYTES], frame.size() - ETH_BYTES));

	for (size_t i = 0; i < ICRC_BYTES; i++)
		frame[frame.size() - ICRC_BYTES + i] = wrong >> (8 * i);
	peer.raw(frame);
	peer.nothing_came_of_it();
}

/* parts of a frame from the IP header on that the ICRC leaves out */
bool left_out(const Bench &bench, size_t at)
{
	bool v4 = !is_v1(bench) && !is_v6(bench);
	size_t bth = (v4 ? 20 : 40) + (is_v1(bench) ? 0 : UDP_BYTES);

	if (v4 ? at == 1 || at == 8 || at == 10 || at == 11 : at < 4 || at == 7)
		return true;
	if (!is_v1(bench) && (at == bth - 1 || at == bth - 2))
		return true;
	return at == bth + 4;
}

void covered(Bench &bench, size_t at)
{
	Peer peer(bench);
	auto frame = victim(peer).frame();

	frame[ETH_BYTES + at] ^= 0x01;
	fix_ip_checksum(frame);
	peer.raw(frame);
	peer.nothing_came_of_it();
}

/* routers change these */
struct Rewrite {
	const char *name;
	void (*change)(Path &path, Bth &bth);
};

const Rewrite REWRITES[] = {
	{ "DSCP and ECN", [](Path &p, Bth &) { p.tos = 0xb9; } },
	{ "TTL", [](Path &p, Bth &) { p.ttl = 3; } },
	{ "FECN, BECN", [](Path &, Bth &b) { b.congestion = 0xc0; } },
	{ "reserved bits", [](Path &, Bth &b) { b.congestion = 0x3f; } },
};

void rewritten(Bench &bench, const Rewrite &r)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	auto out = victim(peer);
	auto before = out.frame();

	r.change(out.path, out.bth);
	auto after = out.frame();
	/* the old ICRC */
	std::copy_n(before.end() - ICRC_BYTES, ICRC_BYTES, after.end() - ICRC_BYTES);
	peer.raw(after);
	peer.expect_ack(psn, 1);
	peer.goes_on(psn + 1, 1);
}

/* cut, and all lengths and the ICRC say so: shorter than the headers */
void shortened(Bench &bench, uint8_t opcode)
{
	Peer peer(bench);
	auto whole = peer.out(opcode, peer.numbers.psn, {}, true);
	Bytes packet;

	peer.recv(0);
	whole.bth.put(packet);
	packet = join(packet, example(peer, opcode));
	for (size_t n = 0; n < packet.size() + ICRC_BYTES; n++) {
		Bytes part(packet.begin(), packet.begin() + std::min(n, packet.size()));

		part.resize(n);
		auto f = frame(whole.path, part);
		if (n >= BTH_BYTES + ICRC_BYTES)
			fix_icrc(f);
		peer.raw(f);
	}
	peer.nothing_came_of_it();
}

/* cut on the way: the lengths promise more than there is */
void cut_off(Bench &bench, uint8_t opcode)
{
	Peer peer(bench);
	auto whole = peer.out(opcode, peer.numbers.psn, example(peer, opcode), true).frame();

	peer.recv(0);
	for (size_t n = ETH_BYTES; n < whole.size(); n++)
		peer.raw(Bytes(whole.begin(), whole.begin() + n));
	peer.nothing_came_of_it();
}

/* nothing may stand behind the headers of what carries no data */
void too_much(Bench &bench, uint8_t opcode)
{
	Peer peer(bench);

	peer.recv(0);
	for (size_t more : { 4, 8, 64 }) {
		auto out = peer.out(opcode, peer.numbers.psn,
				    join(example(peer, opcode), Bytes(more)), true);

		peer.raw(out.frame());
	}
	peer.nothing_came_of_it();
}

} // namespace

void add_damage(Trials &trials, const Bench &bench)
{
	size_t head = (is_v1(bench) || is_v6(bench) ? 40 : 20) + (is_v1(bench) ? 0 : UDP_BYTES);

	for (unsigned int bit = 0; bit < 32; bit++)
		trials.push_back({ "a wrong ICRC is dropped (CA17-24)", format("bit %u", bit),
				   [=](Bench &b) { icrc_bit(b, bit); } });
	for (auto &m : MISTAKES)
		trials.push_back({ "a wrong ICRC is dropped (CA17-24)", m.name,
				   [&](Bench &b) { mistaken(b, m); } });
	for (size_t at = 0; at < head + BTH_BYTES + 28; at++)
		if (!left_out(bench, at))
			trials.push_back({ "the ICRC covers it (A17.3.3)", format("byte %zu", at),
					   [=](Bench &b) { covered(b, at); } });
	for (auto &r : REWRITES)
		trials.push_back({ "the ICRC leaves it out (A17.3.3)", r.name,
				   [&](Bench &b) { rewritten(b, r); } });
	for (uint8_t opcode = 0; opcode < 0x18; opcode++) {
		if (!extended_bytes(opcode))
			continue;
		trials.push_back({ "a packet shorter than its headers is dropped",
				   opcode_name(opcode), [=](Bench &b) { shortened(b, opcode); } });
		trials.push_back({ "a packet that was cut is dropped", opcode_name(opcode),
				   [=](Bench &b) { cut_off(b, opcode); } });
	}
	for (uint8_t opcode : { RC_READ_REQUEST, RC_CMP_SWAP, RC_FETCH_ADD })
		trials.push_back({ "data behind what carries none is dropped", opcode_name(opcode),
				   [=](Bench &b) { too_much(b, opcode); } });
}

} // namespace st
