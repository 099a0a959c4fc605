/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Bytes that tell where they belong: byte `offset` of the stream that `key`
 * names. A byte that is lost, moved or taken from another stream shows.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace st
{

/* write length bytes of stream key, from offset on, to data */
void pattern_fill(void *data, size_t length, uint64_t key, uint64_t offset);

/* index of the first wrong byte in data, or length if all are right */
size_t pattern_check(const void *data, size_t length, uint64_t key, uint64_t offset);

/* what one byte has to be */
uint8_t pattern_byte(uint64_t key, uint64_t offset);

} // namespace st
