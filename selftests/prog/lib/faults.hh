/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Faults that the kernel injects where it allocates memory or copies from users. */
#pragma once

#include <functional>

namespace st
{

/* can this kernel? (CONFIG_FAULT_INJECTION, set up by the test's script) */
bool can_inject();

constexpr int SOME_FAILURE = -1;

/*
 * Call attempt with the first possible fault injected, then with the second, and
 * so on, beyond the first 16 not with each, until one call meets no fault. attempt returns 0, an errno or
 * SOME_FAILURE; before each one prepare is called, after each success undo, both
 * without faults. Failures must be for want of memory or because of a bad
 * pointer; a call without a fault must succeed. Returns how many calls failed.
 */
int sweep_faults(
	const std::function<int()> &attempt, const std::function<void()> &undo,
	const std::function<void()> &prepare = [] {});

} // namespace st
