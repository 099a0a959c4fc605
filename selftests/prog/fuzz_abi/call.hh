/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A call of the uverbs ABI as data: object, method and attributes with all that
 * they point to. Calls are learnt from libibverbs and the provider at work, so
 * that their layouts stand nowhere else.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../lib/roce.hh"

namespace st
{

struct Attribute {
	uint16_t id = 0, len = 0, flags = 0;
	uint8_t elem = 0, reserved = 0;
	uint64_t value = 0;   /* what is not a pointer: a handle, a number, a descriptor */
	bool pointer = false; /* to payload */
	Bytes payload;
	std::vector<size_t> pointers; /* offsets in payload where one stands */
};

struct Call {
	uint16_t object = 0, method = 0;
	uint32_t driver = 0;
	std::vector<Attribute> attributes;
	bool good = false; /* it succeeded when it was recorded */
	int64_t made =
		-1; /* handle or descriptor of what it made when it was recorded; -1: nothing */

	/* the attribute of this id, or NULL */
	const Attribute *find(uint16_t id) const;
	/* what it calls: object and method, or, for a write command, that */
	std::pair<uint32_t, uint32_t> kind() const;
	std::string name() const;
	/* of a write command, what it gives to the kernel and where it gets the answer */
	bool is_write() const;
	/* a write command whose answer begins with the handle of a new object */
	bool makes_by_write() const;
};

/* record all that body calls by ioctl() on uverbs descriptors, in order */
std::vector<Call> record(const std::function<void()> &body);

/* lessons.cc: every verb of a device, once or more; what was recorded begins with an
 * open device and ends before it is closed */
std::vector<Call> learn(const std::string &device, const std::string &gid);

} // namespace st
