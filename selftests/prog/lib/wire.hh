/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The cable between two hosts, in the test's hands: a thread that carries
 * frames between two interfaces of a namespace in the middle (see
 * hosts_wired in lib.sh), keeps a record of all RoCE packets, and drops,
 * doubles, changes or holds back what a rule says. Frames of one's own can be
 * put on it, so a test can play the foreign peer.
 */
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rawlink.hh"
#include "roce.hh"

namespace st
{

/* real time, the clock of Packet::ns */
uint64_t real_ns();

/* a RoCE packet that passed */
struct Packet {
	uint64_t ns;	     /* when it came to the cable, real time */
	uint64_t forward_ns; /* when it went on, or would have */
	bool to_b;
	bool dropped;
	Bth bth;
	size_t body_bytes; /* behind the BTH, without ICRC, with padding */
	Bytes frame;

	/* the extended headers and data; valid as long as the packet */
	const uint8_t *body() const;
	bool icrc_good() const;
	/* of an AETH that stands first in the body */
	uint8_t syndrome() const;
	uint32_t msn() const;
};

enum class Verdict { PASS, DROP, TWICE, HOLD };

class Wire
{
public:
	/* what to do with a packet; may change the frame */
	using Rule = std::function<Verdict(const Packet &packet, Bytes &frame)>;

	explicit Wire(const std::string &netns = "skM", const std::string &to_a = "mA",
		      const std::string &to_b = "mB");
	Wire(const Wire &) = delete;
	~Wire();

	void rule(Rule r);
	/* everything passes again */
	void no_rule();
	/* put a frame on the wire, whatever the rule says; linear: see RawLink */
	void inject(bool to_b, const Bytes &frame, size_t linear = 0);
	/* let go what was held back, in order or in reverse */
	void release(bool reverse = false);
	size_t held();
	/* the record since it was last taken */
	std::vector<Packet> take();
	void forget() { take(); }
	/* wait until count packets that match have passed since the record was
	 * last taken; false after ms */
	bool wait_for(const std::function<bool(const Packet &)> &match, size_t count, int ms);

private:
	void carry();
	void pass(RawLink &from, RawLink &to, bool to_b);
	void handle(const uint8_t *frame, size_t length, RawLink &to, bool to_b, uint64_t ns);

	std::unique_ptr<RawLink> a, b;
	std::mutex lock;
	Rule current;
	std::vector<Packet> record;
	std::deque<std::pair<bool, Bytes>> waiting;
	std::atomic<bool> stop = false;
	std::thread thread;
};

/* a text of what passed, for diagnostics */
std::string describe(const std::vector<Packet> &packets, size_t most = 40);

/* run something in a network namespace made with "ip netns add" */
void in_netns(const std::string &name, const std::function<void()> &body);

} // namespace st
