// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "forger.hh"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/udp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fail.hh"
#include "wire.hh"

namespace st
{

constexpr uint16_t SOURCE_PORT = 0xc000;

static sockaddr_in6 address(const char *text, uint16_t port)
{
	sockaddr_in6 a = {};

	a.sin6_family = AF_INET6;
	a.sin6_port = htons(port);
	inet_pton(AF_INET6, text, &a.sin6_addr);
	return a;
}

static int connected(const char *mine, const char *theirs)
{
	const auto from = address(mine, SOURCE_PORT), to = address(theirs, ROCE_PORT);
	const int sock = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (sock < 0 || bind(sock, reinterpret_cast<const sockaddr *>(&from), sizeof(from)) ||
	    connect(sock, reinterpret_cast<const sockaddr *>(&to), sizeof(to)))
		fail_errno("a UDP socket");
	return sock;
}

Forger::Forger(char host)
{
	const bool a = host == 'A';
	const char *mine = a ? "fd77:1::1" : "fd77:1::2", *theirs = a ? "fd77:1::2" : "fd77:1::1";

	path.v6 = true;
	path.addresses(mine, theirs);
	path.source_port = SOURCE_PORT;
	in_netns(a ? "skA" : "skB", [&] { sock = connected(mine, theirs); });
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

bool Forger::lend(const uint8_t *page, size_t bytes) const
{
	iovec iov = { const_cast<uint8_t *>(page), bytes };
	ssize_t sent;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		fail_errno("pipe");
	if (vmsplice(fds[1], &iov, 1, 0) != ssize_t(bytes))
		fail_errno("vmsplice");
	sent = splice(fds[0], nullptr, sock, nullptr, bytes, 0);
	if (sent < 0 && errno != ENOBUFS && errno != EAGAIN && errno != ECONNREFUSED)
		fail_errno("splice");
	close(fds[0]);
	close(fds[1]);
	return sent == ssize_t(bytes);
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
