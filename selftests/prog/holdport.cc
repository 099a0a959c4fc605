// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Keep UDP port 4791 occupied until killed. Says "ready" when it does.
 *
 *	holdport [--v6]
 */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "lib/fail.hh"
#include "lib/options.hh"

using namespace st;

int main(int argc, char **argv)
{
	try {
		Options opt(argc, argv);
		bool v6 = opt.flag("v6");
		int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0), on = 1, err;

		opt.done();
		if (v6) {
			sockaddr_in6 addr = {};

			addr.sin6_family = AF_INET6;
			addr.sin6_port = htons(4791);
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
			err = bind(fd, reinterpret_cast<sockaddr *>(&addr), sizeof(addr));
		} else {
			sockaddr_in addr = {};

			addr.sin_family = AF_INET;
			addr.sin_port = htons(4791);
			err = bind(fd, reinterpret_cast<sockaddr *>(&addr), sizeof(addr));
		}
		if (err)
			fail_errno("bind to port 4791");
		std::printf("ready\n");
		std::fflush(stdout);
		pause();
	} catch (const std::exception &e) {
		std::fprintf(stderr, "holdport: %s\n", e.what());
	}
	return 1;
}
