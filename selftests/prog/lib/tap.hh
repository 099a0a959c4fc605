/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The Test Anything Protocol for programs that report by themselves. */
#pragma once

#include <functional>
#include <string>

namespace st
{

class Tap
{
public:
	explicit Tap(int planned);

	/* one result; detail is shown if it is bad */
	bool check(bool good, const std::string &name, const std::string &detail = "");
	void skip(const std::string &name, const std::string &why);
	/* a subtest: good unless it throws */
	bool run(const std::string &name, const std::function<void()> &body);
	/* throw this to skip the subtest one is in */
	struct Skip {
		std::string why;
	};

	[[gnu::format(printf, 1, 2)]] static void note(const char *fmt, ...);
	/* exit status: 0 if all that was planned ran and was good */
	int status() const;

private:
	int planned;
	int count = 0;
	int bad = 0;
};

} // namespace st
