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

/* what somebody does in a stretch of time, in a second of it */
class Stretch
{
public:
	explicit Stretch(const std::atomic<uint64_t> &counter)
		: counter(counter), messages(counter), since(now_ns())
	{
	}
	double seconds() const { return (now_ns() - since) / 1e9; }
	double rate() const { return (counter - messages) / seconds(); }

private:
	const std::atomic<uint64_t> &counter;
	const uint64_t messages, since;
};

static double median(std::vector<double> values)
{
	const auto middle = values.begin() + values.size() / 2;

	std::nth_element(values.begin(), middle, values.end());
	return *middle;
}

/* packets and the victims' work, then as much rest or until the next batch is due */
static void batch(Victims &victims, uint64_t due, const std::function<void()> &packets)
{
	const uint64_t start = now_ns();

	packets();
	victims.work();
	const uint64_t took = now_ns() - start;
	sleep_us((std::max(due, 2 * took) - took) / 1000);
}

FloodReport flood(const Flood &kind, Victims &victims, const std::atomic<uint64_t> &bystander,
		  std::atomic<uint64_t> &pulse, uint64_t packets, double seconds, uint64_t seed)
{
	const uint64_t slices = std::clamp<uint64_t>(packets / (4 * BATCH), 1, 100);
	std::vector<double> ratios, without, during;
	FloodReport report = {};
	Gun gun(kind.to_b ? "mB" : "mA");
	Rng rng(seed);
	const int64_t memory = available();

	for (uint64_t slice = 1; slice <= slices; slice++) {
		report.revivals += victims.revive();
		const auto targets = victims.targets();
		const Stretch storm(bystander);
		const uint64_t first = report.packets;
		while (report.packets < packets * slice / slices) {
			batch(victims, seconds * 1e9 * BATCH / packets, [&] {
				for (unsigned int i = 0; i < BATCH; i++)
					gun.load(kind.packet(targets, rng));
				gun.fire();
			});
			report.packets += BATCH;
			pulse++;
		}
		const double length = storm.seconds();
		during.push_back(storm.rate());
		report.seconds += length;
		report.memory = std::max(report.memory, memory - available());
		/* until what it has left is gone */
		sleep_us(20000);
		report.revivals += victims.revive();
		const double period = length * BATCH / (report.packets - first);
		const Stretch calm(bystander);
		while (calm.seconds() < length) {
			batch(victims, period * 1e9, [] {});
			pulse++;
		}
		without.push_back(calm.rate());
		if (without.back() > 0)
			ratios.push_back(during.back() / without.back());
	}
	if (ratios.empty())
		fail("the bystander does nothing");
	report.without = median(without);
	report.during = median(during);
	report.kept = median(ratios);
	report.revivals += victims.revive();
	return report;
}

} // namespace st
