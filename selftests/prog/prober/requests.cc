// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the device asks for (IBTA 9.7.2, 9.7.3): each request, bit for bit, in all
 * kinds of lengths, across the wraps of the PSN, and what it makes of the answers.
 */
#include <algorithm>
#include <cstring>

#include "../lib/pattern.hh"
#include "rules.hh"

namespace st
{

namespace
{

constexpr uint64_t FAR = 0x123456789abc0;
constexpr uint32_t KEY = 0xabcd1234, IMM = 0x01020304;
const uint32_t LENGTHS[] = { 0,	  1,	   2,	    3,	     4,		  5,	   MTU - 1,
			     MTU, MTU + 1, MTU + 2, MTU + 4, 2 * MTU - 1, 2 * MTU, 3 * MTU + 7 };

/* a request of the application, and the opcodes that it turns into */
struct Verb {
	const char *name;
	ibv_wr_opcode verb;
	uint8_t first, middle, last, only;
	bool remote, imm, inv;
};

const Verb VERBS[] = {
	{ "SEND", IBV_WR_SEND, RC_SEND_FIRST, RC_SEND_MIDDLE, RC_SEND_LAST, RC_SEND_ONLY, false,
	  false, false },
	{ "SEND with immediate", IBV_WR_SEND_WITH_IMM, RC_SEND_FIRST, RC_SEND_MIDDLE,
	  RC_SEND_LAST_IMM, RC_SEND_ONLY_IMM, false, true, false },
	{ "SEND with invalidate", IBV_WR_SEND_WITH_INV, RC_SEND_FIRST, RC_SEND_MIDDLE,
	  RC_SEND_LAST_INV, RC_SEND_ONLY_INV, false, false, true },
	{ "WRITE", IBV_WR_RDMA_WRITE, RC_WRITE_FIRST, RC_WRITE_MIDDLE, RC_WRITE_LAST, RC_WRITE_ONLY,
	  true, false, false },
	{ "WRITE with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, RC_WRITE_FIRST, RC_WRITE_MIDDLE,
	  RC_WRITE_LAST_IMM, RC_WRITE_ONLY_IMM, true, true, false },
};

void post(Peer &peer, uint64_t id, const Verb &v, uint32_t bytes, unsigned int flags = 0)
{
	auto work = Work(id, v.verb, { peer.end.mr.sge(0, bytes) }, IBV_SEND_SIGNALED | flags);

	if (v.remote)
		work.remote(FAR, KEY);
	if (v.imm)
		work.imm(IMM);
	auto &wr = work.get();
	if (v.inv)
		wr.invalidate_rkey = KEY;
	peer.end.qp.post(wr);
}

void done(Peer &peer, uint64_t id, ibv_wc_status status = IBV_WC_SUCCESS)
{
	peer.end.send_cq.expect(id, status, Peer::style.patience);
}

/* packet number i of a message of bytes of stream key */
Want packet(const Verb &v, uint32_t bytes, uint32_t i, uint32_t psn, uint64_t key,
	    bool solicited = false)
{
	auto packets = std::max(1U, (bytes + MTU - 1) / MTU);
	bool first = i == 0, last = i + 1 == packets;
	Want want;
	Bytes head;

	want.opcode = first ? (last ? v.only : v.first) : (last ? v.last : v.middle);
	want.psn = psn + i;
	if (first && v.remote)
		head = reth(FAR, KEY, bytes);
	if (last && v.imm)
		put32(head, IMM);
	if (last && v.inv)
		put32(head, KEY);
	want.body = join(head, data(last ? bytes - i * MTU : MTU, key, i * MTU));
	/* the last one has to ask, for nobody else will */
	want.ack_request = true;
	want.any_ack_request = !last;
	want.solicited = last && solicited;
	return want;
}

uint32_t expect_message(Peer &peer, const Verb &v, uint32_t bytes, uint32_t psn, uint64_t key,
			bool solicited = false)
{
	auto packets = std::max(1U, (bytes + MTU - 1) / MTU);

	for (uint32_t i = 0; i < packets; i++)
		peer.expect(packet(v, bytes, i, psn, key, solicited));
	return packets;
}

void whole(Bench &bench, const Verb &v, uint32_t bytes)
{
	Peer peer(bench);
	auto psn = peer.numbers.real;

	pattern_fill(peer.end.mr.data(), bytes, 11, 0);
	post(peer, 1, v, bytes);
	auto packets = expect_message(peer, v, bytes, psn, 11);
	peer.put(RC_ACK, psn + packets - 1, aeth(0x1f, 1));
	done(peer, 1);
}

void solicits(Bench &bench, const Verb &v, uint32_t bytes)
{
	Peer peer(bench);
	auto psn = peer.numbers.real;

	pattern_fill(peer.end.mr.data(), bytes, 11, 0);
	post(peer, 1, v, bytes, IBV_SEND_SOLICITED);
	auto packets = expect_message(peer, v, bytes, psn, 11, true);
	peer.put(RC_ACK, psn + packets - 1, aeth(0x1f, 1));
	done(peer, 1);
}

/* the responses to a READ of bytes of stream key, from number i up to the end */
void respond(Peer &peer, uint32_t psn, uint32_t bytes, uint64_t key, uint32_t i = 0)
{
	auto packets = std::max(1U, (bytes + MTU - 1) / MTU);

	for (uint32_t from = i; i < packets; i++) {
		bool first = i == from, last = i + 1 == packets;
		uint8_t opcode = first ? (last ? RC_READ_ONLY : RC_READ_FIRST)
				       : (last ? RC_READ_LAST : RC_READ_MIDDLE);
		auto body = data(last ? bytes - i * MTU : MTU, key, i * MTU);

		peer.put(opcode, psn + i, first || last ? join(aeth(0x1f, 1), body) : body);
	}
}

void read(Bench &bench, uint32_t bytes, uint32_t start)
{
	Setup setup;

	setup.real = start;
	Peer peer(bench, setup);
	auto packets = std::max(1U, (bytes + MTU - 1) / MTU);

	peer.end.mr.data()[bytes] = 0x77;
	Work(1, IBV_WR_RDMA_READ, { peer.end.mr.sge(0, bytes) }).remote(FAR, KEY).post(peer.end.qp);
	peer.expect({ RC_READ_REQUEST, start, reth(FAR, KEY, bytes), true });
	respond(peer, start, bytes, 12);
	done(peer, 1);
	peer.in_memory(0, bytes, 12);
	if (peer.end.mr.data()[bytes] != 0x77)
		fail("the pad was written, too");
	/* what comes next has the number behind the responses */
	pattern_fill(peer.end.mr.data(), 8, 13, 0);
	post(peer, 2, VERBS[0], 8);
	expect_message(peer, VERBS[0], 8, start + packets, 13);
	peer.put(RC_ACK, start + packets, aeth(0x1f, 2));
	done(peer, 2);
}

void atomic(Bench &bench, bool swap, uint32_t start)
{
	constexpr uint64_t OLD = 0x8899aabbccddeeff;
	Setup setup;
	uint64_t value;

	setup.real = start;
	Peer peer(bench, setup);
	Work(1, swap ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD,
	     { peer.end.mr.sge(0, 8) })
		.atomic(FAR, KEY, 0x1122334455667788, swap ? 0x99 : 0)
		.post(peer.end.qp);
	auto p = peer.next();
	if (p.bth.opcode != (swap ? RC_CMP_SWAP : RC_FETCH_ADD) || p.bth.psn != start)
		fail("%s PSN %06x", opcode_name(p.bth.opcode), p.bth.psn);
	auto body = Bytes(p.body(), p.body() + p.body_bytes);
	auto want = swap ? atomic_eth(FAR, KEY, 0x99, 0x1122334455667788)
			 : atomic_eth(FAR, KEY, 0x1122334455667788, get64(&body[20]));
	if (body != want || !p.icrc_good() || !p.bth.ack_request)
		fail("wrong AtomicETH, ICRC or no AckReq");
	auto answer = aeth(0x1f, 1);
	put64(answer, OLD);
	peer.put(RC_ATOMIC_ACK, start, answer);
	done(peer, 1);
	std::memcpy(&value, peer.end.mr.data(), sizeof(value));
	if (value != OLD)
		fail("the value came as %llx", static_cast<unsigned long long>(value));
}

/* over the wrap, and back to where it was lost */
void back(Bench &bench, uint32_t start, uint32_t from, uint8_t nak)
{
	constexpr uint32_t BYTES = 3 * MTU + 4;
	Setup setup;

	setup.real = start;
	Peer peer(bench, setup);
	auto &v = VERBS[3];
	pattern_fill(peer.end.mr.data(), BYTES, 14, 0);
	post(peer, 1, v, BYTES);
	expect_message(peer, v, BYTES, start, 14);
	peer.put(RC_ACK, start + from, aeth(nak, 0));
	for (uint32_t i = from; i < 4; i++)
		peer.expect(packet(v, BYTES, i, start, 14));
	peer.put(RC_ACK, start + 3, aeth(0x1f, 1));
	done(peer, 1);
}

/* a response is lost: asked for again from there */
void read_gap(Bench &bench, uint32_t start)
{
	constexpr uint32_t BYTES = 4 * MTU + 4;
	Setup setup;

	setup.real = start;
	Peer peer(bench, setup);
	Work(1, IBV_WR_RDMA_READ, { peer.end.mr.sge(0, BYTES) }).remote(FAR, KEY).post(peer.end.qp);
	peer.expect({ RC_READ_REQUEST, start, reth(FAR, KEY, BYTES), true });
	peer.put(RC_READ_FIRST, start, join(aeth(0x1f, 1), data(MTU, 15)));
	peer.put(RC_READ_MIDDLE, start + 2, data(MTU, 15, 2 * MTU));
	peer.expect({ RC_READ_REQUEST, start + 1, reth(FAR + MTU, KEY, BYTES - MTU), true });
	respond(peer, start, BYTES, 15, 1);
	done(peer, 1);
	peer.in_memory(0, BYTES, 15);
}

/* one answer for many, in the order of requests */
void many(Bench &bench, uint32_t start, uint32_t acked)
{
	Setup setup;

	setup.real = start;
	Peer peer(bench, setup);
	pattern_fill(peer.end.mr.data(), 8, 16, 0);
	for (uint64_t i = 0; i < 8; i++) {
		post(peer, i, VERBS[0], 8);
		expect_message(peer, VERBS[0], 8, start + i, 16);
	}
	peer.put(RC_ACK, start + acked, aeth(0x1f, acked + 1));
	for (uint32_t i = 0; i <= acked; i++)
		done(peer, i);
	if (acked < 7 && peer.end.send_cq.next(1))
		fail("more were completed than acknowledged");
	peer.put(RC_ACK, start + 7, aeth(0x1f, 8));
	for (uint32_t i = acked + 1; i < 8; i++)
		done(peer, i);
}

} // namespace

void add_requests(Trials &trials, const Bench &)
{
	for (auto &v : VERBS) {
		for (auto bytes : LENGTHS)
			trials.push_back({ "requests, bit for bit (9.2, 9.7.2)",
					   format("%s of %u bytes", v.name, bytes),
					   [&v, bytes](Bench &b) { whole(b, v, bytes); } });
		for (uint32_t bytes : { 8U, 2 * MTU })
			if (v.verb != IBV_WR_RDMA_WRITE)
				trials.push_back(
					{ "SE on the last packet only (9.2.3)",
					  format("%s of %u bytes", v.name, bytes),
					  [&v, bytes](Bench &b) { solicits(b, v, bytes); } });
	}
	for (auto bytes : LENGTHS)
		trials.push_back({ "a READ takes its responses' PSNs (9.7.3.3)",
				   format("%u bytes", bytes),
				   [=](Bench &b) { read(b, bytes, Ghost::REAL); } });
	for (uint32_t wrap : { 0x000000, 0x7fffff, 0x800000, 0xffffff }) {
		auto at = format("across %06x", wrap);
		auto start = (wrap - 1) & 0xffffff;

		trials.push_back({ "a READ takes its responses' PSNs (9.7.3.3)", at,
				   [=](Bench &b) { read(b, 3 * MTU, start); } });
		for (bool swap : { false, true })
			trials.push_back({ "atomic requests, bit for bit",
					   at + (swap ? ", compare and swap" : ", fetch and add"),
					   [=](Bench &b) { atomic(b, swap, wrap); } });
		for (uint32_t from : { 0, 1, 2, 3 })
			trials.push_back({ "a NAK's PSN is where to go on (9.7.5.2.4)",
					   at + format(", from packet %u", from),
					   [=](Bench &b) { back(b, start, from, 0x60); } });
		trials.push_back({ "a missing response is asked for again (9.7.5.2.7)", at,
				   [=](Bench &b) { read_gap(b, start); } });
		for (uint32_t acked : { 0, 1, 3, 7 })
			trials.push_back({ "an ACK stands for all before it (9.7.5.2.1)",
					   at + format(", %u of 8", acked + 1),
					   [=](Bench &b) { many(b, start, acked); } });
	}
}

} // namespace st
