// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "slow_page.hh"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs.hh"

namespace st
{

static constexpr size_t BYTES = 4096;

SlowPage::SlowPage(unsigned int us)
{
	uffdio_api api = {};
	uffdio_register range = {};

	fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	api.api = UFFD_API;
	void *p = mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || ioctl(fd, UFFDIO_API, &api))
		return;
	range.range = { reinterpret_cast<uint64_t>(p), BYTES };
	range.mode = UFFDIO_REGISTER_MODE_MISSING;
	if (ioctl(fd, UFFDIO_REGISTER, &range)) {
		munmap(p, BYTES);
		return;
	}
	page = static_cast<uint8_t *>(p);
	thread = std::thread([this, us] { serve(us); });
}

SlowPage::~SlowPage()
{
	stop = true;
	if (thread.joinable())
		thread.join();
	/* without its descriptor it is a page like others */
	if (fd >= 0)
		close(fd);
	if (page)
		munmap(page, BYTES);
}

void SlowPage::again()
{
	if (page && met.exchange(false))
		madvise(page, BYTES, MADV_DONTNEED);
}

void SlowPage::serve(unsigned int us)
{
	pollfd p = { fd, POLLIN, 0 };
	uffd_msg message;

	while (!stop) {
		if (poll(&p, 1, 20) <= 0 || read(fd, &message, sizeof(message)) <= 0)
			continue;
		if (message.event != UFFD_EVENT_PAGEFAULT)
			continue;
		sleep_us(us);
		uffdio_zeropage zero = {};
		zero.range = { reinterpret_cast<uint64_t>(page), BYTES };
		ioctl(fd, UFFDIO_ZEROPAGE, &zero);
		met = true;
	}
}

} // namespace st
