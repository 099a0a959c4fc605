/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Packets that know their victim: right QP, right PSN, right keys, and then something
 * in one of the headers that is not right.
 */
#pragma once

#include <set>
#include <vector>

#include "../lib/rng.hh"
#include "../lib/roce.hh"

namespace st
{

/* the transports, as they stand in an opcode */
constexpr uint8_t TRANSPORT_RC = 0x00, TRANSPORT_UC = 0x20, TRANSPORT_UD = 0x60,
		  TRANSPORT_XRC = 0xa0, TRANSPORT_MASK = 0xe0;

/* all that a peer, or who listens on the path, knows of a QP */
struct Target {
	uint8_t transport = TRANSPORT_RC;
	bool on_b = true;
	uint32_t qpn = 0;
	uint32_t expected = 0; /* PSN of the next request */
	uint32_t next = 0;     /* PSN of the next request that it sends itself */
	uint64_t va = 0;
	uint32_t rkey = 0, bytes = 0, mtu = 1024;
	uint32_t qkey = 0, srqn = 0, peer_qpn = 0;
	Path path; /* of its peer to it */
};

class Forge
{
public:
	/* spared: QPs that nobody may harm: they get no packet that a peer could have sent */
	Forge(uint64_t seed, std::set<uint32_t> spared) : rng(seed), spared(std::move(spared)) {}

	/* a frame for a target; its PSN goes on if the packet uses it up */
	Bytes strike(Target &target);
	/* a frame for one of the spared, which must be dropped */
	Bytes graze(const Target &like, uint32_t qpn);

private:
	/* a packet in the making */
	struct Draft {
		Bth bth;
		Path path;
		Bytes headers, payload;
	};

	uint8_t opcode(const Target &target);
	Draft draft(Target &target, uint8_t opcode);
	void extend(Draft &d, const Target &target);
	void fill(Draft &d, const Target &target, uint8_t opcode);
	void mutate(Draft &d);
	void mutate_bth(Bth &bth);
	void mutate_path(Path &path);
	Bytes build(const Draft &d);
	void mutate_frame(Bytes &frame);
	void spare(Bytes &frame) const;
	uint32_t number();

	Rng rng;
	std::set<uint32_t> spared;
};

} // namespace st
