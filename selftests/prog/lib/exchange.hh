/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A TCP connection between the two processes of a test, for what verbs peers
 * must know of each other beforehand, and for barriers.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace st
{

class Exchange
{
public:
	/* wait for a peer on port */
	static Exchange listen(uint16_t port);
	/* connect to a peer; host may be an IPv6 address with %interface */
	static Exchange connect(const std::string &host, uint16_t port);

	Exchange(Exchange &&other) noexcept;
	Exchange(const Exchange &) = delete;
	Exchange &operator=(const Exchange &) = delete;
	~Exchange();

	void put(const void *data, size_t length);
	void get(void *data, size_t length);

	/* send mine, receive the peer's */
	template <class T> T swap(const T &mine)
	{
		T theirs;

		put(&mine, sizeof(mine));
		get(&theirs, sizeof(theirs));
		return theirs;
	}

	/* both are here; fails if the peer has not come to the same step */
	void barrier(uint32_t step);
	/* the peer has closed its end */
	bool gone() const;
	/* get() would not wait */
	bool spoken() const;

private:
	explicit Exchange(int fd) : fd(fd) {}

	int fd;
};

} // namespace st
