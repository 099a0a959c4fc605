// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What a responder refuses, and with which code (IBTA 9.7.4.1.3 to 9.7.4.1.6,
 * table 58): lengths, keys, rights, alignment, and a receiver that is not ready.
 */
#include "rules.hh"

namespace st
{

namespace
{

constexpr uint8_t INVALID = 0x61, ACCESS = 0x62, FINE = 0;

/* lengths of packets in their places */
struct Length {
	const char *name;
	uint8_t before, opcode; /* before: the same number is none */
	uint32_t bytes;
	uint8_t verdict;
};

const Length LENGTHS[] = {
	{ "SEND FIRST of the path MTU", RC_SEND_FIRST, RC_SEND_FIRST, MTU, FINE },
	{ "SEND FIRST, 4 bytes less", RC_SEND_FIRST, RC_SEND_FIRST, MTU - 4, INVALID },
	{ "SEND FIRST, 1 byte less", RC_SEND_FIRST, RC_SEND_FIRST, MTU - 1, INVALID },
	{ "SEND FIRST, 4 bytes more", RC_SEND_FIRST, RC_SEND_FIRST, MTU + 4, INVALID },
	{ "SEND FIRST of nothing", RC_SEND_FIRST, RC_SEND_FIRST, 0, INVALID },
	{ "SEND MIDDLE of the path MTU", RC_SEND_FIRST, RC_SEND_MIDDLE, MTU, FINE },
	{ "SEND MIDDLE, 4 bytes less", RC_SEND_FIRST, RC_SEND_MIDDLE, MTU - 4, INVALID },
	{ "SEND MIDDLE, 4 bytes more", RC_SEND_FIRST, RC_SEND_MIDDLE, MTU + 4, INVALID },
	{ "SEND LAST of 1 byte", RC_SEND_FIRST, RC_SEND_LAST, 1, FINE },
	{ "SEND LAST of the path MTU", RC_SEND_FIRST, RC_SEND_LAST, MTU, FINE },
	{ "SEND LAST of nothing", RC_SEND_FIRST, RC_SEND_LAST, 0, INVALID },
	{ "SEND LAST, 1 byte more", RC_SEND_FIRST, RC_SEND_LAST, MTU + 1, INVALID },
	{ "SEND ONLY of nothing", RC_SEND_ONLY, RC_SEND_ONLY, 0, FINE },
	{ "SEND ONLY of the path MTU", RC_SEND_ONLY, RC_SEND_ONLY, MTU, FINE },
	{ "SEND ONLY, 1 byte more", RC_SEND_ONLY, RC_SEND_ONLY, MTU + 1, INVALID },
	{ "WRITE FIRST of the path MTU", RC_WRITE_FIRST, RC_WRITE_FIRST, MTU, FINE },
	{ "WRITE FIRST, 4 bytes less", RC_WRITE_FIRST, RC_WRITE_FIRST, MTU - 4, INVALID },
	{ "WRITE FIRST, 4 bytes more", RC_WRITE_FIRST, RC_WRITE_FIRST, MTU + 4, INVALID },
	{ "WRITE MIDDLE of the path MTU", RC_WRITE_FIRST, RC_WRITE_MIDDLE, MTU, FINE },
	{ "WRITE MIDDLE, 4 bytes less", RC_WRITE_FIRST, RC_WRITE_MIDDLE, MTU - 4, INVALID },
	{ "WRITE ONLY of nothing", RC_WRITE_ONLY, RC_WRITE_ONLY, 0, FINE },
	{ "WRITE ONLY of the path MTU", RC_WRITE_ONLY, RC_WRITE_ONLY, MTU, FINE },
	{ "WRITE ONLY, 1 byte more", RC_WRITE_ONLY, RC_WRITE_ONLY, MTU + 1, INVALID },
};

void length(Bench &bench, const Length &l)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	bool ends =
		l.opcode == RC_SEND_LAST || l.opcode == RC_SEND_ONLY || l.opcode == RC_WRITE_ONLY;
	auto body = data(l.bytes, 1);

	peer.recv(0);
	if (l.before != l.opcode) {
		auto first = data(MTU, 1);

		if (l.before == RC_WRITE_FIRST)
			first = join(peer.to_memory(0, 4 * MTU), first);
		peer.put(l.before, psn++, first);
	}
	if (l.opcode == RC_WRITE_FIRST || l.opcode == RC_WRITE_ONLY)
		body = join(peer.to_memory(0, ends ? l.bytes : 4 * MTU), body);
	peer.put(l.opcode, psn, body, true);
	if (l.verdict)
		peer.refused(l.verdict, psn, 0);
	else
		peer.expect_ack(psn, ends);
}

/* a WRITE of two packets that carries something else than it promised */
void promise(Bench &bench, uint32_t promised, uint32_t carried)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;

	peer.put(RC_WRITE_FIRST, psn, join(peer.to_memory(0, promised), data(MTU, 1)));
	peer.put(RC_WRITE_LAST, psn + 1, data(carried - MTU, 1, MTU), true);
	if (promised == carried)
		peer.expect_ack(psn + 1, 1);
	else
		peer.refused(INVALID, psn + 1, 0);
}

void only_promise(Bench &bench, uint32_t promised, uint32_t carried)
{
	Peer peer(bench);

	peer.put(RC_WRITE_ONLY, peer.numbers.psn,
		 join(peer.to_memory(0, promised), data(carried, 1)), true);
	if (promised == carried)
		peer.expect_ack(peer.numbers.psn, 1);
	else
		peer.refused(INVALID, peer.numbers.psn, 0);
}

/* who may do what with which memory */
struct Right {
	const char *name;
	uint8_t opcode;
	int memory, qp; /* rights that are missing */
	uint32_t key;	/* what is wrong with the key */
	int64_t offset; /* into the region, which has 64 KiB */
	uint32_t bytes;
	uint8_t verdict;
};

constexpr int R = IBV_ACCESS_REMOTE_READ, W = IBV_ACCESS_REMOTE_WRITE, A = IBV_ACCESS_REMOTE_ATOMIC;
constexpr int64_t END = 65536;

const Right RIGHTS[] = {
	{ "WRITE", RC_WRITE_ONLY, 0, 0, 0, 0, 8, FINE },
	{ "WRITE, another key", RC_WRITE_ONLY, 0, 0, 1, 0, 8, ACCESS },
	{ "WRITE, a key that there is not", RC_WRITE_ONLY, 0, 0, 0x5a5a00, 0, 8, ACCESS },
	{ "WRITE to memory that may not be", RC_WRITE_ONLY, W | A, 0, 0, 0, 8, ACCESS },
	{ "WRITE to a QP that allows none", RC_WRITE_ONLY, 0, W, 0, 0, 8, INVALID },
	{ "WRITE up to the end", RC_WRITE_ONLY, 0, 0, 0, END - 8, 8, FINE },
	{ "WRITE beyond the end", RC_WRITE_ONLY, 0, 0, 0, END - 7, 8, ACCESS },
	{ "WRITE in front of the start", RC_WRITE_ONLY, 0, 0, 0, -1, 8, ACCESS },
	{ "WRITE behind the end", RC_WRITE_ONLY, 0, 0, 0, END, 8, ACCESS },
	{ "WRITE of nothing, another key", RC_WRITE_ONLY, 0, 0, 1, 0, 0, FINE },
	{ "WRITE of nothing, beyond the end", RC_WRITE_ONLY, 0, 0, 0, END + 99, 0, FINE },
	{ "READ", RC_READ_REQUEST, 0, 0, 0, 0, 8, FINE },
	{ "READ, another key", RC_READ_REQUEST, 0, 0, 1, 0, 8, ACCESS },
	{ "READ of memory that may not be", RC_READ_REQUEST, R, 0, 0, 0, 8, ACCESS },
	{ "READ from a QP that allows none", RC_READ_REQUEST, 0, R, 0, 0, 8, INVALID },
	{ "READ up to the end", RC_READ_REQUEST, 0, 0, 0, END - 8, 8, FINE },
	{ "READ beyond the end", RC_READ_REQUEST, 0, 0, 0, END - 7, 8, ACCESS },
	{ "READ in front of the start", RC_READ_REQUEST, 0, 0, 0, -1, 8, ACCESS },
	{ "READ of nothing, another key", RC_READ_REQUEST, 0, 0, 1, 0, 0, FINE },
	{ "READ of more than 2^31 bytes", RC_READ_REQUEST, 0, 0, 0, 0, 0x80000001, INVALID },
	{ "atomic", RC_FETCH_ADD, 0, 0, 0, 0, 8, FINE },
	{ "atomic, another key", RC_FETCH_ADD, 0, 0, 1, 0, 8, ACCESS },
	{ "atomic on memory that may not be", RC_FETCH_ADD, A, 0, 0, 0, 8, ACCESS },
	{ "atomic on a QP that allows none", RC_FETCH_ADD, 0, A, 0, 0, 8, INVALID },
	{ "atomic up to the end", RC_FETCH_ADD, 0, 0, 0, END - 8, 8, FINE },
	{ "atomic behind the end", RC_FETCH_ADD, 0, 0, 0, END, 8, ACCESS },
	{ "atomic at an odd address", RC_FETCH_ADD, 0, 0, 0, 1, 8, INVALID },
	{ "atomic 4 bytes from a right place", RC_CMP_SWAP, 0, 0, 0, 4, 8, INVALID },
	{ "compare and swap, another key", RC_CMP_SWAP, 0, 0, 1, 0, 8, ACCESS },
};

void right(Bench &bench, const Right &r)
{
	Setup setup;

	setup.access &= ~r.memory;
	setup.qp_access &= ~r.qp;
	Peer peer(bench, setup);
	auto psn = peer.numbers.psn;
	auto va = peer.end.mr.addr(0) + r.offset;
	auto key = peer.end.mr.rkey() ^ r.key;

	if (r.opcode == RC_READ_REQUEST)
		peer.put(r.opcode, psn, reth(va, key, r.bytes), true);
	else if (r.opcode == RC_WRITE_ONLY)
		peer.put(r.opcode, psn, join(reth(va, key, r.bytes), data(r.bytes, 1)), true);
	else
		peer.put(r.opcode, psn, atomic_eth(va, key, 1, 0), true);
	if (r.verdict) {
		peer.refused(r.verdict, psn, 0);
		return;
	}
	if (r.opcode == RC_READ_REQUEST) {
		peer.expect({ RC_READ_ONLY, psn, join(aeth(0x1f, 1), Bytes(r.bytes)) });
	} else if (r.opcode == RC_WRITE_ONLY) {
		peer.expect_ack(psn, 1);
	} else {
		auto body = aeth(0x1f, 1);

		put64(body, 0);
		peer.expect({ RC_ATOMIC_ACK, psn, body });
	}
}

/* a message that is longer than the receive buffer */
void too_long(Bench &bench, bool in_one)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;

	peer.end.qp.recv(0, { peer.end.mr.sge(Peer::BUFFER, in_one ? 39 : MTU + 39) });
	if (!in_one)
		peer.put(RC_SEND_FIRST, psn++, data(MTU, 1));
	peer.put(in_one ? RC_SEND_ONLY : RC_SEND_LAST, psn, data(40, 1), true);
	peer.refused(INVALID, psn, 0);
	peer.end.recv_cq.expect(0, IBV_WC_LOC_LEN_ERR, Peer::style.patience);
}

/* after an error the QP says nothing more; another one of the device answers */
void dead(Bench &bench)
{
	Peer peer(bench), other(bench);
	auto psn = peer.numbers.psn;

	peer.put(RC_WRITE_ONLY, psn, join(reth(0, 1, 8), data(8, 1)), true);
	peer.refused(ACCESS, psn, 0);
	for (int i = -1; i < 3; i++)
		peer.put(RC_WRITE_ONLY, psn + i, peer.write_body(0, 8, 1), true);
	peer.put(RC_READ_REQUEST, psn, peer.to_memory(0, 8), true);
	other.nothing_came_of_it();
	bench.wire.forget();
	peer.silence(2);
}

/* the timer that the QP was given, to the number; then the message again */
void not_ready(Bench &bench, uint8_t code, bool write)
{
	Setup setup;

	setup.min_rnr = code;
	Peer peer(bench, setup);
	auto psn = peer.numbers.psn;
	Bytes imm = { 1, 2, 3, 4 };
	uint8_t opcode = write ? RC_WRITE_ONLY_IMM : RC_SEND_ONLY;
	auto body = write ? join(join(peer.to_memory(0, 40), imm), data(40, 1)) : data(40, 1);

	peer.put(opcode, psn, body, true);
	peer.expect_ack(psn, 0, 0x20 | code);
	/* what follows is neither executed nor refused */
	peer.put(RC_WRITE_ONLY, psn + 1, peer.write_body(128, 40, 2), true);
	peer.recv(0);
	peer.put(opcode, psn, body, true);
	peer.expect_ack(psn, 1);
	auto wc = peer.end.recv_cq.expect(0, IBV_WC_SUCCESS, Peer::style.patience);
	if (wc.byte_len != 40)
		fail("byte_len %u", wc.byte_len);
	peer.goes_on(psn + 1, 1);
}

} // namespace

void add_refusals(Trials &trials)
{
	for (auto &l : LENGTHS)
		trials.push_back({ "length of a packet in its place (9.7.4.1.6)", l.name,
				   [&](Bench &b) { length(b, l); } });
	for (uint32_t promised : { MTU + 40, MTU + 41, MTU + 39, MTU + 44, 2 * MTU, 3 * MTU }) {
		trials.push_back({ "a WRITE carries what its RETH promises (9.7.4.1.6)",
				   format("%u bytes promised, two packets", promised),
				   [=](Bench &b) { promise(b, promised, MTU + 40); } });
		trials.push_back({ "a WRITE carries what its RETH promises (9.7.4.1.6)",
				   format("%u bytes promised, one packet", promised - MTU),
				   [=](Bench &b) { only_promise(b, promised - MTU, 40); } });
	}
	for (auto &r : RIGHTS)
		trials.push_back({ "keys, bounds and rights (9.7.4.1.5)", r.name,
				   [&](Bench &b) { right(b, r); } });
	for (bool in_one : { true, false })
		trials.push_back({ "a message longer than its receive buffer",
				   in_one ? "one packet" : "two packets",
				   [=](Bench &b) { too_long(b, in_one); } });
	trials.push_back({ "a QP in error is silent", "after a NAK", dead });
	for (uint8_t code = 0; code < 32; code++)
		for (bool write : { false, true })
			trials.push_back({ "receiver not ready: the timer (9.7.5.2.8)",
					   format("code %u, %s", code,
						  write ? "WRITE with immediate" : "SEND"),
					   [=](Bench &b) { not_ready(b, code, write); } });
}

} // namespace st
