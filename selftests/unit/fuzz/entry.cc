// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* libFuzzer's entry; TARGET is one of targets.hh */
#include "fuzz/targets.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t bytes)
{
	return TARGET(data, bytes);
}
