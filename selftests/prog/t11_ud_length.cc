// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Datagrams: lengths, the 40 bytes in front, Q_Keys, what an address handle
 * says, and what happens to requests that are wrong.
 */
#include <arpa/inet.h>

#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "lib/datagram.hh"

using namespace st;

namespace
{

/* A sends to B */
struct Mail {
	explicit Mail(Bench &b, const AhExtra &extra = {})
		: bench(b), a(b.devices.a, b.config.gid), b(b.devices.b, b.config.gid),
		  ah(a.pd, a.gid_index, this->b.gid(), extra)
	{
	}
	void send(uint32_t bytes, uint64_t key, uint32_t qkey = UdEnd::QKEY)
	{
		a.send(ah, b.qp.num(), bytes, key, qkey);
	}
	void received(uint64_t id, uint32_t bytes, uint64_t key)
	{
		b.received(id, bytes, key, a.qp.num());
	}
	/* the datagrams that have passed, at least n */
	std::vector<Packet> passed(size_t n)
	{
		auto ud = [](const Packet &p) { return p.bth.opcode >> 5 == 3; };
		std::vector<Packet> found;

		if (!bench.wire.wait_for(ud, n, 5000))
			fail("fewer than %zu datagrams passed", n);
		for (auto &p : bench.wire.take())
			if (ud(p))
				found.push_back(p);
		return found;
	}
	void alive()
	{
		if (auto s = b.qp.state(); s != IBV_QPS_RTS)
			fail("the receiver is in state %d", s);
	}

	Bench &bench;
	UdEnd a, b;
	Ah ah;
};

uint32_t mtu(Bench &b)
{
	return 128U << b.devices.a.port().active_mtu;
}

/* one byte too few: dropped, and the request waits for the next datagram */
void too_long(Bench &b)
{
	Mail m(b);

	m.b.recv(1, GRH_BYTES + 99);
	m.b.recv(2, GRH_BYTES + 100);
	m.send(100, 1);
	m.send(99, 2);
	m.received(1, 99, 2);
	m.send(100, 3);
	m.received(2, 100, 3);
	m.alive();
}

void shorter_than_grh(Bench &b)
{
	Mail m(b);

	m.b.recv(1, GRH_BYTES - 1);
	m.send(0, 1);
	if (m.b.recv_cq.next(200))
		fail("a request without room for the header completed");
	m.alive();
}

void whole_mtu(Bench &b)
{
	Mail m(b);

	m.b.recv(1, GRH_BYTES + mtu(b));
	m.send(mtu(b), 1);
	m.received(1, mtu(b), 1);
	m.b.recv(2, GRH_BYTES);
	m.send(0, 2);
	m.received(2, 0, 2);
}

/* more than a packet holds: nothing leaves, and it completes */
void over_mtu(Bench &b)
{
	Mail m(b);

	m.b.recv(1, 16384);
	m.send(mtu(b) + 1, 1);
	m.send(8, 2);
	m.received(1, 8, 2);
	if (auto n = m.passed(1).size(); n != 1)
		fail("%zu datagrams on the wire", n);
	if (m.a.qp.state() != IBV_QPS_RTS)
		fail("the sender left RTS");
}

/* the 40 bytes are the IP header as it was on the wire */
void grh(Bench &b)
{
	Mail m(b, { 0x12345, 0x83, 33 });
	uint8_t *area = m.b.mr.data();

	std::memset(area, 0xee, 4096);
	m.b.recv(1, 4096);
	m.send(10, 7);
	m.received(1, 10, 7);
	auto p = m.passed(1).front();
	auto v = view(p.frame.data(), p.frame.size());
	if (std::memcmp(area + GRH_BYTES - v->header_bytes, v->ip, v->header_bytes))
		fail("the area is not the IP header");
	if (area[GRH_BYTES + 10] != 0xee)
		fail("written beyond the payload");
}

void ah_fields(Bench &b)
{
	Mail m(b, { 0x12345, 0x83, 33 });

	m.b.recv(1, 4096);
	m.send(10, 1);
	m.received(1, 10, 1);
	auto p = m.passed(1).front();
	auto v = view(p.frame.data(), p.frame.size());
	unsigned int tclass = v->v6 ? get16(v->ip) >> 4 & 0xff : v->ip[1];
	unsigned int hops = v->ip[v->v6 ? 7 : 8];
	/* ib_core takes a unicast hop limit from the route */
	/* the two ECN bits are not the application's: ECT(0) */
	if (tclass != 0x82 || hops != 64)
		fail("traffic class %#x, hop limit %u", tclass, hops);
	if (v->v6 && (get32(v->ip) & 0xfffff) != 0x12345)
		fail("flow label %#x", get32(v->ip) & 0xfffff);
	/* the flow label decides the source port */
	uint16_t port = ((0x12345 & 0x3fff) ^ (0x12345 >> 14)) | 0xc000;
	if (get16(v->udp()) != port)
		fail("source port %#x, not %#x", get16(v->udp()), port);
	if (!v->icrc_good())
		fail("wrong ICRC");
}

/* without a flow label: one port for a flow, another for another */
void source_ports(Bench &b)
{
	Mail m(b);
	std::vector<std::unique_ptr<UdEnd>> others;
	std::set<uint16_t> ports;

	for (int i = 0; i < 8; i++)
		others.push_back(std::make_unique<UdEnd>(b.devices.b, b.config.gid));
	for (int round = 0; round < 2; round++)
		for (auto &other : others)
			m.a.send(m.ah, other->qp.num(), 1, 1);
	std::map<uint32_t, uint16_t> of;
	for (auto &p : m.passed(16)) {
		uint16_t port = get16(view(p.frame.data(), p.frame.size())->udp());
		auto [it, fresh] = of.try_emplace(p.bth.qpn, port);
		if (!fresh && it->second != port)
			fail("ports %u and %u for one flow", it->second, port);
		ports.insert(port);
	}
	if (ports.size() < 4)
		fail("%zu ports for 8 flows", ports.size());
}

void immediate(Bench &b)
{
	Mail m(b);

	m.b.recv(1, 4096);
	auto w = m.a.work(1, 3, 1);
	w.get().opcode = IBV_WR_SEND_WITH_IMM;
	w.datagram(m.ah.get(), m.b.qp.num(), UdEnd::QKEY).imm(0xa1b2c3d4).post(m.a.qp);
	auto wc = m.b.received(1, 3, 1, m.a.qp.num());
	if (!(wc.wc_flags & IBV_WC_WITH_IMM) || ntohl(wc.imm_data) != 0xa1b2c3d4)
		fail("immediate data %#x", ntohl(wc.imm_data));
	if (m.passed(1).front().bth.opcode != UD_SEND_ONLY_IMM)
		fail("wrong opcode");
}

void qkey(Bench &b)
{
	Mail m(b);
	uint64_t before = counters(b.config.dev_b)["rx_drop_qkey"];

	m.b.recv(1, 4096);
	m.send(10, 1, UdEnd::QKEY + 1);
	m.send(10, 2);
	m.received(1, 10, 2);
	if (auto n = counters(b.config.dev_b)["rx_drop_qkey"] - before; n != 1)
		fail("rx_drop_qkey went up by %llu", static_cast<unsigned long long>(n));
	m.alive();
}

/* the high bit says: the Q_Key of the QP that sends */
void controlled_qkey(Bench &b)
{
	Mail m(b);

	m.b.recv(1, 4096);
	m.send(10, 1, 0x80000000);
	m.received(1, 10, 1);
}

void no_request(Bench &b)
{
	Mail m(b);
	uint64_t before = counters(b.config.dev_b)["out_of_buffer"];

	m.send(10, 1);
	for (int i = 0; counters(b.config.dev_b)["out_of_buffer"] == before; i++) {
		if (i == 500)
			fail("out_of_buffer does not count");
		sleep_us(10000);
	}
	m.b.recv(1, 4096);
	m.send(10, 2);
	m.received(1, 10, 2);
	m.alive();
}

/* what failed, and what stands behind it, does not leave; then it goes on */
void back_to_rts(Mail &m)
{
	ibv_qp_attr attr = {};

	if (auto s = m.a.qp.state(); s != IBV_QPS_SQE)
		fail("state %d, not SQE", s);
	/* it still receives */
	Ah back(m.b.pd, m.b.gid_index, m.a.gid());
	m.a.recv(50, 4096, 8192);
	m.b.send(back, m.a.qp.num(), 5, 50);
	m.a.received(50, 5, 50, m.b.qp.num(), 8192);

	attr.qp_state = IBV_QPS_RTS;
	attr.cur_qp_state = IBV_QPS_SQE;
	if (int err = ibv_modify_qp(m.a.qp.get(), &attr, IBV_QP_STATE | IBV_QP_CUR_STATE))
		fail_errno("modify to RTS", err);
	m.b.recv(60, 4096);
	m.send(6, 60);
	m.received(60, 6, 60);
}

void foreign_ah(Bench &b)
{
	Mail m(b);
	Pd other(b.devices.a);
	Ah foreign(other, m.a.gid_index, m.b.gid());

	m.a.work(1, 4, 1).datagram(foreign.get(), m.b.qp.num(), UdEnd::QKEY).post(m.a.qp);
	m.a.work(2, 4, 2).datagram(m.ah.get(), m.b.qp.num(), UdEnd::QKEY).post(m.a.qp);
	m.a.send_cq.expect(1, IBV_WC_LOC_QP_OP_ERR);
	m.a.send_cq.expect(2, IBV_WC_WR_FLUSH_ERR);
	back_to_rts(m);
	if (auto n = m.passed(2).size(); n != 2)
		fail("%zu datagrams on the wire", n);
}

void bad_lkey(Bench &b)
{
	Mail m(b);
	ibv_sge wrong = m.a.mr.sge(0, 16);

	wrong.lkey ^= 0x100;
	Work(1, IBV_WR_SEND, { wrong })
		.datagram(m.ah.get(), m.b.qp.num(), UdEnd::QKEY)
		.post(m.a.qp);
	m.a.send_cq.expect(1, IBV_WC_LOC_PROT_ERR);
	back_to_rts(m);
}

void bad_recv_lkey(Bench &b)
{
	Mail m(b);
	ibv_sge wrong = m.b.mr.sge(0, 4096);

	wrong.lkey ^= 0x100;
	m.b.qp.recv(1, { wrong });
	m.b.recv(2, 4096);
	m.send(10, 1);
	m.b.recv_cq.expect(1, IBV_WC_LOC_PROT_ERR);
	m.b.recv_cq.expect(2, IBV_WC_WR_FLUSH_ERR);
	if (auto s = m.b.qp.state(); s != IBV_QPS_ERR)
		fail("state %d, not ERR", s);
}

/* operations that a datagram does not have */
void no_such_operation(Bench &b)
{
	Mail m(b);

	for (auto op : { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD }) {
		int err = Work(1, op, { m.a.mr.sge(0, 8) })
				  .remote(m.b.mr.addr(), m.b.mr.rkey())
				  .try_post(m.a.qp);
		if (err != EINVAL)
			fail("opcode %d: %d, not EINVAL", op, err);
	}
}

/* a host that talks to itself */
void to_itself(Bench &b)
{
	UdEnd one(b.devices.a, b.config.gid), two(b.devices.a, b.config.gid);
	Ah ah(one.pd, one.gid_index, one.gid());

	two.recv(1, 4096);
	one.send(ah, two.qp.num(), 33, 1);
	two.received(1, 33, 1, one.qp.num());
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(
		argc, argv,
		{ { "a datagram longer than the buffer is dropped, the request waits", too_long },
		  { "a buffer shorter than the 40 bytes takes nothing", shorter_than_grh },
		  { "as long as the path MTU, and empty", whole_mtu },
		  { "longer than the path MTU: nothing leaves", over_mtu },
		  { "the 40 bytes are the IP header", grh },
		  { "traffic class, hop limit, flow label, source port", ah_fields },
		  { "a source port for each flow", source_ports },
		  { "immediate data", immediate },
		  { "a wrong Q_Key", qkey },
		  { "a controlled Q_Key", controlled_qkey },
		  { "no receive request", no_request },
		  { "an address handle of another PD", foreign_ah },
		  { "wrong memory at the sender", bad_lkey },
		  { "wrong memory at the receiver", bad_recv_lkey },
		  { "operations that UD does not have", no_such_operation },
		  { "from a QP to another of the same device", to_itself } });
}
