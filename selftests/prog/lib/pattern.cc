// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "pattern.hh"

#include <cstring>

namespace st
{

/* cheap, because an emulated guest makes millions of these */
static inline uint64_t word(uint64_t key, uint64_t index)
{
	uint64_t w = (key ^ index) * 0x9e3779b97f4a7c15ULL;

	return w ^ (w >> 29) ^ key;
}

uint8_t pattern_byte(uint64_t key, uint64_t offset)
{
	return word(key, offset / 8) >> (offset % 8 * 8);
}

void pattern_fill(void *data, size_t length, uint64_t key, uint64_t offset)
{
	auto *p = static_cast<uint8_t *>(data);
	size_t i = 0;

	while (i < length && (offset + i) % 8)
		p[i] = pattern_byte(key, offset + i), i++;
	for (; i + 8 <= length; i += 8) {
		uint64_t w = word(key, (offset + i) / 8);

		std::memcpy(p + i, &w, 8);
	}
	for (; i < length; i++)
		p[i] = pattern_byte(key, offset + i);
}

size_t pattern_check(const void *data, size_t length, uint64_t key, uint64_t offset)
{
	auto *p = static_cast<const uint8_t *>(data);
	size_t i = 0;

	while (i < length) {
		uint64_t w;

		if ((offset + i) % 8 == 0 && i + 8 <= length) {
			std::memcpy(&w, p + i, 8);
			if (w == word(key, (offset + i) / 8)) {
				i += 8;
				continue;
			}
		}
		if (p[i] != pattern_byte(key, offset + i))
			return i;
		i++;
	}
	return length;
}

} // namespace st
