// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * I9: one UDP source port for all that a QP sends, different ones for different
 * QPs; the peer's is not looked at, whatever it does.
 */
#include <set>

#include "rules.hh"

namespace st
{

namespace
{

uint16_t port_of(const Packet &p)
{
	return get16(view(p.frame.data(), p.frame.size())->udp());
}

/* a request with this source port */
void put_from(Peer &peer, uint16_t port, uint8_t opcode, uint32_t psn, const Bytes &body)
{
	auto out = peer.out(opcode, psn, body, true);

	out.path.source_port = port;
	peer.put(out);
}

void post(Peer &peer, uint64_t id, ibv_wr_opcode verb, uint32_t bytes)
{
	Work(id, verb, { peer.end.mr.sge(0, bytes) }).remote(0x1000, 1).post(peer.end.qp);
}

/* ACKs, NAKs, responses, a CNP, requests, and what is sent again */
void constant(Bench &bench)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn, real = peer.numbers.real;
	std::set<uint16_t> ports;
	auto take = [&](uint8_t opcode) {
		for (;;) {
			auto p = static_cast<Ghost &>(peer).next();

			ports.insert(port_of(p));
			if (p.bth.opcode == opcode)
				return;
		}
	};

	put_from(peer, 1, RC_WRITE_ONLY, psn, peer.write_body(0, 40, 1));
	take(RC_ACK);
	auto marked = peer.out(RC_WRITE_ONLY, psn + 1, peer.write_body(0, 40, 1), true);
	marked.path.tos = 3;
	peer.put(marked);
	take(RC_ACK);
	put_from(peer, 2, RC_READ_REQUEST, psn + 2, peer.to_memory(0, 3 * MTU));
	take(RC_READ_LAST);
	put_from(peer, 3, RC_WRITE_ONLY, psn + 100, peer.write_body(0, 40, 1));
	take(RC_ACK);
	post(peer, 1, IBV_WR_RDMA_WRITE, 3 * MTU);
	take(RC_WRITE_LAST);
	put_from(peer, 4, RC_ACK, real, aeth(0x60, 0));
	take(RC_WRITE_LAST);
	put_from(peer, 5, RC_ACK, real + 2, aeth(0x1f, 1));
	peer.end.send_cq.expect(1, IBV_WC_SUCCESS, Peer::style.patience);
	post(peer, 2, IBV_WR_RDMA_READ, 8);
	take(RC_READ_REQUEST);
	if (ports.size() != 1 || *ports.begin() < 0xc000)
		fail("%zu source ports, the lowest is %u", ports.size(), *ports.begin());
}

/* sixteen QPs; two of them may meet by chance, all of them may not */
void different(Bench &bench)
{
	constexpr unsigned int QPS = 16, LEAST = 12;
	std::set<uint16_t> ports;

	for (unsigned int i = 0; i < QPS; i++) {
		Peer peer(bench);

		peer.put(RC_WRITE_ONLY, peer.numbers.psn, peer.write_body(0, 40, 1), true);
		ports.insert(port_of(peer.next()));
	}
	if (ports.size() < LEAST)
		fail("%u QPs have %zu source ports", QPS, ports.size());
}

/* a peer whose port is another one in each packet of a message */
void not_matched(Bench &bench)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn, real = peer.numbers.real;
	uint16_t port = 0;

	put_from(peer, port, RC_WRITE_FIRST, psn,
		 join(peer.to_memory(0, 2 * MTU + 8), data(MTU, 1)));
	peer.expect_ack(psn, 0);
	put_from(peer, port += 4791, RC_WRITE_MIDDLE, psn + 1, data(MTU, 1, MTU));
	peer.expect_ack(psn + 1, 0);
	put_from(peer, port += 4791, RC_WRITE_LAST, psn + 2, data(8, 1, 2 * MTU));
	peer.expect_ack(psn + 2, 1);
	peer.in_memory(0, 2 * MTU + 8, 1);
	post(peer, 1, IBV_WR_RDMA_READ, 3 * MTU);
	peer.expect({ RC_READ_REQUEST, real, reth(0x1000, 1, 3 * MTU), true });
	put_from(peer, 0, RC_READ_FIRST, real, join(aeth(0x1f, 1), data(MTU, 2)));
	put_from(peer, 65535, RC_READ_MIDDLE, real + 1, data(MTU, 2, MTU));
	put_from(peer, 1, RC_READ_LAST, real + 2, join(aeth(0x1f, 1), data(MTU, 2, 2 * MTU)));
	peer.end.send_cq.expect(1, IBV_WC_SUCCESS, Peer::style.patience);
	peer.in_memory(0, 3 * MTU, 2);
}

} // namespace

void add_ports(Trials &trials)
{
	trials.push_back({ "I9: one source port for all that a QP sends", "RC", constant });
	trials.push_back({ "I9: QPs have different source ports", "RC", different });
	trials.push_back({ "I9: the peer's source port is not matched", "RC", not_matched });
}

} // namespace st
