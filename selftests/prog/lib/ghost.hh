/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A peer that is not there: one real QP, on one device, connected to nobody.
 * The test answers, or asks, with packets made by hand and looks at what the
 * real QP makes of them, packet by packet.
 */
#pragma once

#include <functional>
#include <vector>

#include "bench.hh"

namespace st
{

class Ghost
{
public:
	static constexpr uint32_t PSN = 0x111111;  /* of its first request */
	static constexpr uint32_t REAL = 0x222222; /* of the real QP's first request */

	/* a QPN for each ghost: what comes late for one is not taken for another's */
	static uint32_t fresh_qpn()
	{
		static uint32_t count;

		return 0x300000 + (count++ & 0xfffff);
	}

	/* what the two know of each other */
	struct Numbers {
		uint32_t qpn = fresh_qpn(), psn = PSN, real = REAL;
		int host = 2; /* last number of the ghost's address */
	};

	/* the real QP is on device A; the ghost stands where B is */
	Ghost(Bench &bench, const QpLink &link, const QpDepth &depth = {})
		: Ghost(bench, link, depth, Numbers())
	{
	}
	/* has: what the real QP is to use; nothing: its own */
	Ghost(Bench &bench, const QpLink &link, const QpDepth &depth, const Numbers &numbers,
	      std::shared_ptr<Belongings> has = nullptr, bool connect = true);
	~Ghost() { bench.wire.no_rule(); }

	/* a packet to the real QP */
	void send(uint8_t opcode, uint32_t psn, const Bytes &body = {}, bool ack_request = false);
	void send(Bth bth, const Bytes &body);
	void ack(uint32_t psn, uint32_t msn, uint8_t syndrome = 0x1f)
	{
		send(RC_ACK, psn, aeth(syndrome, msn));
	}
	/* next packet from the real QP within ms; its absence is a failure */
	Packet next(int ms = 5000);
	/* the next packet, which must have this opcode and PSN */
	Packet expect(uint8_t opcode, uint32_t psn, int ms = 5000);
	/* an ACK or NAK with this syndrome class or code: 0 is any ACK, 0x20 RNR */
	Packet expect_ack(uint8_t syndrome, uint32_t psn, int ms = 5000);
	/* nothing comes for ms */
	void silence(int ms = 100);
	/* nothing of what has come so far is of interest */
	void forget();
	std::string seen() const { return describe(history); }
	/* how the real QP is connected, and with what */
	QpLink real_link(const QpLink &link) const;
	QpAddress ghost_address() const;

	Bench &bench;
	Numbers numbers;
	End end;
	Path path; /* from the ghost to the real QP */

private:
	std::vector<Packet> pending, history;
};

/* bytes of a pattern as packet data */
Bytes data(size_t bytes, uint64_t key, uint64_t offset = 0);
Bytes join(const Bytes &a, const Bytes &b);

} // namespace st
