/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What is to happen, by time; what is due at the same time, in the order of its coming. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sim
{

enum class Kind : uint8_t {
	start, /* a flow begins */
	send,  /* a flow may send */
	nic,   /* a host's adapter is free */
	hop,   /* a packet comes to a port */
	np,    /* a marked packet comes to its receiver */
	cnp,   /* a CNP comes to its sender */
	timer, /* a flow's congestion control is due */
	bin,   /* time for statistics */
};

struct Event {
	uint64_t time; /* picoseconds */
	uint64_t order;
	uint32_t who; /* a flow, or a host */
	uint16_t bytes;
	uint8_t hop;
	Kind kind;
	bool marked;

	bool before(const Event &other) const
	{
		return time != other.time ? time < other.time : order < other.order;
	}
};

/* A heap with four branches: half as deep as one with two, and kinder to caches */
class Events
{
public:
	bool empty() const { return heap.empty(); }
	const Event &top() const { return heap.front(); }

	void push(Event e)
	{
		size_t i = heap.size();

		e.order = next++;
		heap.push_back(e);
		while (i) {
			size_t up = (i - 1) / 4;

			if (!e.before(heap[up]))
				break;
			heap[i] = heap[up];
			i = up;
		}
		heap[i] = e;
	}

	void pop()
	{
		Event e = heap.back();
		size_t i = 0;

		heap.pop_back();
		size_t n = heap.size();
		if (!n)
			return;
		for (;;) {
			size_t first = 4 * i + 1;
			size_t least = first;

			if (first >= n)
				break;
			for (size_t c = first + 1; c < first + 4 && c < n; c++)
				if (heap[c].before(heap[least]))
					least = c;
			if (!heap[least].before(e))
				break;
			heap[i] = heap[least];
			i = least;
		}
		heap[i] = e;
	}

private:
	std::vector<Event> heap;
	uint64_t next = 0;
};

} // namespace sim
