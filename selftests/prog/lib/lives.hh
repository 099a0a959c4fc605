/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Attackers: processes that may die of what they do to themselves, one after
 * the other, each with a seed of its own, watched by a parent that may not.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

namespace st
{

/* what the lives count, in memory that parent and children share */
struct Score {
	/* whatever is worth telling; the fuzzer names them */
	std::array<std::atomic<uint64_t>, 8> of = {};
	/* anything that shows that it is alive */
	std::atomic<uint64_t> pulse = 0;
	/* what it is about to do, for who finds it dead; half a line may be lost to a race */
	std::array<char, 120> doing = {};
};

class Lives
{
public:
	Lives();
	Lives(const Lives &) = delete;
	~Lives();

	Score &score() const { return *shared; }
	/*
	 * Run body in a child and wait for its end. True if it came to it, false if it
	 * died on the way. One without a pulse for long is killed. Failure if it could
	 * not begin (it threw before its first pulse), or cannot be killed: the text says
	 * where it hangs.
	 */
	bool run(const std::function<void(Score &)> &body);
	unsigned int ended() const { return came; }
	unsigned int died() const { return gone; }

private:
	Score *shared;
	unsigned int came = 0, gone = 0;
};

} // namespace st
