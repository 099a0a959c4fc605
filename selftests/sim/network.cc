// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "network.hh"

#include <algorithm>

namespace sim
{

namespace
{

uint64_t duration(uint64_t bytes, uint64_t rate)
{
	return bytes * ps_per_s / rate;
}

double seconds(uint64_t ps)
{
	return static_cast<double>(ps) / ps_per_s;
}

} // namespace

void PortStats::add(const PortStats &more)
{
	packets += more.packets;
	bytes += more.bytes;
	marked += more.marked;
	drops += more.drops;
	area += more.area;
	deepest = std::max(deepest, more.deepest);
}

Network::Network(const Timing &t, const skr_cc_params &p, uint64_t seed)
	: timing(t), params(p), rng(seed)
{
}

void Network::add_flow(uint32_t host, std::vector<uint16_t> path, uint64_t start, uint64_t stop,
		       const skr_cc_ops *ops)
{
	Flow &f = flows.emplace_back();

	f.host = host;
	f.path = std::move(path);
	f.start = start;
	f.stop = stop;
	skr_cc_init(&f.cc, ops, &params, hosts[host].rate);
	push(start, Kind::start, static_cast<uint32_t>(flows.size() - 1));
}

void Network::push(uint64_t time, Kind kind, uint32_t who)
{
	events.push({ time, 0, who, 0, 0, kind, false });
}

double Network::queue(const Port &port, uint64_t now) const
{
	return port.busy_until > now
		       ? seconds(port.busy_until - now) * static_cast<double>(port.rate)
		       : 0;
}

/* The queue's area up to now: it shrinks at the port's rate to nothing */
void Network::drained(Port &port, uint64_t now)
{
	double dt = seconds(now - port.area_at);
	double rate = static_cast<double>(port.rate);
	double was = queue(port, port.area_at);
	double until_empty = was / rate;

	if (dt < until_empty)
		port.now.area += (was - rate * dt / 2) * dt;
	else
		port.now.area += was * until_empty / 2;
	port.area_at = now;
}

PortStats Network::take(Port &port, uint64_t now)
{
	drained(port, now);
	return std::exchange(port.now, PortStats{});
}

bool Network::marks(const Red &red, double queued)
{
	if (queued <= red.kmin)
		return false;
	if (queued > red.kmax)
		return true;
	double p = red.pmax * (queued - red.kmin) / (red.kmax - red.kmin);
	return static_cast<double>(rng.next() >> 11) * 0x1p-53 < p;
}

void Network::schedule_send(uint32_t who, uint64_t at)
{
	Flow &f = flows[who];

	f.next_send = at;
	if (at >= f.send_event)
		return; /* that one looks again */
	f.send_event = at;
	push(at, Kind::send, who);
}

void Network::on_send(uint32_t who, uint64_t now)
{
	Flow &f = flows[who];

	if (f.send_event != now)
		return; /* another came before it */
	f.send_event = never;
	if (now >= f.stop || f.waiting)
		return;
	if (now < f.next_send) {
		schedule_send(who, f.next_send);
		return;
	}
	Host &host = hosts[f.host];
	if (host.busy_until <= now && host.waiting.empty() && !pause(who, now)) {
		transmit(who, now);
		return;
	}
	f.waiting = true;
	host.waiting.push_back(who);
	if (!host.nic_event) {
		host.nic_event = true;
		push(std::max(host.busy_until, now), Kind::nic, f.host);
	}
}

/* For how long a flow's host is paused; 0: not at all */
uint64_t Network::pause(uint32_t who, uint64_t now) const
{
	const Port &port = ports[flows[who].path[0]];

	if (queue(port, now) <= port.xoff)
		return 0;
	return port.busy_until - now - duration(static_cast<uint64_t>(port.xoff / 2), port.rate);
}

void Network::on_nic(uint32_t which, uint64_t now)
{
	Host &host = hosts[which];
	uint32_t who = host.waiting.front();
	uint64_t paused = pause(who, now);

	if (paused) {
		host.paused += paused;
		push(now + paused, Kind::nic, which);
		return;
	}
	host.waiting.pop_front();
	flows[who].waiting = false;
	transmit(who, now);
	host.nic_event = !host.waiting.empty();
	if (host.nic_event)
		push(host.busy_until, Kind::nic, which);
}

void Network::transmit(uint32_t who, uint64_t now)
{
	Flow &f = flows[who];
	Host &host = hosts[f.host];
	uint32_t sent = 0;

	if (timing.timers_on_send)
		skr_cc_timer(&f.cc, now / ps_per_ns);
	host.busy_until = now;
	do {
		host.busy_until += duration(timing.packet, host.rate);
		events.push({ host.busy_until + timing.link, 0, who,
			      static_cast<uint16_t>(timing.packet), 0, Kind::hop, false });
		sent += timing.packet;
	} while (sent + timing.packet <= timing.burst);
	skr_cc_sent(&f.cc, sent, now / ps_per_ns);
	arm(who, now);
	f.last_send = now;
	f.last_bytes = sent;
	schedule_send(who, now + duration(sent, f.cc.rate));
}

void Network::on_hop(const Event &e)
{
	Flow &f = flows[e.who];
	Port &port = ports[f.path[e.hop]];
	uint64_t now = e.time;

	drained(port, now);
	double queued = queue(port, now);
	if (queued + e.bytes > port.buffer) {
		port.now.drops++;
		return;
	}
	bool marked = e.marked || (f.cc.ops->marks && marks(port.red, queued));
	port.now.packets++;
	port.now.bytes += e.bytes;
	port.now.marked += marked;
	port.now.deepest = std::max(port.now.deepest, queued + e.bytes);
	port.busy_until = std::max(port.busy_until, now) + duration(e.bytes, port.rate);
	uint64_t there = port.busy_until + timing.link;
	if (e.hop + 1u < f.path.size()) {
		events.push({ there, 0, e.who, e.bytes, static_cast<uint8_t>(e.hop + 1), Kind::hop,
			      marked });
		return;
	}
	f.delivered += e.bytes;
	if (marked)
		push(there, Kind::np, e.who);
}

void Network::on_np(uint32_t who, uint64_t now)
{
	Flow &f = flows[who];
	uint64_t spacing = params.np_min_time_between_cnps * ps_per_us;

	if (f.last_cnp != never && now - f.last_cnp < spacing)
		return;
	f.last_cnp = now;
	f.cnps++;
	push(now + (f.path.size() + 1) * timing.link, Kind::cnp, who);
}

/* Have a timer at the deadline, or before it */
void Network::arm(uint32_t who, uint64_t now)
{
	Flow &f = flows[who];

	if (timing.timers_on_send || f.cc.deadline == SKR_CC_NEVER)
		return;
	uint64_t at = std::max<uint64_t>(f.cc.deadline * ps_per_ns, now);
	if (at >= f.timer_event)
		return;
	f.timer_event = at;
	push(at, Kind::timer, who);
}

void Network::on_timer(uint32_t who, uint64_t now)
{
	Flow &f = flows[who];

	if (f.timer_event != now)
		return;
	f.timer_event = never;
	if (skr_cc_timer(&f.cc, now / ps_per_ns))
		rate_changed(who, now);
	arm(who, now);
}

/* The next packet leaves as if the last one had left at the new rate */
void Network::rate_changed(uint32_t who, uint64_t now)
{
	Flow &f = flows[who];

	if (f.waiting || !f.last_bytes || now >= f.stop)
		return;
	schedule_send(who, std::max(now, f.last_send + duration(f.last_bytes, f.cc.rate)));
}

void Network::run(uint64_t until, Observer &observer)
{
	push(timing.bin, Kind::bin, 0);
	for (; !events.empty(); events_done++) {
		Event e = events.top();

		if (e.time > until)
			return;
		events.pop();
		switch (e.kind) {
		case Kind::start:
			schedule_send(e.who, e.time);
			break;
		case Kind::send:
			on_send(e.who, e.time);
			break;
		case Kind::nic:
			on_nic(e.who, e.time);
			break;
		case Kind::hop:
			on_hop(e);
			break;
		case Kind::np:
			on_np(e.who, e.time);
			break;
		case Kind::cnp:
			if (skr_cc_cnp(&flows[e.who].cc, e.time / ps_per_ns))
				rate_changed(e.who, e.time);
			arm(e.who, e.time);
			break;
		case Kind::timer:
			on_timer(e.who, e.time);
			break;
		case Kind::bin:
			observer.bin(e.time);
			push(e.time + timing.bin, Kind::bin, 0);
			break;
		}
	}
}

} // namespace sim
