/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What xrc and xrc_peer tell each other. */
#pragma once

#include <cstdint>

/* SENDs that it is ready for, and how long each is */
constexpr uint32_t XRC_PEER_SENDS = 16, XRC_PEER_BYTES = 3000;

struct XrcPeerReady {
	uint32_t srqn;
	uint32_t rkey;
	uint64_t addr;
};
