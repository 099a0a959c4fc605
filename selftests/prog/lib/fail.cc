// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "fail.hh"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace st
{

static std::string vformat(const char *fmt, va_list ap)
{
	char text[1024];

	std::vsnprintf(text, sizeof(text), fmt, ap);
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
