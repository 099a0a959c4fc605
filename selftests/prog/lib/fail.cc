// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "fail.hh"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace st
{

std::string vformat(const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	std::string text(std::vsnprintf(nullptr, 0, fmt, again), '\0');
	va_end(again);
	std::vsnprintf(text.data(), text.size() + 1, fmt, ap);
	return text;
}

std::string format(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	auto text = vformat(fmt, ap);
	va_end(ap);
	return text;
}

void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	auto text = vformat(fmt, ap);
	va_end(ap);
	throw Failure(text);
}

void fail_errno(const std::string &what, int err)
{
	fail("%s: %s (%d)", what.c_str(), std::strerror(err), err);
}

} // namespace st
