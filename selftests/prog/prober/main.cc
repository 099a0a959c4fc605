// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The prober: a RoCE peer made by hand that drives one QP of a device through
 * exchanges, one table of them for each rule, and judges each answer bit by bit.
 *
 * --a, --b, --gid: see bench.hh; the QP is on A, the peer stands where B is
 * --foreign: the device is not ours; what it violates is told, and is no failure
 * --suite NAME: wire (if not given), cnp, marks (what is sent, by whose congestion
 *	control), i7 (marked READ responses), i9 (ports)
 * --rule TEXT: only rules with that in their names; --without TEXT|TEXT...: not
 *	these
 * --thin N: one exchange of N of each rule
 * --oracle FILE: write FILE.pcap and FILE.txt for lib/oracles.py
 */
#include <algorithm>
#include <exception>
#include <memory>
#include <sstream>

#include "rules.hh"

using namespace st;

namespace
{

/* the exchanges that are asked for */
struct Choice {
	explicit Choice(Options &opt)
		: suite(opt.text("suite", "wire")), only(opt.text("rule", "")),
		  without(opt.text("without", "")), thin(opt.number("thin", 1))
	{
	}

	bool whole() const
	{
		return suite == "wire" && only.empty() && without.empty() && thin == 1;
	}

	bool takes(const std::string &rule) const
	{
		std::istringstream words(without);

		for (std::string text; std::getline(words, text, '|');)
			if (rule.find(text) != rule.npos)
				return false;
		return rule.find(only) != rule.npos;
	}

	std::string suite, only, without;
	uint64_t thin;
};

/* what a rule's exchanges came to */
struct Result {
	std::string rule;
	unsigned int exchanges = 0, bad = 0;
	std::string detail;
};

Trials trials_of(const std::string &suite, const Bench &bench)
{
	Trials trials;

	if (suite == "cnp")
		add_notifications(trials, bench);
	else if (suite == "marks")
		add_marks(trials, bench);
	else if (suite == "i7")
		add_marked_reads(trials, bench);
	else if (suite == "i9")
		add_ports(trials);
	else if (suite != "wire")
		fail("no such suite: %s", suite.c_str());
	if (suite != "wire")
		return trials;
	add_sequences(trials);
	add_numbers(trials);
	add_refusals(trials);
	add_replays(trials);
	add_answers(trials);
	add_requests(trials, bench);
	add_verdicts(trials);
	add_headers(trials, bench);
	add_damage(trials, bench);
	add_layers(trials, bench);
	add_unreliable(trials);
	add_datagrams(trials, bench);
	return trials;
}

/* in the order in which rules are first named */
std::vector<std::pair<std::string, Trials>> by_rule(const Trials &trials, const Choice &choice)
{
	std::vector<std::pair<std::string, Trials>> rules;

	for (auto &t : trials) {
		if (!choice.takes(t.rule))
			continue;
		auto it = std::find_if(rules.begin(), rules.end(),
				       [&](auto &r) { return r.first == t.rule; });
		if (it == rules.end())
			it = rules.insert(it, { t.rule, {} });
		it->second.push_back(t);
	}
	for (auto &[rule, all] : rules) {
		Trials kept;

		for (size_t i = 0; i < all.size(); i += choice.thin)
			kept.push_back(all[i]);
		all = kept;
	}
	return rules;
}

Result judge(Bench &bench, const PairConfig &config, const std::string &rule, const Trials &trials)
{
	constexpr unsigned int MOST = 5;
	Result result;

	result.rule = rule;
	for (auto &t : trials) {
		bench.config = config;
		bench.wire.no_rule();
		bench.wire.forget();
		bench.devices.drain();
		result.exchanges++;
		try {
			t.body(bench);
		} catch (const Tap::Skip &s) {
			Tap::note("%s: %s: %s", rule.c_str(), t.name.c_str(), s.why.c_str());
			result.exchanges--;
		} catch (const std::exception &e) {
			if (++result.bad <= MOST)
				result.detail += "violated: " + rule + ": " + t.name + ": " +
						 e.what() + "\n";
		}
	}
	return result;
}

void report(Tap &tap, const Result &r, bool foreign)
{
	auto name = format("%s: %u exchanges", r.rule.c_str(), r.exchanges);

	if (r.bad && foreign)
		tap.note("%s%u of %u", r.detail.c_str(), r.bad, r.exchanges);
	tap.check(!r.bad || foreign, name,
		  r.detail + format("%u of %u exchanges", r.bad, r.exchanges));
}

} // namespace

int main(int argc, char **argv)
{
	constexpr unsigned int LEAST = 300;

	try {
		Options opt(argc, argv);
		PairConfig config(opt);
		Choice choice(opt);
		auto file = opt.text("oracle", "");
		std::unique_ptr<Oracle> oracle;
		unsigned int exchanges = 0;
		auto &style = Peer::style;

		style.foreign = opt.flag("foreign");
		opt.done();
		config.bytes = 65536;
		if (style.foreign)
			style.patience = 1000; /* the longest RNR timer has 655 ms */
		if (!file.empty()) {
			oracle = std::make_unique<Oracle>(file);
			style.oracle = oracle.get();
		}
		Bench bench(config);
		/* before the devices are closed */
		auto last = std::unique_ptr<void, void (*)(void *)>(
			&bench, [](void *) { Peer::style.belongings.clear(); });
		auto rules = by_rule(trials_of(choice.suite, bench), choice);
		Tap tap(rules.size() + choice.whole());

		for (auto &[rule, trials] : rules) {
			auto result = judge(bench, config, rule, trials);

			exchanges += result.exchanges;
			report(tap, result, style.foreign);
		}
		for (auto &[what, times] : style.peculiar)
			tap.note("peculiar: %s (%u packets)", what.c_str(), times);
		if (choice.whole())
			tap.check(exchanges >= LEAST, format("%u exchanges", exchanges));
		return tap.status();
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
}
