// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Simulate one scenario: a line of results on standard output, and a table of
 * rates, queue and fairness in a CSV file.
 */
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

#include "fluid.hh"
#include "scenario.hh"

using namespace sim;

namespace
{

const char *const help = "usage: dcqcn-sim [NAME=VALUE]...\n"
			 "  topology=incast|parking|victim   flows=N  hosts=N  hops=N  gbps=N\n"
			 "  preset=scaled|paper|mlx5         algorithm=dcqcn|none\n"
			 "  seconds=S  settle=SHARE  stagger=S  leave=S  jitter=S  seed=N\n"
			 "  kmin=BYTES  kmax=BYTES  pmax=SHARE  buffer=BYTES  xoff=BYTES\n"
			 "  packet=BYTES  burst=BYTES  link_us=US  bin_us=US  timers_on_send=0|1\n"
			 "  csv=FILE  csv_flows=N  header=0|1\n"
			 "  and each parameter of congestion control by its name: rp_ai_rate=5\n";

[[noreturn]] void die(const std::string &why)
{
	std::fprintf(stderr, "dcqcn-sim: %s\n%s", why.c_str(), help);
	std::exit(2);
}

class Options
{
public:
	Options(int argc, char **argv)
	{
		for (int i = 1; i < argc; i++) {
			const std::string arg = argv[i];
			size_t eq = arg.find('=');

			if (eq == arg.npos)
				die("no value: " + arg);
			values[arg.substr(0, eq)] = arg.substr(eq + 1);
		}
	}

	std::string text(const std::string &name, const std::string &otherwise)
	{
		auto it = values.find(name);

		if (it == values.end())
			return otherwise;
		std::string v = it->second;
		values.erase(it);
		return v;
	}

	double number(const std::string &name, double otherwise)
	{
		std::string v = text(name, "");
		double d;

		if (v.empty())
			return otherwise;
		auto [end, error] = std::from_chars(v.data(), v.data() + v.size(), d);
		if (error != std::errc{} || end != v.data() + v.size() || d < 0)
			die("no number: " + name + "=" + v);
		return d;
	}

	unsigned count(const std::string &name, unsigned otherwise)
	{
		return static_cast<unsigned>(number(name, otherwise));
	}

	/* what is left are parameters */
	void set(skr_cc_params &params)
	{
		for (auto &[name, value] : values) {
			const skr_cc_param *found = nullptr;
			uint32_t v;

			for (auto &p : skr_cc_param_table)
				if (name == p.name)
					found = &p;
			if (!found)
				die("unknown: " + name);
			if (skr_cc_param_parse(found, value.c_str(), &v))
				die("not allowed: " + name + "=" + value);
			skr_cc_param_set(&params, found, v);
		}
	}

private:
	std::map<std::string, std::string> values;
};

template <class T> T chosen(const std::string &name, const std::map<std::string, T> &names)
{
	auto it = names.find(name);

	if (it == names.end())
		die("unknown: " + name);
	return it->second;
}

Scenario read(Options &o)
{
	auto preset =
		chosen<skr_cc_preset>(o.text("preset", "scaled"), { { "scaled", SKR_CC_SCALED },
								    { "paper", SKR_CC_PAPER },
								    { "mlx5", SKR_CC_MLX5 } });
	unsigned flows = o.count("flows", 2), gbps = o.count("gbps", 10);
	Scenario s = make_scenario(preset, flows, gbps);

	s.topology =
		chosen<Topology>(o.text("topology", "incast"), { { "incast", Topology::incast },
								 { "parking", Topology::parking },
								 { "victim", Topology::victim } });
	s.algorithm = o.text("algorithm", s.algorithm);
	s.hosts = o.count("hosts", s.hosts);
	s.hops = o.count("hops", s.hops);
	s.seconds = o.number("seconds", s.seconds);
	s.settle = o.number("settle", s.settle);
	s.stagger = o.number("stagger", s.stagger);
	s.leave = o.number("leave", s.leave);
	s.jitter = o.number("jitter", s.jitter);
	s.seed = o.count("seed", 1);
	s.red.kmin = o.number("kmin", s.red.kmin);
	s.red.kmax = o.number("kmax", s.red.kmax);
	s.red.pmax = o.number("pmax", s.red.pmax);
	s.buffer = o.number("buffer", s.buffer);
	s.xoff = o.number("xoff", s.buffer * 0.75);
	s.timing.packet = o.count("packet", s.timing.packet);
	s.timing.burst = o.count("burst", s.timing.burst);
	s.timing.link = static_cast<uint64_t>(o.number("link_us", 2) * ps_per_us);
	s.timing.bin = static_cast<uint64_t>(o.number("bin_us", 1000) * ps_per_us);
	s.timing.timers_on_send = o.count("timers_on_send", 0);
	if (!flows || !gbps || gbps > 1600 || !s.hops || s.timing.packet < 64 ||
	    s.timing.packet > 65535 || s.seconds > 1000 || s.seconds < 0.02 || s.settle >= 1 ||
	    s.timing.bin < ps_per_us || ps_per_ms * 10 % s.timing.bin)
		die("out of range");
	return s;
}

void print_model(const FixedPoint &point)
{
	std::printf("  %8.5f %6.3f", point.p, point.alpha);
	if (point.saturated)
		std::printf("    >kmax");
	else
		std::printf(" %8.1f", point.queue / 1e3);
}

} // namespace

int main(int argc, char **argv)
{
	Options options(argc, argv);
	std::string csv = options.text("csv", "");
	unsigned csv_flows = options.count("csv_flows", 16);
	bool header = options.count("header", 1);
	Scenario s = read(options);

	options.set(s.params);
	Result r = simulate(s);
	FixedPoint fluid = fluid_point(s.params, s.red, s.gbps * 125e6, s.flows, s.timing.packet);
	FixedPoint model = renewal_point(s.params, s.red, s.gbps * 125e6, s.flows, s.timing.packet);

	if (header)
		std::printf(
			"flows gbps  util   jain  worst  queue_kb deepest_kb  drops pause_ms   marked  "
			"alpha   cnps/s  renewal: marked alpha queue_kb  fluid: marked alpha "
			"queue_kb\n");
	std::printf("%5u %4u %.3f %.4f %.4f %9.1f %10.1f %6llu %8.3f %8.5f %6.3f %8.0f", s.flows,
		    s.gbps, r.utilisation, r.jain, r.jain_worst, r.queue / 1e3, r.deepest / 1e3,
		    static_cast<unsigned long long>(r.drops), r.paused * 1e3, r.marked, r.alpha,
		    r.cnps_per_second);
	print_model(model);
	print_model(fluid);
	std::printf("\n");
	if (!csv.empty()) {
		FILE *out = std::fopen(csv.c_str(), "w");

		if (!out)
			die("cannot write " + csv);
		write_csv(out, s, r, csv_flows);
		std::fclose(out);
	}
	return 0;
}
