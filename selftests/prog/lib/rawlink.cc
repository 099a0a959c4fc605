// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "rawlink.hh"

#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "fail.hh"

namespace st
{

/* struct virtio_net_hdr, whose own header does not compile as C++ */
struct VnetHeader {
	uint8_t flags, gso_type;
	uint16_t header_bytes, gso_size, csum_start, csum_offset;
};
constexpr uint8_t GSO_UDP_L4 = 5;

RawLink::RawLink(const std::string &interface, bool listening)
	: sock(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)), listening(listening), buffer(1 << 17)
{
	int bytes = 64 << 20, on = 1;
	sockaddr_ll addr = {};

	if (sock < 0)
		fail_errno("packet socket");
	setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	setsockopt(sock, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	/* super-packets come whole, with word of how to cut them */
	if (listening && setsockopt(sock, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)))
		fail_errno("PACKET_VNET_HDR");
	addr.sll_family = AF_PACKET;
	addr.sll_ifindex = if_nametoindex(interface.c_str());
	addr.sll_protocol = listening ? htons(ETH_P_ALL) : 0;
	if (!addr.sll_ifindex || bind(sock, reinterpret_cast<sockaddr *>(&addr), sizeof(addr)))
		fail_errno("bind to " + interface);
}

RawLink::~RawLink()
{
	close(sock);
}

void RawLink::send(const Bytes &frame, size_t linear) const
{
	VnetHeader vnet = {};

	vnet.header_bytes = linear;
	iovec iov[2] = { { &vnet, listening ? sizeof(vnet) : 0 },
			 { const_cast<uint8_t *>(frame.data()), frame.size() } };

	while (writev(sock, iov, 2) < 0)
		if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
			fail_errno(format("send a frame of %zu bytes", frame.size()));
}

static void put_at(Bytes &frame, size_t offset, uint16_t v)
{
	frame[offset] = v >> 8;
	frame[offset + 1] = v;
}

/* the segments of a UDP super-packet */
static void cut(const uint8_t *frame, size_t length, size_t segment, RawLink::Direction dir,
		uint64_t ns, const RawLink::Handler &handler)
{
	bool v6 = get16(frame + 12) == 0x86dd;
	size_t head = ETH_BYTES + (v6 ? 40 : 20) + UDP_BYTES;
	uint16_t id = get16(frame + ETH_BYTES + 4);

	for (size_t at = head; at < length; at += segment, id++) {
		auto bytes = std::min(segment, length - at);
		Bytes one(frame, frame + head);

		one.insert(one.end(), frame + at, frame + at + bytes);
		if (v6) {
			put_at(one, ETH_BYTES + 4, UDP_BYTES + bytes);
		} else {
			put_at(one, ETH_BYTES + 2, head - ETH_BYTES + bytes);
			put_at(one, ETH_BYTES + 4, id);
			fix_ip_checksum(one);
		}
		put_at(one, head - 4, UDP_BYTES + bytes);
		put_at(one, head - 2, 0); /* RoCE needs no UDP checksum */
		handler(one.data(), one.size(), dir, ns);
	}
}

static uint64_t stamp(msghdr &msg)
{
	for (auto *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
			timespec t;

			std::memcpy(&t, CMSG_DATA(c), sizeof(t));
			return t.tv_sec * 1000000000ULL + t.tv_nsec;
		}
	return 0;
}

void RawLink::receive(const Handler &handler)
{
	for (;;) {
		alignas(cmsghdr) char control[128];
		iovec iov = { buffer.data(), buffer.size() };
		sockaddr_ll from = {};
		msghdr msg = {};
		VnetHeader vnet;

		msg.msg_name = &from;
		msg.msg_namelen = sizeof(from);
		msg.msg_iov = &iov;
		msg.msg_iovlen = 1;
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		auto n = recvmsg(sock, &msg, MSG_DONTWAIT);
		if (n < static_cast<ssize_t>(sizeof(vnet)))
			return;
		auto *frame = buffer.data() + sizeof(vnet);
		size_t length = n - sizeof(vnet);
		auto dir = from.sll_pkttype == PACKET_OUTGOING ? OUT : IN;
		auto ns = stamp(msg);

		std::memcpy(&vnet, buffer.data(), sizeof(vnet));
		if (vnet.gso_type == GSO_UDP_L4 && vnet.gso_size)
			cut(frame, length, vnet.gso_size, dir, ns, handler);
		else
			handler(frame, length, dir, ns);
	}
}

unsigned int RawLink::lost()
{
	tpacket_stats stats;
	socklen_t len = sizeof(stats);

	if (!getsockopt(sock, SOL_PACKET, PACKET_STATISTICS, &stats, &len))
		losses += stats.tp_drops;
	return losses;
}

} // namespace st
