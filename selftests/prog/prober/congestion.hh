/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What the rules about congestion share: marks, CNPs, and the device's settings. */
#pragma once

#include "peer.hh"

namespace st
{

constexpr uint8_t ECT_0 = 2, CE = 3, ECN_MASK = 3;
/* opcodes of UC are those of RC with this */
constexpr uint8_t UC = 0x20;

/* debugfs has the device's congestion control */
void set_cc(const Bench &bench, const std::string &file, const std::string &value);

/* one CNP for each marked packet, and as things were when it goes */
struct Unpaced {
	explicit Unpaced(const Bench &bench);
	~Unpaced();

	const Bench &bench;
};

/* what the device has counted since */
struct Count {
	Count(const Bench &bench, const char *name);

	uint64_t now() const;
	/* sooner or later */
	void is(uint64_t more) const;

	std::string device, name;
	uint64_t before;
};

Out marked(Out out, uint8_t ecn);
/* a CNP that counts */
Out notification(const Peer &peer);
/* CNPs that came before the answer to something, each checked */
unsigned int cnps_before(Peer &peer, uint8_t answer);

} // namespace st
