// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "plug.hh"

#include <cstdlib>
#include <string>

#include "fail.hh"

namespace st
{

static void qdisc(const std::string &what)
{
	if (std::system(("ip netns exec skA tc qdisc " + what).c_str()))
		fail("tc qdisc %s", what.c_str());
}

Plug::Plug()
{
	qdisc("add dev vA root plug limit 16777216");
}

Plug::~Plug()
{
	pull();
}

void Plug::let_go()
{
	qdisc("change dev vA root plug release_indefinite");
}

void Plug::pull()
{
	if (in)
		qdisc("del dev vA root");
	in = false;
}

} // namespace st
