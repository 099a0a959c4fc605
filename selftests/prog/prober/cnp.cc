// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Congestion (annex A17, CA17-44 and on): which marked packets are answered by a
 * CNP, what it looks like, how often there is one, and which CNPs count.
 */
#include <algorithm>

#include "../lib/pattern.hh"
#include "congestion.hh"
#include "rules.hh"

namespace st
{

namespace
{

constexpr uint64_t SPACING_US = 130000; /* nearly the most that can be set */

/* a packet of a kind, marked, and whether there is a CNP for it */
struct Kind {
	const char *name;
	uint8_t opcode;
};

const Kind KINDS[] = {
	{ "SEND ONLY", RC_SEND_ONLY },	     { "SEND FIRST", RC_SEND_FIRST },
	{ "WRITE ONLY", RC_WRITE_ONLY },     { "WRITE with immediate", RC_WRITE_ONLY_IMM },
	{ "READ request", RC_READ_REQUEST }, { "fetch and add", RC_FETCH_ADD },
	{ "compare and swap", RC_CMP_SWAP },
};

Bytes body_for(const Peer &peer, uint8_t opcode)
{
	Bytes imm = { 1, 2, 3, 4 };

	switch (opcode) {
	case RC_SEND_FIRST:
		return data(MTU, 1);
	case RC_WRITE_ONLY:
		return peer.write_body(0, 40, 1);
	case RC_WRITE_ONLY_IMM:
		return join(join(peer.to_memory(0, 40), imm), data(40, 1));
	case RC_READ_REQUEST:
		return peer.to_memory(0, 40);
	case RC_FETCH_ADD:
	case RC_CMP_SWAP:
		return atomic_eth(peer.end.mr.addr(), peer.end.mr.rkey(), 1, 0);
	default:
		return data(40, 1);
	}
}

uint8_t answer_to(uint8_t opcode)
{
	if (opcode == RC_READ_REQUEST)
		return RC_READ_ONLY;
	return opcode == RC_FETCH_ADD || opcode == RC_CMP_SWAP ? RC_ATOMIC_ACK : RC_ACK;
}

/* again: as a duplicate, too */
void answered(Bench &bench, const Kind &kind, uint8_t ecn, bool again)
{
	Unpaced unpaced(bench);
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	auto out = marked(peer.out(kind.opcode, psn, body_for(peer, kind.opcode), true), ecn);
	/* RoCEv1 has no marks */
	unsigned int want = ecn == CE && !is_v1(bench);
	Count ce(bench, "np_ecn_marked_roce_packets"), cnp(bench, "np_cnp_sent");

	peer.recv(0);
	for (int i = 0; i <= again; i++) {
		peer.put(out);
		if (auto n = cnps_before(peer, answer_to(kind.opcode)); n != want)
			fail("%u CNPs", n);
	}
	ce.is(want * (1 + again));
	cnp.is(want * (1 + again));
}

/* what is counted, but nobody is told to slow down for */
void only_counted(Bench &bench, uint8_t opcode)
{
	Unpaced unpaced(bench);
	Peer peer(bench);
	Count ce(bench, "np_ecn_marked_roce_packets"), cnp(bench, "np_cnp_sent");
	Bytes body = aeth(0x1f, 1);

	if (opcode == RC_ACK) {
		Work(1, IBV_WR_RDMA_WRITE, { peer.end.mr.sge(0, 8) })
			.remote(0x1000, 1)
			.post(peer.end.qp);
	} else {
		Work(1, IBV_WR_ATOMIC_FETCH_AND_ADD, { peer.end.mr.sge(0, 8) })
			.atomic(0x1000, 1, 1)
			.post(peer.end.qp);
		put64(body, 0);
	}
	peer.next();
	peer.put(marked(peer.out(opcode, peer.numbers.real, body), CE));
	peer.end.send_cq.expect(1, IBV_WC_SUCCESS, Peer::style.patience);
	ce.is(1);
	/* the answer to what comes now is the next packet, and no CNP is before it */
	peer.put(RC_WRITE_ONLY, peer.numbers.psn, peer.write_body(0, 40, 1), true);
	if (auto n = cnps_before(peer, RC_ACK))
		fail("%u CNPs", n);
	cnp.is(0);
}

/* UC's sender is told, too; UD's is not */
void unreliable(Bench &bench, bool write)
{
	Unpaced unpaced(bench);
	Setup setup;

	setup.type = IBV_QPT_UC;
	Peer peer(bench, setup);
	Count ce(bench, "np_ecn_marked_roce_packets"), cnp(bench, "np_cnp_sent");
	uint8_t opcode = write ? RC_WRITE_ONLY : RC_SEND_ONLY;

	peer.recv(0);
	peer.put(marked(peer.out(opcode | UC, setup.psn, body_for(peer, opcode)), CE));
	peer.check_cnp(static_cast<Ghost &>(peer).next());
	ce.is(1);
	cnp.is(1);
}

constexpr uint32_t QKEY = 0x1234;

Setup datagram()
{
	Setup setup;

	setup.type = IBV_QPT_UD;
	setup.connect = false;
	return setup;
}

void unconnected(Bench &bench)
{
	Unpaced unpaced(bench);
	Peer peer(bench, datagram());
	Count ce(bench, "np_ecn_marked_roce_packets"), cnp(bench, "np_cnp_sent");
	Bytes body;

	peer.end.qp.to_datagram(QKEY, 0);
	peer.recv(0);
	put32(body, QKEY);
	put32(body, peer.numbers.qpn);
	peer.put(marked(peer.out(UD_SEND_ONLY, 1, join(body, data(40, 1))), CE));
	peer.received(0, 40, 1, GRH_BYTES);
	ce.is(1);
	cnp.is(0);
}

/* WRITEs, one after the other; how many CNPs there were for them */
struct Flow : Peer {
	using Peer::Peer;

	unsigned int ce(unsigned int count)
	{
		unsigned int cnps = 0;

		for (unsigned int i = 0; i < count; i++) {
			put(marked(out(RC_WRITE_ONLY, numbers.psn + sent++, write_body(0, 40, 1),
				       true),
				   CE));
			cnps += cnps_before(*this, RC_ACK);
		}
		return cnps;
	}

	uint32_t sent = 0;
};

Setup from(int host)
{
	Setup setup;

	setup.host = host;
	return setup;
}

/* what each mode makes of three flows, the last one from another host */
struct Pacing {
	const char *mode;
	unsigned int first, same_host, other_host;
};

const Pacing PACINGS[] = { { "qp", 1, 1, 1 }, { "dest", 1, 0, 1 }, { "port", 1, 0, 0 } };

/* true if it was so quick that the counts mean something */
bool paced_once(Bench &bench, const Pacing &pacing)
{
	Unpaced unpaced(bench);
	Flow a(bench), b(bench), c(bench, from(3));
	auto spacing = [&](uint64_t us) {
		set_cc(bench, "cc_params/np_min_time_between_cnps", std::to_string(us));
	};

	set_cc(bench, "cnp_pacing", pacing.mode);
	auto start = now_ns();
	auto quick = [&] { return now_ns() - start < SPACING_US * 1000; };
	if (a.ce(2) != 2 || b.ce(2) != 2 || c.ce(2) != 2)
		fail("spacing 0: not a CNP for each");
	spacing(SPACING_US);
	auto more = a.ce(4) + b.ce(4) + c.ce(4);
	if (quick() && more)
		fail("%u CNPs before it was time", more);
	sleep_us(SPACING_US + 20000);
	start = now_ns();
	unsigned int got[] = { a.ce(3), b.ce(3), c.ce(3) };
	if (!quick())
		return false;
	if (got[0] != pacing.first || got[1] != pacing.same_host || got[2] != pacing.other_host)
		fail("%u, %u and %u CNPs", got[0], got[1], got[2]);
	return true;
}

void paced(Bench &bench, const Pacing &pacing)
{
	for (int i = 0; i < 20; i++)
		if (paced_once(bench, pacing))
			return;
	throw Tap::Skip{ "this machine is too slow" };
}

/* over a longer time: no more than one for each interval that began */
void spaced(Bench &bench, const char *mode, uint64_t us)
{
	Unpaced unpaced(bench);
	Flow flow(bench);
	unsigned int cnps = 0, packets = 0;

	set_cc(bench, "cnp_pacing", mode);
	set_cc(bench, "cc_params/np_min_time_between_cnps", std::to_string(us));
	auto start = now_ns();
	do {
		cnps += flow.ce(1);
		packets++;
	} while (now_ns() - start < 4 * us * 1000);
	/* and when the time has passed there is one again */
	sleep_us(us + 1000);
	cnps += flow.ce(1);
	packets++;
	auto most = (now_ns() - start) / (us * 1000) + 1;
	if (cnps > most)
		fail("%u CNPs in a time for %llu", cnps, static_cast<unsigned long long>(most));
	if (cnps < 2)
		fail("%u CNPs for %u packets", cnps, packets);
}

using Change = std::function<void(Out &)>;

void ignored(Bench &bench, const Change &change, bool bad_icrc)
{
	Peer peer(bench);
	Count ignored(bench, "rp_cnp_ignored"), handled(bench, "rp_cnp_handled");
	auto out = notification(peer);

	change(out);
	auto frame = out.frame();
	if (bad_icrc)
		frame.back() ^= 1;
	peer.raw(frame);
	ignored.is(1);
	handled.is(0);
	peer.put(notification(peer));
	handled.is(1);
	ignored.is(1);
	peer.nothing_came_of_it();
}

/* one that counts, with this changed */
void handled(Bench &bench, const Change &change)
{
	Peer peer(bench);
	Count ignored(bench, "rp_cnp_ignored"), handled(bench, "rp_cnp_handled");
	auto out = notification(peer);

	change(out);
	peer.put(out);
	handled.is(1);
	ignored.is(0);
	peer.nothing_came_of_it();
}

/* a marked one: no answer, or two hosts would never stop */
void marked_notification(Bench &bench)
{
	Unpaced unpaced(bench);
	Peer peer(bench);
	Count handled(bench, "rp_cnp_handled"), cnp(bench, "np_cnp_sent"),
		ce(bench, "np_ecn_marked_roce_packets");
	auto out = notification(peer);

	out.path.tos |= CE;
	peer.put(out);
	handled.is(1);
	ce.is(1);
	peer.put(RC_WRITE_ONLY, peer.numbers.psn, peer.write_body(0, 40, 1), true);
	if (auto n = cnps_before(peer, RC_ACK))
		fail("%u CNPs", n);
	cnp.is(0);
}

/* it is the QP's, which has nothing to slow down yet */
void not_sending(Bench &bench)
{
	Setup setup;

	setup.connect = false;
	Peer peer(bench, setup);
	Count handled(bench, "rp_cnp_handled"), ignored(bench, "rp_cnp_ignored");

	/* before it may receive at all */
	peer.end.qp.to_init(peer.link);
	peer.put(notification(peer));
	ignored.is(1);
	peer.end.qp.to_rtr(peer.link, peer.ghost_address());
	peer.put(notification(peer));
	handled.is(1);
	peer.end.qp.to_rts(peer.link);
	peer.put(notification(peer));
	handled.is(2);
	ignored.is(1);
	peer.nothing_came_of_it();
}

void to_datagram(Bench &bench)
{
	Peer peer(bench, datagram()), other(bench);
	Count handled(bench, "rp_cnp_handled"), ignored(bench, "rp_cnp_ignored");

	peer.end.qp.to_datagram(QKEY, 0);
	peer.put(notification(peer));
	ignored.is(1);
	other.nothing_came_of_it();
	handled.is(0);
	peer.is_state(IBV_QPS_RTS);
}

void switched_off(Bench &bench)
{
	set_cc(bench, "cc", "none");
	Unpaced unpaced(bench);
	Flow flow(bench);
	Count ce(bench, "np_ecn_marked_roce_packets"), cnp(bench, "np_cnp_sent"),
		ignored(bench, "rp_cnp_ignored"), handled(bench, "rp_cnp_handled");

	if (flow.ce(3))
		fail("a CNP");
	flow.put(notification(flow));
	ignored.is(1);
	handled.is(0);
	ce.is(3);
	cnp.is(0);
}

/* the responses to a READ: FIRST, MIDDLEs, LAST, or ONLY */
void marked_read(Bench &bench, uint32_t bytes, uint32_t mask)
{
	Unpaced unpaced(bench);
	Peer peer(bench);
	auto psn = peer.numbers.real;
	auto packets = std::max(1U, (bytes + MTU - 1) / MTU);
	Count ce(bench, "np_ecn_marked_roce_packets"), cnp(bench, "np_cnp_sent");
	unsigned int marks = __builtin_popcount(mask), want = is_v1(bench) ? 0 : marks;

	Work(1, IBV_WR_RDMA_READ, { peer.end.mr.sge(0, bytes) })
		.remote(0x1000, 1)
		.post(peer.end.qp);
	peer.expect({ RC_READ_REQUEST, psn, reth(0x1000, 1, bytes), true });
	for (uint32_t i = 0; i < packets; i++) {
		bool first = i == 0, last = i + 1 == packets;
		uint8_t opcode = first ? (last ? RC_READ_ONLY : RC_READ_FIRST)
				       : (last ? RC_READ_LAST : RC_READ_MIDDLE);
		auto body = data(last ? bytes - i * MTU : MTU, 5, i * MTU);
		auto out =
			peer.out(opcode, psn + i, first || last ? join(aeth(0x1f, 1), body) : body);

		peer.put(mask >> i & 1 ? marked(out, CE) : out);
	}
	peer.end.send_cq.expect(1, IBV_WC_SUCCESS, Peer::style.patience);
	peer.in_memory(0, bytes, 5);
	for (uint32_t i = 0; i < want; i++)
		peer.check_cnp(static_cast<Ghost &>(peer).next());
	ce.is(want);
	cnp.is(want);
	peer.nothing_came_of_it();
}

/* who sent it is told at once, even if it has to wait for a READ that takes a second */
void behind_a_read(Bench &bench)
{
	Unpaced unpaced(bench);
	Peer peer(bench);
	constexpr uint32_t packets = 120;
	ibv_qp_rate_limit_attr limit = {};
	auto psn = peer.numbers.psn;
	bool told = false;

	limit.rate_limit = 1000;
	if (int err = ibv_modify_qp_rate_limit(peer.end.qp.get(), &limit))
		fail_errno("a rate limit", err);
	peer.put(RC_READ_REQUEST, psn, peer.to_memory(0, packets * MTU), true);
	peer.put(marked(peer.out(RC_WRITE_ONLY, psn + packets, peer.write_body(0, 40, 1), true),
			CE));
	for (uint8_t opcode = 0; opcode != RC_READ_LAST;) {
		auto p = static_cast<Ghost &>(peer).next();

		opcode = p.bth.opcode;
		if (opcode == CNP)
			peer.check_cnp(p);
		told |= opcode == CNP;
	}
	if (!told)
		fail("no CNP before the READ had been answered");
	if (auto n = cnps_before(peer, RC_ACK))
		fail("%u CNPs more", n);
}

void add_sent(Trials &trials)
{
	trials.push_back(
		{ "a CNP waits for nothing", "a marked WRITE behind a READ", behind_a_read });
	for (auto &kind : KINDS)
		for (bool again : { false, true })
			trials.push_back(
				{ "a marked request is answered by a CNP (CA17-44)",
				  std::string(kind.name) + (again ? ", doubled" : ""),
				  [&kind, again](Bench &b) { answered(b, kind, CE, again); } });
	for (uint8_t ecn : { 0, 1, 2 })
		trials.push_back({ "no CNP for what is not marked", format("ECN %u", ecn),
				   [=](Bench &b) { answered(b, KINDS[2], ecn, false); } });
	for (bool write : { false, true })
		trials.push_back({ "a marked request is answered by a CNP (CA17-44)",
				   write ? "UC WRITE" : "UC SEND",
				   [=](Bench &b) { unreliable(b, write); } });
	for (uint8_t opcode : { RC_ACK, RC_ATOMIC_ACK })
		trials.push_back({ "marked acknowledgments are only counted", opcode_name(opcode),
				   [=](Bench &b) { only_counted(b, opcode); } });
	trials.push_back({ "marked datagrams are only counted", "UD SEND", unconnected });
	for (auto &p : PACINGS) {
		trials.push_back({ "CNPs are paced per QP, destination or port", p.mode,
				   [&](Bench &b) { paced(b, p); } });
		for (uint64_t us : { 2000, 20000, 100000 })
			trials.push_back({ "CNPs keep their distance",
					   format("%s, %llu us", p.mode,
						  static_cast<unsigned long long>(us)),
					   [&p, us](Bench &b) { spaced(b, p.mode, us); } });
	}
	trials.push_back({ "without congestion control marks are only counted", "WRITE ONLY",
			   switched_off });
}

void add_received(Trials &trials)
{
	auto spoofed = [&](const char *name, Change change, bool bad_icrc = false) {
		trials.push_back({ "a CNP that is not the peer's is ignored", name,
				   [=](Bench &b) { ignored(b, change, bad_icrc); } });
	};

	spoofed("wrong ICRC", [](Out &) {}, true);
	spoofed("another partition", [](Out &o) { o.bth.pkey = 0x8001; });
	spoofed("another source address", [](Out &o) { o.path.source[o.path.v6 ? 15 : 3] ^= 4; });
	spoofed("a QP that there is not", [](Out &o) { o.bth.qpn ^= 0x800000; });
	for (uint8_t bits : { 0x00, 0x80, 0xc0, 0xff })
		trials.push_back({ "a CNP's FECN, BECN and reserved bits may be anything",
				   hex(bits), [=](Bench &b) {
					   handled(b, [=](Out &o) { o.bth.congestion = bits; });
				   } });
	for (uint32_t psn : { 1U, 0xffffffU })
		trials.push_back({ "a CNP's PSN is not looked at", hex(psn), [=](Bench &b) {
					  handled(b, [=](Out &o) { o.bth.psn = psn; });
				  } });
	for (uint8_t tos : { 0, 104 })
		trials.push_back({ "a CNP's DSCP is not looked at", hex(tos >> 2), [=](Bench &b) {
					  handled(b, [=](Out &o) { o.path.tos = tos; });
				  } });
	trials.push_back({ "no CNP for a CNP", "marked", marked_notification });
	trials.push_back({ "a CNP to a QP that does not send", "INIT, RTR, RTS", not_sending });
	trials.push_back({ "a CNP to a UD QP is ignored", "UD", to_datagram });
}

} // namespace

void add_notifications(Trials &trials, const Bench &bench)
{
	if (is_v1(bench)) {
		for (auto &kind : KINDS)
			trials.push_back({ "RoCEv1 has neither marks nor CNPs", kind.name,
					   [&](Bench &b) { answered(b, kind, CE, false); } });
		return;
	}
	add_sent(trials);
	add_received(trials);
}

void add_marked_reads(Trials &trials, const Bench &)
{
	static const std::pair<uint32_t, uint32_t> cases[] = {
		{ 8, 1 },	  { MTU, 1 },	      { 4 * MTU, 1 },
		{ 4 * MTU, 2 },	  { 4 * MTU, 4 },     { 4 * MTU, 8 },
		{ 4 * MTU, 0xf }, { 3 * MTU + 5, 0 }, { 20 * MTU, 0x84211 },
	};

	for (auto [bytes, mask] : cases)
		trials.push_back({ "I7: a marked READ response is answered by a CNP",
				   format("%u bytes, marks %x", bytes, mask),
				   [bytes = bytes, mask = mask](Bench &b) {
					   marked_read(b, bytes, mask);
				   } });
}

} // namespace st
