/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* A process at war with uverbs: valid calls in order, and everything but. */
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../lib/lives.hh"
#include "../lib/rng.hh"
#include "../lib/slow_page.hh"
#include "call.hh"

namespace st
{

/* what the lives count */
enum { CALLS, VALID, VALID_TAKEN, MUTATED, MUTATED_TAKEN, MAPPED };

/* memory that calls may point to, and places that they may not */
class Arena
{
public:
	Arena();
	Arena(const Arena &) = delete;
	~Arena();

	/* a copy of data; at_end: what follows it cannot be read */
	uint64_t put(const Bytes &data, bool at_end);
	/* where the kernel may write as much as it likes */
	uint64_t answers() const;
	/* where it cannot, or must not */
	uint64_t hostile(Rng &rng) const;
	/* nothing of what was put is needed any more, and what was slow is so again */
	void clear();

private:
	uint8_t *base;
	size_t used = 0;
	SlowPage slow;
};

class Attacker
{
public:
	Attacker(const std::vector<Call> &lessons, int fd, uint64_t seed, Score &score)
		: lessons(lessons), fd(fd), rng(seed), score(score)
	{
	}

	/* all lessons in order, as they were; the names of those that failed */
	std::string rehearse();
	/* all lessons in order, valid or not, with others in between */
	void lecture();
	/* so many invalid ones at random */
	void riot(unsigned int calls);

private:
	Call mutate(const Call &call);
	void mutate_attribute(Attribute &a);
	void mutate_payload(Attribute &a);
	uint64_t number();
	const Call &any();

	bool valid(const Call &call);
	void invalid(const Call &call);
	long issue(const Call &call, bool spoil, int64_t *made = nullptr);
	long issue_ioctl(const Call &call, bool spoil, int64_t *made);
	long issue_write(const Call &call, bool spoil);
	uint64_t place(const Attribute &a, bool spoil);
	void renumber(Call &call) const;
	void map();

	const std::vector<Call> &lessons;
	int fd;
	Rng rng;
	Score &score;
	Arena arena;
	std::map<uint64_t, uint64_t> handles; /* as recorded: as they are now */
};

} // namespace st
