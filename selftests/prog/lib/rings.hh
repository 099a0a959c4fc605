/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The mappings that a provider made of the device's queues, for who wants to harm them. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace st
{

struct Area {
	uint8_t *start;
	size_t bytes;
};

/* mappings of uverbs nodes that can be written, but for those known already */
std::vector<Area> find_rings(const std::vector<Area> &known = {});

} // namespace st
