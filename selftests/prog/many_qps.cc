// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Many connected QPs, --qps of each device: all pass traffic, in both directions, and
 * what one takes of the machine's memory is told, idle and connected.
 */
#include <algorithm>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/pair.hh"
#include "lib/tap.hh"

using namespace st;

namespace
{

constexpr size_t GROUP = 64; /* that many are under way at a time */

/* bytes that the system could still give */
int64_t available()
{
	std::ifstream in("/proc/meminfo");
	std::string name, unit;
	int64_t kib;

	while (in >> name >> kib && std::getline(in, unit))
		if (name == "MemAvailable:")
			return kib * 1024;
	fail("no MemAvailable");
}

class Crowd
{
public:
	Crowd(const Device &dev, const PairConfig &config)
		: dev(dev), config(config), has(dev, config, ALL_ACCESS)
	{
	}

	void grow()
	{
		qps.push_back(
			std::make_unique<Qp>(dev, has.pd, has.send_cq, has.recv_cq, config.depth));
	}

	const Device &dev;
	const PairConfig &config;
	Belongings has;
	std::vector<std::unique_ptr<Qp>> qps;
};

/* each QP of `from` writes eight bytes that are its own to its place in `to` */
void exchange(Crowd &from, Crowd &to, uint64_t salt)
{
	auto *source = reinterpret_cast<uint64_t *>(from.has.mr.data());
	auto *target = reinterpret_cast<uint64_t *>(to.has.mr.data());
	size_t n = from.qps.size(), half = from.has.mr.size() / 16;

	for (size_t i = 0; i < n; i += GROUP) {
		size_t end = std::min(n, i + GROUP);

		for (size_t k = i; k < end; k++) {
			source[k] = salt + k;
			Work(k, IBV_WR_RDMA_WRITE, { from.has.mr.sge(8 * k, 8) })
				.remote(to.has.mr.addr(8 * (half + k)), to.has.mr.rkey())
				.post(*from.qps[k]);
		}
		for (size_t k = i; k < end; k++)
			from.has.send_cq.good(60000);
	}
	for (size_t k = 0; k < n; k++)
		if (target[half + k] != salt + k)
			fail("QP %zu: what it wrote is not there", k);
}

} // namespace

int main(int argc, char **argv)
{
	Tap tap(4);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);
		size_t n = opt.number("qps", 1000);

		opt.done();
		config.bytes = std::max<size_t>(4096, 16 * n);
		config.depth.send = config.depth.recv = 16;
		config.depth.send_sge = config.depth.recv_sge = 1;
		config.link_a.timeout = config.link_b.timeout = 17; /* half a second */
		Devices devices(config);
		config.link_a.gid_index = devices.a.gid_index(config.gid);
		config.link_b.gid_index = devices.b.gid_index(config.gid);
		Crowd a(devices.a, config), b(devices.b, config);
		int64_t before = available();

		tap.run(format("%zu QPs of each device", n), [&] {
			for (size_t i = 0; i < n; i++) {
				a.grow();
				b.grow();
			}
			Tap::note("%lld bytes for an idle QP",
				  static_cast<long long>((before - available()) / int64_t(2 * n)));
		});
		tap.run("all are connected", [&] {
			for (size_t i = 0; i < n; i++) {
				a.qps[i]->connect(config.link_a, b.qps[i]->address(config.link_b));
				b.qps[i]->connect(config.link_b, a.qps[i]->address(config.link_a));
			}
		});
		tap.run("each passes traffic, in both directions", [&] {
			exchange(a, b, 1ULL << 32);
			exchange(b, a, 2ULL << 32);
			Tap::note("%lld bytes for a connected QP",
				  static_cast<long long>((before - available()) / int64_t(2 * n)));
		});
		tap.run("they go", [&] {
			a.qps.clear();
			b.qps.clear();
		});
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
