// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Requests that come again (IBTA 9.7.5.1.3 to 9.7.5.1.5): a READ is answered anew,
 * whole or in part, an atomic from what was saved, and neither is counted again.
 */
#include <algorithm>
#include <cstring>

#include "rules.hh"

namespace st
{

namespace
{

constexpr uint32_t BYTES = 4 * MTU + 9, PACKETS = 5;

void fill(Peer &peer, uint32_t bytes, uint64_t key)
{
	auto b = data(bytes, key);

	std::copy(b.begin(), b.end(), peer.end.mr.data());
}

/* a piece of a READ: from that packet on, that many bytes */
struct Piece {
	uint32_t packet, bytes;
};

const Piece PIECES[] = { { 0, BYTES },
			 { 1, BYTES - MTU },
			 { 2, BYTES - 2 * MTU },
			 { 3, BYTES - 3 * MTU },
			 { 4, BYTES - 4 * MTU },
			 { 0, MTU },
			 { 0, 3 * MTU },
			 { 1, MTU },
			 { 1, 2 * MTU },
			 { 2, MTU },
			 { 3, MTU },
			 { 3, MTU + 1 } };

void again(Bench &bench, Piece piece)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;

	fill(peer, BYTES, 7);
	peer.put(RC_READ_REQUEST, psn, peer.to_memory(0, BYTES), true);
	peer.expect_read(psn, 1, BYTES, 7);
	peer.put(RC_READ_REQUEST, psn + piece.packet,
		 peer.to_memory(piece.packet * MTU, piece.bytes), true);
	peer.expect_read(psn + piece.packet, 1, piece.bytes, 7, piece.packet * MTU);
	peer.goes_on(psn + PACKETS, 1);
}

/* what is there now counts, not what was there then */
void anew(Bench &bench)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;

	fill(peer, BYTES, 7);
	peer.put(RC_READ_REQUEST, psn, peer.to_memory(0, BYTES), true);
	peer.expect_read(psn, 1, BYTES, 7);
	fill(peer, BYTES, 8);
	peer.put(RC_READ_REQUEST, psn, peer.to_memory(0, BYTES), true);
	peer.expect_read(psn, 1, BYTES, 8);
	peer.goes_on(psn + PACKETS, 1);
}

/* after other requests, and with the MSN of now */
void later(Bench &bench)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;

	fill(peer, BYTES, 7);
	peer.put(RC_READ_REQUEST, psn, peer.to_memory(0, BYTES), true);
	peer.expect_read(psn, 1, BYTES, 7);
	peer.goes_on(psn + PACKETS, 1);
	peer.put(RC_READ_REQUEST, psn + 3, peer.to_memory(3 * MTU, BYTES - 3 * MTU), true);
	peer.expect_read(psn + 3, 3, BYTES - 3 * MTU, 7, 3 * MTU);
	peer.goes_on(psn + PACKETS + 2, 3);
}

/* the second of three, when all three were answered */
void among(Bench &bench, uint32_t which)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;

	fill(peer, 4 * MTU, 7);
	for (uint32_t i = 0; i < 3; i++) {
		peer.put(RC_READ_REQUEST, psn + 2 * i, peer.to_memory(i * MTU, 2 * MTU), true);
		peer.expect_read(psn + 2 * i, i + 1, 2 * MTU, 7, i * MTU);
	}
	peer.put(RC_READ_REQUEST, psn + 2 * which, peer.to_memory(which * MTU, 2 * MTU), true);
	peer.expect_read(psn + 2 * which, 3, 2 * MTU, 7, which * MTU);
	peer.goes_on(psn + 6, 3);
}

/* a duplicate that asks for what the original did not */
struct Other {
	const char *name;
	uint32_t packet;
	int64_t offset;
	uint32_t bytes, key;
};

const Other OTHERS[] = { { "another key", 0, 0, BYTES, 1 },
			 { "another address", 0, 8, BYTES, 0 },
			 { "an address in front of it", 0, -8, BYTES, 0 },
			 { "longer", 0, 0, BYTES + 1, 0 },
			 { "an address that does not go with its PSN", 1, 0, MTU, 0 },
			 { "a tail that is too long", 2, 2 * MTU, BYTES - 2 * MTU + 1, 0 },
			 { "a length that wraps", 1, MTU, 0x7fffffff, 0 } };

void other(Bench &bench, const Other &o)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	constexpr size_t AT = 64;

	peer.put(RC_READ_REQUEST, psn, peer.to_memory(AT, BYTES), true);
	for (uint32_t i = 0; i < PACKETS; i++)
		peer.next();
	peer.put(RC_READ_REQUEST, psn + o.packet,
		 reth(peer.end.mr.addr(AT) + o.offset, peer.end.mr.rkey() ^ o.key, o.bytes), true);
	peer.goes_on(psn + PACKETS, 1);
}

/* an atomic: how to ask, and what it makes of a value */
struct Atomic {
	const char *name;
	uint8_t opcode;
	uint64_t swap_add, compare, before, after;
};

constexpr uint64_t V = 0x1122334455667788;

const Atomic ATOMICS[] = {
	{ "fetch and add", RC_FETCH_ADD, 1, 0, V, V + 1 },
	{ "fetch and add that wraps", RC_FETCH_ADD, ~0ULL - 1, 0, 5, 3 },
	{ "fetch and add of nothing", RC_FETCH_ADD, 0, 9, V, V },
	{ "compare and swap that fits", RC_CMP_SWAP, 42, V, V, 42 },
	{ "compare and swap that does not", RC_CMP_SWAP, 42, V + 1, V, V },
	{ "compare and swap of the high half", RC_CMP_SWAP, V << 32, V, V, V << 32 },
};

Bytes ask(const Peer &peer, const Atomic &a, size_t at)
{
	return atomic_eth(peer.end.mr.addr(at), peer.end.mr.rkey(), a.swap_add, a.compare);
}

Bytes orig(uint32_t msn, uint64_t value)
{
	auto body = aeth(0x1f, msn);

	put64(body, value);
	return body;
}

uint64_t value(const Peer &peer, size_t at)
{
	uint64_t v;

	std::memcpy(&v, peer.end.mr.data() + at, sizeof(v));
	return v;
}

void set(Peer &peer, size_t at, uint64_t v)
{
	std::memcpy(peer.end.mr.data() + at, &v, sizeof(v));
}

void once(Bench &bench, const Atomic &a, int more)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;

	set(peer, 8, a.before);
	for (int i = 0; i <= more; i++) {
		peer.put(a.opcode, psn, ask(peer, a, 8), true);
		peer.expect({ RC_ATOMIC_ACK, psn, orig(1, a.before) });
		if (value(peer, 8) != a.after)
			fail("the memory holds %llx after %d of them",
			     static_cast<unsigned long long>(value(peer, 8)), i + 1);
		/* what the duplicate finds is no matter */
	}
	peer.goes_on(psn + 1, 1);
}

/* each of those that are saved has its own value; what is older is left alone */
void saved(Bench &bench, uint32_t count, uint32_t which)
{
	Setup setup;

	setup.rd_atomic = 4;
	Peer peer(bench, setup);
	auto psn = peer.numbers.psn;
	const Atomic add = { "", RC_FETCH_ADD, 1, 0, 0, 0 };

	set(peer, 8, 100);
	for (uint32_t i = 0; i < count; i++) {
		peer.put(RC_FETCH_ADD, psn + i, ask(peer, add, 8), true);
		peer.expect({ RC_ATOMIC_ACK, psn + i, orig(i + 1, 100 + i) });
	}
	peer.put(RC_FETCH_ADD, psn + which, ask(peer, add, 8), true);
	if (which + setup.rd_atomic >= count)
		peer.expect({ RC_ATOMIC_ACK, psn + which, orig(count, 100 + which) });
	peer.goes_on(psn + count, count);
	if (value(peer, 8) != 100 + count)
		fail("executed again");
}

/* the PSN of a READ is no atomic's, and the other way about */
void mixed_up(Bench &bench, bool read)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	const Atomic add = { "", RC_FETCH_ADD, 1, 0, 0, 0 };

	if (read) {
		peer.put(RC_READ_REQUEST, psn, peer.to_memory(8, 8), true);
		peer.expect({ RC_READ_ONLY, psn, join(aeth(0x1f, 1), Bytes(8)) });
		peer.put(RC_FETCH_ADD, psn, ask(peer, add, 8), true);
	} else {
		peer.put(RC_FETCH_ADD, psn, ask(peer, add, 8), true);
		peer.expect({ RC_ATOMIC_ACK, psn, orig(1, 0) });
		peer.put(RC_READ_REQUEST, psn, peer.to_memory(8, 8), true);
	}
	peer.goes_on(psn + 1, 1);
	if (value(peer, 8) != !read)
		fail("the memory holds %llu", static_cast<unsigned long long>(value(peer, 8)));
}

/* SENDs and WRITEs that come again change nothing, whatever is in them now */
void harmless(Bench &bench, uint8_t opcode)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	Bytes imm = { 1, 2, 3, 4 };

	peer.recv(0);
	peer.recv(1);
	peer.put(RC_SEND_ONLY, psn, data(40, 1), true);
	peer.expect_ack(psn, 1);
	peer.received(0, 40, 1);
	switch (opcode) {
	case RC_SEND_ONLY:
	case RC_SEND_FIRST:
	case RC_SEND_LAST:
		peer.put(opcode, psn, data(opcode == RC_SEND_FIRST ? MTU : 40, 2), true);
		break;
	case RC_WRITE_ONLY:
		peer.put(opcode, psn, join(reth(0, 1, 40), data(40, 2)), true);
		break;
	default:
		peer.put(opcode, psn, join(join(peer.to_memory(0, 40), imm), data(40, 2)), true);
	}
	peer.expect_ack(psn, 1);
	peer.goes_on(psn + 1, 1);
	if (peer.end.recv_cq.next(0))
		fail("delivered again");
}

} // namespace

void add_replays(Trials &trials)
{
	for (auto piece : PIECES)
		trials.push_back({ "a READ doubled is answered anew (9.7.5.1.4)",
				   format("%u bytes from packet %u", piece.bytes, piece.packet),
				   [=](Bench &b) { again(b, piece); } });
	trials.push_back({ "a READ doubled is answered anew (9.7.5.1.4)", "other data", anew });
	trials.push_back({ "a READ doubled is answered anew (9.7.5.1.4)", "later", later });
	for (uint32_t which = 0; which < 3; which++)
		trials.push_back({ "a READ doubled is answered anew (9.7.5.1.4)",
				   format("number %u of three", which),
				   [=](Bench &b) { among(b, which); } });
	for (auto &o : OTHERS)
		trials.push_back({ "a READ doubled stays within the first (9.7.5.1.4)", o.name,
				   [&](Bench &b) { other(b, o); } });
	for (auto &a : ATOMICS)
		for (int more : { 0, 1, 3 })
			trials.push_back({ "an atomic is executed once (9.7.5.1.5)",
					   format("%s, %d duplicates", a.name, more),
					   [&a, more](Bench &b) { once(b, a, more); } });
	for (uint32_t count : { 4U, 6U, 9U })
		for (uint32_t which = 0; which < count; which++)
			trials.push_back({ "atomics that are saved (9.7.5.1.5)",
					   format("number %u of %u", which, count),
					   [=](Bench &b) { saved(b, count, which); } });
	for (bool read : { true, false })
		trials.push_back({ "a READ is not taken for an atomic",
				   read ? "the READ first" : "the atomic first",
				   [=](Bench &b) { mixed_up(b, read); } });
	for (uint8_t opcode : { RC_SEND_ONLY, RC_SEND_FIRST, RC_SEND_LAST, RC_WRITE_ONLY,
				RC_WRITE_ONLY_IMM, RC_SEND_ONLY_IMM })
		trials.push_back({ "a SEND or WRITE doubled changes nothing (9.7.5.1.3)",
				   opcode_name(opcode), [=](Bench &b) { harmless(b, opcode); } });
}

} // namespace st
