// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Listen on an interface and recompute the ICRC of every RoCEv2 packet that
 * passes, both ways, until SIGTERM or SIGINT. Says "ready" when it listens.
 *
 *	icrcwatch --interface vA
 *
 * Exit status 0 if there were packets and all ICRCs were right.
 */
#include <poll.h>
#include <signal.h>

#include <cstdio>
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
	unsigned long long good = 0, bad = 0;
	std::map<uint8_t, unsigned long long> opcodes;
};

void say(const char *way, const Count &c)
{
	std::printf("%s: %llu packets, %llu with a wrong ICRC;", way, c.good + c.bad, c.bad);
	for (auto &[opcode, n] : c.opcodes)
		std::printf(" %s %llu", opcode_name(opcode), n);
	std::printf("\n");
}

void look(const uint8_t *frame, size_t length, Count &count)
{
	auto v = view(frame, length);

	if (!v)
		return;
	count.opcodes[v->bth.opcode]++;
	if (v->icrc_good()) {
		count.good++;
		return;
	}
	if (count.bad++ < 5)
		std::printf("wrong ICRC: %s qp 0x%x psn 0x%x, %zu bytes: 0x%08x, not 0x%08x\n",
			    opcode_name(v->bth.opcode), v->bth.qpn, v->bth.psn, v->ip_bytes,
			    v->wire_icrc(), icrc(v->ip, v->ip_bytes));
}

int watch(Options &opt)
{
	RawLink link(opt.text("interface", "vA"));
	Count count[2];
	pollfd p = { link.fd(), POLLIN, 0 };

	opt.done();
	std::printf("ready\n");
	std::fflush(stdout);
	for (;;) {
		bool last = stop;

		poll(&p, 1, 100);
		link.receive([&](const uint8_t *frame, size_t length, RawLink::Direction dir,
				 uint64_t) { look(frame, length, count[dir]); });
		if (last)
			break;
	}
	say("in", count[RawLink::IN]);
	say("out", count[RawLink::OUT]);
	if (auto lost = link.lost())
		std::printf("%u packets not seen\n", lost);
	return count[0].bad || count[1].bad || !count[0].good || !count[1].good;
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
