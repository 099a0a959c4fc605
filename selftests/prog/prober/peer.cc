// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "peer.hh"

#include <algorithm>

#include "../lib/pattern.hh"
#include "congestion.hh"

namespace st
{

constexpr uint8_t CNP_DSCP = 48;

Style Peer::style;

bool is_v1(const Bench &bench)
{
	return bench.config.gid.rfind("v1-", 0) == 0;
}

bool is_v6(const Bench &bench)
{
	return bench.config.gid == "v6";
}

Bytes padded(Bytes body)
{
	body.resize((body.size() + 3) & ~3UL);
	return body;
}

std::string hex(uint64_t v)
{
	return format("%#llx", static_cast<unsigned long long>(v));
}

static QpLink link_for(const Setup &setup)
{
	QpLink link;

	link.mtu = mtu_enum(setup.mtu);
	link.min_rnr = setup.min_rnr;
	link.timeout = setup.timeout;
	link.retry = setup.retry;
	link.rnr_retry = setup.rnr_retry;
	link.rd_atomic = setup.rd_atomic;
	link.access = setup.qp_access & ~IBV_ACCESS_LOCAL_WRITE;
	return link;
}

static QpDepth depth_for(const Setup &setup)
{
	QpDepth depth;

	depth.type = setup.type;
	return depth;
}

static Ghost::Numbers numbers_for(const Setup &setup)
{
	Ghost::Numbers numbers;

	numbers.psn = setup.psn;
	numbers.real = setup.real;
	numbers.host = setup.host;
	return numbers;
}

/* as if it were new */
static std::shared_ptr<Belongings> clean(const Bench &bench, int access)
{
	auto &has = Peer::style.belongings[access];
	ibv_wc wc;

	if (!has)
		has = std::make_shared<Belongings>(bench.devices.a, bench.config, access);
	while (has->send_cq.poll(&wc, 1) || has->recv_cq.poll(&wc, 1))
		;
	std::fill_n(has->mr.data(), has->mr.size(), 0);
	return has;
}

Peer::Peer(Bench &bench, const Setup &setup) : Peer(bench, setup, numbers_for(setup)) {}

Peer::Peer(Bench &b, const Setup &setup, const Numbers &numbers)
	: Ghost(b, link_for(setup), depth_for(setup), numbers, clean(b, setup.access),
		setup.connect),
	  link(real_link(link_for(setup)))
{
}

Out Peer::out(uint8_t opcode, uint32_t psn, const Bytes &body, bool ack_request) const
{
	Out out;

	out.bth.opcode = opcode;
	out.bth.qpn = end.qp.num();
	out.bth.psn = psn & 0xffffff;
	out.bth.ack_request = ack_request;
	out.bth.pad = -body.size() & 3;
	out.body = padded(body);
	out.path = path;
	return out;
}

void Peer::put(const Out &out)
{
	auto frame = out.frame();

	if (style.oracle)
		style.oracle->add(frame, out.bth, out.body);
	bench.wire.inject(false, frame);
}

void Peer::raw(const Bytes &frame, size_t linear)
{
	bench.wire.inject(false, frame, linear);
}

Packet Peer::next()
{
	for (;;) {
		auto p = Ghost::next(style.patience);

		if (p.bth.opcode != CNP)
			return p;
	}
}

/* which field of the frame a byte belongs to, for people */
static std::string field_at(const View &v, const Bytes &frame, size_t at)
{
	struct Field {
		size_t offset;
		const char *name;
	};
	static const Field ip4[] = { { 1, "type of service" },
				     { 2, "total length" },
				     { 4, "identification" },
				     { 6, "fragment" },
				     { 8, "TTL" },
				     { 9, "protocol" },
				     { 10, "IP checksum" },
				     { 12, "source address" },
				     { 16, "destination" } };
	static const Field ip6[] = { { 0, "traffic class, flow label" },
				     { 4, "payload length" },
				     { 6, "next header" },
				     { 7, "hop limit" },
				     { 8, "source address" },
				     { 24, "destination" } };
	static const Field udp[] = { { 0, "UDP source port" },
				     { 2, "UDP destination port" },
				     { 4, "UDP length" },
				     { 6, "UDP checksum" } };
	static const Field bth[] = { { 0, "opcode" }, { 1, "SE, M, pad, TVer" },
				     { 2, "P_Key" },  { 4, "FECN, BECN, reserved" },
				     { 5, "DestQP" }, { 8, "AckReq, reserved" },
				     { 9, "PSN" } };
	auto name = [&](const auto &fields, size_t offset) {
		const char *found = "version";

		for (auto &f : fields)
			if (f.offset <= offset)
				found = f.name;
		return std::string(found);
	};
	size_t head = ETH_BYTES + v.header_bytes, transport = v.body - frame.data() - BTH_BYTES;

	if (at < ETH_BYTES)
		return "Ethernet header";
	if (at < head)
		return v.v6 ? name(ip6, at - ETH_BYTES) : name(ip4, at - ETH_BYTES);
	if (at < transport)
		return name(udp, at - head);
	if (at < transport + BTH_BYTES)
		return name(bth, at - transport);
	if (at < transport + BTH_BYTES + v.body_bytes)
		return format("byte %zu behind the BTH", at - transport - BTH_BYTES);
	return "ICRC";
}

static void compare(const Bytes &want, const Packet &got)
{
	auto v = view(got.frame.data(), got.frame.size());
	auto n = std::min(want.size(), got.frame.size());

	/* PSN and opcode tell more than the lengths that go with them */
	auto bth = v->body - got.frame.data() - BTH_BYTES;
	auto wanted = Bth::get(&want[bth]);
	if (wanted.opcode != got.bth.opcode || wanted.psn != got.bth.psn)
		fail("%s PSN %06x instead of %s PSN %06x", opcode_name(got.bth.opcode), got.bth.psn,
		     opcode_name(wanted.opcode), wanted.psn);
	for (size_t i = 0; i < n; i++)
		if (want[i] != got.frame[i])
			fail("%s PSN %06x: %s: %02x instead of %02x at byte %zu of the frame",
			     opcode_name(got.bth.opcode), got.bth.psn,
			     field_at(*v, got.frame, i).c_str(), got.frame[i], want[i], i);
	if (want.size() != got.frame.size())
		fail("%s PSN %06x: a frame of %zu bytes instead of %zu",
		     opcode_name(got.bth.opcode), got.bth.psn, got.frame.size(), want.size());
}

/* the source port is the QP's own choice, made once */
void Peer::learn_port(const Packet &got)
{
	auto v = view(got.frame.data(), got.frame.size());

	if (v->v1)
		return;
	if (!port)
		port = get16(v->udp());
	if (port < 0xc000)
		fail("UDP source port %u", port);
}

Bytes Peer::wanted(const Want &want, const Packet &got) const
{
	auto v = view(got.frame.data(), got.frame.size());
	auto back = path.reversed();
	Bth bth;

	bth.opcode = want.opcode;
	bth.qpn = numbers.qpn;
	bth.psn = want.psn & 0xffffff;
	bth.pad = -want.body.size() & 3;
	bth.solicited = want.solicited;
	bth.ack_request = want.any_ack_request ? got.bth.ack_request : want.ack_request;
	back.source_port = port;
	back.tos = v->v1 ? 0 : ECT_0;
	if (!v->v6)
		back.id = get16(v->ip + 4); /* any number will do */
	if (style.foreign) {
		auto seen = Path::of(got.frame);
		auto is = [](const char *name, bool odd) {
			if (odd)
				style.peculiar[name]++;
		};

		is("not marked as able to tell congestion (ECT)", (seen.tos ^ back.tos) & ECN_MASK);
		is("MigReq is 0", !got.bth.migrated);
		is("another traffic class or TTL than asked for",
		   (seen.tos ^ back.tos) & ~ECN_MASK || seen.ttl != back.ttl);
		back.tos = seen.tos;
		back.ttl = seen.ttl;
		bth.migrated = got.bth.migrated;
	}
	return frame(back, bth, padded(want.body));
}

void Peer::believe(const Packet &p) const
{
	if (style.oracle)
		style.oracle->add(p.frame, p.bth, Bytes(p.body(), p.body() + p.body_bytes));
}

Packet Peer::expect(const Want &want)
{
	auto p = next();

	learn_port(p);
	compare(wanted(want, p), p);
	believe(p);
	return p;
}

void Peer::check_cnp(const Packet &p)
{
	auto back = path.reversed();
	Bth bth;

	learn_port(p);
	bth.opcode = CNP;
	bth.migrated = false;
	bth.congestion = BECN;
	bth.qpn = numbers.qpn;
	back.source_port = port;
	back.tos = CNP_DSCP << 2 | ECT_0;
	back.id = path.v6 ? 0 : get16(&p.frame[ETH_BYTES + 4]);
	compare(frame(back, bth, Bytes(CNP_BYTES)), p);
	believe(p);
}

void Peer::expect_read(uint32_t psn, uint32_t msn, uint32_t bytes, uint64_t key, uint64_t offset)
{
	auto packets = std::max(1U, (bytes + MTU - 1) / MTU);

	for (uint32_t i = 0; i < packets; i++) {
		bool first = i == 0, last = i + 1 == packets;
		uint8_t opcode = first ? (last ? RC_READ_ONLY : RC_READ_FIRST)
				       : (last ? RC_READ_LAST : RC_READ_MIDDLE);
		auto body = data(last ? bytes - i * MTU : MTU, key, offset + i * MTU);

		expect({ opcode, psn + i, first || last ? join(aeth(0x1f, msn), body) : body });
	}
}

void Peer::refused(uint8_t code, uint32_t psn, uint32_t msn)
{
	expect_ack(psn, msn, code);
	is_state(IBV_QPS_ERR);
}

void Peer::goes_on(uint32_t psn, uint32_t msn)
{
	constexpr size_t SPOT = 16384;
	static uint64_t key = 1000;

	for (int i = 0; i < 2; i++) {
		key++;
		put(RC_WRITE_ONLY, psn + i, write_body(SPOT, 40, key), true);
		expect_ack(psn + i, msn + 1 + i);
		in_memory(SPOT, 40, key);
	}
	is_state(IBV_QPS_RTS);
}

void Peer::recv(uint64_t id) const
{
	end.qp.recv(id, { end.mr.sge(BUFFER + id * BUFFER_BYTES, BUFFER_BYTES) });
}

void Peer::received(uint64_t id, uint32_t bytes, uint64_t key, size_t at) const
{
	auto wc = end.recv_cq.expect(id, IBV_WC_SUCCESS, style.patience);

	if (wc.byte_len != bytes + at)
		fail("byte_len %u, not %zu", wc.byte_len, bytes + at);
	in_memory(BUFFER + id * BUFFER_BYTES + at, bytes, key);
}

void Peer::in_memory(size_t offset, uint32_t bytes, uint64_t key) const
{
	if (pattern_check(end.mr.data() + offset, bytes, key, 0) != bytes)
		fail("wrong data in memory");
}

void Peer::is_state(ibv_qp_state state) const
{
	auto until = now_ns() + style.patience * 1000000ULL;
	auto is = end.qp.state();

	/* an answer may be here before the QP is where it leads to */
	for (; is != state && now_ns() < until; is = end.qp.state())
		sleep_us(1000);
	if (is != state)
		fail("the QP is in state %d instead of %d", is, state);
}

Bytes Peer::to_memory(size_t offset, uint32_t bytes) const
{
	return reth(end.mr.addr(offset), end.mr.rkey(), bytes);
}

Bytes Peer::write_body(size_t offset, uint32_t bytes, uint64_t key) const
{
	return join(to_memory(offset, bytes), data(bytes, key));
}

} // namespace st
