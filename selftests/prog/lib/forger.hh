/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * An ordinary UDP socket in one host that sends RoCEv2 packets of its own making to the
 * other: what any process on the peer's machine can do. Over IPv6, where nothing that the ICRC
 * covers is the kernel's choice.
 */
#pragma once

#include <cstdint>

#include "roce.hh"

namespace st
{

class Forger
{
public:
	explicit Forger(char host = 'B');
	Forger(const Forger &) = delete;
	~Forger();

	/* from BTH to ICRC, as it is to be on the wire */
	Bytes packet(uint8_t opcode, uint32_t qpn, uint32_t psn, const Bytes &body = {}) const;
	/* a copy of it */
	void send(const Bytes &packet) const;
	/* the page itself: what is written to it later changes the packet; false if there
	 * is no room for it now */
	bool lend(const uint8_t *page, size_t bytes) const;
	/* packets of the same size, as one super-packet */
	void send_super(const Bytes &packets, uint16_t each) const;

private:
	int sock = -1;
	Path path;
};

} // namespace st
