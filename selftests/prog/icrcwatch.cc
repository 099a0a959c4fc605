// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Listen on an interface and recompute the ICRC of every RoCE packet that
 * passes, both ways, until SIGTERM or SIGINT. Says "ready" when it listens.
 *
 *	icrcwatch --interface vA [--only v1|v2] [--trace N]
 *
 * With --trace it shows the last N packets in the end.
 *
 * Exit status 0 if there were packets both ways and all ICRCs were right, and
 * none was of the encapsulation that was not expected.
 */
#include <poll.h>
#include <signal.h>

#include <cstdio>
#include <deque>
#include <exception>
#include <map>
#include <string>

#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/rawlink.hh"
#include "lib/roce.hh"

using namespace st;

namespace
{

volatile sig_atomic_t stop;

struct Count {
	unsigned long long good = 0, bad = 0, v1 = 0;
	std::map<uint8_t, unsigned long long> opcodes;
};

void say(const char *way, const Count &c)
{
	std::printf("%s: %llu packets, %llu of them RoCEv1, %llu with a wrong ICRC;", way,
		    c.good + c.bad, c.v1, c.bad);
	for (auto &[opcode, n] : c.opcodes)
		std::printf(" %s %llu", opcode_name(opcode), n);
	std::printf("\n");
}

struct Seen {
	uint64_t ns;
	RawLink::Direction dir;
	Bth bth;
	size_t bytes;
	uint32_t first; /* word of the body: an AETH, if it is one */
};

void show(const std::deque<Seen> &trace)
{
	for (auto &t : trace) {
		std::printf("%10.3f ms %-3s %-14s qp %06x psn %06x %4zu bytes%s",
			    static_cast<int64_t>(t.ns - trace.back().ns) / 1e6,
			    t.dir == RawLink::IN ? "in" : "out", opcode_name(t.bth.opcode),
			    t.bth.qpn, t.bth.psn, t.bytes, t.bth.ack_request ? " ack-request" : "");
		if (t.bth.opcode == RC_ACK || t.bth.opcode == RC_ATOMIC_ACK)
			std::printf(" syndrome %02x msn %u", t.first >> 24, t.first & 0xffffff);
		std::printf("\n");
	}
}

void look(const uint8_t *frame, size_t length, RawLink::Direction dir, uint64_t ns, Count &count,
	  std::deque<Seen> &trace, size_t keep)
{
	auto v = view(frame, length);

	if (!v)
		return;
	if (keep) {
		trace.push_back({ ns, dir, v->bth, v->body_bytes,
				  v->body_bytes >= 4 ? get32(v->body) : 0 });
		if (trace.size() > keep)
			trace.pop_front();
	}
	count.opcodes[v->bth.opcode]++;
	count.v1 += v->v1;
	if (v->icrc_good()) {
		count.good++;
		return;
	}
	if (count.bad++ < 5)
		std::printf("wrong ICRC: %s qp 0x%x psn 0x%x, %zu bytes: 0x%08x, not 0x%08x\n",
			    opcode_name(v->bth.opcode), v->bth.qpn, v->bth.psn, v->ip_bytes,
			    v->wire_icrc(), icrc(v->ip, v->ip_bytes));
}

bool right(const Count &c, const std::string &only)
{
	if (only == "v1" && c.v1 != c.good)
		return false;
	if (only == "v2" && c.v1)
		return false;
	return c.good && !c.bad;
}

int watch(Options &opt)
{
	RawLink link(opt.text("interface", "vA"));
	auto only = opt.text("only", "");
	Count count[2];
	size_t keep = opt.number("trace", 0);
	std::deque<Seen> trace;
	pollfd p = { link.fd(), POLLIN, 0 };

	opt.done();
	std::printf("ready\n");
	std::fflush(stdout);
	for (;;) {
		bool last = stop;

		poll(&p, 1, 100);
		link.receive([&](const uint8_t *frame, size_t length, RawLink::Direction dir,
				 uint64_t ns) {
			look(frame, length, dir, ns, count[dir], trace, keep);
		});
		if (last)
			break;
	}
	show(trace);
	say("in", count[RawLink::IN]);
	say("out", count[RawLink::OUT]);
	if (auto lost = link.lost())
		std::printf("%u packets not seen\n", lost);
	return !(right(count[0], only) && right(count[1], only));
}

} // namespace

int main(int argc, char **argv)
{
	struct sigaction action = {};

	action.sa_handler = [](int) { stop = 1; };
	sigaction(SIGTERM, &action, nullptr);
	sigaction(SIGINT, &action, nullptr);
	try {
		Options opt(argc, argv);

		return watch(opt);
	} catch (const std::exception &e) {
		std::fprintf(stderr, "icrcwatch: %s\n", e.what());
		return 2;
	}
}
