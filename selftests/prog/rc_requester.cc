// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The rules of the RC requester, one by one, answered by a peer made by hand:
 * what it sends, what it takes for an answer, when and from where it sends
 * again, what completes and how.
 */
#include <algorithm>
#include <cstring>

#include "lib/ghost.hh"
#include "lib/pattern.hh"
#include "lib/region.hh"

using namespace st;

namespace
{

constexpr uint32_t MTU = 1024;
constexpr uint32_t P = Ghost::REAL;
constexpr uint64_t FAR = 0x1000, KEY = 0x77;
/* 134 ms, and 3.6 s until seven tries are used up */
constexpr uint8_t T_SHORT = 15;

/* without a time-out, unless it is what is tested: this program plays the peer,
 * and may be slow */
QpLink link_of(uint8_t timeout = 0, uint8_t retry = 7)
{
	QpLink link;

	link.mtu = IBV_MTU_1024;
	link.timeout = timeout;
	link.retry = retry;
	link.rd_atomic = 4;
	return link;
}

struct Answerer : Ghost {
	explicit Answerer(Bench &b, const QpLink &link = link_of()) : Ghost(b, link)
	{
		pattern_fill(end.mr.data(), 65536, 1, 0);
	}

	void write(uint64_t id, uint32_t bytes, unsigned int flags = IBV_SEND_SIGNALED)
	{
		Work(id, IBV_WR_RDMA_WRITE, { end.mr.sge(0, bytes) }, flags)
			.remote(FAR, KEY)
			.post(end.qp);
	}
	void read(uint64_t id, uint32_t bytes, uint32_t to = 131072)
	{
		Work(id, IBV_WR_RDMA_READ, { end.mr.sge(to, bytes) }).remote(FAR, KEY).post(end.qp);
	}
	/* responses to a READ, packets from..to of those that bytes make */
	void respond(uint32_t psn, uint32_t bytes, uint32_t from, uint32_t to, uint32_t msn)
	{
		auto packets = std::max(1U, (bytes + MTU - 1) / MTU);

		for (uint32_t i = from; i <= to && i < packets; i++) {
			bool first = i == from, last = i + 1 == packets;
			auto opcode = first ? (last ? RC_READ_ONLY : RC_READ_FIRST)
					    : (last ? RC_READ_LAST : RC_READ_MIDDLE);
			auto body = data(last ? bytes - i * MTU : MTU, 9, i * MTU);

			if (first || last)
				body = join(aeth(0x1f, msn), body);
			send(opcode, psn + i, body);
		}
	}
	void read_good(uint64_t id, uint32_t bytes, uint32_t at = 131072)
	{
		auto wc = end.send_cq.expect(id, IBV_WC_SUCCESS);

		if (wc.byte_len != bytes)
			fail("byte_len %u, not %u", wc.byte_len, bytes);
		if (pattern_check(end.mr.data() + at, bytes, 9, 0) != bytes)
			fail("wrong data read");
	}
	void none_done(int ms = 50)
	{
		if (auto wc = end.send_cq.next(ms))
			fail("%llu completed: %s", static_cast<unsigned long long>(wc->wr_id),
			     ibv_wc_status_str(wc->status));
	}
	void is_state(ibv_qp_state state)
	{
		if (auto s = end.qp.state(); s != state)
			fail("the QP is in state %d", s);
	}
};

void check_reth(const Packet &p, uint64_t va, uint32_t length)
{
	if (get64(p.body()) != va || get32(p.body() + 8) != KEY || get32(p.body() + 12) != length)
		fail("RETH: address %llx, key %x, length %u",
		     static_cast<unsigned long long>(get64(p.body())), get32(p.body() + 8),
		     get32(p.body() + 12));
}

/* the last packet of a message asks for an ACK */
void asks(const Packet &p)
{
	if (!p.bth.ack_request)
		fail("%s does not ask for an ACK", opcode_name(p.bth.opcode));
}

void write_packets(Bench &b)
{
	Answerer a(b);

	a.write(1, 2 * MTU + 3);
	auto p = a.expect(RC_WRITE_FIRST, P);
	check_reth(p, FAR, 2 * MTU + 3);
	if (!p.bth.migrated || p.bth.solicited || p.bth.pkey != 0xffff || p.bth.congestion & 0x3f)
		fail("BTH: migrated %d, solicited %d, P_Key %x, reserved %x", p.bth.migrated,
		     p.bth.solicited, p.bth.pkey, p.bth.congestion & 0x3f);
	a.expect(RC_WRITE_MIDDLE, P + 1);
	p = a.expect(RC_WRITE_LAST, P + 2);
	asks(p);
	if (p.bth.pad != 1)
		fail("pad count %u", p.bth.pad);
	a.none_done();
	a.ack(P + 2, 1);
	a.end.send_cq.expect(1, IBV_WC_SUCCESS);
}

void one_ack_for_many(Bench &b)
{
	Answerer a(b);

	for (int i = 0; i < 8; i++)
		a.write(i, 64, i % 3 ? 0 : IBV_SEND_SIGNALED);
	for (int i = 0; i < 8; i++)
		a.expect(RC_WRITE_ONLY, P + i);
	a.ack(P + 2, 3);
	a.end.send_cq.expect(0, IBV_WC_SUCCESS);
	a.none_done();
	a.ack(P + 7, 8);
	a.end.send_cq.expect(3, IBV_WC_SUCCESS);
	a.end.send_cq.expect(6, IBV_WC_SUCCESS);
	a.none_done();
}

void nak_goes_back(Bench &b)
{
	Answerer a(b);

	for (int i = 0; i < 5; i++)
		a.write(i, 64);
	for (int i = 0; i < 5; i++)
		a.expect(RC_WRITE_ONLY, P + i);
	a.ack(P + 2, 2, 0x60);
	/* what stands before it is acknowledged by that */
	a.end.send_cq.expect(0, IBV_WC_SUCCESS);
	a.end.send_cq.expect(1, IBV_WC_SUCCESS);
	a.none_done(20);
	for (int i = 2; i < 5; i++)
		a.expect(RC_WRITE_ONLY, P + i);
	a.ack(P + 4, 5);
	for (int i = 2; i < 5; i++)
		a.end.send_cq.expect(i, IBV_WC_SUCCESS);
}

/* in the middle of a message: from the packet that was missed */
void nak_within(Bench &b)
{
	Answerer a(b);

	a.write(1, 4 * MTU);
	a.expect(RC_WRITE_FIRST, P);
	a.expect(RC_WRITE_MIDDLE, P + 1);
	a.expect(RC_WRITE_MIDDLE, P + 2);
	a.expect(RC_WRITE_LAST, P + 3);
	a.ack(P + 2, 0, 0x60);
	auto p = a.expect(RC_WRITE_MIDDLE, P + 2);
	if (pattern_check(p.body(), MTU, 1, 2 * MTU) != MTU)
		fail("sent again with other data");
	a.expect(RC_WRITE_LAST, P + 3);
	a.ack(P + 3, 1);
	a.end.send_cq.expect(1, IBV_WC_SUCCESS);
}

void unexpected_acks(Bench &b)
{
	Answerer a(b);

	a.write(1, 64);
	a.expect(RC_WRITE_ONLY, P);
	a.ack(P + 5, 1); /* not sent yet */
	a.ack(P - 1, 0); /* long acknowledged */
	a.ack(P - 100, 0, 0x60);
	a.ack(P + 0x7fffff, 1);
	a.ack(P, 1, 0x5f); /* reserved */
	a.send(RC_READ_ONLY, P - 1, aeth(0x1f, 0));
	a.none_done();
	a.is_state(IBV_QPS_RTS);
	a.forget();
	a.ack(P, 1);
	a.end.send_cq.expect(1, IBV_WC_SUCCESS);
	a.ack(P, 1);
	a.none_done();
	a.is_state(IBV_QPS_RTS);
}

void timeout_counts(Bench &b, uint8_t retry)
{
	constexpr uint8_t T = 14;
	constexpr double MS = 4.096e-3 * (1 << T), BUSY = 2000;
	Answerer a(b, link_of(T, retry));
	/* The standard allows one to four times the time-out, and the machine may be busy. A
	 * packet is seen a while after it left, so that the next one seems to come early:
	 * what cannot be earlier than so many time-outs after is the post. */
	const uint64_t posted = real_ns();
	uint64_t last = 0;

	a.write(1, 64);
	for (int i = 0; i <= retry; i++) {
		auto p = a.expect(RC_WRITE_ONLY, P);
		const double all = (p.ns - posted) / 1e6, one = (p.ns - last) / 1e6;

		if (all < i * MS * 0.98 || (i && (one < MS / 2 || one > 4 * MS + BUSY)))
			fail("sent for time %d after %.1f ms, %.1f after the one before; the "
			     "time-out is %.1f ms",
			     i + 1, all, one, MS);
		last = p.ns;
	}
	a.end.send_cq.expect(1, IBV_WC_RETRY_EXC_ERR);
	a.silence(200);
	a.is_state(IBV_QPS_ERR);
}

/* progress gives all tries back: two are used up for each packet, and the third
 * time-out, a second later, is far away */
void progress_resets(Bench &b)
{
	constexpr uint8_t T = 16, RETRY = 2; /* 268 ms */
	constexpr uint32_t PACKETS = 3;
	Answerer a(b, link_of(T, RETRY));

	auto burst = [&](uint32_t from) {
		for (uint32_t i = from; i < PACKETS; i++)
			if (auto p = a.next(); p.bth.psn != P + i)
				fail("PSN %06x instead of %06x\n%s", p.bth.psn, P + i,
				     a.seen().c_str());
	};

	a.write(1, PACKETS * MTU);
	burst(0);
	for (uint32_t i = 0; i < PACKETS; i++) {
		for (int again = 0; again < RETRY; again++)
			burst(i);
		a.ack(P + i, i + 1 == PACKETS);
	}
	a.end.send_cq.expect(1, IBV_WC_SUCCESS);
}

void no_timeout(Bench &b)
{
	Answerer a(b, link_of(0, 1));

	a.write(1, 64);
	a.expect(RC_WRITE_ONLY, P);
	a.silence(1500);
	a.ack(P, 1);
	a.end.send_cq.expect(1, IBV_WC_SUCCESS);
}

void nak_status(Bench &b, uint8_t code, ibv_wc_status status)
{
	Answerer a(b);

	a.write(1, 64);
	a.write(2, 64);
	a.write(3, 64);
	for (int i = 0; i < 3; i++)
		a.expect(RC_WRITE_ONLY, P + i);
	a.ack(P + 1, 1, code);
	a.end.send_cq.expect(1, IBV_WC_SUCCESS);
	a.end.send_cq.expect(2, status);
	a.end.send_cq.expect(3, IBV_WC_WR_FLUSH_ERR);
	a.is_state(IBV_QPS_ERR);
	a.silence();
}

void read_plain(Bench &b)
{
	Answerer a(b);

	a.read(1, 3 * MTU + 5);
	check_reth(a.expect(RC_READ_REQUEST, P), FAR, 3 * MTU + 5);
	a.respond(P, 3 * MTU + 5, 0, 3, 1);
	a.read_good(1, 3 * MTU + 5);
	/* the next request comes after the PSNs of the responses */
	a.write(2, 64);
	a.expect(RC_WRITE_ONLY, P + 4);
	a.ack(P + 4, 2);
	a.end.send_cq.expect(2, IBV_WC_SUCCESS);
}

/* a response is missing: asked for again from there, before any time-out */
void read_gap(Bench &b)
{
	Answerer a(b);
	constexpr uint32_t BYTES = 5 * MTU + 100;

	a.read(1, BYTES);
	a.expect(RC_READ_REQUEST, P);
	a.send(RC_READ_FIRST, P, join(aeth(0x1f, 1), data(MTU, 9)));
	a.send(RC_READ_MIDDLE, P + 1, data(MTU, 9, MTU));
	a.send(RC_READ_MIDDLE, P + 3, data(MTU, 9, 3 * MTU));
	a.send(RC_READ_MIDDLE, P + 4, data(MTU, 9, 4 * MTU));
	auto p = a.next();
	if (p.bth.opcode != RC_READ_REQUEST || p.bth.psn > P + 2)
		fail("%s PSN %06x", opcode_name(p.bth.opcode), p.bth.psn);
	/* from a PSN on, the address and length that belong to it */
	auto skip = (p.bth.psn - P) * MTU;
	if (get64(p.body()) != FAR + skip)
		fail("asked again at PSN %06x for address %llx", p.bth.psn,
		     static_cast<unsigned long long>(get64(p.body())));
	a.none_done(20);
	auto length = get32(p.body() + 12);
	auto first = p.bth.psn - P, count = (length + MTU - 1) / MTU;
	/* it may ask for the missing piece only, or for all from there on */
	a.respond(P, first + count == 6 ? BYTES : (first + count) * MTU, first, first + count - 1,
		  1);
	if (first + count < 6) {
		/* then it has kept the rest, or asks for it separately */
		if (!a.end.send_cq.next(50)) {
			p = a.next();
			a.respond(P, BYTES, p.bth.psn - P, 5, 1);
		} else {
			return;
		}
	}
	a.read_good(1, BYTES);
}

/* all responses lost: time-out, and the same request again */
void read_lost(Bench &b)
{
	Answerer a(b, link_of(T_SHORT));

	a.read(1, 2 * MTU);
	a.expect(RC_READ_REQUEST, P);
	check_reth(a.expect(RC_READ_REQUEST, P), FAR, 2 * MTU);
	a.respond(P, 2 * MTU, 0, 1, 1);
	a.read_good(1, 2 * MTU);
}

/* an ACK for what follows says that the responses were sent, not that they
 * came: the READ is not done, and what follows may not overtake it */
void ack_over_read(Bench &b)
{
	Answerer a(b);

	a.read(1, 2 * MTU);
	a.write(2, 64);
	a.expect(RC_READ_REQUEST, P);
	a.expect(RC_WRITE_ONLY, P + 2);
	a.ack(P + 2, 2);
	a.none_done();
	a.is_state(IBV_QPS_RTS);
	auto p = a.next();
	if (p.bth.opcode != RC_READ_REQUEST || p.bth.psn != P)
		fail("%s PSN %06x instead of the READ again", opcode_name(p.bth.opcode), p.bth.psn);
	a.respond(P, 2 * MTU, 0, 1, 1);
	a.read_good(1, 2 * MTU);
	a.ack(P + 2, 2);
	a.end.send_cq.expect(2, IBV_WC_SUCCESS);
}

/* the response acknowledges what stands before the READ */
void read_acks_before(Bench &b)
{
	Answerer a(b);

	a.write(1, 64);
	a.write(2, 64);
	a.read(3, 100);
	a.expect(RC_WRITE_ONLY, P);
	a.expect(RC_WRITE_ONLY, P + 1);
	a.expect(RC_READ_REQUEST, P + 2);
	a.respond(P + 2, 100, 0, 0, 3);
	a.end.send_cq.expect(1, IBV_WC_SUCCESS);
	a.end.send_cq.expect(2, IBV_WC_SUCCESS);
	a.read_good(3, 100);
}

void read_doubled(Bench &b)
{
	Answerer a(b);

	a.read(1, 2 * MTU);
	a.read(2, MTU, 262144);
	a.expect(RC_READ_REQUEST, P);
	a.expect(RC_READ_REQUEST, P + 2);
	a.send(RC_READ_FIRST, P, join(aeth(0x1f, 1), data(MTU, 9)));
	a.send(RC_READ_FIRST, P, join(aeth(0x1f, 1), data(MTU, 8)));
	a.send(RC_READ_LAST, P + 1, join(aeth(0x1f, 1), data(MTU, 9, MTU)));
	a.send(RC_READ_LAST, P + 1, join(aeth(0x1f, 1), data(MTU, 8, MTU)));
	a.read_good(1, 2 * MTU);
	a.respond(P + 2, MTU, 0, 0, 2);
	a.read_good(2, MTU, 262144);
	if (pattern_check(a.end.mr.data() + 131072, 2 * MTU, 9, 0) != 2 * MTU)
		fail("the second copy overwrote the first");
}

/* a response that cannot be right: an error at once, never data taken */
void bad_response(Bench &b, uint8_t opcode, const Bytes &body)
{
	Answerer a(b);

	a.read(1, 2 * MTU);
	a.expect(RC_READ_REQUEST, P);
	a.send(opcode, P, body);
	auto wc = a.end.send_cq.next(1000);
	if (wc && !wc->status)
		fail("the READ completed well");
	if (wc && wc->status != IBV_WC_BAD_RESP_ERR && wc->status != IBV_WC_LOC_LEN_ERR &&
	    wc->status != IBV_WC_LOC_QP_OP_ERR)
		fail("the READ completed with \"%s\"", ibv_wc_status_str(wc->status));
	/* ignoring it is right, too */
	if (!wc) {
		a.respond(P, 2 * MTU, 0, 1, 1);
		a.read_good(1, 2 * MTU);
	}
}

/* a READ that is asked for in two pieces, and a WRITE behind it */
constexpr uint32_t PIECE = 64, LONG = 100, R = P + PIECE;

void read_in_pieces(Answerer &a)
{
	/* a requester may feel its way: that much, acknowledged, lets it send all of them */
	a.write(0, PIECE * MTU);
	for (uint32_t i = 0; i < PIECE; i++)
		a.next();
	a.ack(R - 1, 1);
	a.end.send_cq.expect(0, IBV_WC_SUCCESS);
	a.read(1, LONG * MTU);
	a.write(2, 64);
	check_reth(a.expect(RC_READ_REQUEST, R), FAR, PIECE * MTU);
	check_reth(a.expect(RC_READ_REQUEST, R + PIECE), FAR + PIECE * MTU, (LONG - PIECE) * MTU);
	a.expect(RC_WRITE_ONLY, R + LONG);
}

/* so many packets are answered, and the next one is refused */
void read_refused(Bench &b, uint32_t answered, uint8_t code, ibv_wc_status status)
{
	Answerer a(b);

	read_in_pieces(a);
	if (answered)
		a.respond(R, PIECE * MTU, 0, answered - 1, 1);
	a.none_done();
	a.ack(R + answered, 1, code);
	a.end.send_cq.expect(1, status);
	a.end.send_cq.expect(2, IBV_WC_WR_FLUSH_ERR);
	a.is_state(IBV_QPS_ERR);
	a.silence();
}

/* what was refused is not what is missing: that is asked for again first */
void read_refused_later(Bench &b)
{
	constexpr uint32_t ANSWERED = 3, REFUSED = 5;
	Answerer a(b);

	read_in_pieces(a);
	a.respond(R, PIECE * MTU, 0, ANSWERED - 1, 1);
	a.ack(R + REFUSED, 1, 0x62);
	check_reth(a.expect(RC_READ_REQUEST, R + ANSWERED), FAR + ANSWERED * MTU,
		   (PIECE - ANSWERED) * MTU);
	a.none_done(20);
	a.is_state(IBV_QPS_RTS);
	a.respond(R, PIECE * MTU, ANSWERED, REFUSED - 1, 1);
	a.ack(R + REFUSED, 1, 0x62);
	a.end.send_cq.expect(1, IBV_WC_REM_ACCESS_ERR);
	a.end.send_cq.expect(2, IBV_WC_WR_FLUSH_ERR);
}

/* the second request got lost, which what came behind it shows; and once more */
void read_request_lost(Bench &b)
{
	const auto before = counter(b.config.dev_a, "packet_seq_err");
	Answerer a(b);

	read_in_pieces(a);
	a.respond(R, PIECE * MTU, 0, PIECE - 1, 1);
	for (int i = 0; i < 2; i++) {
		a.ack(R + PIECE, 1, 0x60);
		check_reth(a.expect(RC_READ_REQUEST, R + PIECE), FAR + PIECE * MTU,
			   (LONG - PIECE) * MTU);
		a.expect(RC_WRITE_ONLY, R + LONG);
	}
	a.respond(R, LONG * MTU, PIECE, LONG - 1, 2);
	a.read_good(1, LONG * MTU);
	a.ack(R + LONG, 3);
	a.end.send_cq.expect(2, IBV_WC_SUCCESS);
	/* what is read may be 10 ms old */
	a.silence(50);
	if (auto n = counter(b.config.dev_a, "packet_seq_err") - before; n != 2)
		fail("two NAKs were counted as %zu", size_t(n));
}

/* a real peer whose region ends in the second piece */
void read_beyond_region(Bench &b)
{
	/* a second: it must not come to that */
	b.config.link_a.timeout = 18;
	auto pair = b.pair();
	Region region(pair.b.pd, pair.b.mr.data(), (PIECE + LONG) / 2 * MTU);

	Work(1, IBV_WR_RDMA_READ, { pair.a.mr.sge(0, LONG * MTU) })
		.remote(region.addr(), region.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_REM_ACCESS_ERR);
}

Case refused_read(const char *name, uint32_t answered, uint8_t code, ibv_wc_status status)
{
	return { std::string("READ refused: ") + name,
		 [=](Bench &b) { read_refused(b, answered, code, status); } };
}

void read_limit(Bench &b)
{
	auto link = link_of();
	link.rd_atomic = 2;
	Answerer a(b, link);

	for (int i = 0; i < 5; i++)
		a.read(i, 64, 131072 + 4096 * i);
	a.expect(RC_READ_REQUEST, P);
	a.expect(RC_READ_REQUEST, P + 1);
	a.silence(50);
	for (uint32_t i = 0; i < 5; i++) {
		a.respond(P + i, 64, 0, 0, i + 1);
		a.read_good(i, 64, 131072 + 4096 * i);
		if (i + 2 < 5)
			a.expect(RC_READ_REQUEST, P + i + 2);
		a.silence(20);
	}
}

void fence(Bench &b)
{
	Answerer a(b);

	a.read(1, 64);
	a.write(2, 64);
	a.write(3, 64, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
	a.write(4, 64);
	a.expect(RC_READ_REQUEST, P);
	a.expect(RC_WRITE_ONLY, P + 1);
	a.silence(50);
	a.respond(P, 64, 0, 0, 1);
	a.expect(RC_WRITE_ONLY, P + 2);
	a.expect(RC_WRITE_ONLY, P + 3);
	a.ack(P + 3, 4);
	a.read_good(1, 64);
	for (int i = 2; i <= 4; i++)
		a.end.send_cq.expect(i, IBV_WC_SUCCESS);
}

void atomic_answer(Bench &b)
{
	Answerer a(b);
	uint64_t value;

	Work(1, IBV_WR_ATOMIC_CMP_AND_SWP, { a.end.mr.sge(131072, 8) })
		.atomic(0x4000, KEY, 0x1111, 0x2222)
		.post(a.end.qp);
	auto p = a.expect(RC_CMP_SWAP, P);
	if (get64(p.body()) != 0x4000 || get32(p.body() + 8) != KEY ||
	    get64(p.body() + 12) != 0x2222 || get64(p.body() + 20) != 0x1111)
		fail("wrong AtomicETH");
	auto answer = aeth(0x1f, 1);
	put64(answer, 0x123456789abcdef0);
	/* an ACK alone does not complete it */
	a.ack(P, 1);
	a.none_done();
	a.send(RC_ATOMIC_ACK, P, answer);
	a.end.send_cq.expect(1, IBV_WC_SUCCESS);
	std::memcpy(&value, a.end.mr.data() + 131072, 8);
	if (value != 0x123456789abcdef0)
		fail("value %llx", static_cast<unsigned long long>(value));
}

/* IBV_WR_SEND and what its flags do on the wire */
void send_flags(Bench &b)
{
	Answerer a(b);

	Work(1, IBV_WR_SEND, { a.end.mr.sge(0, 2 * MTU) }, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED)
		.post(a.end.qp);
	if (a.expect(RC_SEND_FIRST, P).bth.solicited)
		fail("solicited on FIRST");
	if (!a.expect(RC_SEND_LAST, P + 1).bth.solicited)
		fail("not solicited on LAST");
	Work(2, IBV_WR_SEND_WITH_IMM, { a.end.mr.sge(0, MTU + 1) }).imm(0x01020304).post(a.end.qp);
	a.expect(RC_SEND_FIRST, P + 2);
	auto p = a.expect(RC_SEND_LAST_IMM, P + 3);
	if (get32(p.body()) != 0x01020304)
		fail("immediate %x", get32(p.body()));
	Work(3, IBV_WR_RDMA_WRITE_WITH_IMM, { a.end.mr.sge(0, 5) })
		.remote(FAR, KEY)
		.imm(0x05060708)
		.post(a.end.qp);
	p = a.expect(RC_WRITE_ONLY_IMM, P + 4);
	check_reth(p, FAR, 5);
	if (get32(p.body() + 16) != 0x05060708)
		fail("immediate %x", get32(p.body() + 16));
	a.ack(P + 4, 3);
	for (int i = 1; i <= 3; i++)
		a.end.send_cq.expect(i, IBV_WC_SUCCESS);
}

/* ICRC, flags and addresses of what is sent again are what they were */
void same_again(Bench &b)
{
	Answerer a(b, link_of(T_SHORT));

	a.write(1, 3 * MTU);
	std::vector<Packet> first, again;
	for (int i = 0; i < 3; i++)
		first.push_back(a.next());
	while (again.size() < 3 && again.size() < first.size()) {
		auto p = a.next();

		if (p.bth.psn != P + again.size())
			fail("PSN %06x comes again\n%s", p.bth.psn, a.seen().c_str());
		again.push_back(p);
	}
	for (size_t i = 0; i < 3; i++) {
		if (!again[i].icrc_good())
			fail("wrong ICRC");
		if (again[i].bth.opcode != first[i].bth.opcode ||
		    again[i].body_bytes != first[i].body_bytes ||
		    std::memcmp(again[i].body(), first[i].body(), first[i].body_bytes))
			fail("packet %zu is another one the second time", i);
		auto port = [](const Packet &p) {
			return get16(view(p.frame.data(), p.frame.size())->udp());
		};
		if (port(again[i]) != port(first[0]))
			fail("the UDP source port changed");
		if (port(first[0]) < 0xc000)
			fail("UDP source port %u", port(first[0]));
	}
	a.ack(P + 2, 1);
	a.end.send_cq.expect(1, IBV_WC_SUCCESS);
}

Bytes response(size_t bytes)
{
	return join(aeth(0x1f, 1), data(bytes, 9));
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(
		argc, argv,
		{ { "WRITE of three packets", write_packets },
		  { "SENDs and WRITEs with immediate and solicited bit", send_flags },
		  { "one ACK completes many, in order", one_ack_for_many },
		  { "NAK: back to its PSN, the earlier ones are done", nak_goes_back },
		  { "NAK within a message", nak_within },
		  { "ACKs that nobody expects are ignored", unexpected_acks },
		  { "no answer, retry 0", [](Bench &b) { timeout_counts(b, 0); } },
		  { "no answer, retry 1", [](Bench &b) { timeout_counts(b, 1); } },
		  { "no answer, retry 7", [](Bench &b) { timeout_counts(b, 7); } },
		  { "progress gives all tries back", progress_resets },
		  { "time-out 0 is none", no_timeout },
		  { "what is sent again is the same", same_again },
		  { "NAK invalid request",
		    [](Bench &b) { nak_status(b, 0x61, IBV_WC_REM_INV_REQ_ERR); } },
		  { "NAK remote access error",
		    [](Bench &b) { nak_status(b, 0x62, IBV_WC_REM_ACCESS_ERR); } },
		  { "NAK remote operational error",
		    [](Bench &b) { nak_status(b, 0x63, IBV_WC_REM_OP_ERR); } },
		  { "READ of four packets", read_plain },
		  { "READ with a response missing", read_gap },
		  { "READ with all responses lost", read_lost },
		  { "an ACK for later work does not complete a READ", ack_over_read },
		  { "a READ's response completes what stands before it", read_acks_before },
		  { "READ responses doubled", read_doubled },
		  { "READ response too short",
		    [](Bench &b) { bad_response(b, RC_READ_FIRST, response(100)); } },
		  { "READ response too long",
		    [](Bench &b) { bad_response(b, RC_READ_FIRST, response(MTU + 4)); } },
		  { "READ response that ends too soon",
		    [](Bench &b) { bad_response(b, RC_READ_ONLY, response(MTU)); } },
		  { "READ answered with an ATOMIC ACK",
		    [](Bench &b) { bad_response(b, RC_ATOMIC_ACK, response(8)); } },
		  refused_read("at once", 0, 0x62, IBV_WC_REM_ACCESS_ERR),
		  refused_read("after some responses", 3, 0x62, IBV_WC_REM_ACCESS_ERR),
		  refused_read("invalid second request", PIECE, 0x61, IBV_WC_REM_INV_REQ_ERR),
		  refused_read("access of the second request", PIECE, 0x62, IBV_WC_REM_ACCESS_ERR),
		  refused_read("operation of the second request", PIECE, 0x63, IBV_WC_REM_OP_ERR),
		  { "READ refused behind responses that are missing", read_refused_later },
		  { "READ whose second request is lost", read_request_lost },
		  { "READ beyond the end of a region", read_beyond_region },
		  { "no more READs under way than agreed", read_limit },
		  { "a fence waits for the READs before it", fence },
		  { "atomic: only its own answer completes it", atomic_answer } });
}
