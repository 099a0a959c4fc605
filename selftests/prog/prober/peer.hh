/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The prober's side of an exchange: one fresh QP of the device under test, and a
 * peer that knows to the bit what its next packet has to be.
 */
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../lib/datagram.hh"
#include "../lib/ghost.hh"
#include "oracle.hh"

namespace st
{

constexpr uint32_t MTU = 256;

/* what an exchange does not want as it usually is */
struct Setup {
	uint32_t psn = Ghost::PSN;   /* of the peer's first request */
	uint32_t real = Ghost::REAL; /* of the QP's first request */
	ibv_qp_type type = IBV_QPT_RC;
	int access = ALL_ACCESS;    /* of the memory */
	int qp_access = ALL_ACCESS; /* of the QP */
	uint8_t min_rnr = 1, timeout = 0, retry = 7, rnr_retry = 7, rd_atomic = 4;
	uint32_t mtu = MTU;
	bool connect = true;
	int host = 2; /* last number of the peer's address */
};

/* a packet as it goes out: everything can still be changed */
struct Out {
	Bth bth;
	Bytes body; /* extended headers and data, padded */
	Path path;

	Bytes frame() const { return st::frame(path, bth, body); }
};

/* a packet as it has to come in */
struct Want {
	uint8_t opcode;
	uint32_t psn;
	Bytes body = {}; /* extended headers and data, without pad */
	bool ack_request = false;
	bool any_ack_request = false; /* asking for an ACK is up to the requester */
	bool solicited = false;
};

constexpr uint8_t CNP = 0x81, CNP_BYTES = 16, BECN = 0x40;

/* how the prober goes about it */
struct Style {
	/* a device that is not ours: what its packets have otherwise than the
	 * standard in every one of them is told once, and does not hide the rest */
	bool foreign = false;
	int patience = 20000; /* ms until an answer is missing */
	Oracle *oracle = nullptr;
	/* kept from one exchange to the next, by the rights of the memory */
	std::map<int, std::shared_ptr<Belongings>> belongings;
	/* a foreign device's peculiarities, and how often they were seen */
	std::map<std::string, unsigned int> peculiar;
};

class Peer : public Ghost
{
public:
	static Style style;

	explicit Peer(Bench &bench, const Setup &setup = {});

	/* where the responder's rules are tried: data written, and receive buffers */
	static constexpr size_t TARGET = 0, BUFFER = 32768, BUFFER_BYTES = 4096;

	/* a well-formed packet to the QP */
	Out out(uint8_t opcode, uint32_t psn, const Bytes &body, bool ack_request = false) const;
	void put(const Out &out);
	void put(uint8_t opcode, uint32_t psn, const Bytes &body, bool ack_request = false)
	{
		put(out(opcode, psn, body, ack_request));
	}
	/* any frame at all; linear: see RawLink */
	void raw(const Bytes &frame, size_t linear = 0);

	/* the next packet of the QP, but for CNPs */
	Packet next();
	/* it has to be this, every bit of it */
	Packet expect(const Want &want);
	/* a packet that came is a CNP as it has to be, DSCP 48 and all */
	void check_cnp(const Packet &p);
	/* an ACK or NAK */
	void expect_ack(uint32_t psn, uint32_t msn, uint8_t syndrome = 0x1f)
	{
		expect({ RC_ACK, psn, aeth(syndrome, msn) });
	}
	/* the whole response to a READ of bytes, which are those of a pattern */
	void expect_read(uint32_t psn, uint32_t msn, uint32_t bytes, uint64_t key,
			 uint64_t offset = 0);
	void refused(uint8_t code, uint32_t psn, uint32_t msn);
	/* the QP goes on as if nothing had happened: the first thing that comes is the
	 * answer to a WRITE, and the next one, too */
	void goes_on(uint32_t psn, uint32_t msn);
	/* like that, and what was sent before this was left out entirely */
	void nothing_came_of_it() { goes_on(numbers.psn, 0); }

	void recv(uint64_t id) const;
	void received(uint64_t id, uint32_t bytes, uint64_t key, size_t at = 0) const;
	void in_memory(size_t offset, uint32_t bytes, uint64_t key) const;
	void is_state(ibv_qp_state state) const;
	Bytes to_memory(size_t offset, uint32_t bytes) const;
	/* RETH and data of a one-packet WRITE to offset */
	Bytes write_body(size_t offset, uint32_t bytes, uint64_t key) const;

	QpLink link;

private:
	Peer(Bench &bench, const Setup &setup, const Numbers &numbers);
	Bytes wanted(const Want &want, const Packet &got) const;
	void believe(const Packet &got) const;
	void learn_port(const Packet &got);

	uint16_t port = 0; /* UDP source port of the QP */
};

/* one exchange: which rule it is about, and which case of it */
struct Trial {
	std::string rule, name;
	std::function<void(Bench &)> body;
};
using Trials = std::vector<Trial>;

/* is the bench's framing that one: v1, else RoCEv2; v6: with IPv6 headers */
bool is_v1(const Bench &bench);
bool is_v6(const Bench &bench);

/* pad to a multiple of four */
Bytes padded(Bytes body);
std::string hex(uint64_t v);

} // namespace st
