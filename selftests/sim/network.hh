/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A network of hosts and switch ports, packet by packet, in which each flow is
 * controlled by the kernel's own unit (kernel/cc).
 *
 * A port is a FIFO with a constant rate that marks as RED does, on the length of
 * the queue that a packet finds. It needs no event when a packet leaves: that is
 * known when the packet comes. CNPs have a class of their own and no queue. A
 * packet that finds no room is lost, and counted; nothing repeats it.
 *
 * A host has one adapter for all of its flows, which take turns. It is paused, as
 * by PFC, while the first port on the way of the flow whose turn it is has too
 * much in its queue; a switch pauses no other switch.
 */
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "../prog/lib/rng.hh"
#include "events.hh"

extern "C" {
#include "cc/cc.h"
}

namespace sim
{

constexpr uint64_t ps_per_ns = 1000;
constexpr uint64_t ps_per_us = 1000000;
constexpr uint64_t ps_per_ms = 1000000000;
constexpr uint64_t ps_per_s = 1000000000000;
constexpr uint64_t never = ~uint64_t{ 0 };

/* When a switch marks: not below kmin, all above kmax, pmax there */
struct Red {
	double kmin; /* bytes */
	double kmax;
	double pmax;
};

/* What is measured at a port over some time */
struct PortStats {
	uint64_t packets = 0;
	uint64_t bytes = 0;
	uint64_t marked = 0;
	uint64_t drops = 0;
	double area = 0; /* bytes in the queue, integrated over seconds */
	double deepest = 0;

	void add(const PortStats &more);
};

struct Port {
	uint64_t rate; /* bytes per second */
	Red red;
	double buffer; /* bytes */
	double xoff;   /* bytes: hosts are paused above, until half of it is left */
	uint64_t busy_until = 0;
	uint64_t area_at = 0; /* up to when area is complete */
	PortStats now;	      /* of this bin */
};

struct Host {
	uint64_t rate;
	uint64_t busy_until = 0;
	uint64_t paused = 0; /* picoseconds in all */
	bool nic_event = false;
	std::deque<uint32_t> waiting;
};

struct Flow {
	uint32_t host;
	std::vector<uint16_t> path; /* ports */
	uint64_t start;		    /* picoseconds */
	uint64_t stop;
	skr_cc cc;
	uint64_t last_send = 0;
	uint64_t next_send = 0;
	uint64_t send_event = never;
	uint64_t timer_event = never;
	uint64_t last_cnp = never; /* of the receiver */
	uint32_t last_bytes = 0;
	bool waiting = false;
	uint64_t delivered = 0; /* in this bin, bytes */
	uint64_t cnps = 0;
};

/* Told at the end of each bin */
class Observer
{
public:
	virtual ~Observer() = default;
	virtual void bin(uint64_t end) = 0;
};

struct Timing {
	uint64_t link = 2 * ps_per_us; /* delay of each link */
	uint64_t bin = ps_per_ms;
	uint32_t packet = 1024;	     /* bytes */
	uint32_t burst = 1024;	     /* bytes sent at once, at most a packet's more */
	bool timers_on_send = false; /* no timers: what is due is done before sending */
};

class Network
{
public:
	Network(const Timing &timing, const skr_cc_params &params, uint64_t seed);

	std::vector<Port> ports;
	std::vector<Host> hosts;
	std::vector<Flow> flows;

	void add_flow(uint32_t host, std::vector<uint16_t> path, uint64_t start, uint64_t stop,
		      const skr_cc_ops *ops);
	void run(uint64_t until, Observer &observer);
	/* what a port saw in this bin, to its end; begins a new one */
	PortStats take(Port &port, uint64_t now);

	uint64_t events_done = 0;

private:
	const Timing timing;
	const skr_cc_params &params;
	st::Rng rng;
	Events events;

	void push(uint64_t time, Kind kind, uint32_t who);
	void drained(Port &port, uint64_t now);
	double queue(const Port &port, uint64_t now) const;
	bool marks(const Red &red, double queued);
	void on_send(uint32_t who, uint64_t now);
	uint64_t pause(uint32_t who, uint64_t now) const;
	void transmit(uint32_t who, uint64_t now);
	void on_nic(uint32_t host, uint64_t now);
	void on_hop(const Event &e);
	void on_np(uint32_t who, uint64_t now);
	void on_timer(uint32_t who, uint64_t now);
	void rate_changed(uint32_t who, uint64_t now);
	void arm(uint32_t who, uint64_t now);
	void schedule_send(uint32_t who, uint64_t at);
};

} // namespace sim
