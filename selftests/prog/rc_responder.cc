// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The rules of the RC responder, one by one, asked by a peer made by hand:
 * what is acknowledged, what is refused and how, what is left unanswered.
 */
#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "lib/ghost.hh"
#include "lib/pattern.hh"

using namespace st;

namespace
{

constexpr uint32_t MTU = 1024;
constexpr uint32_t P = Ghost::PSN;

QpLink link_of()
{
	QpLink link;

	link.mtu = IBV_MTU_1024;
	link.min_rnr = 1; /* 0.01 ms */
	link.rd_atomic = 4;
	return link;
}

struct Asker : Ghost {
	explicit Asker(Bench &b) : Ghost(b, link_of()) {}

	void recv(uint64_t id, uint32_t bytes = 65536)
	{
		end.qp.recv(id, { end.mr.sge(65536, bytes) });
	}
	Bytes to_memory(uint64_t offset, uint32_t bytes) const
	{
		return reth(end.mr.addr(offset), end.mr.rkey(), bytes);
	}
	void received(uint64_t id, uint32_t bytes, uint64_t key)
	{
		auto wc = end.recv_cq.expect(id, IBV_WC_SUCCESS);

		if (wc.byte_len != bytes)
			fail("byte_len %u, not %u", wc.byte_len, bytes);
		if (pattern_check(end.mr.data() + 65536, bytes, key, 0) != bytes)
			fail("wrong data received");
	}
	void in_memory(uint64_t offset, uint32_t bytes, uint64_t key)
	{
		if (pattern_check(end.mr.data() + offset, bytes, key, 0) != bytes)
			fail("wrong data written");
	}
	void alive()
	{
		if (auto s = end.qp.state(); s != IBV_QPS_RTS)
			fail("the QP is in state %d", s);
	}
	/* refused with this code, and the QP is done for */
	void refused(uint8_t code, uint32_t psn)
	{
		expect_ack(code, psn);
		if (auto s = end.qp.state(); s != IBV_QPS_ERR)
			fail("the QP is in state %d", s);
	}
	void msn(const Packet &p, uint32_t expected)
	{
		if (p.msn() != expected)
			fail("MSN %u, not %u", p.msn(), expected);
	}
};

void send_only(Bench &b)
{
	Asker a(b);

	a.recv(1);
	a.recv(2);
	a.send(RC_SEND_ONLY, P, data(100, 1), true);
	a.msn(a.expect_ack(0, P), 1);
	a.received(1, 100, 1);
	a.send(RC_SEND_ONLY_IMM, P + 1, join({ 1, 2, 3, 4 }, data(7, 2)), true);
	a.msn(a.expect_ack(0, P + 1), 2);
	auto wc = a.end.recv_cq.expect(2, IBV_WC_SUCCESS);
	if (!(wc.wc_flags & IBV_WC_WITH_IMM) || ntohl(wc.imm_data) != 0x01020304)
		fail("immediate data %x", ntohl(wc.imm_data));
}

void send_many(Bench &b)
{
	Asker a(b);

	a.recv(1);
	a.send(RC_SEND_FIRST, P, data(MTU, 1));
	a.send(RC_SEND_MIDDLE, P + 1, data(MTU, 1, MTU));
	a.send(RC_SEND_LAST, P + 2, data(5, 1, 2 * MTU), true);
	a.msn(a.expect_ack(0, P + 2), 1);
	a.received(1, 2 * MTU + 5, 1);
}

void write_many(Bench &b)
{
	Asker a(b);

	a.send(RC_WRITE_FIRST, P, join(a.to_memory(0, 2 * MTU + 9), data(MTU, 1)));
	a.send(RC_WRITE_MIDDLE, P + 1, data(MTU, 1, MTU));
	a.send(RC_WRITE_LAST, P + 2, data(9, 1, 2 * MTU), true);
	a.msn(a.expect_ack(0, P + 2), 1);
	a.in_memory(0, 2 * MTU + 9, 1);
}

/* no AckReq, no hurry; with it, one ACK for all */
void coalesced(Bench &b)
{
	Asker a(b);

	for (int i = 0; i < 5; i++)
		a.send(RC_WRITE_ONLY, P + i, join(a.to_memory(i * 64, 64), data(64, i)), i == 4);
	for (;;) {
		auto p = a.next();
		if (p.bth.opcode != RC_ACK || p.syndrome() >> 5)
			fail("%s syndrome %02x", opcode_name(p.bth.opcode), p.syndrome());
		if (p.bth.psn == P + 4) {
			a.msn(p, 5);
			break;
		}
	}
	for (int i = 0; i < 5; i++)
		a.in_memory(i * 64, 64, i);
}

void duplicate_send(Bench &b)
{
	Asker a(b);

	a.recv(1);
	a.recv(2);
	a.send(RC_SEND_ONLY, P, data(100, 1), true);
	a.expect_ack(0, P);
	a.send(RC_SEND_ONLY, P + 1, data(100, 2), true);
	a.expect_ack(0, P + 1);
	a.received(1, 100, 2); /* both into one place */
	a.received(2, 100, 2);
	a.send(RC_SEND_ONLY, P, data(100, 3), true);
	/* acknowledged again, with the newest PSN */
	a.msn(a.expect_ack(0, P + 1), 2);
	if (a.end.recv_cq.next(50))
		fail("delivered twice");
	a.alive();
}

void duplicate_write(Bench &b)
{
	Asker a(b);

	a.send(RC_WRITE_ONLY, P, join(a.to_memory(0, 64), data(64, 1)), true);
	a.expect_ack(0, P);
	a.send(RC_WRITE_ONLY, P, join(a.to_memory(0, 64), data(64, 2)), true);
	a.expect_ack(0, P);
	a.in_memory(0, 64, 1);
	/* even if the key is wrong by now */
	a.send(RC_WRITE_ONLY, P, join(reth(0, 0xdead, 64), data(64, 2)), true);
	a.expect_ack(0, P);
	a.alive();
}

void gap(Bench &b)
{
	Asker a(b);

	a.send(RC_WRITE_ONLY, P + 2, join(a.to_memory(128, 64), data(64, 3)), true);
	a.msn(a.expect_ack(0x60, P), 0);
	/* said once is enough, for a while */
	a.send(RC_WRITE_ONLY, P + 3, join(a.to_memory(192, 64), data(64, 4)), true);
	a.silence(1);
	a.send(RC_WRITE_ONLY, P, join(a.to_memory(0, 64), data(64, 1)), true);
	a.send(RC_WRITE_ONLY, P + 1, join(a.to_memory(64, 64), data(64, 2)), true);
	a.send(RC_WRITE_ONLY, P + 2, join(a.to_memory(128, 64), data(64, 3)), true);
	a.send(RC_WRITE_ONLY, P + 3, join(a.to_memory(192, 64), data(64, 4)), true);
	for (Packet p = a.next(); p.bth.psn != P + 3; p = a.next())
		if (p.syndrome() >> 5)
			fail("syndrome %02x\n%s", p.syndrome(), a.seen().c_str());
	for (int i = 0; i < 4; i++)
		a.in_memory(i * 64, 64, i + 1);
	a.alive();
}

/* half the number space away: old, not new */
void far_past(Bench &b)
{
	Asker a(b);

	a.send(RC_WRITE_ONLY, P, join(a.to_memory(0, 64), data(64, 1)), true);
	a.expect_ack(0, P);
	a.send(RC_WRITE_ONLY, P - 0x7ffff0, join(a.to_memory(0, 64), data(64, 2)), true);
	a.expect_ack(0, P);
	a.in_memory(0, 64, 1);
	a.alive();
}

void read_response(Asker &a, uint32_t psn, uint32_t bytes, uint64_t key, uint64_t offset)
{
	auto packets = std::max(1U, (bytes + MTU - 1) / MTU);

	for (uint32_t i = 0; i < packets; i++) {
		bool first = i == 0, last = i + 1 == packets;
		auto opcode = first ? (last ? RC_READ_ONLY : RC_READ_FIRST)
				    : (last ? RC_READ_LAST : RC_READ_MIDDLE);
		auto p = a.expect(opcode, psn + i);
		auto extra = *extended_bytes(opcode);
		auto want = last ? bytes - i * MTU : MTU;

		if (p.body_bytes - extra - p.bth.pad != want)
			fail("response of %zu bytes, not %u", p.body_bytes - extra, want);
		if (pattern_check(p.body() + extra, want, key, offset + i * MTU) != want)
			fail("wrong data in response %u", i);
		if (extra && p.syndrome() >> 5)
			fail("response with syndrome %02x", p.syndrome());
	}
}

/*
 * What overtook others waits for its turn, but not what is further ahead than anything
 * overtakes: an off-path sender would hit with every other PSN.
 */
void far_future(Bench &b)
{
	constexpr uint32_t PACKETS = 512, READS = 3, FAR = P + READS * PACKETS;
	Asker a(b);

	a.recv(1);
	a.send(RC_SEND_ONLY, FAR, data(100, 2), true);
	a.expect_ack(0x60, P);
	for (uint32_t i = 0; i < READS; i++) {
		a.send(RC_READ_REQUEST, P + i * PACKETS, a.to_memory(0, PACKETS * MTU), true);
		for (uint32_t n = 0; n < PACKETS; n++)
			a.next();
	}
	/* its turn has come */
	a.silence(50);
	a.send(RC_SEND_ONLY, FAR, data(100, 1), true);
	a.expect_ack(0, FAR);
	a.received(1, 100, 1);
	a.alive();
}

void reads(Bench &b)
{
	Asker a(b);

	pattern_fill(a.end.mr.data(), 8192, 7, 0);
	uint32_t psn = P, done = 0;
	for (uint32_t bytes : { 0U, 1U, 5U, MTU - 1, MTU, MTU + 1, 3 * MTU, 3 * MTU + 2 }) {
		a.send(RC_READ_REQUEST, psn, a.to_memory(0, bytes), true);
		read_response(a, psn, bytes, 7, 0);
		psn += std::max(1U, (bytes + MTU - 1) / MTU);
		done++;
	}
	/* the PSN after the last response is the next one */
	a.send(RC_WRITE_ONLY, psn, join(a.to_memory(16384, 64), data(64, 1)), true);
	a.msn(a.expect_ack(0, psn), done + 1);
}

void duplicate_read(Bench &b)
{
	Asker a(b);

	pattern_fill(a.end.mr.data(), 8192, 7, 0);
	a.send(RC_READ_REQUEST, P, a.to_memory(0, 4 * MTU), true);
	read_response(a, P, 4 * MTU, 7, 0);
	/* all of it */
	a.send(RC_READ_REQUEST, P, a.to_memory(0, 4 * MTU), true);
	read_response(a, P, 4 * MTU, 7, 0);
	/* from the third packet on */
	a.send(RC_READ_REQUEST, P + 2, a.to_memory(2 * MTU, 2 * MTU), true);
	read_response(a, P + 2, 2 * MTU, 7, 2 * MTU);
	/* and the next request is what it was before */
	a.send(RC_WRITE_ONLY, P + 4, join(a.to_memory(16384, 64), data(64, 1)), true);
	a.msn(a.expect_ack(0, P + 4), 2);
}

/* a NAK for what comes after a READ must not overtake its responses */
void read_then_error(Bench &b)
{
	Asker a(b);

	pattern_fill(a.end.mr.data(), 65536, 7, 0);
	a.send(RC_READ_REQUEST, P, a.to_memory(0, 32 * MTU), true);
	a.send(RC_WRITE_ONLY, P + 32, join(reth(0, 0xdead, 64), data(64, 1)), true);
	read_response(a, P, 32 * MTU, 7, 0);
	a.refused(0x62, P + 32);
}

void rnr(Bench &b)
{
	Asker a(b);

	a.send(RC_SEND_ONLY, P, data(100, 1), true);
	auto p = a.expect_ack(0x20, P);
	if ((p.syndrome() & 31) != 1)
		fail("RNR timer %u", p.syndrome() & 31);
	/* what follows the refused one is dropped without a word */
	a.send(RC_SEND_ONLY, P + 1, data(100, 2), true);
	a.send(RC_WRITE_ONLY, P + 2, join(a.to_memory(0, 64), data(64, 1)), true);
	a.silence(50);
	a.recv(1);
	a.send(RC_SEND_ONLY, P, data(100, 1), true);
	a.msn(a.expect_ack(0, P), 1);
	a.received(1, 100, 1);
	a.alive();
}

void sequence(Bench &b, std::vector<uint8_t> opcodes)
{
	Asker a(b);
	uint32_t psn = P;

	a.recv(1);
	a.recv(2);
	for (auto opcode : opcodes) {
		bool write = opcode >= RC_WRITE_FIRST && opcode <= RC_WRITE_ONLY_IMM;
		bool starts = opcode == RC_WRITE_FIRST || opcode == RC_WRITE_ONLY;
		auto body = data(opcode == RC_SEND_ONLY || opcode == RC_SEND_LAST ||
						 opcode == RC_WRITE_LAST || opcode == RC_WRITE_ONLY
					 ? 64
					 : MTU,
				 1);

		if (write && starts)
			body = join(a.to_memory(0, opcode == RC_WRITE_ONLY ? 64 : 2 * MTU + 64),
				    body);
		if (opcode == RC_READ_REQUEST)
			body = a.to_memory(0, 64);
		a.send(opcode, psn++, body, true);
	}
	/* earlier ones may have been acknowledged */
	for (;;) {
		auto p = a.next();
		if (p.bth.opcode == RC_ACK && p.syndrome() >> 5 == 0)
			continue;
		if (p.bth.opcode != RC_ACK || p.syndrome() != 0x61 || p.bth.psn != psn - 1)
			fail("%s %02x PSN %06x instead of NAK 61 PSN %06x\n%s",
			     opcode_name(p.bth.opcode), p.syndrome(), p.bth.psn, psn - 1,
			     a.seen().c_str());
		break;
	}
	if (a.end.qp.state() != IBV_QPS_ERR)
		fail("the QP is not in the error state");
}

void bad_length(Bench &b, uint8_t opcode, size_t bytes, uint8_t before = 0xff)
{
	Asker a(b);
	uint32_t psn = P;

	a.recv(1);
	if (before != 0xff) {
		auto body = data(MTU, 1);

		if (before == RC_WRITE_FIRST)
			body = join(a.to_memory(0, 2 * MTU), body);
		a.send(before, psn++, body);
	}
	auto body = data(bytes, 1);
	if (opcode == RC_WRITE_FIRST || opcode == RC_WRITE_ONLY)
		body = join(a.to_memory(0, opcode == RC_WRITE_ONLY ? bytes : 4 * MTU), body);
	a.send(opcode, psn, body, true);
	a.refused(0x61, psn);
}

/* the RETH promises something else than comes */
void wrong_total(Bench &b, uint32_t promised, uint32_t last)
{
	Asker a(b);

	a.send(RC_WRITE_FIRST, P, join(a.to_memory(0, promised), data(MTU, 1)));
	a.send(RC_WRITE_LAST, P + 1, data(last, 1), true);
	a.refused(0x61, P + 1);
}

void only_wrong_total(Bench &b)
{
	Asker a(b);

	a.send(RC_WRITE_ONLY, P, join(a.to_memory(0, 64), data(65, 1)), true);
	a.refused(0x61, P);
}

void more_than_2g(Bench &b)
{
	Asker a(b);

	a.send(RC_READ_REQUEST, P, a.to_memory(0, 0x80000001), true);
	auto p = a.next();
	if (p.bth.opcode != RC_ACK || p.syndrome() >> 5 != 3)
		fail("answered with %s", opcode_name(p.bth.opcode));
}

/* what a receiver has to put up with */
void tolerance(Bench &b)
{
	Asker a(b);
	uint32_t psn = P;
	auto one = [&](const std::function<void(Bth &, Path &)> &change) {
		Bth bth;
		auto path = a.path;

		bth.opcode = RC_WRITE_ONLY;
		bth.psn = psn;
		bth.ack_request = true;
		change(bth, a.path);
		a.send(bth, join(a.to_memory(0, 64), data(64, psn)));
		a.path = path;
		a.expect_ack(0, psn);
		a.in_memory(0, 64, psn);
		psn++;
	};

	one([](Bth &b, Path &) { b.migrated = false; });
	one([](Bth &b, Path &) { b.solicited = true; });
	one([](Bth &b, Path &) { b.congestion = 0xff; });
	one([](Bth &b, Path &) { b.pkey = 0x7fff; }); /* a limited member */
	one([](Bth &, Path &p) { p.source_port = 0; });
	one([](Bth &, Path &p) { p.source_port = 65535; });
	one([](Bth &, Path &p) { p.tos = 0xfd; }); /* a congested one gets a CNP as well */
	one([](Bth &, Path &p) { p.ttl = 1; });
	one([](Bth &, Path &p) { p.id = 0xffff; });
}

void solicited(Bench &b)
{
	Asker a(b);
	Bth bth;

	a.recv(1);
	a.recv(2);
	a.end.recv_cq.arm(true);
	a.send(RC_SEND_ONLY, P, data(8, 1), true);
	if (a.end.recv_cq.wait(100))
		fail("event without the solicited bit");
	bth.opcode = RC_SEND_ONLY;
	bth.psn = P + 1;
	bth.solicited = true;
	bth.ack_request = true;
	a.send(bth, data(8, 1));
	if (!a.end.recv_cq.wait(2000))
		fail("no event with the solicited bit");
}

void atomics(Bench &b)
{
	Asker a(b);
	uint64_t start = 0x1122334455667788, now;

	std::memcpy(a.end.mr.data(), &start, 8);
	a.send(RC_FETCH_ADD, P, atomic_eth(a.end.mr.addr(), a.end.mr.rkey(), 1, 0), true);
	auto p = a.expect(RC_ATOMIC_ACK, P);
	if (get64(p.body() + 4) != start)
		fail("returned %llx", static_cast<unsigned long long>(get64(p.body() + 4)));
	a.msn(p, 1);
	a.send(RC_CMP_SWAP, P + 1, atomic_eth(a.end.mr.addr(), a.end.mr.rkey(), 5, start), true);
	p = a.expect(RC_ATOMIC_ACK, P + 1);
	if (get64(p.body() + 4) != start + 1)
		fail("returned %llx", static_cast<unsigned long long>(get64(p.body() + 4)));
	a.send(RC_CMP_SWAP, P + 2, atomic_eth(a.end.mr.addr(), a.end.mr.rkey(), 5, start + 1),
	       true);
	p = a.expect(RC_ATOMIC_ACK, P + 2);
	std::memcpy(&now, a.end.mr.data(), 8);
	if (now != 5)
		fail("the memory holds %llx", static_cast<unsigned long long>(now));
}

/* a duplicate is acknowledged with the PSN of the last SEND or WRITE: there are
 * peers that take an ACK with the PSN of a READ or atomic for its answer */
void ack_names_no_read(Bench &b)
{
	Asker a(b);
	auto again = [&] {
		a.send(RC_WRITE_ONLY, P, join(a.to_memory(64, 64), data(64, 1)), true);
		return a.expect_ack(0, P);
	};

	a.send(RC_WRITE_ONLY, P, join(a.to_memory(64, 64), data(64, 1)), true);
	a.msn(a.expect_ack(0, P), 1);
	a.send(RC_FETCH_ADD, P + 1, atomic_eth(a.end.mr.addr(), a.end.mr.rkey(), 1, 0), true);
	a.expect(RC_ATOMIC_ACK, P + 1);
	a.msn(again(), 2);
	a.send(RC_READ_REQUEST, P + 2, a.to_memory(0, 64), true);
	a.expect(RC_READ_ONLY, P + 2);
	a.msn(again(), 3);
	a.alive();
}

Case order(const char *name, std::vector<uint8_t> opcodes)
{
	return { std::string("out of order: ") + name,
		 [opcodes](Bench &b) { sequence(b, opcodes); } };
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(
		argc, argv,
		{ { "SEND ONLY, with and without immediate", send_only },
		  { "SEND of three packets", send_many },
		  { "WRITE of three packets", write_many },
		  { "one ACK for five WRITEs", coalesced },
		  { "a SEND doubled: acknowledged, not delivered", duplicate_send },
		  { "a WRITE doubled: acknowledged, not written", duplicate_write },
		  { "a gap: one NAK, then on in order", gap },
		  { "a PSN nearly half the range behind is a duplicate", far_past },
		  { "a PSN far ahead is not kept until its turn comes", far_future },
		  { "READs of every kind of size", reads },
		  { "a READ doubled, whole and in part", duplicate_read },
		  { "a NAK waits for the READ before it", read_then_error },
		  { "receiver not ready: what follows is dropped silently", rnr },
		  order("MIDDLE first", { RC_SEND_MIDDLE }),
		  order("LAST first", { RC_SEND_LAST }),
		  order("WRITE MIDDLE first", { RC_WRITE_MIDDLE }),
		  order("WRITE LAST first", { RC_WRITE_LAST }),
		  order("FIRST, FIRST", { RC_SEND_FIRST, RC_SEND_FIRST }),
		  order("FIRST, ONLY", { RC_SEND_FIRST, RC_SEND_ONLY }),
		  order("SEND FIRST, WRITE LAST", { RC_SEND_FIRST, RC_WRITE_LAST }),
		  order("WRITE FIRST, SEND LAST", { RC_WRITE_FIRST, RC_SEND_LAST }),
		  order("WRITE FIRST, READ", { RC_WRITE_FIRST, RC_READ_REQUEST }),
		  order("FIRST, LAST, LAST", { RC_SEND_FIRST, RC_SEND_LAST, RC_SEND_LAST }),
		  { "SEND FIRST shorter than the path MTU",
		    [](Bench &b) { bad_length(b, RC_SEND_FIRST, MTU - 4); } },
		  { "SEND FIRST longer than the path MTU",
		    [](Bench &b) { bad_length(b, RC_SEND_FIRST, MTU + 4); } },
		  { "SEND ONLY longer than the path MTU",
		    [](Bench &b) { bad_length(b, RC_SEND_ONLY, MTU + 1); } },
		  { "SEND MIDDLE shorter than the path MTU",
		    [](Bench &b) { bad_length(b, RC_SEND_MIDDLE, 4, RC_SEND_FIRST); } },
		  { "SEND LAST of nothing",
		    [](Bench &b) { bad_length(b, RC_SEND_LAST, 0, RC_SEND_FIRST); } },
		  { "WRITE FIRST shorter than the path MTU",
		    [](Bench &b) { bad_length(b, RC_WRITE_FIRST, 64); } },
		  { "WRITE LAST of nothing",
		    [](Bench &b) { bad_length(b, RC_WRITE_LAST, 0, RC_WRITE_FIRST); } },
		  { "WRITE shorter than its RETH says",
		    [](Bench &b) { wrong_total(b, MTU + 100, 99); } },
		  { "WRITE longer than its RETH says",
		    [](Bench &b) { wrong_total(b, MTU + 100, 101); } },
		  { "WRITE ONLY longer than its RETH says", only_wrong_total },
		  { "READ of more than 2 GB", more_than_2g },
		  { "what a receiver has to put up with", tolerance },
		  { "solicited events", solicited },
		  { "atomics", atomics },
		  { "an ACK never names a READ or atomic", ack_names_no_read } });
}
