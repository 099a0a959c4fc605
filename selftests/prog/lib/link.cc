// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "link.hh"

#include <cerrno>
#include <cstring>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fail.hh"

namespace st
{

NewLink::NewLink(const std::string &name, const std::string &type, const std::string &netdev)
	: fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA)), request(NLMSG_HDRLEN)
{
	if (fd < 0)
		fail_errno("netlink socket");
	attribute(RDMA_NLDEV_ATTR_DEV_NAME, name);
	attribute(RDMA_NLDEV_ATTR_LINK_TYPE, type);
	attribute(RDMA_NLDEV_ATTR_NDEV_NAME, netdev);

	nlmsghdr head = {};
	head.nlmsg_len = request.size();
	head.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK);
	head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	std::memcpy(request.data(), &head, sizeof(head));
}

NewLink::~NewLink()
{
	close(fd);
}

/* a string with its end */
void NewLink::attribute(uint16_t type, const std::string &value)
{
	const size_t bytes = value.size() + 1, at = request.size();
	nlattr head = {};

	head.nla_len = NLA_HDRLEN + bytes;
	head.nla_type = type;
	request.resize(at + NLA_HDRLEN + NLA_ALIGN(bytes));
	std::memcpy(&request[at], &head, sizeof(head));
	std::memcpy(&request[at + NLA_HDRLEN], value.c_str(), bytes);
}

int NewLink::send()
{
	const auto *head = reinterpret_cast<const nlmsghdr *>(answer);
	const auto *error = reinterpret_cast<const nlmsgerr *>(answer + NLMSG_HDRLEN);

	if (::send(fd, request.data(), request.size(), 0) < 0)
		return errno;
	/* the answer may be what there was no memory for */
	ssize_t n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	if (n < 0)
		return errno;
	if (n < static_cast<ssize_t>(NLMSG_HDRLEN + sizeof(*error)) ||
	    head->nlmsg_type != NLMSG_ERROR)
		return EPROTO;
	return -error->error;
}

} // namespace st
