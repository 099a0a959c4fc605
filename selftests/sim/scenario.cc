// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "scenario.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sim
{

namespace
{

constexpr double window = 0.010;

uint64_t ps(double seconds)
{
	return static_cast<uint64_t>(seconds * ps_per_s);
}

class Recorder : public Observer
{
public:
	Recorder(Network &n, const Scenario &s, Result &r) : net(n), scenario(s), result(r)
	{
		settled = ps(s.seconds * s.settle);
		active.resize(n.flows.size());
	}

	void bin(uint64_t end) override
	{
		uint64_t begin = end - scenario.timing.bin;
		double dt = static_cast<double>(scenario.timing.bin) / ps_per_s;
		Sample &s = result.samples.emplace_back();

		s.time = static_cast<double>(end) / ps_per_s;
		for (auto &f : net.flows) {
			skr_cc_view v;

			skr_cc_show(&f.cc, end / ps_per_ns, &v);
			s.rate.push_back(static_cast<double>(f.delivered) / dt);
			s.cc_rate.push_back(static_cast<double>(v.rate));
			s.alpha.push_back(v.alpha / 1024.0);
			f.delivered = 0;
		}
		for (size_t i = 0; i < net.ports.size(); i++) {
			PortStats now = net.take(net.ports[i], end);

			s.queue.push_back(now.area / dt);
			s.deepest.push_back(now.deepest);
			result.deepest = std::max(result.deepest, now.deepest);
			result.drops += now.drops;
			if (begin < settled)
				continue;
			result.settled_deepest = std::max(result.settled_deepest, now.deepest);
			if (!i)
				sum.add(now);
		}
		if (begin < settled)
			return;
		for (double a : s.alpha)
			alpha += a;
		bins++;
	}

	/* flows that run all the time from one moment to another */
	std::vector<size_t> running(uint64_t from, uint64_t to) const
	{
		std::vector<size_t> which;

		for (size_t i = 0; i < net.flows.size(); i++)
			if (net.flows[i].start <= from && net.flows[i].stop >= to)
				which.push_back(i);
		return which;
	}

	void finish()
	{
		double dt = static_cast<double>(scenario.timing.bin) / ps_per_s;
		double time = static_cast<double>(bins) * dt;

		result.utilisation = static_cast<double>(sum.bytes) /
				     (time * static_cast<double>(net.ports[0].rate));
		result.queue = sum.area / time;
		result.marked = static_cast<double>(sum.marked) /
				static_cast<double>(std::max<uint64_t>(sum.packets, 1));
		result.alpha = alpha / static_cast<double>(bins * net.flows.size());
		result.events = net.events_done;
		uint64_t cnps = 0;
		for (auto &f : net.flows)
			cnps += f.cnps;
		result.cnps_per_second = static_cast<double>(cnps) / scenario.seconds;
		for (auto &h : net.hosts)
			result.paused += static_cast<double>(h.paused) / ps_per_s /
					 static_cast<double>(net.hosts.size());
		fairness();
	}

private:
	Network &net;
	const Scenario &scenario;
	Result &result;
	uint64_t settled;
	PortStats sum;
	double alpha = 0;
	uint64_t bins = 0;
	std::vector<double> active;

	void fairness()
	{
		size_t n = result.bins_in_10ms, windows = 0;

		result.jain_worst = 1;
		for (size_t i = 0; i + n <= result.samples.size(); i += n) {
			uint64_t from = i * scenario.timing.bin;

			if (from < settled)
				continue;
			std::vector<double> x;
			for (size_t f : running(from, from + n * scenario.timing.bin)) {
				x.push_back(0);
				for (size_t b = i; b < i + n; b++)
					x.back() += result.samples[b].rate[f];
			}
			double j = sim::jain(x);
			result.jain += j;
			result.jain_worst = std::min(result.jain_worst, j);
			windows++;
		}
		result.jain /= static_cast<double>(std::max<size_t>(windows, 1));
	}
};

void build_incast(Network &net, const Scenario &s, const Port &port,
		  const std::vector<std::pair<uint64_t, uint64_t>> &life, const skr_cc_ops *ops)
{
	net.ports.push_back(port);
	for (unsigned i = 0; i < s.flows; i++)
		net.add_flow(static_cast<uint32_t>(i % net.hosts.size()), { 0 }, life[i].first,
			     life[i].second, ops);
}

void build_parking(Network &net, const Scenario &s, const Port &port,
		   const std::vector<std::pair<uint64_t, uint64_t>> &life, const skr_cc_ops *ops)
{
	std::vector<uint16_t> all;

	for (unsigned i = 0; i < s.hops; i++) {
		net.ports.push_back(port);
		all.push_back(static_cast<uint16_t>(i));
	}
	net.add_flow(0, all, life[0].first, life[0].second, ops);
	for (unsigned i = 1; i < s.flows; i++)
		net.add_flow(i, { static_cast<uint16_t>((i - 1) % s.hops) }, life[i].first,
			     life[i].second, ops);
}

void build_victim(Network &net, const Scenario &s, const Port &port,
		  const std::vector<std::pair<uint64_t, uint64_t>> &life, const skr_cc_ops *ops)
{
	Port trunk = port;

	/* the port where it gets narrow is the first: it is what is measured */
	net.ports.push_back(port);
	net.ports.push_back(port);
	trunk.rate *= 4;
	net.ports.push_back(trunk);
	for (unsigned i = 0; i < s.flows; i++) {
		uint16_t out = i + 1 == s.flows ? 1 : 0;

		net.add_flow(i, { 2, out }, life[i].first, life[i].second, ops);
	}
}

} // namespace

Red paper_red()
{
	return { 5000, 200000, 0.01 };
}

Red scaled_red(unsigned gbps)
{
	return { std::max(10e3, 2.5e3 * gbps), std::max(100e3, 10e3 * gbps), 1.0 };
}

Scenario make_scenario(skr_cc_preset preset, unsigned flows, unsigned gbps)
{
	Scenario s;

	s.flows = flows;
	s.gbps = gbps;
	skr_cc_params_preset(&s.params, preset, gbps * 1000);
	s.red = preset == SKR_CC_PAPER ? paper_red() : scaled_red(gbps);
	if (preset == SKR_CC_MLX5)
		s.red.pmax = 0.2; /* more is too much for its many small cuts */
	/* a switch's memory: 16 MB at 100 Gb/s and above */
	s.buffer = 16e6 * std::max(1.0, gbps / 100.0);
	s.xoff = s.buffer * 0.75;
	return s;
}

Scenario fluid_scenario(unsigned flows, unsigned gbps, unsigned times)
{
	Scenario s = make_scenario(SKR_CC_PAPER, flows * times, gbps * times);
	const double longer = 10; /* than to Kmax */

	s.params.np_min_time_between_cnps = 0;
	s.red.kmax = s.red.kmin + longer * times * (s.red.kmax - s.red.kmin);
	s.red.pmax *= longer;
	return s;
}

Result simulate(const Scenario &s)
{
	const skr_cc_ops *ops = skr_cc_find(s.algorithm.c_str());
	Network net(s.timing, s.params, s.seed);
	Result result{};
	st::Rng rng(s.seed ^ 0x5eed);
	uint64_t rate = s.gbps * uint64_t{ 125000000 };
	unsigned hosts = s.hosts ? s.hosts : std::min(s.flows, 32u);
	std::vector<std::pair<uint64_t, uint64_t>> life;

	if (!ops)
		throw std::invalid_argument("no algorithm " + s.algorithm);
	if (s.topology != Topology::incast)
		hosts = s.flows;
	for (unsigned i = 0; i < hosts; i++)
		net.hosts.push_back({ rate, 0, 0, false, {} });
	for (unsigned i = 0; i < s.flows; i++) {
		uint64_t start = s.stagger > 0 ? ps(s.stagger * i) : rng.below(ps(s.jitter) + 1);
		uint64_t stop = s.leave > 0 ? ps(s.seconds - s.leave * i) : never;

		life.emplace_back(start, stop);
	}
	Port port{ rate, s.red, s.buffer, s.xoff, 0, 0, {} };
	net.flows.reserve(s.flows);
	switch (s.topology) {
	case Topology::incast:
		build_incast(net, s, port, life, ops);
		break;
	case Topology::parking:
		build_parking(net, s, port, life, ops);
		break;
	case Topology::victim:
		build_victim(net, s, port, life, ops);
		break;
	}
	result.bins_in_10ms = static_cast<unsigned>(ps(window) / s.timing.bin);
	Recorder recorder(net, s, result);
	net.run(ps(s.seconds), recorder);
	recorder.finish();
	return result;
}

double jain(const std::vector<double> &x)
{
	double sum = 0, squares = 0;

	for (double v : x) {
		sum += v;
		squares += v * v;
	}
	return squares > 0 ? sum * sum / (static_cast<double>(x.size()) * squares) : 1;
}

double Result::rate(unsigned flow, double from, double to) const
{
	double sum = 0;
	unsigned n = 0;

	for (auto &s : samples) {
		if (s.time <= from + 1e-9 || s.time > to + 1e-9)
			continue;
		sum += s.rate[flow];
		n++;
	}
	return n ? sum / n : 0;
}

double Result::reaches(unsigned flow, double from, double to, double rate_wanted) const
{
	const double span = 0.005;

	for (auto &s : samples) {
		if (s.time < from + 0.001 + span - 1e-9 || s.time > to + 1e-9)
			continue;
		if (rate(flow, s.time - span, s.time) >= rate_wanted)
			return s.time - from;
	}
	return INFINITY;
}

void write_csv(FILE *out, const Scenario &s, const Result &result, unsigned flows)
{
	unsigned shown = std::min(s.flows, flows);
	size_t n = result.bins_in_10ms;

	std::fprintf(out, "time_ms,queue_kb,deepest_kb,jain_10ms,total_gbps,alpha");
	for (unsigned i = 0; i < shown; i++)
		std::fprintf(out, ",flow%u_gbps", i);
	std::fprintf(out, "\n");
	for (size_t b = 0; b < result.samples.size(); b++) {
		auto &sample = result.samples[b];
		std::vector<double> x;
		double total = 0, alpha = 0;

		for (size_t f = 0; f < sample.rate.size(); f++) {
			double sum = 0;

			for (size_t i = b + 1 > n ? b + 1 - n : 0; i <= b; i++)
				sum += result.samples[i].rate[f];
			if (sum > 0)
				x.push_back(sum);
			total += sample.rate[f];
			alpha += sample.alpha[f];
		}
		std::fprintf(out, "%.3f,%.1f,%.1f,%.5f,%.4f,%.4f", sample.time * 1e3,
			     sample.queue[0] / 1e3, sample.deepest[0] / 1e3, jain(x), total * 8e-9,
			     alpha / static_cast<double>(sample.alpha.size()));
		for (unsigned i = 0; i < shown; i++)
			std::fprintf(out, ",%.4f", sample.rate[i] * 8e-9);
		std::fprintf(out, "\n");
	}
}

} // namespace sim
