/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * An ordinary UDP socket in host B that sends RoCEv2 packets of its own making to A:
 * what any process on the peer's machine can do. Over IPv6, where nothing that the ICRC
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
	Forger();
	Forger(const Forger &) = delete;
	~Forger();

	/* from BTH to ICRC, as it is to be on the wire */
	Bytes packet(uint8_t opcode, uint32_t qpn, uint32_t psn, const Bytes &body = {}) const;
	/* a copy of it */
	void send(const Bytes &packet) const;
	/* the page itself: what is written to it later changes the packet */
	void lend(const uint8_t *page, size_t bytes) const;
	/* packets of the same size, as one super-packet */
	void send_super(const Bytes &packets, uint16_t each) const;

private:
	int sock;
	Path path;
};

} // namespace st
