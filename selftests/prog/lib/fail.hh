/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* How a test program gives up: an exception with a sentence in it. */
#pragma once

#include <cerrno>
#include <cstdarg>
#include <stdexcept>
#include <string>

namespace st
{

struct Failure : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/* printf() into a string */
[[gnu::format(printf, 1, 2)]] std::string format(const char *fmt, ...);
std::string vformat(const char *fmt, va_list ap);

/* throw a Failure */
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char *fmt, ...);

/* throw a Failure that ends in the text of an errno */
[[noreturn]] void fail_errno(const std::string &what, int err = errno);

} // namespace st
