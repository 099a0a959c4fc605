/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Two devices in one process, each with a connected QP: for tests that look at
 * both ends. It needs "rdma system" in its shared mode.
 */
#pragma once

#include <memory>
#include <string>

#include "options.hh"
#include "verbs.hh"

namespace st
{

struct PairConfig {
	std::string dev_a = "sk0", dev_b = "sk1", gid = "v4";
	size_t bytes = 1 << 20;
	int access_a = ALL_ACCESS, access_b = ALL_ACCESS;
	QpDepth depth;
	QpLink link_a, link_b;
	bool channel = false;
	int cq_depth = 256;

	PairConfig() = default;
	/* --a, --b, --gid, --mtu */
	explicit PairConfig(Options &opt);
};

/* the devices stay open from one pair to the next */
struct Devices {
	explicit Devices(const PairConfig &config) : a(config.dev_a), b(config.dev_b) {}
	/* forget the events that have come so far */
	void drain() const;

	Device a, b;
};

/* what a QP needs; it may be used by one QP after the other */
struct Belongings {
	Belongings(const Device &dev, const PairConfig &config, int access);

	Pd pd;
	Cq send_cq, recv_cq;
	Mr mr;
};

struct End {
	End(const Device &dev, const PairConfig &config, int access);
	End(const Device &dev, const PairConfig &config, std::shared_ptr<Belongings> has);

	const Device &dev;
	std::shared_ptr<Belongings> has;
	Pd &pd;
	Cq &send_cq, &recv_cq;
	Mr &mr;
	Qp qp;
};

/* connect a QP of either device with the other one */
void join(const Devices &devices, const PairConfig &config, const Qp &a, const Qp &b);

struct Pair {
	/* connected if told so */
	Pair(const Devices &devices, const PairConfig &config, bool connect = true);

	PairConfig config;
	End a, b;
};

} // namespace st
