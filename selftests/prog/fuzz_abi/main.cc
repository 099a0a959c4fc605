// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Fuzzer of the uverbs ABI: ioctl() and write() commands that were learnt from
 * libibverbs and the provider, with attributes, lengths, handles, pointers and
 * numbers changed, in order and out of order, from one thread, two, or two processes.
 * A bystander's traffic goes on in the parent.
 *
 *	fuzz_abi --a sk0 --b sk1 [--calls N] [--seed S] [--life L]
 *
 * A life is one process that opens the device SESSIONS times; with --life only that
 * one is lived. Lives with an odd number have one thread: seed and number say all
 * that they do.
 */
#include <algorithm>
#include <exception>
#include <set>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/bystander.hh"
#include "../lib/fail.hh"
#include "../lib/lives.hh"
#include "../lib/options.hh"
#include "../lib/tap.hh"
#include "attacker.hh"
#include "call.hh"

using namespace st;

namespace
{

constexpr unsigned int SESSIONS = 8;
/* descriptors that calls make begin here */
constexpr int FIRST_FD = 200;

std::string node_of(const std::string &name)
{
	const Device device(name);

	return format("/dev/infiniband/%s", device.get()->device->dev_name);
}

int open_at(const std::string &node)
{
	const int fd = open(node.c_str(), O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fail_errno(node);
	const int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	if (high < 0)
		fail_errno("F_DUPFD_CLOEXEC");
	close(fd);
	return high;
}

/* who is at it: one, or two threads, or two processes, whose memory is not the same */
enum class Gang { ONE, THREADS, PROCESSES };

Gang gang_of(uint64_t life)
{
	return life % 2 ? Gang::ONE : life % 4 ? Gang::PROCESSES : Gang::THREADS;
}

void end_of(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		fail_errno("waitpid");
	/* the life dies with it */
	if (status)
		_exit(1);
}

void session(const std::string &node, const std::vector<Call> &lessons, uint64_t seed, Gang gang,
	     Score &score)
{
	{
		const int fd = open_at(node);
		const auto riot = [&] { Attacker(lessons, fd, ~seed, score).riot(400); };
		const pid_t child = gang == Gang::PROCESSES ? fork() : 0;
		std::thread thread;

		if (child < 0)
			fail_errno("fork");
		if (gang == Gang::PROCESSES && !child) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			riot();
			_exit(0);
		}
		if (gang == Gang::THREADS)
			thread = std::thread(riot);
		Attacker first(lessons, fd, seed, score);
		first.lecture();
		first.riot(200);
		if (gang == Gang::THREADS)
			thread.join();
		if (gang == Gang::PROCESSES)
			end_of(child);
	}
	/* and all that calls have made, whatever the order */
	close_range(3, ~0U, 0);
}

void live(const std::vector<std::string> &nodes, const std::vector<Call> &lessons, uint64_t seed,
	  uint64_t life, Score &score)
{
	/* nothing of the parent's is to be hit */
	close_range(3, ~0U, 0);
	for (unsigned int i = 0; i < SESSIONS; i++)
		session(nodes[i % nodes.size()], lessons, mix(mix(seed) + life * SESSIONS + i),
			gang_of(life), score);
}

void lessons_good(const std::vector<Call> &lessons)
{
	std::set<std::pair<uint32_t, uint32_t>> kinds;

	for (const auto &call : lessons)
		kinds.insert(call.kind());
	Tap::note("%zu calls learnt, of %zu kinds", lessons.size(), kinds.size());
	if (kinds.size() < 35)
		fail("of too few kinds to be everything that libibverbs can do");
}

/* most of it must be taken again, or nothing that is changed can be */
void rehearse(const std::string &node, const std::vector<Call> &lessons)
{
	const auto good = std::count_if(lessons.begin(), lessons.end(),
					[](const Call &call) { return call.good; });
	Score score;
	const int fd = open_at(node);
	const auto failed = Attacker(lessons, fd, 1, score).rehearse();

	close(fd);
	Tap::note("%llu of %ld good ones taken again; not:%s",
		  static_cast<unsigned long long>(score.of[VALID_TAKEN]), static_cast<long>(good),
		  failed.c_str());
	if (static_cast<long>(score.of[VALID_TAKEN]) * 10 < good * 7)
		fail("too few");
}

void fuzz(Lives &lives, const Bystander &bystander, uint64_t calls, uint64_t seed, uint64_t only,
	  const std::function<void(uint64_t, Score &)> &body)
{
	auto &of = lives.score().of;

	for (uint64_t life = only == ~0ULL ? 1 : only; of[CALLS] < calls; life++) {
		if (!lives.run([&](Score &s) { body(life, s); }))
			Tap::note("life %llu died", static_cast<unsigned long long>(life));
		if (!bystander.trouble().empty())
			fail("life %llu of seed %llu: %s", static_cast<unsigned long long>(life),
			     static_cast<unsigned long long>(seed), bystander.trouble().c_str());
		if (only != ~0ULL)
			return;
	}
	/* or it was no fuzzer: some of either kind must have got through */
	if (of[VALID_TAKEN] * 5 < of[VALID] || !of[MUTATED_TAKEN] ||
	    of[MUTATED_TAKEN] == of[MUTATED] || (of[CALLS] > 50000 && !of[MAPPED]))
		fail("not everything has happened that must");
}

} // namespace

int main(int argc, char **argv)
{
	Tap tap(5);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);
		const uint64_t calls = opt.number("calls", 5000), seed = opt.number("seed", 1);
		const uint64_t only = opt.number("life", ~0ULL);

		opt.done();
		Tap::note("seed %llu", static_cast<unsigned long long>(seed));
		const std::vector<std::string> nodes = { node_of(config.dev_a),
							 node_of(config.dev_b) };
		std::vector<Call> lessons;

		tap.run("the ABI is learnt from the provider", [&] {
			lessons = learn(config.dev_a, config.gid);
			lessons_good(lessons);
		});
		tap.run("and can be repeated", [&] { rehearse(nodes[0], lessons); });
		Devices devices(config);
		Bystander bystander(devices, config);
		Lives lives;
		auto &of = lives.score().of;

		bystander.work(12);
		bystander.start(5000);
		tap.run("calls of all kinds: the kernel lives", [&] {
			fuzz(lives, bystander, calls, seed, only, [&](uint64_t life, Score &score) {
				live(nodes, lessons, seed, life, score);
			});
		});
		Tap::note(
			"%llu calls in %u lives, %u died early; valid: %llu, %llu taken; mutated: "
			"%llu, %llu taken; %llu mappings",
			static_cast<unsigned long long>(of[CALLS]), lives.ended(), lives.died(),
			static_cast<unsigned long long>(of[VALID]),
			static_cast<unsigned long long>(of[VALID_TAKEN]),
			static_cast<unsigned long long>(of[MUTATED]),
			static_cast<unsigned long long>(of[MUTATED_TAKEN]),
			static_cast<unsigned long long>(of[MAPPED]));
		bystander.verdict(tap, config);
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
