/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#pragma once

namespace st
{

/* what leaves A, as hosts_up() of lib.sh names it, waits while this lives */
class Plug
{
public:
	Plug();
	Plug(const Plug &) = delete;
	~Plug();

	/* what has waited is sent, and nothing waits from now on */
	void let_go();
	/* what has waited is lost, and nothing waits from now on */
	void pull();

private:
	bool in = true;
};

} // namespace st
