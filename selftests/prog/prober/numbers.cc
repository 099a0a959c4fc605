// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Packet sequence numbers (IBTA 9.7.1, 9.7.4.1.1): expected, old and early ones,
 * where the numbers wrap and where their sign would change.
 */
#include <algorithm>

#include "rules.hh"

namespace st
{

namespace
{

constexpr uint32_t HALF = 0x800000;
const uint32_t STARTS[] = { 0, 1, 0x7ffffe, 0x7fffff, 0x800000, 0x800001, 0xfffffe, 0xffffff };

Setup at(uint32_t psn)
{
	Setup setup;

	setup.psn = psn;
	return setup;
}

/* five messages of one and three packets across the number */
void in_order(Bench &bench, uint32_t start)
{
	Peer peer(bench, at(start - 2));
	uint32_t psn = start - 2;

	peer.put(RC_WRITE_ONLY, psn, peer.write_body(0, 40, 1), true);
	peer.expect_ack(psn, 1);
	peer.put(RC_WRITE_FIRST, psn + 1, join(peer.to_memory(0, 2 * MTU + 8), data(MTU, 2)));
	peer.put(RC_WRITE_MIDDLE, psn + 2, data(MTU, 2, MTU));
	peer.put(RC_WRITE_LAST, psn + 3, data(8, 2, 2 * MTU), true);
	peer.expect_ack(psn + 3, 2);
	peer.in_memory(0, 2 * MTU + 8, 2);
	peer.goes_on(psn + 4, 2);
}

/* a READ whose responses cross the number */
void read_across(Bench &bench, uint32_t start)
{
	Peer peer(bench, at(start - 1));

	std::copy_n(data(4 * MTU, 3).begin(), 4 * MTU, peer.end.mr.data());
	peer.put(RC_READ_REQUEST, start - 1, peer.to_memory(0, 3 * MTU + 5), true);
	peer.expect_read(start - 1, 1, 3 * MTU + 5, 3);
	peer.goes_on(start + 3, 1);
}

/* a duplicate is acknowledged by the newest number */
void old(Bench &bench, uint32_t start, uint32_t behind)
{
	Peer peer(bench, at(start));

	peer.put(RC_WRITE_ONLY, start, peer.write_body(0, 40, 1), true);
	peer.expect_ack(start, 1);
	peer.put(RC_WRITE_ONLY, start + 1 - behind, peer.write_body(0, 40, 2), true);
	peer.expect_ack(start, 1);
	peer.in_memory(0, 40, 1);
	peer.goes_on(start + 1, 1);
}

/* ACKs up to that of a PSN; what was kept may have been acknowledged on its own */
void acknowledged(Peer &peer, uint32_t psn, uint32_t msn)
{
	for (;;) {
		auto p = peer.next();
		auto behind = (psn - p.bth.psn) & 0xffffff;

		if (p.bth.opcode != RC_ACK || p.syndrome() != 0x1f || behind > 2 ||
		    p.msn() != msn - behind)
			fail("%s PSN %06x, syndrome %02x, MSN %u", opcode_name(p.bth.opcode),
			     p.bth.psn, p.syndrome(), p.msn());
		if (!behind)
			return;
	}
}

/* an early one is refused with the expected number, and nothing is lost: it may have
 * been kept, or be dropped and sent again */
void early(Bench &bench, uint32_t start, uint32_t ahead)
{
	Peer peer(bench, at(start));

	peer.put(RC_WRITE_ONLY, start, peer.write_body(0, 40, 1), true);
	peer.expect_ack(start, 1);
	peer.put(RC_WRITE_ONLY, start + 1 + ahead, peer.write_body(0, 40, 2), true);
	peer.expect_ack(start + 1, 1, 0x60);
	peer.in_memory(0, 40, 1);
	if (ahead > 2) {
		peer.goes_on(start + 1, 1);
		return;
	}
	for (uint32_t i = 0; i < ahead; i++)
		peer.put(RC_WRITE_ONLY, start + 1 + i, peer.write_body(64, 40, 3));
	peer.put(RC_WRITE_ONLY, start + 1 + ahead, peer.write_body(0, 40, 2), true);
	acknowledged(peer, start + 1 + ahead, 2 + ahead);
	peer.in_memory(0, 40, 2);
	peer.in_memory(64, 40, 3);
	peer.put(RC_WRITE_ONLY, start + 2 + ahead, peer.write_body(128, 40, 4), true);
	acknowledged(peer, start + 2 + ahead, 3 + ahead);
	peer.in_memory(128, 40, 4);
}

/* many early ones, one NAK */
void nak_once(Bench &bench, uint32_t start)
{
	Peer peer(bench, at(start));

	for (uint32_t i = 0; i < 40; i++)
		peer.put(RC_WRITE_ONLY, start + 100 + i, peer.write_body(0, 40, 2), true);
	peer.expect_ack(start, 0, 0x60);
	peer.goes_on(start, 0);
}

} // namespace

void add_numbers(Trials &trials)
{
	for (auto start : STARTS) {
		trials.push_back({ "PSNs in order across " + hex(start), "messages",
				   [=](Bench &b) { in_order(b, start); } });
		trials.push_back({ "PSNs in order across " + hex(start), "a READ's responses",
				   [=](Bench &b) { read_across(b, start); } });
		for (uint32_t behind : { 1U, 2U, 100U, HALF - 1, HALF })
			trials.push_back({ "an old PSN is acknowledged again (9.7.5.1.2)",
					   hex(behind) + " behind " + hex(start + 1),
					   [=](Bench &b) { old(b, start, behind); } });
		for (uint32_t ahead : { 1U, 2U, 100U, HALF - 1 })
			trials.push_back({ "an early PSN is refused (9.7.4.1.1)",
					   hex(ahead) + " ahead of " + hex(start + 1),
					   [=](Bench &b) { early(b, start, ahead); } });
		trials.push_back({ "one NAK for a gap (9.7.5.1.1)", hex(start),
				   [=](Bench &b) { nak_once(b, start); } });
	}
}

} // namespace st
