// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "options.hh"

#include <cstdlib>

#include "fail.hh"

namespace st
{

Options::Options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		std::string arg = argv[i];

		if (arg.rfind("--", 0) != 0)
			fail("not an option: %s", arg.c_str());
		arg.erase(0, 2);
		if (auto eq = arg.find('='); eq != arg.npos)
			given[arg.substr(0, eq)] = arg.substr(eq + 1);
		else if (i + 1 < argc && std::string(argv[i + 1]).rfind("--", 0) != 0)
			given[arg] = argv[++i];
		else
			given[arg] = "";
	}
}

bool Options::flag(const std::string &name)
{
	known.insert(name);
	return given.count(name) != 0;
}

std::string Options::text(const std::string &name, const std::string &fallback)
{
	known.insert(name);
	auto it = given.find(name);
	return it == given.end() ? fallback : it->second;
}

uint64_t Options::number(const std::string &name, uint64_t fallback)
{
	auto value = text(name, "");
	char *end;

	if (value.empty())
		return fallback;
	auto result = std::strtoull(value.c_str(), &end, 0);
	if (*end)
		fail("--%s: not a number: %s", name.c_str(), value.c_str());
	return result;
}

void Options::done() const
{
	for (auto &[name, value] : given)
		if (!known.count(name))
			fail("unknown option --%s", name.c_str());
}

} // namespace st
