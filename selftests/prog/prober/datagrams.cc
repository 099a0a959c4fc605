// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Datagrams (IBTA 9.8.3, A17.4.5.2): who may send them, what is left of the layer 3
 * header, and what the device's own look like.
 */
#include <arpa/inet.h>

#include "../lib/pattern.hh"
#include "rules.hh"

namespace st
{

namespace
{

constexpr uint32_t QKEY = 0x11223344, FROM = 0x0a0b0c, IMM = 0x01020304;

/* a UD QP, and a peer that nobody has to know */
struct Datagrams : Peer {
	explicit Datagrams(Bench &bench) : Peer(bench, setup())
	{
		end.qp.to_datagram(QKEY, numbers.real);
	}

	static Setup setup()
	{
		Setup setup;

		setup.type = IBV_QPT_UD;
		setup.connect = false;
		return setup;
	}

	Out datagram(uint32_t bytes, uint64_t key, bool imm = false) const
	{
		Bytes body;

		put32(body, QKEY);
		put32(body, FROM);
		if (imm)
			put32(body, IMM);
		return out(imm ? UD_SEND_ONLY_IMM : UD_SEND_ONLY, 0x1000,
			   join(body, data(bytes, key)));
	}

	/* as it has to be in memory: IPv4's header is in the second half */
	ibv_wc got(uint64_t id, uint32_t bytes, uint64_t key, const Bytes &frame) const
	{
		bool v4 = get16(&frame[12]) == 0x0800;
		auto *grh = end.mr.data() + BUFFER + id * BUFFER_BYTES + (v4 ? 20 : 0);
		auto wc = end.recv_cq.expect(id, IBV_WC_SUCCESS, style.patience);

		if (wc.byte_len != GRH_BYTES + bytes)
			fail("byte_len %u", wc.byte_len);
		if (!(wc.wc_flags & IBV_WC_GRH) || wc.src_qp != FROM)
			fail("flags %x, source QP %x", wc.wc_flags, wc.src_qp);
		in_memory(BUFFER + id * BUFFER_BYTES + GRH_BYTES, bytes, key);
		if (!std::equal(grh, grh + (v4 ? 20 : 40), &frame[ETH_BYTES]))
			fail("not the header that was sent");
		return wc;
	}
};

using Change = std::function<void(Out &)>;

void taken(Bench &bench, uint32_t bytes, bool imm, const Change &change)
{
	Datagrams d(bench);
	auto out = d.datagram(bytes, 5, imm);

	d.recv(0);
	change(out);
	d.put(out);
	auto wc = d.got(0, bytes, 5, out.frame());
	if (!!(wc.wc_flags & IBV_WC_WITH_IMM) != imm || (imm && ntohl(wc.imm_data) != IMM))
		fail("immediate data");
}

/* the one behind it is the first that is taken */
void dropped(Bench &bench, uint32_t bytes, const Change &change)
{
	Datagrams d(bench);
	auto bad = d.datagram(bytes, 5), good = d.datagram(20, 6);

	d.recv(0);
	change(bad);
	d.raw(bad.frame());
	d.put(good);
	d.got(0, 20, 6, good.frame());
	d.is_state(IBV_QPS_RTS);
}

void short_buffer(Bench &bench, uint32_t bytes, uint32_t room)
{
	Datagrams d(bench);
	auto big = d.datagram(bytes, 5), good = d.datagram(20, 6);

	d.end.qp.recv(0, { d.end.mr.sge(Peer::BUFFER, room) });
	d.put(big);
	d.put(good);
	d.got(0, 20, 6, good.frame());
}

/* until the device says that there was no buffer; a foreign one may not say it */
void wait_for_loss(const Bench &bench, uint64_t before)
{
	if (Peer::style.foreign) {
		sleep_us(100000);
		return;
	}
	for (auto until = now_ns() + Peer::style.patience * 1000000ULL; now_ns() < until;) {
		if (counters(bench.config.dev_a)["out_of_buffer"] != before)
			return;
		sleep_us(20000);
	}
	fail("nothing was counted");
}

void no_buffer(Bench &bench)
{
	Datagrams d(bench);
	auto other = d.datagram(40, 5), good = d.datagram(20, 6);
	auto before = counters(bench.config.dev_a)["out_of_buffer"];

	d.put(other);
	wait_for_loss(bench, before);
	d.recv(0);
	d.put(good);
	d.got(0, 20, 6, good.frame());
}

void shortened(Bench &bench, bool imm)
{
	Datagrams d(bench);
	auto whole = d.datagram(0, 5, imm), good = d.datagram(20, 6);
	Bytes packet;

	d.recv(0);
	whole.bth.put(packet);
	packet = join(packet, whole.body);
	for (size_t n = 0; n < packet.size() + ICRC_BYTES; n++) {
		Bytes part(packet.begin(), packet.begin() + std::min(n, packet.size()));

		part.resize(n);
		auto f = frame(whole.path, part);
		if (n >= BTH_BYTES + ICRC_BYTES)
			fix_icrc(f);
		d.raw(f);
	}
	d.put(good);
	d.got(0, 20, 6, good.frame());
}

/* the device's own datagrams, bit for bit */
void sent(Bench &bench, uint32_t bytes, bool imm, bool solicited)
{
	Datagrams d(bench);
	auto &b = bench.devices.b;
	Ah ah(d.end.pd, bench.devices.a.gid_index(bench.config.gid),
	      b.gid(b.gid_index(bench.config.gid)));
	Bytes head;

	pattern_fill(d.end.mr.data(), bytes, 8, 0);
	put32(head, 0x55667788);
	put32(head, d.end.qp.num());
	if (imm)
		put32(head, IMM);
	for (uint32_t i = 0; i < 2; i++) {
		Want want{ imm ? UD_SEND_ONLY_IMM : UD_SEND_ONLY, d.numbers.real + i,
			   join(head, data(bytes, 8)) };

		want.solicited = solicited;
		Work(i, imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, { d.end.mr.sge(0, bytes) },
		     IBV_SEND_SIGNALED | (solicited ? IBV_SEND_SOLICITED : 0))
			.datagram(ah.get(), d.numbers.qpn, 0x55667788)
			.imm(IMM)
			.post(d.end.qp);
		d.expect(want);
		d.end.send_cq.expect(i, IBV_WC_SUCCESS, Peer::style.patience);
	}
}

Path as_other_type(const Path &path)
{
	Path other;

	if (!path.v1)
		return path.as_v1();
	other.source_mac = path.source_mac;
	other.dest_mac = path.dest_mac;
	if (path.source[0])
		other.addresses("fd77:1::2", "fd77:1::1");
	else
		other.addresses("10.77.1.2", "10.77.1.1");
	return other;
}

void add_taken(Trials &trials)
{
	auto add = [&](const std::string &rule, const std::string &name, Change change) {
		trials.push_back({ rule, name, [=](Bench &b) { taken(b, 40, false, change); } });
	};

	for (uint32_t bytes : { 0, 1, 2, 3, 4, 5, 255, 256, 1024, 1500 })
		for (bool imm : { false, true })
			trials.push_back({ "UD: delivered with its header (A17.4.5.2)",
					   format("%u bytes%s", bytes, imm ? ", immediate" : ""),
					   [=](Bench &b) { taken(b, bytes, imm, [](Out &) {}); } });
	for (uint32_t psn : { 0U, 1U, 0x7fffffU, 0xffffffU })
		add("UD: the PSN is not looked at", hex(psn), [=](Out &o) { o.bth.psn = psn; });
	add("UD: MigReq is not looked at", "0", [](Out &o) { o.bth.migrated = false; });
	add("UD: SE is not looked at", "1", [](Out &o) { o.bth.solicited = true; });
	add("UD: a limited member's P_Key", "0x7fff", [](Out &o) { o.bth.pkey = 0x7fff; });
	add("UD: the other GID type is taken (CA17-43)", "unicast",
	    [](Out &o) { o.path = as_other_type(o.path); });
	add("UD: anybody may send", "another source",
	    [](Out &o) { o.path.source[o.path.v6 ? 15 : 3] ^= 0x04; });
	for (uint16_t port : { 0, 1, 65535 })
		add("UD: the UDP source port is not looked at", format("%u", port),
		    [=](Out &o) { o.path.source_port = port; });
}

void add_dropped(Trials &trials)
{
	auto add = [&](const std::string &rule, const std::string &name, Change change) {
		trials.push_back({ rule, name, [=](Bench &b) { dropped(b, 40, change); } });
	};

	for (unsigned int bit = 0; bit < 32; bit++)
		add("UD: another Q_Key is dropped (9.6.1.5)", format("bit %u", bit),
		    [=](Out &o) { o.body[3 - bit / 8] ^= 1 << bit % 8; });
	for (uint16_t pkey : { 0x0000, 0x8001, 0xfffe, 0x7ffe, 0xbfff })
		add("UD: another partition is dropped", hex(pkey),
		    [=](Out &o) { o.bth.pkey = pkey; });
	for (uint8_t version : { 1, 8, 15 })
		add("UD: another transport version is dropped", hex(version),
		    [=](Out &o) { o.bth.version = version; });
	for (uint8_t opcode : { 0x04, 0x24, 0x0a, 0x60, 0x61, 0x63, 0x66, 0x6a, 0x71, 0xa4 })
		add("UD: other opcodes are dropped", hex(opcode),
		    [=](Out &o) { o.bth.opcode = opcode; });
	for (bool imm : { false, true })
		trials.push_back({ "UD: a packet shorter than its headers is dropped",
				   imm ? "SEND with immediate" : "SEND",
				   [=](Bench &b) { shortened(b, imm); } });
	for (auto [bytes, room] : { std::pair<uint32_t, uint32_t>{ 100, 139 },
				    { 100, 100 },
				    { 21, 60 },
				    { 1024, 1063 } })
		trials.push_back({ "UD: longer than the receive buffer (9.8.3.1)",
				   format("%u bytes into %u", bytes, room),
				   [bytes = bytes, room = room](Bench &b) {
					   short_buffer(b, bytes, room);
				   } });
	trials.push_back({ "UD: no receive buffer, no datagram", "SEND", no_buffer });
}

} // namespace

void add_datagrams(Trials &trials, const Bench &)
{
	add_taken(trials);
	add_dropped(trials);
	for (uint32_t bytes : { 0, 1, 2, 3, 4, 5, 255, 1024 })
		for (bool imm : { false, true })
			trials.push_back({ "UD: sent, bit for bit",
					   format("%u bytes%s", bytes, imm ? ", immediate" : ""),
					   [=](Bench &b) { sent(b, bytes, imm, false); } });
	trials.push_back(
		{ "UD: sent, bit for bit", "solicited", [](Bench &b) { sent(b, 8, true, true); } });
}

} // namespace st
