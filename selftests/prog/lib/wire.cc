// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "wire.hh"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "fail.hh"
#include "verbs.hh"

namespace st
{

const uint8_t *Packet::body() const
{
	return view(frame.data(), frame.size())->body;
}

bool Packet::icrc_good() const
{
	return view(frame.data(), frame.size())->icrc_good();
}

uint8_t Packet::syndrome() const
{
	return body()[0];
}

uint32_t Packet::msn() const
{
	return get24(body() + 1);
}

void in_netns(const std::string &name, const std::function<void()> &body)
{
	std::exception_ptr error;

	/* a thread of its own, whose namespace dies with it */
	std::thread([&] {
		try {
			int fd = open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);

			if (fd < 0 || setns(fd, CLONE_NEWNET))
				fail_errno("enter namespace " + name);
			close(fd);
			body();
		} catch (...) {
			error = std::current_exception();
		}
	}).join();
	if (error)
		std::rethrow_exception(error);
}

uint64_t real_ns()
{
	timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

Wire::Wire(const std::string &netns, const std::string &to_a, const std::string &to_b)
{
	in_netns(netns, [&] {
		a = std::make_unique<RawLink>(to_a);
		b = std::make_unique<RawLink>(to_b);
	});
	thread = std::thread([this] { carry(); });
}

Wire::~Wire()
{
	stop = true;
	thread.join();
}

void Wire::rule(Rule r)
{
	std::lock_guard guard(lock);

	current = std::move(r);
}

void Wire::no_rule()
{
	rule(nullptr);
}

void Wire::inject(bool to_b, const Bytes &frame, size_t linear)
{
	(to_b ? b : a)->send(frame, linear);
}

void Wire::release(bool reverse)
{
	std::deque<std::pair<bool, Bytes>> frames;
	{
		std::lock_guard guard(lock);

		frames.swap(waiting);
	}
	if (reverse)
		std::reverse(frames.begin(), frames.end());
	for (auto &[to_b, frame] : frames)
		inject(to_b, frame);
}

size_t Wire::held()
{
	std::lock_guard guard(lock);

	return waiting.size();
}

std::vector<Packet> Wire::take()
{
	std::lock_guard guard(lock);
	std::vector<Packet> taken;

	taken.swap(record);
	return taken;
}

bool Wire::wait_for(const std::function<bool(const Packet &)> &match, size_t count, int ms)
{
	uint64_t end = now_ns() + ms * 1000000ULL;

	do {
		{
			std::lock_guard guard(lock);

			if (static_cast<size_t>(
				    std::count_if(record.begin(), record.end(), match)) >= count)
				return true;
		}
		sleep_us(200);
	} while (now_ns() < end);
	return false;
}

void Wire::carry()
{
	pollfd p[2] = { { a->fd(), POLLIN, 0 }, { b->fd(), POLLIN, 0 } };

	while (!stop) {
		if (poll(p, 2, 20) <= 0)
			continue;
		pass(*a, *b, true);
		pass(*b, *a, false);
	}
}

void Wire::pass(RawLink &from, RawLink &to, bool to_b)
{
	from.receive([&](const uint8_t *frame, size_t length, RawLink::Direction dir, uint64_t ns) {
		if (dir == RawLink::IN)
			handle(frame, length, to, to_b, ns);
	});
}

void Wire::handle(const uint8_t *data, size_t length, RawLink &to, bool to_b, uint64_t ns)
{
	auto v = view(data, length);
	auto verdict = Verdict::PASS;
	Bytes frame(data, data + length);

	if (v) {
		std::lock_guard guard(lock);

		record.push_back({ ns, real_ns(), to_b, false, v->bth, v->body_bytes, frame });
		if (current)
			verdict = current(record.back(), frame);
		record.back().dropped = verdict == Verdict::DROP;
		if (verdict == Verdict::HOLD)
			waiting.emplace_back(to_b, frame);
	}
	switch (verdict) {
	case Verdict::TWICE:
		to.send(frame);
		[[fallthrough]];
	case Verdict::PASS:
		to.send(frame);
		break;
	case Verdict::DROP:
	case Verdict::HOLD:
		break;
	}
}

std::string describe(const std::vector<Packet> &packets, size_t most)
{
	std::string text;

	for (size_t i = 0; i < packets.size(); i++) {
		auto &p = packets[i];

		if (i == most) {
			text += format("... %zu more\n", packets.size() - i);
			break;
		}
		text += format("%9.3f ms %s %-14s psn %06x %4zu bytes%s%s",
			       static_cast<int64_t>(p.ns - packets[0].ns) / 1e6,
			       p.to_b ? "A>B" : "B>A", opcode_name(p.bth.opcode), p.bth.psn,
			       p.body_bytes, p.bth.ack_request ? " ack-request" : "",
			       p.dropped ? " DROPPED" : "");
		if (p.bth.opcode == RC_ACK || p.bth.opcode == RC_ATOMIC_ACK)
			text += format(" syndrome %02x msn %u", p.syndrome(), p.msn());
		text += "\n";
	}
	return text;
}

} // namespace st
