/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What a wr_id of the traffic test says: kind, flow and running number. */
#pragma once

#include <cstdint>

namespace st
{

enum class Kind { SEND, RECV, CREDIT_SEND, CREDIT_RECV };

constexpr uint64_t make_id(Kind kind, uint32_t flow, uint64_t number)
{
	return static_cast<uint64_t>(kind) << 60 | static_cast<uint64_t>(flow) << 44 | number;
}

constexpr Kind id_kind(uint64_t id)
{
	return static_cast<Kind>(id >> 60);
}

constexpr uint32_t id_flow(uint64_t id)
{
	return id >> 44 & 0xffff;
}

constexpr uint64_t id_number(uint64_t id)
{
	return id & ((1ULL << 44) - 1);
}

} // namespace st
