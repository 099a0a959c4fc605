/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace st
{

/* a device's hw_counters, as the rdma tool shows them */
std::map<std::string, uint64_t> counters(const std::string &device);

/* one of them, quickly; fails if there is no such counter */
uint64_t counter(const std::string &device, const std::string &name);

/* the link type under test, from the environment */
std::string link_type();

} // namespace st
