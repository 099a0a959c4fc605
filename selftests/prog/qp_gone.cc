// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * QPs that are destroyed while packets to them are at the door: many small ones, as one
 * super-packet each time, so that what finds the QP still has all their ICRCs to compute
 * before it hands them over.
 */
#include <atomic>
#include <exception>
#include <thread>

#include "lib/fail.hh"
#include "lib/forger.hh"
#include "lib/options.hh"
#include "lib/pair.hh"
#include "lib/tap.hh"

using namespace st;

namespace
{

constexpr uint32_t QPN = 0x345678, PSN = 0x111111;
/* less than a kibibyte: no more is left to a worker */
constexpr unsigned int PACKETS = 60;
constexpr uint32_t NOBODY = 0xfffffe;

/*
 * SENDs of nothing, long over; and one for nobody among them, so that the QP gets two
 * batches, and goes on having its work done by a worker.
 */
Bytes many(const Forger &peer, uint32_t qpn)
{
	const auto one = peer.packet(RC_SEND_ONLY, qpn, PSN - 1);
	const auto other = peer.packet(RC_SEND_ONLY, NOBODY, PSN - 1);
	Bytes all;

	for (unsigned int i = 0; i < PACKETS; i++) {
		const auto &next = i == PACKETS / 2 ? other : one;

		all.insert(all.end(), next.begin(), next.end());
	}
	return all;
}

/* packets to whichever QP there is, without end */
class Flood
{
public:
	Flood()
		: thread([this] {
			  try {
				  run();
			  } catch (...) {
				  error = std::current_exception();
			  }
		  })
	{
	}
	Flood(const Flood &) = delete;
	~Flood() { stop(); }

	void aim(uint32_t qpn) { target = qpn; }
	unsigned int sent() const { return count; }
	void end()
	{
		stop();
		if (error)
			std::rethrow_exception(error);
	}

private:
	void run();
	void stop()
	{
		over = true;
		if (thread.joinable())
			thread.join();
	}

	std::atomic<bool> over = false;
	std::atomic<uint32_t> target = 0;
	std::atomic<unsigned int> count = 0;
	std::exception_ptr error;
	std::thread thread;
};

void Flood::run()
{
	const Forger peer;
	uint32_t qpn = 0;
	Bytes packets;

	while (!over) {
		if (target != qpn) {
			qpn = target;
			packets = many(peer, qpn);
		}
		if (qpn) {
			peer.send_super(packets, packets.size() / PACKETS);
			count++;
		}
	}
}

void destroyed_under_fire(const PairConfig &config, unsigned int rounds)
{
	const Device a(config.dev_a), b(config.dev_b);
	const Belongings has(a, config, config.access_a);
	const QpAddress peer = { QPN, PSN, b.gid(b.gid_index(config.gid)) };
	QpLink link = config.link_a;
	Flood flood;

	link.gid_index = a.gid_index(config.gid);
	for (unsigned int i = 0; i < rounds; i++) {
		const Qp qp(a, has.pd, has.send_cq, has.recv_cq);

		qp.to_init(link);
		qp.to_rtr(link, peer);
		flood.aim(qp.num());
		/* at another moment each time; some get none */
		for (unsigned int seen = flood.sent(), tries = 0;
		     flood.sent() < seen + 1 + i % 3 && tries < 1000; tries++)
			sleep_us(10 + i % 7);
	}
	Tap::note("%u super-packets to %u QPs", flood.sent(), rounds);
	flood.end();
	if (flood.sent() < rounds / 2)
		fail("only %u super-packets were sent", flood.sent());
}

} // namespace

int main(int argc, char **argv)
{
	Tap tap(1);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);
		const unsigned int rounds = opt.number("rounds", 300);

		config.gid = "v6";
		opt.done();
		tap.run("QPs go while packets come to them",
			[&] { destroyed_under_fire(config, rounds); });
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
