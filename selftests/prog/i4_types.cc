// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * I4: RoCEv1 and RoCEv2 side by side. A connected QP takes packets of its GID's
 * type only, a UD QP those of both. And what RoCEv1 alone has to look at: the
 * GRH, the address, the length of a padded frame.
 */
#include <algorithm>

#include "lib/bench.hh"
#include "lib/datagram.hh"
#include "lib/pattern.hh"

using namespace st;

namespace
{

constexpr uint32_t PSN = 0x111111, FROM = 0x345678, BYTES = 32;

/* frames as if A had sent them to B */
Path path_to_b(Bench &bench)
{
	Path path;

	path.source_mac = Path::mac("02:00:00:77:01:01");
	path.dest_mac = Path::mac("02:00:00:77:01:02");
	if (bench.config.gid == "v4")
		path.addresses("10.77.1.1", "10.77.1.2");
	else
		path.addresses("fd77:1::1", "fd77:1::2");
	return path;
}

PairConfig of_type(const Bench &bench, bool v1)
{
	auto config = bench.config;

	if (v1)
		config.gid = "v1-" + config.gid;
	return config;
}

uint64_t count(Bench &bench, const char *name)
{
	return counters(bench.config.dev_b)[name];
}

/* within a second */
void counted(Bench &bench, const char *name, uint64_t before, uint64_t more = 1)
{
	for (int i = 0; i < 20 && count(bench, name) < before + more; i++)
		sleep_us(50000);
	if (auto n = count(bench, name) - before; n != more)
		fail("%s counted %llu, not %llu", name, static_cast<unsigned long long>(n),
		     static_cast<unsigned long long>(more));
}

Bytes send_only(const Path &path, const Pair &pair)
{
	Bytes body(BYTES);
	Bth bth;

	pattern_fill(body.data(), body.size(), 4, 0);
	bth.opcode = RC_SEND_ONLY;
	bth.qpn = pair.b.qp.num();
	bth.psn = PSN;
	bth.ack_request = true;
	return frame(path, bth, body);
}

void connected(Bench &bench, bool v1)
{
	Pair pair(bench.devices, of_type(bench, v1));
	auto path = path_to_b(bench);
	auto before = count(bench, "rx_drop_addr");

	pair.b.qp.recv(1, { pair.b.mr.sge(0, 4096) });
	bench.wire.forget();
	/* all is right but the type */
	bench.wire.inject(true, send_only(v1 ? path : path.as_v1(), pair));
	counted(bench, "rx_drop_addr", before);
	if (!bench.wire.take().empty())
		fail("it was answered");
	if (pair.b.recv_cq.next(0))
		fail("it completed a receive request");
	/* the same, of the right type: what was wrong was the type and nothing else */
	bench.wire.inject(true, send_only(v1 ? path.as_v1() : path, pair));
	auto wc = pair.b.recv_cq.expect(1, IBV_WC_SUCCESS);
	if (wc.byte_len != BYTES || pattern_check(pair.b.mr.data(), BYTES, 4, 0) != BYTES)
		fail("wrong data");
	if (!bench.wire.wait_for(
		    [&](const Packet &p) {
			    return !p.to_b && p.bth.opcode == RC_ACK && p.icrc_good() &&
				   view(p.frame.data(), p.frame.size())->v1 == v1;
		    },
		    1, 5000))
		fail("no ACK of that type");
}

Bytes datagram(const Path &path, uint32_t qpn)
{
	Bytes body;
	Bth bth;

	put32(body, UdEnd::QKEY);
	put32(body, FROM);
	body.resize(DETH_BYTES + BYTES);
	pattern_fill(body.data() + DETH_BYTES, BYTES, 7, 0);
	bth.opcode = UD_SEND_ONLY;
	bth.qpn = qpn;
	return frame(path, bth, body);
}

/* layer 3 as the receiver must find it in front */
void check_grh(const UdEnd &to, const Bytes &f, bool ipv4)
{
	size_t at = ipv4 ? 20 : 0, bytes = ipv4 ? 20 : GRH_BYTES;

	if (!std::equal(f.begin() + ETH_BYTES, f.begin() + ETH_BYTES + bytes, to.mr.data() + at))
		fail("not the header that was sent");
}

void datagrams(Bench &bench)
{
	UdEnd to(bench.devices.b, bench.config.gid);
	auto path = path_to_b(bench);

	for (bool v1 : { false, true, true, false }) {
		auto f = datagram(v1 ? path.as_v1() : path, to.qp.num());

		to.recv(1, 1024);
		bench.wire.inject(true, f);
		to.received(1, BYTES, 7, FROM);
		check_grh(to, f, !v1 && bench.config.gid == "v4");
	}
}

/* by an address handle of each type, to a QP that was set up with the other */
void both_ways(Bench &bench)
{
	auto &kind = bench.config.gid;
	UdEnd a(bench.devices.a, kind), b(bench.devices.b, "v1-" + kind);
	auto &dev = bench.devices.a;
	Ah v1(a.pd, dev.gid_index("v1-" + kind), b.gid()), v2(a.pd, dev.gid_index(kind), b.gid());

	for (auto *ah : { &v1, &v2, &v1 }) {
		bench.wire.forget();
		b.recv(1, 1024);
		a.send(*ah, b.qp.num(), 100, 9);
		b.received(1, 100, 9, a.qp.num());
		if (!bench.wire.wait_for(
			    [&](const Packet &p) {
				    return p.to_b && p.icrc_good() &&
					   view(p.frame.data(), p.frame.size())->v1 == (ah == &v1);
			    },
			    1, 1000))
			fail("it did not leave as RoCEv%d", ah == &v1 ? 1 : 2);
	}
}

/* a RoCEv1 datagram that is right but for what spoil does to the frame */
void spoilt(Bench &bench, const char *counter, const std::function<void(Bytes &)> &spoil,
	    bool new_icrc = false)
{
	UdEnd to(bench.devices.b, bench.config.gid);
	auto f = datagram(path_to_b(bench).as_v1(), to.qp.num()), good = f;
	auto before = count(bench, counter), all = count(bench, "rx_packets");

	to.recv(1, 1024);
	spoil(f);
	if (new_icrc) {
		auto crc = icrc(&f[ETH_BYTES], f.size() - ETH_BYTES);

		for (int i = 0; i < 4; i++)
			f[f.size() - 4 + i] = crc >> (8 * i);
	}
	bench.wire.inject(true, f);
	counted(bench, counter, before);
	if (to.recv_cq.next(0) || count(bench, "rx_packets") != all)
		fail("it was taken");
	bench.wire.inject(true, good);
	to.received(1, BYTES, 7, FROM);
}

/* a switch's padding behind the ICRC is no part of the packet */
void padded(Bench &bench)
{
	Pair pair(bench.devices, of_type(bench, true));
	auto f = send_only(path_to_b(bench).as_v1(), pair);

	pair.b.qp.recv(1, { pair.b.mr.sge(0, 4096) });
	f.resize(f.size() + 18);
	bench.wire.inject(true, f);
	if (auto wc = pair.b.recv_cq.expect(1, IBV_WC_SUCCESS); wc.byte_len != BYTES)
		fail("byte_len %u", wc.byte_len);
}

/* somebody else's MAC address: not even counted */
void other_mac(Bench &bench)
{
	Pair pair(bench.devices, of_type(bench, true));
	auto path = path_to_b(bench).as_v1();
	auto before = counters(bench.config.dev_b);

	pair.b.qp.recv(1, { pair.b.mr.sge(0, 4096) });
	path.dest_mac[5] ^= 0x40;
	bench.wire.inject(true, send_only(path, pair));
	sleep_us(100000);
	if (pair.b.recv_cq.next(0) || before != counters(bench.config.dev_b))
		fail("it was looked at");
	path.dest_mac[5] ^= 0x40;
	bench.wire.inject(true, send_only(path, pair));
	pair.b.recv_cq.expect(1, IBV_WC_SUCCESS);
}

constexpr size_t GRH = ETH_BYTES;

Case bad(const char *name, const char *counter, std::function<void(Bytes &)> spoil,
	 bool new_icrc = false)
{
	return { std::string("RoCEv1: ") + name,
		 [=](Bench &b) { spoilt(b, counter, spoil, new_icrc); } };
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(
		argc, argv,
		{ { "a RoCEv2 QP takes no RoCEv1", [](Bench &b) { connected(b, false); } },
		  { "a RoCEv1 QP takes no RoCEv2", [](Bench &b) { connected(b, true); } },
		  { "a UD QP takes both", datagrams },
		  { "an address handle's GID decides", both_ways },
		  { "RoCEv1: bytes behind the ICRC", padded },
		  { "RoCEv1: another MAC address", other_mac },
		  bad("wrong ICRC", "rx_icrc_encapsulated", [](Bytes &f) { f.back() ^= 1; }),
		  bad("another next header", "rx_drop_l3", [](Bytes &f) { f[GRH + 6] = 17; }),
		  bad("another IP version", "rx_drop_l3", [](Bytes &f) { f[GRH] = 0x40; }),
		  bad("a length beyond the frame", "rx_drop_l3", [](Bytes &f) { f[GRH + 5] += 4; }),
		  bad("a length shorter than the headers", "rx_drop_short",
		      [](Bytes &f) { f[GRH + 5] = 12; }),
		  bad("a frame without a whole GRH", "rx_drop_short",
		      [](Bytes &f) { f.resize(GRH + 39); }),
		  bad(
			  "an address that the port does not have", "rx_drop_addr",
			  [](Bytes &f) { f[GRH + 39] ^= 0x40; }, true),
		  bad("one address in a frame to many", "rx_drop_addr",
		      [](Bytes &f) { std::fill_n(f.begin(), 6, 0xff); }) });
}
