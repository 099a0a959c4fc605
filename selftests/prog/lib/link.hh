/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* RDMA links, made and deleted as `rdma link` does it, without a process for it. */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace st
{

/* one RDMA_NLDEV_CMD_NEWLINK request, ready to be sent again and again */
class NewLink
{
public:
	NewLink(const std::string &name, const std::string &type, const std::string &netdev);
	NewLink(const NewLink &) = delete;
	~NewLink();

	/* 0 or an errno; allocates no memory in user space */
	int send();

private:
	void attribute(uint16_t type, const std::string &value);

	int fd;
	std::vector<uint8_t> request;
	uint8_t answer[4096] = {};
};

} // namespace st
