/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Command line of a test program: --name value, --name=value or a bare --name.
 * Each read of an option marks it as known; done() refuses what nobody read.
 */
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace st
{

class Options
{
public:
	Options(int argc, char **argv);

	bool flag(const std::string &name);
	std::string text(const std::string &name, const std::string &fallback);
	uint64_t number(const std::string &name, uint64_t fallback);
	void done() const;

private:
	std::map<std::string, std::string> given;
	std::set<std::string> known;
};

} // namespace st
