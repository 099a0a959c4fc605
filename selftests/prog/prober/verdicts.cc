// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What a requester makes of the AETH (IBTA 9.7.5.2, table 46): credits, NAK codes,
 * the 32 RNR timers, and answers that nobody asked for.
 */
#include "rules.hh"

namespace st
{

namespace
{

constexpr uint32_t BYTES = 8;

void post(Peer &peer, uint64_t id)
{
	Work(id, IBV_WR_RDMA_WRITE, { peer.end.mr.sge(0, BYTES) })
		.remote(0x1000, 1)
		.post(peer.end.qp);
}

Want request(uint32_t psn)
{
	return { RC_WRITE_ONLY, psn, join(reth(0x1000, 1, BYTES), Bytes(BYTES)), true };
}

void done(Peer &peer, uint64_t id, ibv_wc_status status = IBV_WC_SUCCESS)
{
	peer.end.send_cq.expect(id, status, Peer::style.patience);
}

/* each credit code is an ACK */
void credits(Bench &bench, uint8_t code)
{
	Peer peer(bench);
	auto psn = peer.numbers.real;

	for (uint32_t i = 0; i < 3; i++) {
		post(peer, i);
		peer.expect(request(psn + i));
		peer.put(RC_ACK, psn + i, aeth(code, i + 1));
		done(peer, i);
	}
	/* nothing but a request to be told of new credits may follow */
	peer.is_state(IBV_QPS_RTS);
}

void nak(Bench &bench, uint8_t code, ibv_wc_status status)
{
	Peer peer(bench);
	auto psn = peer.numbers.real;

	for (uint32_t i = 0; i < 3; i++) {
		post(peer, i);
		peer.expect(request(psn + i));
	}
	peer.put(RC_ACK, psn + 1, aeth(code, 1));
	done(peer, 0);
	done(peer, 1, status);
	done(peer, 2, IBV_WC_WR_FLUSH_ERR);
	peer.is_state(IBV_QPS_ERR);
}

/* what means nothing does nothing */
void meaningless(Bench &bench, uint8_t syndrome)
{
	Peer peer(bench);
	auto psn = peer.numbers.real;

	post(peer, 1);
	peer.expect(request(psn));
	peer.put(RC_ACK, psn, aeth(syndrome, 0));
	peer.nothing_came_of_it();
	post(peer, 2);
	peer.expect(request(psn + 1));
	if (peer.end.send_cq.next(0))
		fail("it completed a request");
	peer.put(RC_ACK, psn + 1, aeth(0x1f, 2));
	done(peer, 1);
	done(peer, 2);
}

uint64_t rnr_ns(uint8_t code)
{
	static const uint32_t us10[] = { 65536, 1,    2,    3,	   4,	  6,	 8,	12,
					 16,	24,   32,   48,	   64,	  96,	 128,	192,
					 256,	384,  512,  768,   1024,  1536,	 2048,	3072,
					 4096,	6144, 8192, 12288, 16384, 24576, 32768, 49152 };

	return us10[code] * 10000ULL;
}

/* the same again, and not before the time */
void not_ready(Bench &bench, uint8_t code)
{
	Peer peer(bench);
	auto psn = peer.numbers.real;

	post(peer, 1);
	peer.expect(request(psn));
	auto told = real_ns();
	peer.put(RC_ACK, psn, aeth(0x20 | code, 0));
	auto p = peer.expect(request(psn));
	if (p.ns - told < rnr_ns(code))
		fail("sent again after %.3f ms, not %.3f", (p.ns - told) / 1e6, rnr_ns(code) / 1e6);
	peer.put(RC_ACK, psn, aeth(0x1f, 1));
	done(peer, 1);
}

void tries(Bench &bench, uint8_t count)
{
	Setup setup;

	setup.rnr_retry = count;
	Peer peer(bench, setup);
	auto psn = peer.numbers.real;

	post(peer, 1);
	for (int i = 0; i <= count; i++) {
		peer.expect(request(psn));
		peer.put(RC_ACK, psn, aeth(0x21, 0));
	}
	done(peer, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	peer.is_state(IBV_QPS_ERR);
}

/* to the same request */
void nak_tries(Bench &bench, uint8_t count)
{
	Setup setup;

	setup.retry = count;
	Peer peer(bench, setup);
	auto psn = peer.numbers.real;

	post(peer, 1);
	for (int i = 0; i <= count; i++) {
		peer.expect(request(psn));
		peer.put(RC_ACK, psn, aeth(0x60, 0));
	}
	done(peer, 1, IBV_WC_RETRY_EXC_ERR);
	peer.is_state(IBV_QPS_ERR);
}

/* an answer to what was not asked */
struct Ghostly {
	const char *name;
	uint8_t opcode;
	int32_t psn; /* from that of the one request under way */
	uint8_t syndrome;
	uint32_t bytes;
};

const Ghostly GHOSTLY[] = {
	{ "an ACK for what was not sent", RC_ACK, 1, 0x1f, 0 },
	{ "an ACK far ahead", RC_ACK, 0x7fffff, 0x1f, 0 },
	{ "an ACK for what was acknowledged", RC_ACK, -1, 0x1f, 0 },
	{ "an ACK far behind", RC_ACK, -0x7fffff, 0x1f, 0 },
	{ "an ACK half the range away", RC_ACK, 0x800000, 0x1f, 0 },
	{ "a NAK for what was not sent", RC_ACK, 1, 0x60, 0 },
	{ "an access error for what was not sent", RC_ACK, 1, 0x62, 0 },
	{ "an access error for what was acknowledged", RC_ACK, -1, 0x62, 0 },
	{ "a sequence error for what was acknowledged", RC_ACK, -1, 0x60, 0 },
	{ "an RNR NAK for what was acknowledged", RC_ACK, -1, 0x21, 0 },
	{ "an RNR NAK for what was not sent", RC_ACK, 1, 0x21, 0 },
	{ "a READ response for what was acknowledged", RC_READ_ONLY, -1, 0x1f, 8 },
	{ "a READ response for what was not sent", RC_READ_ONLY, 1, 0x1f, 8 },
	{ "an atomic's for what was acknowledged", RC_ATOMIC_ACK, -1, 0x1f, 8 },
	{ "an atomic's for what was not sent", RC_ATOMIC_ACK, 1, 0x1f, 8 },
};

void ghostly(Bench &bench, const Ghostly &g)
{
	Peer peer(bench);
	auto psn = peer.numbers.real;

	post(peer, 1);
	peer.expect(request(psn));
	peer.put(RC_ACK, psn, aeth(0x1f, 1));
	done(peer, 1);
	post(peer, 2);
	peer.expect(request(psn + 1));
	peer.put(g.opcode, psn + 1 + g.psn, join(aeth(g.syndrome, 2), Bytes(g.bytes)));
	/* when the next request is executed, the answer was seen */
	peer.nothing_came_of_it();
	if (peer.end.send_cq.next(0))
		fail("it completed a request");
	post(peer, 3);
	peer.expect(request(psn + 2));
	peer.put(RC_ACK, psn + 2, aeth(0x1f, 3));
	done(peer, 2);
	done(peer, 3);
}

/* responses whose fields a requester has to overlook */
void tolerant(Bench &bench, const std::function<void(Bth &)> &change)
{
	Peer peer(bench);
	auto psn = peer.numbers.real;

	post(peer, 1);
	peer.expect(request(psn));
	auto ack = peer.out(RC_ACK, psn, aeth(0x1f, 1));
	change(ack.bth);
	peer.put(ack);
	done(peer, 1);
}

} // namespace

void add_verdicts(Trials &trials)
{
	static const std::pair<uint8_t, ibv_wc_status> naks[] = {
		{ 0x61, IBV_WC_REM_INV_REQ_ERR },
		{ 0x62, IBV_WC_REM_ACCESS_ERR },
		{ 0x63, IBV_WC_REM_OP_ERR },
		{ 0x64, IBV_WC_REM_INV_RD_REQ_ERR },
	};

	for (uint8_t code = 0; code < 32; code++)
		trials.push_back({ "any credit code is an ACK (table 46)", hex(code),
				   [=](Bench &b) { credits(b, code); } });
	for (auto [code, status] : naks)
		trials.push_back({ "NAK codes (9.7.5.2.8, table 58)", hex(code),
				   [code, status](Bench &b) { nak(b, code, status); } });
	for (uint8_t syndrome = 0x65; syndrome < 0x80; syndrome++)
		trials.push_back({ "a reserved NAK code does nothing", hex(syndrome),
				   [=](Bench &b) { meaningless(b, syndrome); } });
	for (uint8_t syndrome : { 0x40, 0x41, 0x5f })
		trials.push_back({ "a reserved syndrome does nothing", hex(syndrome),
				   [=](Bench &b) { meaningless(b, syndrome); } });
	for (uint8_t code = 0; code < 32; code++)
		trials.push_back({ "an RNR NAK's timer is waited for (9.7.5.2.8)",
				   format("code %u", code),
				   [=](Bench &b) { not_ready(b, code); } });
	for (uint8_t count : { 0, 1, 3, 6 }) {
		trials.push_back({ "RNR retries are counted", format("%u", count),
				   [=](Bench &b) { tries(b, count); } });
		trials.push_back({ "sequence errors are counted as retries", format("%u", count),
				   [=](Bench &b) { nak_tries(b, count); } });
	}
	for (auto &g : GHOSTLY)
		trials.push_back({ "an answer to nothing is left alone (9.7.5.2.2)", g.name,
				   [&](Bench &b) { ghostly(b, g); } });
	trials.push_back({ "answers: MigReq is not looked at", "0",
			   [](Bench &b) { tolerant(b, [](Bth &bth) { bth.migrated = false; }); } });
	trials.push_back({ "answers: SE is not looked at", "1",
			   [](Bench &b) { tolerant(b, [](Bth &bth) { bth.solicited = true; }); } });
	trials.push_back({ "answers: AckReq is not looked at", "1", [](Bench &b) {
				  tolerant(b, [](Bth &bth) { bth.ack_request = true; });
			  } });
	trials.push_back({ "answers: a limited member's P_Key", "0x7fff",
			   [](Bench &b) { tolerant(b, [](Bth &bth) { bth.pkey = 0x7fff; }); } });
}

} // namespace st
