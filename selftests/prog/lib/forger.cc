// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "forger.hh"

#include <cstring>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/udp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fail.hh"

namespace st
{

constexpr char A[] = "fd77:1::1", B[] = "fd77:1::2", B_NETNS[] = "/run/netns/skB";
constexpr uint16_t SOURCE_PORT = 0xc000;

static int socket_in(const char *netns)
{
	int sock = -1;

	/* a thread may be elsewhere than its process */
	std::thread([&] {
		const int fd = open(netns, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return;
		if (!setns(fd, CLONE_NEWNET))
			sock = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		close(fd);
	}).join();
	if (sock < 0)
		fail("no socket in %s", netns);
	return sock;
}

static sockaddr_in6 address(const char *text, uint16_t port)
{
	sockaddr_in6 a = {};

	a.sin6_family = AF_INET6;
	a.sin6_port = htons(port);
	inet_pton(AF_INET6, text, &a.sin6_addr);
	return a;
}

Forger::Forger() : sock(socket_in(B_NETNS))
{
	const auto from = address(B, SOURCE_PORT), to = address(A, ROCE_PORT);

	path.v6 = true;
	path.addresses(B, A);
	path.source_port = SOURCE_PORT;
	if (bind(sock, reinterpret_cast<const sockaddr *>(&from), sizeof(from)) ||
	    connect(sock, reinterpret_cast<const sockaddr *>(&to), sizeof(to)))
		fail_errno("a UDP socket");
}

Forger::~Forger()
{
	close(sock);
}

Bytes Forger::packet(uint8_t opcode, uint32_t qpn, uint32_t psn, const Bytes &body) const
{
	Bth bth;

	bth.opcode = opcode;
	bth.qpn = qpn;
	bth.psn = psn & 0xffffff;
	bth.ack_request = true;
	const auto whole = frame(path, bth, body);

	return { whole.end() - BTH_BYTES - body.size() - ICRC_BYTES, whole.end() };
}

void Forger::send(const Bytes &packet) const
{
	if (::send(sock, packet.data(), packet.size(), 0) != ssize_t(packet.size()))
		fail_errno("send");
}

void Forger::lend(const uint8_t *page, size_t bytes) const
{
	iovec iov = { const_cast<uint8_t *>(page), bytes };
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		fail_errno("pipe");
	if (vmsplice(fds[1], &iov, 1, 0) != ssize_t(bytes))
		fail_errno("vmsplice");
	if (splice(fds[0], nullptr, sock, nullptr, bytes, 0) != ssize_t(bytes))
		fail_errno("splice");
	close(fds[0]);
	close(fds[1]);
}

void Forger::send_super(const Bytes &packets, uint16_t each) const
{
	alignas(cmsghdr) uint8_t control[CMSG_SPACE(sizeof(each))] = {};
	iovec iov = { const_cast<uint8_t *>(packets.data()), packets.size() };
	msghdr msg = {};

	msg.msg_iov = &iov;
	msg.msg_iovlen = 1;
	msg.msg_control = control;
	msg.msg_controllen = sizeof(control);
	auto *cmsg = CMSG_FIRSTHDR(&msg);
	cmsg->cmsg_level = IPPROTO_UDP;
	cmsg->cmsg_type = UDP_SEGMENT;
	cmsg->cmsg_len = CMSG_LEN(sizeof(each));
	std::memcpy(CMSG_DATA(cmsg), &each, sizeof(each));
	if (sendmsg(sock, &msg, 0) != ssize_t(packets.size()))
		fail_errno("a super-packet");
}

} // namespace st
