/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Somebody who only wants to work while others are at war: a pair of QPs whose
 * every message is checked, with memory around it that nobody may touch.
 */
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "pair.hh"
#include "tap.hh"

namespace st
{

class Bystander
{
public:
	Bystander(const Devices &devices, const PairConfig &config);
	Bystander(const Bystander &) = delete;
	~Bystander();

	/* so many messages, now; Failure if one is not as it must be */
	void work(unsigned int messages);
	/* work in a thread of its own until rest(), with pauses of that many us */
	void start(unsigned int pause_us = 0);
	/* before start(): messages are counted there, too, for another process */
	void count_in(std::atomic<uint64_t> &there) { mirror = &there; }
	/* stop; Failure if anything went wrong meanwhile */
	void rest();
	/* two results, when all is over: this one has worked and still does, as a new one can */
	void verdict(Tap &tap, const PairConfig &config);
	/* what went wrong so far in the thread, or nothing */
	std::string trouble() const { return bad ? what : ""; }
	/* messages and bytes so far */
	uint64_t messages() const { return count; }
	uint64_t bytes() const { return moved; }
	/* the QPs' numbers, for who must not hit them */
	uint32_t qpn_a() const { return pair.a.qp.num(); }
	uint32_t qpn_b() const { return pair.b.qp.num(); }

private:
	void one();
	/* memory that no message of ours goes to, and completions that nobody asked for */
	void untouched() const;

	const Devices &devices;
	Pair pair;
	std::atomic<uint64_t> count = 0, moved = 0, *mirror = nullptr;
	std::atomic<bool> stop = false, bad = false;
	std::string what;
	std::thread thread;
};

} // namespace st
