// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "lives.hh"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fail.hh"
#include "tap.hh"
#include "verbs.hh"

namespace st
{

/* exit status of a child that could not begin, and of one that had begun */
static constexpr int UNABLE = 42, UNWELL = 43;

Lives::Lives()
{
	void *memory = mmap(nullptr, sizeof(Score), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail_errno("mmap");
	shared = new (memory) Score;
}

Lives::~Lives()
{
	munmap(shared, sizeof(Score));
}

/* seconds without a pulse: it runs in circles and is killed, or hangs and cannot be */
constexpr uint64_t CIRCLES = 30, HANGS = 120;

/* as many on this kernel */
static uint64_t slowed(uint64_t seconds)
{
	const char *slow = std::getenv("SLOW");

	return seconds * (slow ? std::max(1, std::atoi(slow)) : 1);
}

/* where in the kernel a process's threads are */
static std::string stacks(pid_t pid)
{
	std::ostringstream text;
	std::error_code ignored;

	for (const auto &task : std::filesystem::directory_iterator(
		     "/proc/" + std::to_string(pid) + "/task", ignored)) {
		std::ifstream stack(task.path() / "stack");

		text << task.path().filename().string() << ":\n" << stack.rdbuf();
	}
	return text.str();
}

[[noreturn]] static void live(const std::function<void(Score &)> &body, Score &score)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* it is the one to go if memory runs out */
	if (int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); fd >= 0) {
		if (write(fd, "1000", 4) != 4)
			Tap::note("attacker: no oom_score_adj");
		close(fd);
	}
	const uint64_t born = score.pulse;
	try {
		body(score);
	} catch (const std::exception &e) {
		Tap::note("attacker: %s", e.what());
		/* who lets the kernel write anywhere may come to any end */
		_exit(score.pulse == born ? UNABLE : UNWELL);
	}
	/* the kernel cleans up: destructors trust what was attacked */
	_exit(0);
}

/* the end of a child, or nothing if it has no pulse for so long */
static std::optional<int> await(pid_t child, const Score &score, uint64_t seconds)
{
	uint64_t pulse = 0, since = now_ns();
	int status;

	for (;;) {
		const pid_t ended = waitpid(child, &status, WNOHANG);

		if (ended < 0)
			fail_errno("waitpid");
		if (ended)
			return status;
		if (const uint64_t now = score.pulse; now != pulse) {
			pulse = now;
			since = now_ns();
		} else if (now_ns() - since > slowed(seconds) * 1'000'000'000) {
			return {};
		}
		sleep_us(10000);
	}
}

bool Lives::run(const std::function<void(Score &)> &body)
{
	const pid_t child = fork();

	if (child < 0)
		fail_errno("fork");
	if (!child)
		live(body, *shared);
	auto status = await(child, *shared, CIRCLES);
	if (!status) {
		const auto where = stacks(child);

		/* one that runs in circles by itself, in what it has written, can be killed */
		kill(child, SIGKILL);
		score().pulse++;
		status = await(child, *shared, HANGS);
		if (!status)
			fail("an attacker hangs in the kernel, %s:\n%s", shared->doing.data(),
			     where.c_str());
		Tap::note("an attacker had to be killed, %s; it was here:\n%s",
			  shared->doing.data(), where.c_str());
	}
	if (WIFEXITED(*status) && WEXITSTATUS(*status) == UNABLE)
		fail("an attacker could not begin");
	if (WIFSIGNALED(*status))
		Tap::note("an attacker was ended by signal %d", WTERMSIG(*status));
	const bool good = WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
	(good ? came : gone)++;
	return good;
}

} // namespace st
