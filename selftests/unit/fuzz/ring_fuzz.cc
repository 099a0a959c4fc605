// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Fuzz target: indices of a ring that user space writes. The input is a sequence of
 * them, each two bytes of how far, one byte of what: forwards, backwards or anywhere.
 *
 * For libFuzzer (make fuzz), and for fuzz_test.cc.
 */
#include "fuzz/targets.hh"

#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
#include "ring/ring.h"
}

namespace
{

void must(bool holds)
{
	if (!holds)
		std::abort();
}

} // namespace

int fuzz_ring(const std::uint8_t *data, std::size_t bytes)
{
	if (bytes < 5)
		return 0;
	const std::uint32_t depth = skr_ring_depth(1 + data[0]), entry = 64;
	std::vector<std::uint64_t> memory((skr_ring_bytes(depth, entry) + 7) / 8);
	skr_ring ring = { reinterpret_cast<skerry_ring_hdr *>(memory.data()), depth, entry };
	std::uint32_t user, cons, next;

	std::memcpy(&cons, data + 1, 4);
	user = next = cons;
	must(depth >= 1U + data[0] && !(depth & (depth - 1)));
	for (std::size_t at = 5; at + 3 <= bytes; at += 3) {
		const std::uint32_t far = data[at] | data[at + 1] << 8;

		switch (data[at + 2] & 3) {
		case 0:
			user += far % (depth + 2);
			break;
		case 1:
			user -= far;
			break;
		case 2:
			user = far << 16 | far;
			break;
		default:
			ring.hdr->arm = far;
			ring.hdr->kernel_index = far;
			ring.hdr->need_kick = far;
		}
		ring.hdr->user_index = user;
		const std::uint32_t ready = skr_ring_ready(&ring, cons, next);

		must(ready == SKR_RING_BROKEN || ready <= depth - (next - cons));
		if (ready == SKR_RING_BROKEN) {
			/* whoever says so must have written nonsense */
			must(user - cons > depth || user - cons < next - cons);
			user = next;
			continue;
		}
		must(ready == user - next);
		/* every entry that is taken lies within the ring */
		for (std::uint32_t i = 0; i < ready; i++) {
			auto *e = static_cast<std::uint8_t *>(skr_ring_entry(&ring, next++));

			std::memset(e, i, entry);
		}
		if (data[at + 2] & 4)
			cons = next;
		must(skr_ring_used(&ring, next) == next - user);
		skr_ring_publish(&ring, cons);
		skr_ring_want_kick(&ring, next);
		skr_ring_no_kick(&ring);
		if (skr_ring_fire(&ring, data[at + 2] & 8))
			must(!ring.hdr->arm);
	}
	return 0;
}
