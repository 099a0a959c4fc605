// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * RLIMIT_MEMLOCK, by an ordinary user: so many pages and no more, whoever asks at
 * the same time; what fails or goes away is not counted.
 */
#include <atomic>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "lib/fail.hh"
#include "lib/pair.hh"
#include "lib/region.hh"
#include "lib/tap.hh"

using namespace st;

namespace
{

constexpr size_t PAGE = 4096, PIECE = 7 * PAGE;
constexpr int FIT = 9;
constexpr rlim_t LIMIT = FIT * PIECE + 3 * PAGE;
constexpr uid_t NOBODY = 65534;

ibv_mr *reg(const Pd &pd, void *addr, size_t length, int access = ALL_ACCESS)
{
	errno = 0;
	return ibv_reg_mr(pd.get(), addr, length, access);
}

/* what the kernel says is pinned, in kB */
unsigned long pinned()
{
	std::ifstream status("/proc/self/status");
	std::string word;
	unsigned long kb;

	while (status >> word)
		if (word == "VmPin:" && status >> kb)
			return kb;
	fail("no VmPin in /proc/self/status");
}

/* all that the limit allows can be had, and no more: nothing is counted that is not there */
void exactly_the_limit(const Pd &pd, const Memory &memory)
{
	std::vector<std::unique_ptr<Region>> regions;

	if (pinned())
		fail("%lu kB are pinned before", pinned());
	for (int i = 0; i < FIT; i++)
		regions.push_back(std::make_unique<Region>(pd, memory.data(i * PIECE), PIECE));
	if (pinned() != FIT * PIECE / 1024)
		fail("%lu kB are pinned", pinned());
	if (reg(pd, memory.data(FIT * PIECE), PIECE))
		fail("number %d was registered", FIT + 1);
	if (errno != ENOMEM)
		fail_errno("beyond the limit");
	regions.pop_back();
	regions.push_back(std::make_unique<Region>(pd, memory.data((FIT - 1) * PIECE), PIECE));
	/* three pages are left */
	Region rest(pd, memory.data(FIT * PIECE), 3 * PAGE);
	if (reg(pd, memory.data(FIT * PIECE + 3 * PAGE), 1))
		fail("a page beyond the limit");
}

/* many at once */
void race(const Pd &pd, const Memory &memory)
{
	constexpr int THREADS = 8, ROUNDS = 300;
	std::atomic<int> held = 0, most = 0, refused = 0, bad = 0;
	std::vector<std::thread> threads;

	for (int t = 0; t < THREADS; t++)
		threads.emplace_back([&, t] {
			ibv_mr *mine[3] = {};

			for (int i = 0; i < ROUNDS; i++) {
				ibv_mr *&mr = mine[i % 3];

				if (mr) {
					held--;
					if (ibv_dereg_mr(mr))
						bad++;
				}
				mr = reg(pd, memory.data((t * 3 + i % 3) * PIECE), PIECE);
				if (!mr && errno == ENOMEM)
					refused++;
				else if (!mr)
					bad++;
				if (!mr)
					continue;
				const int now = ++held;
				int seen = most;
				while (now > seen && !most.compare_exchange_weak(seen, now))
					;
			}
			for (ibv_mr *mr : mine)
				if (mr) {
					held--;
					ibv_dereg_mr(mr);
				}
		});
	for (auto &thread : threads)
		thread.join();
	if (bad)
		fail("%d failed otherwise", bad.load());
	if (most > FIT)
		fail("%d at a time", most.load());
	/* more than fits was wanted all the time */
	if (!refused)
		fail("nothing was refused");
}

void failures_cost_nothing(const Pd &pd, const Memory &memory)
{
	Memory hole(4 * PAGE), fixed(PAGE, PROT_READ);

	if (munmap(hole.data(3 * PAGE), PAGE))
		fail_errno("munmap");
	for (int i = 0; i < 20; i++)
		if (reg(pd, hole.data(), 4 * PAGE) || reg(pd, fixed.data(), PAGE))
			fail("a hole or a mapping for reading was registered");
	exactly_the_limit(pd, memory);
}

void registered_anew(const Pd &pd, const Memory &memory)
{
	{
		Region small(pd, memory.data(), PAGE);

		if (!small.rereg(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, memory.data(),
				 LIMIT + PAGE, 0))
			fail("it grew beyond the limit");
		if (pinned() != PAGE / 1024)
			fail("%lu kB are pinned after a failure", pinned());
		if (int err = small.rereg(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, memory.data(),
					  LIMIT - PAGE, 0))
			fail_errno("rereg", err);
		if (pinned() != (LIMIT - PAGE) / 1024)
			fail("%lu kB are pinned", pinned());
	}
	exactly_the_limit(pd, memory);
}

void on_demand(const Pd &pd, const Memory &memory)
{
	Region region(pd, memory.data(), memory.size(), ALL_ACCESS | IBV_ACCESS_ON_DEMAND);

	exactly_the_limit(pd, memory);
}

} // namespace

int main(int argc, char **argv)
{
	const rlimit limit = { LIMIT, LIMIT };
	Tap tap(5);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);

		opt.done();
		/* before the device is opened: it is the opener's rights that count */
		if (setrlimit(RLIMIT_MEMLOCK, &limit) || setresuid(NOBODY, NOBODY, NOBODY))
			fail_errno("become an ordinary user");
		Device dev(config.dev_a);
		Pd pd(dev);
		Memory memory(24 * PIECE);

		tap.run("exactly the limit", [&] { exactly_the_limit(pd, memory); });
		tap.run("many at once", [&] { race(pd, memory); });
		tap.run("failures cost nothing", [&] { failures_cost_nothing(pd, memory); });
		tap.run("registered anew", [&] { registered_anew(pd, memory); });
		tap.run("on demand costs nothing", [&] { on_demand(pd, memory); });
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
