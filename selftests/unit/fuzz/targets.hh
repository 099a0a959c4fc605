/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Fuzz targets; each takes any bytes, and aborts if something does not hold. */
#pragma once

#include <cstddef>
#include <cstdint>

int fuzz_wire(const std::uint8_t *data, std::size_t bytes);
int fuzz_ring(const std::uint8_t *data, std::size_t bytes);
