/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What is simulated, and what is found */
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "network.hh"

namespace sim
{

enum class Topology {
	incast,	 /* all flows through one port */
	parking, /* one flow through all ports, one more through each */
	victim,	 /* all but the last flow through a trunk and one port, the last through
		    the trunk and another */
};

struct Scenario {
	Topology topology = Topology::incast;
	unsigned flows = 2;
	unsigned hosts = 0; /* that send; 0: one a flow, at most 32 */
	unsigned gbps = 10; /* of bottleneck and hosts */
	unsigned hops = 3;  /* ports of a parking lot */
	double seconds = 0.2;
	double settle = 0.5;   /* share of the time before statistics begin */
	double stagger = 0;    /* seconds from one flow's start to the next's */
	double leave = 0;      /* seconds from one flow's end to the next's, backwards */
	double jitter = 50e-6; /* seconds within which flows start, if they start at once */
	std::string algorithm = "dcqcn";
	skr_cc_params params;
	Red red;
	double buffer = 0; /* bytes of a port */
	double xoff = 0;   /* bytes in a port's queue above which its senders are paused */
	Timing timing;
	uint64_t seed = 1;
};

/*
 * Marking that goes with SKR_CC_SCALED: thresholds grow with the port's speed, but
 * no port is so slow that a handful of packets would be a queue
 */
Red scaled_red(unsigned gbps);
/* The paper's, for any port */
Red paper_red();

/* A scenario with the values of a preset, and marking to go with them */
Scenario make_scenario(skr_cc_preset preset, unsigned flows, unsigned gbps);

/*
 * What the fluid model assumes: the paper's constants, a receiver that answers each
 * mark, so that only the sender's window is between cuts, and marking by a line that
 * does not end at Kmax. The port is so many times as fast, for as many times as many
 * flows, and marks by as many times as long a queue: the model's fixed point is the
 * same, and there is less of a single flow in the queue.
 */
Scenario fluid_scenario(unsigned flows, unsigned gbps, unsigned times);

struct Sample {
	double time;		     /* seconds, the end of the bin */
	std::vector<double> rate;    /* of each flow, bytes per second delivered */
	std::vector<double> cc_rate; /* of each flow, as its sender may send now */
	std::vector<double> alpha;   /* of each flow */
	std::vector<double> queue;   /* of each port, mean bytes */
	std::vector<double> deepest;
};

struct Result {
	std::vector<Sample> samples;
	unsigned bins_in_10ms;
	/* of the first port, from when the network has settled */
	double utilisation;
	double jain; /* mean over windows of 10 ms */
	double jain_worst;
	double queue; /* mean bytes */
	double marked;
	double alpha; /* mean over flows */
	/* of all ports, over all the time */
	double deepest;
	uint64_t drops;
	double settled_deepest;
	double paused; /* seconds, mean over hosts */
	double cnps_per_second;
	uint64_t events;

	/* mean bytes per second that a flow got from one second to another */
	double rate(unsigned flow, double from, double to) const;
	/*
	 * seconds from a time until the end of the first 5 ms, begun at least 1 ms
	 * after it, in which a flow got so much; not looked for after another
	 */
	double reaches(unsigned flow, double from, double to, double rate) const;
};

Result simulate(const Scenario &scenario);

/* Jain's index of fairness: 1 if all are equal, 1/n if one has it all */
double jain(const std::vector<double> &x);

/* One line a bin: time, queue, deepest, jain, then rates; at most so many flows */
void write_csv(FILE *out, const Scenario &scenario, const Result &result, unsigned flows);

} // namespace sim
