// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "tap.hh"

#include <cstdarg>
#include <cstdio>
#include <exception>

#include "fail.hh"

namespace st
{

Tap::Tap(int planned) : planned(planned)
{
	std::setvbuf(stdout, nullptr, _IOLBF, 0);
	std::printf("1..%d\n", planned);
}

void Tap::note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	auto text = vformat(fmt, ap);
	va_end(ap);
	for (char *line = text.data(), *end; line; line = end) {
		for (end = line; *end && *end != '\n'; end++)
			;
		std::printf("# %.*s\n", static_cast<int>(end - line), line);
		end = *end ? end + 1 : nullptr;
	}
}

bool Tap::check(bool good, const std::string &name, const std::string &detail)
{
	if (!good) {
		bad++;
		if (!detail.empty())
			note("%s", detail.c_str());
	}
	std::printf("%sok %d - %s\n", good ? "" : "not ", ++count, name.c_str());
	return good;
}

void Tap::skip(const std::string &name, const std::string &why)
{
	std::printf("ok %d - %s # SKIP %s\n", ++count, name.c_str(), why.c_str());
}

bool Tap::run(const std::string &name, const std::function<void()> &body)
{
	try {
		body();
	} catch (const Skip &s) {
		skip(name, s.why);
		return true;
	} catch (const std::exception &e) {
		return check(false, name, e.what());
	}
	return check(true, name);
}

int Tap::status() const
{
	return bad || count != planned;
}

} // namespace st
