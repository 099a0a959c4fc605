/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A page that takes its time: whoever touches it, the kernel too, sleeps until a thread
 * brings it in (userfaultfd), and it is gone again the next time. What the kernel was
 * in the middle of can be pulled from under it meanwhile.
 */
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace st
{

class SlowPage
{
public:
	explicit SlowPage(unsigned int us);
	SlowPage(const SlowPage &) = delete;
	~SlowPage();

	/* false where there is no userfaultfd: address() is 0 then */
	bool there() const { return page; }
	uint64_t address() const { return reinterpret_cast<uint64_t>(page); }
	/* slow again for the next one */
	void again();

private:
	void serve(unsigned int us);

	int fd = -1;
	uint8_t *page = nullptr;
	std::atomic<bool> stop = false, met = false;
	std::thread thread;
};

} // namespace st
