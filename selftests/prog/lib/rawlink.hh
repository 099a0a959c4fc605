/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* A packet socket on one interface: whole Ethernet frames in and out. */
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "roce.hh"

namespace st
{

class RawLink
{
public:
	/* listening: receive frames as well, those the host itself sends included */
	explicit RawLink(const std::string &interface, bool listening = true);
	RawLink(const RawLink &) = delete;
	~RawLink();

	int fd() const { return sock; }
	/* linear: bytes that are to lie in one piece, if the frame is larger than a
	 * page; the rest goes into pages of its own. 0: all of them. Only a listening
	 * link can do that. */
	void send(const Bytes &frame, size_t linear = 0) const;

	enum Direction { IN, OUT };
	/* ns: when the kernel got it, real time */
	using Handler =
		std::function<void(const uint8_t *frame, size_t length, Direction, uint64_t ns)>;
	/* hand over what is there, segmented as the wire would carry it */
	void receive(const Handler &handler);
	/* frames that this socket had to leave out */
	unsigned int lost();

private:
	int sock;
	bool listening;
	unsigned int losses = 0;
	Bytes buffer;
};

} // namespace st
