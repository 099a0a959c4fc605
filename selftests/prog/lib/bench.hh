/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Frame of the tests that look at both ends and at the cable between: two
 * devices and a Wire, and a list of cases that are run one after the other.
 */
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "counters.hh"
#include "fail.hh"
#include "pair.hh"
#include "tap.hh"
#include "wire.hh"

namespace st
{

struct Bench {
	explicit Bench(const PairConfig &config) : config(config), devices(config) {}

	/* a connected pair with these settings */
	Pair pair() const { return Pair(devices, config); }

	PairConfig config;
	Devices devices;
	Wire wire;
};

struct Case {
	std::string name;
	std::function<void(Bench &)> body;
};

/* main() of such a test: --a, --b, --gid, --mtu, --only NUMBER */
int run_cases(int argc, char **argv, const std::vector<Case> &cases);

} // namespace st
