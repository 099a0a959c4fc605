/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A message's local memory: pieces with gaps between them. Gaps hold poison,
 * which nobody may overwrite.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "rng.hh"
#include "verbs.hh"

namespace st
{

class Spread
{
public:
	Spread() = default;
	/* cut length bytes into pieces, from offset of mr on */
	Spread(const Mr &mr, size_t offset, uint32_t length, uint32_t pieces, Rng &rng);

	/* memory that cutting length bytes into pieces takes at most */
	static size_t room(uint32_t length, uint32_t pieces);
	static void poison(const Mr &mr);

	const std::vector<ibv_sge> &sges() const { return list; }
	/* lay down poison in all of it */
	void poison() const;
	/* write the first length bytes of stream key */
	void fill(uint32_t length, uint64_t key, uint64_t offset = 0) const;
	/* the first length bytes must be those of stream key, the rest poison;
	 * throws if not */
	void check(uint32_t length, uint64_t key, uint64_t offset = 0) const;
	/* make the first length bytes poison again */
	void clear(uint32_t length) const;
	/* the 64-bit word in a buffer of 8 bytes, whose gap must be poison */
	uint64_t value() const;
	/* end of the last gap */
	size_t end() const { return last; }

private:
	uint8_t *at(const ibv_sge &sge) const { return mr->data() + (sge.addr - mr->addr()); }
	void check_gap(const uint8_t *from, size_t length, const char *where) const;

	const Mr *mr = nullptr;
	size_t first = 0, last = 0;
	std::vector<ibv_sge> list;
};

} // namespace st
