// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Which opcode may follow which (IBTA 9.7.4.1.2): every request opcode in every
 * state that a message can be in.
 */
#include <algorithm>

#include "rules.hh"

namespace st
{

namespace
{

constexpr uint32_t LAST_BYTES = 8;

enum class Open { NOTHING, SEND, WRITE };

struct State {
	const char *name;
	std::vector<uint8_t> before;
	Open open;
	uint32_t done; /* messages that are complete */
};

const State STATES[] = {
	{ "at first", {}, Open::NOTHING, 0 },
	{ "after SEND FIRST", { RC_SEND_FIRST }, Open::SEND, 0 },
	{ "after SEND MIDDLE", { RC_SEND_FIRST, RC_SEND_MIDDLE }, Open::SEND, 0 },
	{ "after SEND LAST", { RC_SEND_FIRST, RC_SEND_LAST }, Open::NOTHING, 1 },
	{ "after SEND ONLY", { RC_SEND_ONLY }, Open::NOTHING, 1 },
	{ "after WRITE FIRST", { RC_WRITE_FIRST }, Open::WRITE, 0 },
	{ "after WRITE MIDDLE", { RC_WRITE_FIRST, RC_WRITE_MIDDLE }, Open::WRITE, 0 },
	{ "after WRITE LAST",
	  { RC_WRITE_FIRST, RC_WRITE_MIDDLE, RC_WRITE_LAST },
	  Open::NOTHING,
	  1 },
	{ "after WRITE ONLY", { RC_WRITE_ONLY }, Open::NOTHING, 1 },
	{ "after two messages", { RC_WRITE_ONLY, RC_SEND_ONLY }, Open::NOTHING, 2 },
};

enum Place { FIRST = 1, LAST = 2 };

struct Request {
	uint8_t opcode;
	Open kind;
	int place;
};

constexpr int MIDDLE = 0, ONLY = FIRST | LAST;

const Request REQUESTS[] = {
	{ RC_SEND_FIRST, Open::SEND, FIRST },	  { RC_SEND_MIDDLE, Open::SEND, MIDDLE },
	{ RC_SEND_LAST, Open::SEND, LAST },	  { RC_SEND_LAST_IMM, Open::SEND, LAST },
	{ RC_SEND_LAST_INV, Open::SEND, LAST },	  { RC_SEND_ONLY, Open::SEND, ONLY },
	{ RC_SEND_ONLY_IMM, Open::SEND, ONLY },	  { RC_SEND_ONLY_INV, Open::SEND, ONLY },
	{ RC_WRITE_FIRST, Open::WRITE, FIRST },	  { RC_WRITE_MIDDLE, Open::WRITE, MIDDLE },
	{ RC_WRITE_LAST, Open::WRITE, LAST },	  { RC_WRITE_LAST_IMM, Open::WRITE, LAST },
	{ RC_WRITE_ONLY, Open::WRITE, ONLY },	  { RC_WRITE_ONLY_IMM, Open::WRITE, ONLY },
	{ RC_READ_REQUEST, Open::NOTHING, ONLY }, { RC_CMP_SWAP, Open::NOTHING, ONLY },
	{ RC_FETCH_ADD, Open::NOTHING, ONLY },
};

bool legal(const State &state, const Request &request)
{
	return state.open == (request.place & FIRST ? Open::NOTHING : request.kind);
}

const Request &request_of(uint8_t opcode)
{
	for (auto &r : REQUESTS)
		if (r.opcode == opcode)
			return r;
	fail("no request: %02x", opcode);
}

/* total: bytes of the whole message */
Bytes body_for(const Peer &peer, const Request &request, uint32_t total)
{
	Bytes body;

	switch (request.opcode) {
	case RC_READ_REQUEST:
		return peer.to_memory(0, LAST_BYTES);
	case RC_CMP_SWAP:
	case RC_FETCH_ADD:
		return atomic_eth(peer.end.mr.addr(), peer.end.mr.rkey(), 1, 0);
	case RC_WRITE_FIRST:
	case RC_WRITE_ONLY:
	case RC_WRITE_ONLY_IMM:
		body = peer.to_memory(0, total);
	}
	switch (request.opcode) {
	case RC_SEND_LAST_IMM:
	case RC_SEND_ONLY_IMM:
	case RC_WRITE_LAST_IMM:
	case RC_WRITE_ONLY_IMM:
		put32(body, 0x01020304);
		break;
	case RC_SEND_LAST_INV:
	case RC_SEND_ONLY_INV:
		put32(body, 0); /* a key that there is not */
	}
	return join(body, data(request.place & LAST ? LAST_BYTES : MTU, 1));
}

/* the answer to a request in its place */
void answered(Peer &peer, const Request &request, uint32_t psn, uint32_t done)
{
	switch (request.opcode) {
	case RC_SEND_LAST_INV:
	case RC_SEND_ONLY_INV:
		peer.refused(0x62, psn, done);
		return;
	case RC_READ_REQUEST:
		peer.expect({ RC_READ_ONLY, psn, join(aeth(0x1f, done + 1), Bytes(LAST_BYTES)) });
		break;
	case RC_CMP_SWAP:
	case RC_FETCH_ADD: {
		auto body = aeth(0x1f, done + 1);

		put64(body, 0);
		peer.expect({ RC_ATOMIC_ACK, psn, body });
		break;
	}
	default:
		peer.expect_ack(psn, done + !!(request.place & LAST));
	}
	peer.is_state(IBV_QPS_RTS);
}

void follow(Bench &bench, const State &state, const Request &request)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	/* what there is of the message before its last packet */
	uint32_t total = (legal(state, request) ? state.before.size() * MTU : 0) + LAST_BYTES;

	peer.recv(0);
	peer.recv(1);
	peer.recv(2);
	for (auto opcode : state.before) {
		auto &r = request_of(opcode);
		uint32_t bytes = 4 * MTU;

		if (r.place & LAST)
			bytes = LAST_BYTES;
		else if (state.open == Open::NOTHING)
			bytes = 2 * MTU + LAST_BYTES;
		else if (legal(state, request) && request.place & LAST)
			bytes = total;

		peer.put(opcode, psn++, body_for(peer, r, bytes));
	}
	std::fill_n(peer.end.mr.data(), LAST_BYTES, 0);
	if (!state.before.empty() && state.open == Open::NOTHING) {
		/* done before memory is looked at: asked for by a duplicate */
		peer.put(RC_WRITE_ONLY, peer.numbers.psn - 1, peer.write_body(0, 8, 1), true);
		peer.expect_ack(psn - 1, state.done);
		std::fill_n(peer.end.mr.data(), LAST_BYTES, 0);
	}
	if (request.place & FIRST)
		total = request.place & LAST ? LAST_BYTES : 4 * MTU;
	peer.put(request.opcode, psn, body_for(peer, request, total), true);
	if (legal(state, request))
		answered(peer, request, psn, state.done);
	else
		peer.refused(0x61, psn, state.done);
}

/* opcodes of the RC service that mean nothing: dropped */
void reserved(Bench &bench, uint8_t opcode)
{
	Peer peer(bench);

	peer.recv(0);
	peer.put(opcode, peer.numbers.psn, peer.write_body(0, 8, 1), true);
	peer.nothing_came_of_it();
}

/* those of another service than the QP's */
void stranger(Bench &bench, uint8_t opcode)
{
	Peer peer(bench);

	peer.recv(0);
	peer.raw(peer.out(opcode, peer.numbers.psn, peer.write_body(0, 8, 1), true).frame());
	peer.nothing_came_of_it();
}

} // namespace

void add_sequences(Trials &trials)
{
	for (auto &state : STATES)
		for (auto &request : REQUESTS)
			trials.push_back(
				{ "opcode sequence (9.7.4.1.2)",
				  std::string(opcode_name(request.opcode)) + " " + state.name,
				  [&](Bench &b) { follow(b, state, request); } });
	for (uint8_t opcode : { 0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1e, 0x1f })
		trials.push_back({ "a reserved opcode is dropped", hex(opcode),
				   [=](Bench &b) { reserved(b, opcode); } });
	for (uint8_t opcode : { 0x24, 0x2a, 0x44, 0x64, 0x65, 0x80, 0xa4, 0xaa, 0xc4, 0xff })
		trials.push_back({ "an opcode of another service is dropped (9.6.1.1)", hex(opcode),
				   [=](Bench &b) { stranger(b, opcode); } });
}

} // namespace st
