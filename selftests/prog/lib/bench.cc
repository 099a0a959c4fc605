// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "bench.hh"

#include <exception>

namespace st
{

/* the end of what passed on the cable */
static void note_packets(std::vector<Packet> packets)
{
	constexpr size_t MOST = 40;

	if (packets.size() > MOST)
		packets.erase(packets.begin(), packets.end() - MOST);
	Tap::note("%s", describe(packets, MOST).c_str());
}

int run_cases(int argc, char **argv, const std::vector<Case> &cases)
{
	Tap tap(cases.size());

	try {
		Options opt(argc, argv);
		PairConfig config(opt);
		uint64_t only = opt.number("only", 0);

		opt.done();
		Bench bench(config);
		for (size_t i = 0; i < cases.size(); i++) {
			if (only && only != i + 1) {
				tap.skip(cases[i].name, "not asked for");
				continue;
			}
			bench.config = config;
			bench.wire.no_rule();
			bench.wire.forget();
			bench.devices.drain();
			if (!tap.run(cases[i].name, [&] { cases[i].body(bench); }))
				note_packets(bench.wire.take());
		}
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}

} // namespace st
