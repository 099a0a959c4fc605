// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The unreliable connection's receiver (IBTA 9.8.2): a message that misses a packet,
 * or has one too many, is left out in silence, and the next one is not.
 */
#include <arpa/inet.h>

#include "rules.hh"

namespace st
{

namespace
{

constexpr uint8_t UC = 0x20;
constexpr uint32_t LAST_BYTES = 8;

struct Step {
	uint8_t opcode; /* of RC */
	uint32_t psn;
};

struct Case {
	const char *name;
	std::vector<Step> steps;
	unsigned int delivered; /* besides the SEND at the end */
};

const Case CASES[] = {
	{ "SEND ONLY", { { RC_SEND_ONLY, 0 } }, 1 },
	{ "two SENDs", { { RC_SEND_ONLY, 0 }, { RC_SEND_ONLY_IMM, 1 } }, 2 },
	{ "FIRST, LAST", { { RC_SEND_FIRST, 0 }, { RC_SEND_LAST, 1 } }, 1 },
	{ "FIRST, MIDDLE, LAST",
	  { { RC_SEND_FIRST, 0 }, { RC_SEND_MIDDLE, 1 }, { RC_SEND_LAST_IMM, 2 } },
	  1 },
	{ "MIDDLE at first", { { RC_SEND_MIDDLE, 0 } }, 0 },
	{ "LAST at first", { { RC_SEND_LAST, 0 } }, 0 },
	{ "FIRST, then a new ONLY", { { RC_SEND_FIRST, 0 }, { RC_SEND_ONLY, 1 } }, 1 },
	{ "FIRST, then a new FIRST",
	  { { RC_SEND_FIRST, 0 }, { RC_SEND_FIRST, 1 }, { RC_SEND_LAST, 2 } },
	  1 },
	{ "FIRST, LAST, LAST",
	  { { RC_SEND_FIRST, 0 }, { RC_SEND_LAST, 1 }, { RC_SEND_LAST, 2 } },
	  1 },
	{ "SEND FIRST, WRITE LAST", { { RC_SEND_FIRST, 0 }, { RC_WRITE_LAST_IMM, 1 } }, 0 },
	{ "WRITE FIRST, SEND LAST", { { RC_WRITE_FIRST, 0 }, { RC_SEND_LAST, 1 } }, 0 },
	{ "WRITE ONLY", { { RC_WRITE_ONLY_IMM, 0 } }, 1 },
	{ "WRITE FIRST, LAST", { { RC_WRITE_FIRST, 0 }, { RC_WRITE_LAST_IMM, 1 } }, 1 },
	{ "WRITE MIDDLE at first", { { RC_WRITE_MIDDLE, 0 } }, 0 },
	{ "WRITE LAST at first", { { RC_WRITE_LAST_IMM, 0 } }, 0 },
	{ "a MIDDLE is missing", { { RC_SEND_FIRST, 0 }, { RC_SEND_LAST, 2 } }, 0 },
	{ "the LAST is missing", { { RC_SEND_FIRST, 0 }, { RC_SEND_ONLY, 2 } }, 1 },
	{ "the FIRST is missing", { { RC_SEND_LAST, 1 } }, 0 },
	{ "a whole message is missing", { { RC_SEND_ONLY, 0 }, { RC_SEND_ONLY, 2 } }, 2 },
	{ "many are missing", { { RC_SEND_ONLY, 0 }, { RC_SEND_ONLY, 0x1000 } }, 2 },
	{ "a WRITE's MIDDLE is missing", { { RC_WRITE_FIRST, 0 }, { RC_WRITE_LAST_IMM, 2 } }, 0 },
	{ "READ is none of UC", { { RC_READ_REQUEST, 0 } }, 0 },
	{ "nor are atomics", { { RC_FETCH_ADD, 0 } }, 0 },
	{ "nor are ACKs", { { RC_ACK, 0 } }, 0 },
	{ "nor is SEND with invalidate", { { RC_SEND_ONLY_INV, 0 } }, 0 },
};

/* how many packets of the message that this one ends there are */
uint32_t length_at(const Case &c, size_t i)
{
	uint32_t packets = 0;

	for (; i < c.steps.size(); i++, packets++)
		if (c.steps[i].opcode == RC_WRITE_LAST_IMM)
			return packets * MTU + LAST_BYTES;
	return 4 * MTU;
}

Bytes body_for(const Peer &peer, const Case &c, size_t i)
{
	Bytes imm = { 0, 0, 0, 7 };
	auto last = data(LAST_BYTES, 1), full = data(MTU, 1);

	switch (c.steps[i].opcode) {
	case RC_SEND_FIRST:
	case RC_SEND_MIDDLE:
	case RC_WRITE_MIDDLE:
		return full;
	case RC_SEND_ONLY_IMM:
	case RC_SEND_LAST_IMM:
	case RC_WRITE_LAST_IMM:
	case RC_SEND_ONLY_INV:
		return join(imm, last);
	case RC_WRITE_FIRST:
		return join(peer.to_memory(0, length_at(c, i)), full);
	case RC_WRITE_ONLY_IMM:
		return join(join(peer.to_memory(0, LAST_BYTES), imm), last);
	case RC_READ_REQUEST:
		return peer.to_memory(0, LAST_BYTES);
	case RC_FETCH_ADD:
		return atomic_eth(peer.end.mr.addr(), peer.end.mr.rkey(), 1, 0);
	case RC_ACK:
		return aeth(0x1f, 1);
	default:
		return last;
	}
}

void sequence(Bench &bench, const Case &c, uint32_t start)
{
	constexpr uint32_t MARK = 0x600d;
	Setup setup;
	Bytes mark;

	setup.type = IBV_QPT_UC;
	setup.psn = start;
	Peer peer(bench, setup);
	for (unsigned int i = 0; i <= c.delivered; i++)
		peer.recv(i);
	for (size_t i = 0; i < c.steps.size(); i++)
		peer.put(c.steps[i].opcode | UC, start + c.steps[i].psn, body_for(peer, c, i));
	put32(mark, MARK);
	peer.put(RC_SEND_ONLY_IMM | UC, start + c.steps.back().psn + 1, join(mark, data(40, 9)));
	for (unsigned int i = 0; i <= c.delivered; i++) {
		auto wc = peer.end.recv_cq.expect(i, IBV_WC_SUCCESS, Peer::style.patience);
		bool marked = wc.wc_flags & IBV_WC_WITH_IMM && ntohl(wc.imm_data) == MARK;

		if (marked != (i == c.delivered))
			fail("%u messages were delivered, not %u", i, c.delivered);
	}
	peer.is_state(IBV_QPS_RTS);
	peer.in_memory(Peer::BUFFER + c.delivered * Peer::BUFFER_BYTES, 40, 9);
}

/* a packet too short or too long for its place drops its message */
void length(Bench &bench, uint8_t opcode, uint32_t bytes)
{
	Setup setup;
	uint32_t psn = setup.psn;

	setup.type = IBV_QPT_UC;
	Peer peer(bench, setup);
	peer.recv(0);
	if (opcode == RC_SEND_LAST)
		peer.put(RC_SEND_FIRST | UC, psn++, data(MTU, 1));
	peer.put(opcode | UC, psn++, data(bytes, 1));
	if (opcode == RC_SEND_FIRST)
		peer.put(RC_SEND_LAST | UC, psn++, data(8, 1));
	peer.put(RC_SEND_ONLY | UC, psn, data(40, 9));
	peer.received(0, 40, 9);
}

/* without a receive buffer: lost, and not the next one */
void no_buffer(Bench &bench)
{
	Setup setup;

	setup.type = IBV_QPT_UC;
	Peer peer(bench, setup);
	peer.put(RC_SEND_ONLY | UC, setup.psn, data(40, 8));
	/* a WRITE needs none; when it is there, the SEND was seen */
	peer.put(RC_WRITE_ONLY | UC, setup.psn + 1, peer.write_body(0, 40, 7));
	for (int i = 0; i < Peer::style.patience && peer.end.mr.data()[39] != data(40, 7)[39]; i++)
		sleep_us(1000);
	peer.in_memory(0, 40, 7);
	peer.recv(0);
	peer.put(RC_SEND_ONLY | UC, setup.psn + 2, data(40, 9));
	peer.received(0, 40, 9);
}

} // namespace

void add_unreliable(Trials &trials)
{
	for (auto &c : CASES)
		trials.push_back({ "UC: messages, whole or not at all (9.8.2.2)", c.name,
				   [&](Bench &b) { sequence(b, c, Ghost::PSN); } });
	for (uint32_t wrap : { 0x000000, 0x7fffff, 0x800000, 0xffffff })
		for (size_t i : { 3, 15 })
			trials.push_back(
				{ "UC: PSNs wrap", hex(wrap) + ", " + CASES[i].name, [=](Bench &b) {
					 sequence(b, CASES[i], (wrap - 1) & 0xffffff);
				 } });
	for (auto [opcode, bytes] : { std::pair<uint8_t, uint32_t>{ RC_SEND_FIRST, MTU - 4 },
				      { RC_SEND_FIRST, MTU + 4 },
				      { RC_SEND_LAST, 0 },
				      { RC_SEND_LAST, MTU + 1 },
				      { RC_SEND_ONLY, MTU + 1 } })
		trials.push_back({ "UC: length of a packet in its place",
				   format("%s of %u bytes", opcode_name(opcode), bytes),
				   [opcode = opcode, bytes = bytes](Bench &b) {
					   length(b, opcode, bytes);
				   } });
	trials.push_back({ "UC: no receive buffer, no message", "SEND", no_buffer });
}

} // namespace st
