// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "faults.hh"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "fail.hh"

namespace st
{

namespace
{

constexpr char PATH[] = "/proc/thread-self/fail-nth";
/* more places than any of these calls has */
constexpr int MANY = 30000;

/* the thread's next faults; one file, opened once, so that arming cannot fail */
class FailNth
{
public:
	FailNth() : fd(open(PATH, O_RDWR | O_CLOEXEC))
	{
		if (fd < 0)
			fail_errno(PATH);
	}
	FailNth(const FailNth &) = delete;
	~FailNth() { close(fd); }

	void arm(int n) const
	{
		if (!put(n))
			fail_errno("writing fail-nth");
	}
	/*
	 * True if the fault was met. Asking copies to a user and from one, too, and may
	 * meet it itself where such copies fail: then there is none any more.
	 */
	bool disarm() const
	{
		char left[16] = {};
		const bool asked = pread(fd, left, sizeof(left) - 1, 0) > 0;

		if (!asked && errno != EFAULT)
			fail_errno("reading fail-nth");
		if (!put(0) && errno != EFAULT)
			fail_errno("writing fail-nth");
		return asked && std::atoi(left) == 0;
	}

private:
	bool put(int n) const
	{
		const auto text = format("%d", n);

		return pwrite(fd, text.c_str(), text.size(), 0) > 0;
	}

	int fd;
};

bool allowed(int err)
{
	return err == SOME_FAILURE || err == ENOMEM || err == EFAULT || err == EAGAIN ||
	       err == ENOBUFS || err == ENFILE;
}

} // namespace

bool can_inject()
{
	return access(PATH, W_OK) == 0 && access("/sys/kernel/debug/failslab", F_OK) == 0;
}

int sweep_faults(const std::function<int()> &attempt, const std::function<void()> &undo,
		 const std::function<void()> &prepare)
{
	const FailNth nth;
	int failed = 0;

	for (int n = 1; n < MANY; n += 1 + n / 16) {
		prepare();
		nth.arm(n);
		const int err = attempt();
		const bool met = nth.disarm();

		if (!err)
			undo();
		else if (!met)
			fail("failed without a fault: %s", std::strerror(err));
		else if (!allowed(err))
			fail("fault %d: %s", n, std::strerror(err));
		if (!met)
			return failed;
		failed += err != 0;
	}
	fail("still faults after the first %d", MANY);
}

} // namespace st
