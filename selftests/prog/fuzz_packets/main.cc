// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Fuzzer of the wire: packets that are right but for something, in any header, to
 * live RC, UC, UD and XRC QPs on both devices, by RoCEv2 over IPv4 and IPv6 and by
 * RoCEv1, with right and wrong ICRCs. QPs that fail are connected anew. A bystander's
 * traffic goes on in the parent, over the same cable.
 *
 *	fuzz_packets --a sk0 --b sk1 [--packets N] [--seed S] [--life L]
 *	fuzz_packets --a sk0 --b sk1 --floods [--packets N] [--seconds S] [--seed S]
 *		[--least PERCENT]
 *
 * It puts its frames on the cables of hosts_switched (lib.sh). A life is one process
 * and PER_LIFE packets; with --life only that one is lived. --floods sends N packets of
 * one kind after the other instead, and reports what becomes of the bystander's rate;
 * with --least it must keep so much of it.
 */
#include <cstdio>
#include <exception>
#include <map>
#include <set>
#include <vector>

#include <unistd.h>

#include "../lib/bystander.hh"
#include "../lib/counters.hh"
#include "../lib/fail.hh"
#include "../lib/gun.hh"
#include "../lib/lives.hh"
#include "../lib/options.hh"
#include "../lib/tap.hh"
#include "flood.hh"
#include "forge.hh"
#include "victims.hh"

using namespace st;

namespace
{

constexpr unsigned int PER_LIFE = 2560, BATCH = 64;

/* what the lives count */
enum { PACKETS, REVIVALS, GOOD, BAD, SEEN, TOO_MUCH, TOO_SLOW };

void live(PairConfig config, const std::set<uint32_t> &spared, uint64_t seed, uint64_t life,
	  Score &score)
{
	static const char *const kinds[] = { "v4", "v6", "v1-v6", "v1-v4" };

	config.gid = kinds[life % std::size(kinds)];
	Victims victims(config, mix(seed) + 2 * life);
	Forge forge(mix(seed) + 2 * life + 1, spared);
	Rng rng(mix(seed) ^ life);
	Gun to_a("mA"), to_b("mB");
	const std::vector<uint32_t> bystanders(spared.begin(), spared.end());

	for (unsigned int n = 0; n < PER_LIFE; n += BATCH) {
		score.of[REVIVALS] += victims.revive();
		auto targets = victims.targets();
		victims.work();
		for (unsigned int i = 0; i < BATCH; i++) {
			/* a few in a row for the same one: sequences */
			auto &t = targets[rng.below(targets.size())];
			auto &gun = t.on_b ? to_b : to_a;

			if (rng.percent(2))
				gun.load(forge.graze(t, bystanders[rng.below(bystanders.size())]));
			else
				gun.load(forge.strike(t));
		}
		to_a.fire();
		to_b.fire();
		score.of[PACKETS] += BATCH;
		score.pulse++;
	}
	victims.work();
	score.of[GOOD] += victims.good;
	score.of[BAD] += victims.bad;
	_exit(0);
}

/* how often each reason to drop a packet has been met, on both devices */
std::map<std::string, uint64_t> drops(const PairConfig &config)
{
	std::map<std::string, uint64_t> sum;

	for (const auto &dev : { config.dev_a, config.dev_b })
		for (const auto &[name, value] : counters(dev))
			if (name.rfind("rx_", 0) == 0)
				sum[name] += value;
	return sum;
}

void all_reasons(const PairConfig &config, std::map<std::string, uint64_t> before)
{
	static const char *const reasons[] = { "short", "tver",	 "opcode", "l3",   "qpn",
					       "type",	"state", "pkey",   "qkey", "addr" };
	std::string missing;
	auto after = drops(config);

	for (const auto &[name, value] : after)
		if (value != before[name])
			Tap::note("%s: %llu", name.c_str(),
				  static_cast<unsigned long long>(value - before[name]));
	for (const auto *reason : reasons) {
		const auto name = format("rx_drop_%s", reason);

		if (!after.count(name))
			fail("there is no counter %s", name.c_str());
		if (after[name] == before[name])
			missing += " " + name;
	}
	if (!missing.empty())
		fail("never met:%s", missing.c_str());
}

/* many of each kind; a process of its own, which everybody else is more important than */
void flood_all(const PairConfig &config, const std::vector<uint32_t> &bystanders, uint64_t packets,
	       double seconds, uint64_t seed, unsigned int least, Score &score)
{
	/* what the queues on the way and in ib_core may take, and then no more */
	constexpr int64_t MOST_KIB = 128 << 10;
	Victims victims(config, seed);

	if (nice(19) < 0)
		Tap::note("the attacker is as important as everybody else");
	for (const auto &kind : floods(bystanders)) {
		const auto r =
			flood(kind, victims, score.of[SEEN], score.pulse, packets, seconds, seed);

		Tap::note("%s: %llu in %.1f s; bystander %.0f/s without, %.0f/s (%.0f %%) during; "
			  "%lld KiB; %u of the victims' QPs connected anew",
			  kind.name, static_cast<unsigned long long>(r.packets), r.seconds,
			  r.without, r.during, 100 * r.kept, static_cast<long long>(r.memory),
			  r.revivals);
		if (r.memory > MOST_KIB)
			score.of[TOO_MUCH]++;
		if (100 * r.kept < least)
			score.of[TOO_SLOW]++;
	}
	std::fflush(stdout);
	_exit(0);
}

void floods(const PairConfig &config, Lives &lives, const Bystander &bystander, uint64_t packets,
	    double seconds, uint64_t seed, unsigned int least)
{
	const std::vector<uint32_t> bystanders = { bystander.qpn_a(), bystander.qpn_b() };
	const auto &of = lives.score().of;

	std::fflush(stdout);
	if (!lives.run([&](Score &s) {
		    flood_all(config, bystanders, packets, seconds, seed, least, s);
	    }))
		fail("the attacker died");
	if (!bystander.trouble().empty())
		fail("%s", bystander.trouble().c_str());
	if (of[TOO_MUCH])
		fail("some kinds take more than 128 MiB of memory");
	if (of[TOO_SLOW])
		fail("some kinds leave the bystander less than %u %%", least);
}

void fuzz(const PairConfig &config, Lives &lives, const Bystander &bystander, uint64_t packets,
	  uint64_t seed, uint64_t only)
{
	const std::set<uint32_t> spared = { bystander.qpn_a(), bystander.qpn_b() };
	auto &of = lives.score().of;

	for (uint64_t life = only == ~0ULL ? 0 : only; of[PACKETS] < packets; life++) {
		if (!lives.run([&](Score &s) { live(config, spared, seed, life, s); }))
			fail("life %llu died", static_cast<unsigned long long>(life));
		if (!bystander.trouble().empty())
			fail("life %llu of seed %llu: %s", static_cast<unsigned long long>(life),
			     static_cast<unsigned long long>(seed), bystander.trouble().c_str());
		if (only != ~0ULL)
			break;
	}
	Tap::note("%llu packets in %u lives; %llu good and %llu bad completions, %llu revivals",
		  static_cast<unsigned long long>(of[PACKETS]), lives.ended(),
		  static_cast<unsigned long long>(of[GOOD]),
		  static_cast<unsigned long long>(of[BAD]),
		  static_cast<unsigned long long>(of[REVIVALS]));
	if (!of[REVIVALS] || !of[GOOD] || !of[BAD])
		fail("not everything has happened that must");
}

} // namespace

int main(int argc, char **argv)
{
	Tap tap(4);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);
		const bool flooding = opt.flag("floods");
		const uint64_t packets = opt.number("packets", 10240), seed = opt.number("seed", 1);
		const uint64_t only = opt.number("life", ~0ULL), seconds = opt.number("seconds", 1);
		const unsigned int least = opt.number("least", 0);

		opt.done();
		Tap::note("seed %llu", static_cast<unsigned long long>(seed));
		Devices devices(config);
		Bystander bystander(devices, config);
		Lives lives;
		const auto before = drops(config);

		bystander.work(12);
		bystander.count_in(lives.score().of[SEEN]);
		bystander.start(flooding ? 1000 : 5000);
		if (flooding) {
			tap.run("floods: the bystander goes on, memory is bounded", [&] {
				floods(config, lives, bystander, packets, seconds, seed, least);
			});
			tap.check(drops(config)["rx_drop_qpn"] > 0 &&
					  drops(config)["rx_drop_addr"] > 0,
				  "what is for nobody, or from strangers, is counted");
		} else {
			tap.run("packets of all kinds: the kernel lives",
				[&] { fuzz(config, lives, bystander, packets, seed, only); });
			tap.run("each reason to drop a packet was met",
				[&] { all_reasons(config, before); });
		}
		bystander.verdict(tap, config);
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
