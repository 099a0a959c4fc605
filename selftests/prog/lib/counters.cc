// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "counters.hh"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "fail.hh"

namespace st
{

std::map<std::string, uint64_t> counters(const std::string &device)
{
	std::map<std::string, uint64_t> result;
	auto *pipe = popen(("rdma statistic show link " + device + "/1").c_str(), "r");
	char name[64], value[64];

	if (!pipe)
		fail_errno("rdma statistic");
	/* "link sk0/1", then pairs */
	while (std::fscanf(pipe, "%63s %63s", name, value) == 2)
		result[name] = std::strtoull(value, nullptr, 10);
	pclose(pipe);
	return result;
}

uint64_t counter(const std::string &device, const std::string &name)
{
	std::ifstream file("/sys/class/infiniband/" + device + "/ports/1/hw_counters/" + name);
	uint64_t value;

	if (!(file >> value))
		fail("no counter %s", name.c_str());
	return value;
}

std::string link_type()
{
	auto *type = std::getenv("LINK");

	return type ? type : "skerry";
}

} // namespace st
