// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * When a responder answers, and what its answers count (IBTA 9.7.5.1.2, 9.7.7):
 * coalesced ACKs, the MSN, credits, and the pad of READ responses.
 */
#include <algorithm>

#include "rules.hh"

namespace st
{

namespace
{

/* count WRITEs, those of the mask ask for an ACK: each may get one, the last one
 * that asks must, and none may say more than is true */
void coalesced(Bench &bench, uint32_t count, uint32_t mask)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	uint32_t last = 31 - __builtin_clz(mask), acked = 0;

	for (uint32_t i = 0; i < count; i++)
		peer.put(RC_WRITE_ONLY, psn + i, peer.write_body(64 * i, 40, i + 1), mask >> i & 1);
	do {
		auto p = peer.next();

		acked = (p.bth.psn - psn) & 0xffffff;
		if (p.bth.opcode != RC_ACK || acked >= count || p.syndrome() != 0x1f)
			fail("%s PSN %06x", opcode_name(p.bth.opcode), p.bth.psn);
		if (p.msn() != acked + 1)
			fail("MSN %u with PSN %06x", p.msn(), p.bth.psn);
	} while (acked < last);
	/* those after the last one that asked may have been told of, or not */
	peer.put(RC_WRITE_ONLY, psn + count, peer.write_body(8192, 40, 99), true);
	peer.expect_ack(psn + count, count + 1);
	for (uint32_t i = 0; i < count; i++)
		peer.in_memory(64 * i, 40, i + 1);
}

/* each packet that asks, one after the other, inside a message, too */
void each_asks(Bench &bench, bool write)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	auto first = data(MTU, 1);

	peer.recv(0);
	if (write)
		first = join(peer.to_memory(0, 2 * MTU + 8), first);
	peer.put(write ? RC_WRITE_FIRST : RC_SEND_FIRST, psn, first, true);
	peer.expect_ack(psn, 0);
	peer.put(write ? RC_WRITE_MIDDLE : RC_SEND_MIDDLE, psn + 1, data(MTU, 1, MTU), true);
	peer.expect_ack(psn + 1, 0);
	peer.put(write ? RC_WRITE_LAST : RC_SEND_LAST, psn + 2, data(8, 1, 2 * MTU), true);
	peer.expect_ack(psn + 2, 1);
	if (write)
		peer.in_memory(0, 2 * MTU + 8, 1);
	else
		peer.received(0, 2 * MTU + 8, 1);
}

/* what one message adds to the PSN; each adds one to the MSN */
uint32_t message(Peer &peer, char kind, uint32_t psn, uint32_t msn)
{
	switch (kind) {
	case 's':
		peer.recv(psn & 3);
		peer.put(RC_SEND_ONLY, psn, data(8, 1), true);
		peer.expect_ack(psn, msn);
		return 1;
	case 'S':
		peer.recv(psn & 3);
		peer.put(RC_SEND_FIRST, psn, data(MTU, 1));
		peer.put(RC_SEND_LAST, psn + 1, data(8, 1, MTU), true);
		peer.expect_ack(psn + 1, msn);
		return 2;
	case 'w':
		peer.put(RC_WRITE_ONLY, psn, peer.write_body(0, 8, 1), true);
		peer.expect_ack(psn, msn);
		return 1;
	case 'W':
		peer.put(RC_WRITE_FIRST, psn, join(peer.to_memory(0, MTU + 8), data(MTU, 1)));
		peer.put(RC_WRITE_LAST, psn + 1, data(8, 1, MTU), true);
		peer.expect_ack(psn + 1, msn);
		return 2;
	case 'r':
		peer.put(RC_READ_REQUEST, psn, peer.to_memory(1024, 8), true);
		peer.expect({ RC_READ_ONLY, psn, join(aeth(0x1f, msn), Bytes(8)) });
		return 1;
	case 'a': {
		auto body = aeth(0x1f, msn);

		put64(body, 0);
		peer.put(RC_CMP_SWAP, psn,
			 atomic_eth(peer.end.mr.addr(2048), peer.end.mr.rkey(), 0, 0), true);
		peer.expect({ RC_ATOMIC_ACK, psn, body });
		return 1;
	}
	}
	fail("no such message: %c", kind);
}

void counted(Bench &bench, const std::string &kinds)
{
	Peer peer(bench);
	uint32_t psn = peer.numbers.psn, msn = 0;

	for (auto kind : kinds)
		psn += message(peer, kind, psn, ++msn);
	/* a duplicate, a gap and an RNR NAK count nothing, but tell the count */
	peer.put(RC_WRITE_ONLY, psn, peer.write_body(0, 8, 1), true);
	peer.expect_ack(psn, ++msn);
	peer.put(RC_WRITE_ONLY, psn, peer.write_body(0, 8, 1), true);
	peer.expect_ack(psn, msn);
	peer.put(RC_WRITE_ONLY, psn + 100, peer.write_body(0, 8, 1), true);
	peer.expect_ack(psn + 1, msn, 0x60);
	peer.goes_on(psn + 1, msn);
}

/* the order of requests is that of answers: nothing overtakes a READ */
void behind_read(Bench &bench, uint32_t packets, char what)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	auto bytes = packets * MTU, after = psn + packets;
	auto b = data(bytes, 7);

	std::copy(b.begin(), b.end(), peer.end.mr.data());
	peer.put(RC_READ_REQUEST, psn, peer.to_memory(0, bytes), true);
	switch (what) {
	case 'w':
		peer.put(RC_WRITE_ONLY, after, peer.write_body(20000, 8, 1), true);
		peer.expect_read(psn, 1, bytes, 7);
		peer.expect_ack(after, 2);
		break;
	case 'x':
		peer.put(RC_WRITE_ONLY, after, join(reth(0, 1, 8), data(8, 1)), true);
		peer.expect_read(psn, 1, bytes, 7);
		peer.refused(0x62, after, 1);
		break;
	case 'n':
		peer.put(RC_SEND_ONLY, after, data(8, 1), true);
		peer.expect_read(psn, 1, bytes, 7);
		peer.expect_ack(after, 1, 0x21);
		break;
	case 'r':
		peer.put(RC_READ_REQUEST, after, peer.to_memory(0, bytes), true);
		peer.expect_read(psn, 1, bytes, 7);
		peer.expect_read(after, 2, bytes, 7);
		break;
	}
}

void read_of(Bench &bench, uint32_t bytes)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	auto b = data(bytes, 5);

	std::copy(b.begin(), b.end(), peer.end.mr.data() + 3);
	peer.put(RC_READ_REQUEST, psn, peer.to_memory(3, bytes), true);
	peer.expect_read(psn, 1, bytes, 5);
	peer.goes_on(psn + std::max(1U, (bytes + MTU - 1) / MTU), 1);
}

/* a request's pad is not data, whatever it holds */
void pad(Bench &bench, uint8_t opcode, uint32_t bytes, uint8_t filler)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	bool send = opcode == RC_SEND_ONLY || opcode == RC_SEND_ONLY_IMM;
	Bytes head, imm = { 1, 2, 3, 4 };

	peer.recv(0);
	if (!send)
		head = peer.to_memory(0, bytes);
	if (opcode == RC_SEND_ONLY_IMM || opcode == RC_WRITE_ONLY_IMM)
		head = join(head, imm);
	peer.end.mr.data()[bytes] = peer.end.mr.data()[Peer::BUFFER + bytes] = 0x77;
	auto out = peer.out(opcode, psn, join(head, data(bytes, 1)), true);
	std::fill_n(out.body.end() - out.bth.pad, out.bth.pad, filler);
	peer.put(out);
	peer.expect_ack(psn, 1);
	peer.in_memory(send ? Peer::BUFFER : 0, bytes, 1);
	if (peer.end.mr.data()[(send ? Peer::BUFFER : 0) + bytes] != 0x77)
		fail("the pad was written, too");
	if (opcode != RC_WRITE_ONLY) {
		auto wc = peer.end.recv_cq.expect(0, IBV_WC_SUCCESS, Peer::style.patience);

		if (wc.byte_len != bytes)
			fail("byte_len %u, not %u", wc.byte_len, bytes);
	}
}

/* a pad count that does not fit the packet */
void odd_pad(Bench &bench, uint8_t count, uint32_t bytes)
{
	Peer peer(bench);
	auto out = peer.out(RC_SEND_ONLY, peer.numbers.psn, Bytes(bytes), true);

	peer.recv(0);
	out.bth.pad = count;
	peer.raw(out.frame());
	peer.nothing_came_of_it();
}

} // namespace

void add_answers(Trials &trials)
{
	for (uint32_t count : { 2, 3, 5, 8, 20, 31 })
		for (uint32_t mask : { 1U << (count - 1), 1U, (1U << count) - 1,
				       0x55555555U & ((1U << count) - 1) })
			trials.push_back({ "ACKs may stand for many (9.7.5.1.2)",
					   format("%u WRITEs, AckReq mask %x", count, mask),
					   [=](Bench &b) { coalesced(b, count, mask); } });
	for (bool write : { true, false })
		trials.push_back({ "AckReq is answered inside a message", write ? "WRITE" : "SEND",
				   [=](Bench &b) { each_asks(b, write); } });
	for (auto *kinds : { "s", "S", "w", "W", "r", "a", "sw", "WS", "rr", "ar", "swra", "SWra",
			     "wwwwwwww", "aSrWswra" })
		trials.push_back({ "the MSN counts messages (9.7.7.1)", kinds,
				   [=](Bench &b) { counted(b, kinds); } });
	for (uint32_t packets : { 1, 3, 20 })
		for (char what : { 'w', 'x', 'n', 'r' })
			trials.push_back({ "no answer overtakes a READ's (9.7.5.1.2)",
					   format("%u packets, then %c", packets, what),
					   [=](Bench &b) { behind_read(b, packets, what); } });
	for (uint32_t bytes : { 0U, 1U, 2U, 3U, 4U, 5U, MTU - 1, MTU, MTU + 1, MTU + 2, 2 * MTU,
				3 * MTU + 3, 20 * MTU })
		trials.push_back({ "READ responses: cut, padded, numbered (9.7.5.1.9)",
				   format("%u bytes", bytes),
				   [=](Bench &b) { read_of(b, bytes); } });
	for (uint8_t opcode : { RC_SEND_ONLY, RC_SEND_ONLY_IMM, RC_WRITE_ONLY, RC_WRITE_ONLY_IMM })
		for (uint32_t bytes : { 1, 2, 3, 4, 5, 6, 7 })
			trials.push_back({ "the pad is no data (9.2.3)",
					   format("%s of %u bytes", opcode_name(opcode), bytes),
					   [=](Bench &b) { pad(b, opcode, bytes, 0xa5); } });
	for (uint8_t count : { 1, 2, 3 })
		trials.push_back({ "a pad larger than its packet is dropped",
				   format("%u, no data", count),
				   [=](Bench &b) { odd_pad(b, count, 0); } });
}

} // namespace st
