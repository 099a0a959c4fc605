// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "congestion.hh"

#include <fstream>

namespace st
{

void set_cc(const Bench &bench, const std::string &file, const std::string &value)
{
	std::ofstream out("/sys/kernel/debug/skerry/" + bench.config.dev_a + "/" + file);

	out << value << std::flush;
	if (!out)
		fail("cannot set %s to %s", file.c_str(), value.c_str());
}

Unpaced::Unpaced(const Bench &bench) : bench(bench)
{
	set_cc(bench, "cc_params/np_min_time_between_cnps", "0");
}

Unpaced::~Unpaced()
{
	set_cc(bench, "cc_params/np_min_time_between_cnps", "50");
	set_cc(bench, "cnp_pacing", "qp");
	set_cc(bench, "cc", "dcqcn");
}

Count::Count(const Bench &bench, const char *name)
	: device(bench.config.dev_a), name(name), before(now())
{
}

uint64_t Count::now() const
{
	return counters(device)[name];
}

void Count::is(uint64_t more) const
{
	auto end = now_ns() + Peer::style.patience * 1000000ULL;
	auto n = now() - before;

	for (; n < more && now_ns() < end; n = now() - before)
		sleep_us(20000);
	if (n != more)
		fail("%s counted %llu, not %llu", name.c_str(), static_cast<unsigned long long>(n),
		     static_cast<unsigned long long>(more));
}

Out marked(Out out, uint8_t ecn)
{
	out.path.tos = 26 << 2 | ecn;
	return out;
}

Out notification(const Peer &peer)
{
	auto out = peer.out(CNP, 0, Bytes(CNP_BYTES));

	out.bth.migrated = false;
	out.bth.congestion = BECN;
	out.path.tos = 48 << 2;
	return out;
}

unsigned int cnps_before(Peer &peer, uint8_t answer)
{
	unsigned int count = 0;

	for (;;) {
		auto p = static_cast<Ghost &>(peer).next();

		if (p.bth.opcode == answer)
			return count;
		if (p.bth.opcode != CNP)
			fail("%s instead of a CNP", opcode_name(p.bth.opcode));
		peer.check_cnp(p);
		count++;
	}
}

} // namespace st
