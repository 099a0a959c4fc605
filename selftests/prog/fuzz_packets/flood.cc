// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "flood.hh"

#include <algorithm>
#include <fstream>

#include "../lib/fail.hh"
#include "../lib/verbs.hh"

namespace st
{

static constexpr uint32_t GSI_QKEY = 0x80010000;
static constexpr unsigned int BATCH = 64;

/* the first target with this transport on that side */
static const Target &victim(const std::vector<Target> &targets, uint8_t transport, bool on_b)
{
	for (const auto &t : targets)
		if (t.transport == transport && t.on_b == on_b)
			return t;
	fail("no such target");
}

static Bytes packet(const Path &path, uint8_t opcode, uint32_t qpn, uint32_t psn,
		    const Bytes &body = {})
{
	Bth bth;

	bth.opcode = opcode;
	bth.qpn = qpn;
	bth.psn = psn & 0xffffff;
	bth.ack_request = true;
	return frame(path, bth, body);
}

/* a number of the 24 bits that is none of the QPs that are there */
static Bytes unknown_qp(const std::vector<Target> &targets, Rng &rng)
{
	const auto &t = victim(targets, TRANSPORT_RC, true);

	/* numbers are given out in turn: far from ours there are none */
	const uint32_t qpn = (t.qpn + 0x400000 + rng.below(0x700000)) & 0xffffff;

	return packet(t.path, RC_SEND_ONLY, std::clamp<uint32_t>(qpn, 2, 0xfffffe), rng.next(),
		      Bytes(64));
}

static Bytes cnp(const std::vector<Target> &targets, Rng &)
{
	const auto &t = victim(targets, TRANSPORT_RC, true);
	Bth bth;

	bth.opcode = 0x81;
	bth.qpn = t.qpn;
	bth.congestion = 0x40;
	return frame(t.path, bth, Bytes(16));
}

/* in the name of the peer, for the request that is under way */
static Bytes answer(const std::vector<Target> &targets, Rng &rng, uint8_t syndrome)
{
	const auto &t = victim(targets, TRANSPORT_RC, false);

	return packet(t.path, RC_ACK, t.qpn, t.next - 1 - rng.below(4),
		      aeth(syndrome, rng.below(64)));
}

/* a REQ of the connection manager's, of a client that never comes back */
static Bytes connection_request(const std::vector<Target> &targets, Rng &rng)
{
	const auto &t = victim(targets, TRANSPORT_UD, true);
	Bytes body, mad = { 1, 7, 2, 3 };

	put32(body, GSI_QKEY);
	put32(body, 1);
	put32(mad, 0);
	put64(mad, rng.next()); /* transaction */
	put32(mad, 0x0010 << 16);
	put32(mad, 0);
	put32(mad, rng.next()); /* its number of the connection */
	put32(mad, 0);
	put64(mad, 0x0000000001060000 | rng.below(0x10000)); /* service: a TCP port */
	put64(mad, rng.next());
	while (mad.size() < 256)
		mad.push_back(rng.next());
	body.insert(body.end(), mad.begin(), mad.end());
	return packet(t.path, 0x64, 1, rng.next(), body);
}

/* right but for the address that it comes from */
static Bytes stranger(const std::vector<Target> &targets, Rng &rng, uint32_t qpn)
{
	const auto &t = victim(targets, TRANSPORT_RC, true);
	Path path = t.path;

	/* of the same network, not the peer's */
	path.source[path.v6 ? 15 : 3] = rng.between(3, 254);
	path.source_port = rng.next();
	return packet(path, RC_WRITE_ONLY, qpn, t.expected, reth(t.va, t.rkey, 0));
}

/* right address and QP; the PSN and the key are guessed */
static Bytes guess(const std::vector<Target> &targets, Rng &rng)
{
	const auto &t = victim(targets, TRANSPORT_RC, true);

	return packet(t.path, RC_WRITE_ONLY, t.qpn, rng.next(), reth(rng.next(), rng.next(), 0));
}

std::vector<Flood> floods(const std::vector<uint32_t> &bystanders)
{
	using Targets = std::vector<Target>;

	return {
		{ "unknown QPs", unknown_qp, true },
		{ "CNPs", cnp, true },
		{ "RNR NAKs", [](const Targets &t, Rng &rng) { return answer(t, rng, 0x20 | 1); },
		  false },
		{ "NAKs", [](const Targets &t, Rng &rng) { return answer(t, rng, 0x60); }, false },
		{ "connection requests", connection_request, true },
		{ "spoofed, from strangers",
		  [bystanders](const Targets &t, Rng &rng) {
			  return stranger(t, rng, bystanders[rng.below(bystanders.size())]);
		  },
		  true },
		{ "spoofed, PSN and key guessed", guess, true },
	};
}

/* KiB that the kernel could still give out */
static int64_t available()
{
	std::ifstream file("/proc/meminfo");
	std::string name;
	int64_t kib;

	while (file >> name >> kib) {
		if (name == "MemAvailable:")
			return kib;
		std::getline(file, name);
	}
	fail("no MemAvailable");
}

FloodReport flood(const Flood &kind, Victims &victims, const Bystander &bystander, uint64_t packets,
		  double seconds, uint64_t seed)
{
	FloodReport report = {};
	Gun gun(kind.to_b ? "mB" : "mA");
	Rng rng(seed);
	const auto rate = [&](uint64_t messages, uint64_t since) {
		return (bystander.messages() - messages) * 1e9 / (now_ns() - since);
	};

	/* without it, for as long */
	uint64_t messages = bystander.messages(), start = now_ns();
	while (now_ns() - start < seconds * 1e9) {
		victims.work();
		sleep_us(2000);
	}
	report.before = rate(messages, start);
	const int64_t memory = available();
	messages = bystander.messages();
	start = now_ns();
	auto targets = victims.targets();
	while (report.packets < packets) {
		for (unsigned int i = 0; i < BATCH; i++)
			gun.load(kind.packet(targets, rng));
		gun.fire();
		report.packets += BATCH;
		victims.work();
		if (report.packets % (16 * BATCH) == 0) {
			report.revivals += victims.revive();
			targets = victims.targets();
			report.memory = std::max(report.memory, memory - available());
		}
		const double due = seconds * report.packets / packets;
		const double now = (now_ns() - start) / 1e9;
		if (now < due)
			sleep_us((due - now) * 1e6);
	}
	report.during = rate(messages, start);
	report.seconds = (now_ns() - start) / 1e9;
	report.memory = std::max(report.memory, memory - available());
	report.revivals += victims.revive();
	return report;
}

} // namespace st
