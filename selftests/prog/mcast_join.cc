// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* A UD QP that is attached to a multicast group until the program is ended. */
#include <arpa/inet.h>
#include <signal.h>

#include <cstdio>

#include "lib/datagram.hh"

using namespace st;

int main(int argc, char **argv)
{
	try {
		Options opt(argc, argv);
		auto dev = opt.text("dev", "sk0");
		auto kind = opt.text("gid", "v4");
		auto text = opt.text("group", "::ffff:239.1.2.3");
		sigset_t end;
		ibv_gid gid;
		int sig;

		opt.done();
		if (inet_pton(AF_INET6, text.c_str(), gid.raw) != 1)
			fail("not an address: %s", text.c_str());
		sigemptyset(&end);
		sigaddset(&end, SIGTERM);
		sigprocmask(SIG_BLOCK, &end, nullptr);

		Device device(dev);
		UdEnd member(device, kind);
		if (int err = ibv_attach_mcast(member.qp.get(), &gid, 0))
			fail_errno("ibv_attach_mcast", err);
		std::printf("joined\n");
		std::fflush(stdout);
		sigwait(&end, &sig);
		if (int err = ibv_detach_mcast(member.qp.get(), &gid, 0))
			fail_errno("ibv_detach_mcast", err);
	} catch (const std::exception &e) {
		std::fprintf(stderr, "%s\n", e.what());
		return 1;
	}
	return 0;
}
