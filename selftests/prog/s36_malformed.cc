// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Malformed packets from the wire: every opcode, lengths from nothing to a few
 * headers, pads, versions, QP numbers, right and wrong ICRCs, fragments and
 * lying length fields. None may change a QP's state, be answered where it must
 * not be, or be left uncounted.
 */
#include <algorithm>

#include "lib/bench.hh"
#include "lib/rng.hh"

using namespace st;

namespace
{

/* frames as if A had sent them to B */
Path path_to_b(Bench &bench, const char *source = nullptr)
{
	Path path;

	path.source_mac = Path::mac("02:00:00:77:01:01");
	path.dest_mac = Path::mac("02:00:00:77:01:02");
	if (bench.config.gid == "v4")
		path.addresses(source ? source : "10.77.1.1", "10.77.1.2");
	else
		path.addresses(source ? source : "fd77:1::1", "fd77:1::2");
	return path;
}

void use(Pair &pair, unsigned int times = 5)
{
	for (unsigned int i = 0; i < times; i++) {
		Work(i, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 3000) })
			.remote(pair.b.mr.addr(), pair.b.mr.rkey())
			.post(pair.a.qp);
		pair.a.send_cq.expect(i, IBV_WC_SUCCESS);
	}
}

/* the pair is as if nothing had happened */
void unharmed(Bench &bench, Pair &pair)
{
	if (auto wc = pair.b.recv_cq.next(0))
		fail("a receive request completed: %s", ibv_wc_status_str(wc->status));
	for (auto *end : { &pair.a, &pair.b })
		if (auto state = end->qp.state(); state != IBV_QPS_RTS)
			fail("a QP is in state %d", state);
	if (auto e = bench.devices.b.event(0))
		fail("event: %s", ibv_event_type_str(e->event_type));
	use(pair);
}

uint64_t dropped(const std::string &device)
{
	uint64_t sum = 0;

	for (auto &[name, value] : counters(device))
		if (name.rfind("rx_drop", 0) == 0 || name == "rx_icrc_encapsulated")
			sum += value;
	return sum;
}

/* wait until B has counted as many drops as frames were sent */
void all_counted(uint64_t before, uint64_t frames, const std::string &device)
{
	uint64_t now = 0;

	if (link_type() == "rxe")
		return;
	for (int i = 0; i < 100; i++) {
		now = dropped(device) - before;
		if (now >= frames)
			return;
		sleep_us(50000);
	}
	fail("%llu of %llu bad packets were counted", static_cast<unsigned long long>(now),
	     static_cast<unsigned long long>(frames));
}

/* answers of B that are not to the pair's own traffic */
void no_answer(Bench &bench)
{
	sleep_us(20000);
	for (auto &p : bench.wire.take())
		if (!p.to_b)
			fail("answered: %s to QP 0x%x, PSN %06x", opcode_name(p.bth.opcode),
			     p.bth.qpn, p.bth.psn);
}

/* every opcode, to a QP that is not there: pads, lengths, both ICRCs */
void opcodes_without_qp(Bench &bench)
{
	auto path = path_to_b(bench);
	auto before = dropped(bench.config.dev_b);
	uint64_t frames = 0;

	for (int opcode = 0; opcode < 256; opcode++)
		for (uint32_t qpn : { 0U, 1U, 0x7fffffU, 0xffffffU })
			for (size_t bytes : { 0, 1, 3, 4, 8, 12, 16, 20, 28, 32, 60 })
				for (bool good : { false, true }) {
					Bth bth;

					/* the UD service and QP 1 are for others to test */
					if (good && (qpn == 1 || qpn == 0xffffff))
						continue;
					bth.opcode = opcode;
					bth.qpn = qpn;
					bth.pad = bytes % 4;
					auto f = frame(path, bth, Bytes(bytes, 0x11));
					if (!good)
						f.back() ^= 0x80;
					bench.wire.inject(true, f);
					if (++frames % 256 == 0)
						sleep_us(2000);
				}
	all_counted(before, frames, bench.config.dev_b);
	no_answer(bench);
}

/* truncated anywhere, down to no UDP payload at all */
void lengths(Bench &bench)
{
	auto pair = bench.pair();
	auto path = path_to_b(bench);
	auto before = dropped(bench.config.dev_b);
	uint64_t frames = 0;

	for (int opcode = 0; opcode < 0x18; opcode++) {
		Bytes whole;
		Bth bth;

		bth.opcode = opcode;
		bth.qpn = pair.b.qp.num();
		bth.psn = 0x111111;
		bth.put(whole);
		whole.resize(60);
		for (size_t n = 0; n < BTH_BYTES + ICRC_BYTES + extended_bytes(opcode).value_or(0);
		     n++) {
			bench.wire.inject(true,
					  frame(path, Bytes(whole.begin(), whole.begin() + n)));
			frames++;
		}
		sleep_us(2000);
	}
	all_counted(before, frames, bench.config.dev_b);
	no_answer(bench);
	unharmed(bench, pair);
}

/* right in all but one thing, to a QP that is there */
void one_thing_wrong(Bench &bench, const std::function<void(Bth &, Path &, Bytes &)> &spoil)
{
	auto pair = bench.pair();
	auto before = dropped(bench.config.dev_b);
	uint64_t frames = 0;

	pair.b.qp.recv(9, { pair.b.mr.sge(0, 4096) });
	for (int opcode = 0; opcode < 0x18; opcode++) {
		auto extra = extended_bytes(opcode);
		auto path = path_to_b(bench);
		Bytes body;
		Bth bth;

		if (!extra)
			continue;
		body.resize(*extra + 8);
		bth.opcode = opcode;
		bth.qpn = pair.b.qp.num();
		bth.psn = 0x111111;
		bth.ack_request = true;
		spoil(bth, path, body);
		bench.wire.inject(true, frame(path, bth, body));
		frames++;
	}
	all_counted(before, frames, bench.config.dev_b);
	no_answer(bench);
	unharmed(bench, pair);
}

/* whole random headers with a wrong ICRC, to a live QP */
void noise(Bench &bench, unsigned int count)
{
	auto pair = bench.pair();
	auto path = path_to_b(bench);
	auto before = dropped(bench.config.dev_b);
	Rng rng(36);

	for (unsigned int i = 0; i < count; i++) {
		Bytes payload(rng.below(120));

		for (auto &byte : payload)
			byte = rng.next();
		if (payload.size() >= BTH_BYTES && rng.percent(70)) {
			Bth bth = Bth::get(payload.data());
			Bytes head;

			bth.version = 0;
			bth.opcode = rng.below(0x18);
			bth.qpn = pair.b.qp.num();
			bth.psn = 0x111111 + rng.below(3);
			bth.put(head);
			std::copy(head.begin(), head.end(), payload.begin());
		}
		path.source_port = rng.next();
		path.tos = rng.next();
		bench.wire.inject(true, frame(path, payload));
		if (i % 256 == 0)
			sleep_us(2000);
	}
	all_counted(before, count, bench.config.dev_b);
	no_answer(bench);
	unharmed(bench, pair);
}

/* the first bytes after the UDP header, all 65536 values of the first two */
void exhaustive_start(Bench &bench)
{
	auto pair = bench.pair();
	auto path = path_to_b(bench, bench.config.gid == "v4" ? "10.77.1.9" : "fd77:1::9");
	auto before = dropped(bench.config.dev_b);

	/* well-formed otherwise, ICRC and all, but from a stranger */
	for (uint32_t v = 0; v < 65536; v++) {
		Bytes payload;
		Bth bth;

		bth.qpn = pair.b.qp.num();
		bth.psn = 0x111111;
		bth.put(payload);
		payload[0] = v >> 8;
		payload[1] = v;
		payload.resize(BTH_BYTES + 32 + ICRC_BYTES);
		auto f = frame(path, payload);
		auto crc = icrc(&f[ETH_BYTES], f.size() - ETH_BYTES);
		for (int i = 0; i < 4; i++)
			f[f.size() - 4 + i] = crc >> (8 * i);
		bench.wire.inject(true, f);
		if (v % 256 == 0)
			sleep_us(2000);
	}
	all_counted(before, 65000, bench.config.dev_b);
	no_answer(bench);
	unharmed(bench, pair);
}

/* IP and UDP disagree about the length, fragments, options */
void lying_headers(Bench &bench)
{
	auto pair = bench.pair();
	auto path = path_to_b(bench);
	bool v6 = bench.config.gid != "v4";
	size_t ip = ETH_BYTES, udp = ip + (v6 ? 40 : 20);
	auto fix = [&](Bytes &f) {
		uint32_t sum = 0;

		if (v6)
			return;
		f[ip + 10] = f[ip + 11] = 0;
		for (size_t i = ip; i < ip + 20; i += 2)
			sum += get16(&f[i]);
		sum = (sum & 0xffff) + (sum >> 16);
		sum = ~((sum & 0xffff) + (sum >> 16));
		f[ip + 10] = sum >> 8;
		f[ip + 11] = sum;
	};
	auto fresh = [&] {
		Bth bth;

		bth.opcode = RC_SEND_ONLY;
		bth.qpn = pair.b.qp.num();
		bth.psn = 0x111111;
		return frame(path, bth, Bytes(64, 0x22));
	};

	pair.b.qp.recv(9, { pair.b.mr.sge(0, 4096) });
	for (uint16_t bytes : { 0, 1, 7, 8, 12, 20, 23, 24, 60, 87, 89, 1000, 65535 }) {
		auto f = fresh();

		f[udp + 4] = bytes >> 8;
		f[udp + 5] = bytes;
		bench.wire.inject(true, f);
	}
	for (uint16_t bytes : { 0, 19, 20, 27, 28, 40, 43, 44, 107, 109, 1500, 65535 }) {
		auto f = fresh();

		f[ip + (v6 ? 4 : 2)] = bytes >> 8;
		f[ip + (v6 ? 5 : 3)] = bytes;
		fix(f);
		bench.wire.inject(true, f);
	}
	for (uint16_t offset : { 0x2000, 0x2001, 0x0001, 0x0007, 0x1fff }) {
		auto f = fresh();

		if (v6)
			continue;
		f[ip + 6] = offset >> 8;
		f[ip + 7] = offset;
		fix(f);
		bench.wire.inject(true, f);
	}
	no_answer(bench);
	unharmed(bench, pair);
}

/* right ICRC and address, but the request is impossible; the QP may say so with
 * a NAK and die, the host may not */
void legal_nonsense(Bench &bench)
{
	Rng rng(99);

	for (int i = 0; i < 150; i++) {
		auto pair = bench.pair();
		auto path = path_to_b(bench);

		for (int burst = 0; burst < 8; burst++) {
			Bytes body(rng.below(8) * 4);
			Bth bth;

			for (auto &byte : body)
				byte = rng.percent(50) ? 0 : rng.next();
			bth.opcode = rng.below(0x18);
			bth.qpn = pair.b.qp.num();
			bth.psn = 0x111111 + rng.below(4) - 1;
			bth.pad = rng.below(4);
			bth.ack_request = rng.percent(50);
			bench.wire.inject(true, frame(path, bth, body));
		}
	}
	auto pair = bench.pair();
	use(pair, 50);
}

using Spoil = void (*)(Bth &, Path &, Bytes &);

Case spoilt(const std::string &name, Spoil spoil)
{
	return { "live QP: " + name, [spoil](Bench &b) { one_thing_wrong(b, spoil); } };
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(
		argc, argv,
		{ { "every opcode, no such QP", opcodes_without_qp },
		  { "every length, live QP", lengths },
		  spoilt("transport version 1", [](Bth &b, Path &, Bytes &) { b.version = 1; }),
		  spoilt("transport version 15", [](Bth &b, Path &, Bytes &) { b.version = 15; }),
		  spoilt("P_Key of another partition",
			 [](Bth &b, Path &, Bytes &) { b.pkey = 0x8001; }),
		  spoilt("another source address",
			 [](Bth &, Path &p, Bytes &) { p.source[p.v6 ? 15 : 3] ^= 0x40; }),
		  spoilt("UC opcode", [](Bth &b, Path &, Bytes &) { b.opcode |= 0x20; }),
		  spoilt("UD opcode", [](Bth &b, Path &, Bytes &) { b.opcode |= 0x60; }),
		  spoilt("manufacturer's opcode",
			 [](Bth &b, Path &, Bytes &) { b.opcode |= 0xc0; }),
		  { "noise", [](Bench &b) { noise(b, 20000); } },
		  { "all values of the first two bytes, from a stranger", exhaustive_start },
		  { "IP and UDP headers that lie", lying_headers },
		  { "well-formed nonsense: the host lives", legal_nonsense } });
}
