// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "exchange.hh"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "fail.hh"

namespace st
{

Exchange Exchange::listen(uint16_t port)
{
	int on = 1, off = 0;
	int server = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (server < 0)
		fail_errno("socket");
	setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(server, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	sockaddr_in6 addr = {};
	addr.sin6_family = AF_INET6;
	addr.sin6_port = htons(port);
	if (bind(server, reinterpret_cast<sockaddr *>(&addr), sizeof(addr)) || ::listen(server, 1))
		fail_errno(format("listen on port %u", port));
	int fd = accept4(server, nullptr, nullptr, SOCK_CLOEXEC);
	if (fd < 0)
		fail_errno("accept");
	close(server);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return Exchange(fd);
}

Exchange Exchange::connect(const std::string &host, uint16_t port)
{
	addrinfo hints = {}, *list;
	int on = 1;

	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_NUMERICHOST;
	int err = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
	if (err)
		fail("%s: %s", host.c_str(), gai_strerror(err));
	int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ::connect(fd, list->ai_addr, list->ai_addrlen))
		fail_errno(format("connect to %s port %u", host.c_str(), port));
	freeaddrinfo(list);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return Exchange(fd);
}

Exchange::Exchange(Exchange &&other) noexcept : fd(std::exchange(other.fd, -1)) {}

Exchange::~Exchange()
{
	if (fd >= 0)
		close(fd);
}

void Exchange::put(const void *data, size_t length)
{
	auto *p = static_cast<const char *>(data);

	while (length) {
		auto n = send(fd, p, length, MSG_NOSIGNAL);

		if (n <= 0)
			fail_errno("send to the peer");
		p += n;
		length -= n;
	}
}

void Exchange::get(void *data, size_t length)
{
	auto *p = static_cast<char *>(data);

	while (length) {
		auto n = recv(fd, p, length, 0);

		if (n < 0)
			fail_errno("receive from the peer");
		if (n == 0)
			fail("the peer has gone");
		p += n;
		length -= n;
	}
}

void Exchange::barrier(uint32_t step)
{
	auto theirs = swap(step);

	if (theirs != step)
		fail("the peer is at step %u, not %u", theirs, step);
}

bool Exchange::gone() const
{
	char c;

	return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool Exchange::spoken() const
{
	char c;

	return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

} // namespace st
