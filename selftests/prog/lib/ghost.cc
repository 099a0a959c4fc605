// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "ghost.hh"

#include <algorithm>

#include "pattern.hh"

namespace st
{

Bytes data(size_t bytes, uint64_t key, uint64_t offset)
{
	Bytes b(bytes);

	pattern_fill(b.data(), bytes, key, offset);
	return b;
}

Bytes join(const Bytes &a, const Bytes &b)
{
	Bytes both = a;

	both.insert(both.end(), b.begin(), b.end());
	return both;
}

static PairConfig with_depth(PairConfig config, const QpDepth &depth)
{
	config.depth = depth;
	return config;
}

/* where B is, as the bench's kind of GID has it */
static Path path_of(const std::string &gid, int host)
{
	bool v1 = gid.rfind("v1-", 0) == 0, v4 = gid.substr(v1 ? 3 : 0) == "v4";
	Path path;

	path.source_mac = Path::mac("02:00:00:77:01:02");
	path.dest_mac = Path::mac("02:00:00:77:01:01");
	path.addresses(format(v4 ? "10.77.1.%d" : "fd77:1::%d", host).c_str(),
		       v4 ? "10.77.1.1" : "fd77:1::1");
	return v1 ? path.as_v1() : path;
}

static std::shared_ptr<Belongings> own(const Bench &bench)
{
	auto config = bench.config;

	config.channel = true;
	return std::make_shared<Belongings>(bench.devices.a, config, config.access_a);
}

Ghost::Ghost(Bench &bench, const QpLink &link, const QpDepth &depth, const Numbers &numbers,
	     std::shared_ptr<Belongings> has, bool connect)
	: bench(bench), numbers(numbers),
	  end(bench.devices.a, with_depth(bench.config, depth), has ? has : own(bench)),
	  path(path_of(bench.config.gid, numbers.host))
{
	/* the real B never hears of it */
	bench.wire.rule([](const Packet &, Bytes &) { return Verdict::DROP; });
	if (connect)
		end.qp.connect(real_link(link), ghost_address());
}

QpLink Ghost::real_link(const QpLink &link) const
{
	QpLink mine = link;

	mine.gid_index = bench.devices.a.gid_index(bench.config.gid);
	mine.psn = numbers.real;
	return mine;
}

QpAddress Ghost::ghost_address() const
{
	QpAddress address = { numbers.qpn, numbers.psn, {} };
	auto source = path.as_v1().source; /* a GID is written like that */

	std::copy(source.begin(), source.end(), address.gid.raw);
	return address;
}

void Ghost::send(Bth bth, const Bytes &body)
{
	auto padded = body;

	bth.qpn = end.qp.num();
	bth.pad = -body.size() & 3;
	padded.resize(body.size() + bth.pad);
	bench.wire.inject(false, frame(path, bth, padded));
}

void Ghost::send(uint8_t opcode, uint32_t psn, const Bytes &body, bool ack_request)
{
	Bth bth;

	bth.opcode = opcode;
	bth.psn = psn;
	bth.ack_request = ack_request;
	send(bth, body);
}

Packet Ghost::next(int ms)
{
	uint64_t limit = now_ns() + ms * 1000000ULL;

	for (;;) {
		for (auto &p : bench.wire.take())
			if (p.to_b && p.bth.qpn == numbers.qpn) {
				pending.push_back(p);
				history.push_back(p);
			}
		if (!pending.empty()) {
			auto p = pending.front();

			pending.erase(pending.begin());
			return p;
		}
		if (now_ns() > limit)
			fail("no packet within %d ms; so far:\n%s", ms, seen().c_str());
		sleep_us(100);
	}
}

Packet Ghost::expect(uint8_t opcode, uint32_t psn, int ms)
{
	auto p = next(ms);

	if (p.bth.opcode != opcode || p.bth.psn != (psn & 0xffffff))
		fail("%s PSN %06x instead of %s PSN %06x\n%s", opcode_name(p.bth.opcode), p.bth.psn,
		     opcode_name(opcode), psn & 0xffffff, seen().c_str());
	if (!p.icrc_good())
		fail("wrong ICRC");
	return p;
}

Packet Ghost::expect_ack(uint8_t syndrome, uint32_t psn, int ms)
{
	auto p = expect(RC_ACK, psn, ms);
	bool good =
		syndrome >> 5 == 3 ? p.syndrome() == syndrome : p.syndrome() >> 5 == syndrome >> 5;

	if (!good)
		fail("syndrome %02x instead of %02x\n%s", p.syndrome(), syndrome, seen().c_str());
	return p;
}

void Ghost::silence(int ms)
{
	std::string extra;

	sleep_us(ms * 1000);
	for (auto &p : bench.wire.take())
		if (p.to_b && p.bth.qpn == numbers.qpn) {
			pending.push_back(p);
			history.push_back(p);
		}
	if (!pending.empty())
		fail("a packet too many: %s PSN %06x\n%s", opcode_name(pending[0].bth.opcode),
		     pending[0].bth.psn, seen().c_str());
}

void Ghost::forget()
{
	bench.wire.forget();
	pending.clear();
}

} // namespace st
