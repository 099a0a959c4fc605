// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "spread.hh"

#include <algorithm>
#include <cstring>

#include "fail.hh"
#include "pattern.hh"

namespace st
{

constexpr uint8_t POISON = 0xa5;
constexpr size_t GAP = 64; /* at most, between pieces; at least behind the last */

size_t Spread::room(uint32_t length, uint32_t pieces)
{
	return length + (pieces + 1) * GAP;
}

void Spread::poison(const Mr &mr)
{
	std::memset(mr.data(), POISON, mr.size());
}

Spread::Spread(const Mr &mr, size_t offset, uint32_t length, uint32_t pieces, Rng &rng)
	: mr(&mr), first(offset)
{
	while (pieces && length) {
		/* mostly even cuts, at times a very small piece */
		uint32_t bytes = pieces == 1 ? length : length / pieces;

		if (pieces > 1)
			bytes = rng.between(1, rng.percent(30) ? std::min(bytes, 8U) : bytes);
		list.push_back(mr.sge(offset, bytes));
		offset += bytes + (pieces == 1 ? GAP : rng.below(GAP));
		length -= bytes;
		pieces--;
	}
	last = list.empty() ? first + GAP : offset;
}

void Spread::poison() const
{
	std::memset(mr->data() + first, POISON, last - first);
}

void Spread::fill(uint32_t length, uint64_t key, uint64_t offset) const
{
	for (auto &sge : list) {
		auto n = std::min(length, sge.length);

		pattern_fill(at(sge), n, key, offset);
		offset += n;
		length -= n;
	}
}

void Spread::check_gap(const uint8_t *from, size_t length, const char *where) const
{
	for (size_t i = 0; i < length; i++)
		if (from[i] != POISON)
			fail("byte %zu %s was overwritten with 0x%02x", i, where, from[i]);
}

void Spread::check(uint32_t length, uint64_t key, uint64_t offset) const
{
	uint64_t total = 0;

	if (list.empty())
		return check_gap(mr->data() + first, last - first, "of an empty buffer");
	for (size_t i = 0; i < list.size(); i++) {
		auto &sge = list[i];
		auto n = std::min<uint64_t>(length - total, sge.length);
		auto bad = pattern_check(at(sge), n, key, offset + total);
		auto end = sge.addr - mr->addr() + sge.length;
		auto next = i + 1 < list.size() ? list[i + 1].addr - mr->addr() : last;

		if (bad != n)
			fail("byte %zu of %u (piece %zu of %zu, byte %zu) is 0x%02x, not 0x%02x",
			     static_cast<size_t>(total + bad), length, i, list.size(), bad,
			     at(sge)[bad], pattern_byte(key, offset + total + bad));
		check_gap(at(sge) + n, std::min<size_t>(sge.length - n, GAP), "behind the message");
		check_gap(mr->data() + end, next - end, "between two pieces");
		total += n;
	}
	if (total != length)
		fail("%u bytes do not fit into the buffer", length);
}

uint64_t Spread::value() const
{
	uint64_t word;

	std::memcpy(&word, at(list[0]), sizeof(word));
	check_gap(at(list[0]) + sizeof(word), last - first - sizeof(word), "behind the value");
	return word;
}

void Spread::clear(uint32_t length) const
{
	for (auto &sge : list) {
		auto n = std::min(length, sge.length);

		std::memset(at(sge), POISON, n);
		length -= n;
	}
}

} // namespace st
