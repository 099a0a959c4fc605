// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Payloads that leave as the pages that they lie in: seen by what becomes of a packet
 * whose memory is changed, or gone, while it waits.
 *
 *	zero_copy --a sk0 --b sk1
 */
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>
#include <vector>

#include "lib/counters.hh"
#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/pair.hh"
#include "lib/pattern.hh"
#include "lib/plug.hh"
#include "lib/region.hh"
#include "lib/tap.hh"

using namespace st;

namespace
{

constexpr size_t BYTES = 64 * 1024;
constexpr int PATIENCE_MS = 60000;

uint64_t wrong_icrcs(const PairConfig &config)
{
	return counter(config.dev_b, "rx_icrc_encapsulated");
}

Work write(const End &to, std::vector<ibv_sge> sges)
{
	return Work(1, IBV_WR_RDMA_WRITE, std::move(sges)).remote(to.mr.addr(), to.mr.rkey());
}

void same(const Pair &pair, size_t bytes)
{
	if (std::memcmp(pair.a.mr.data(), pair.b.mr.data(), bytes))
		fail("the memory of both ends differs");
}

/* WRITE bytes, change the last one while they wait. Return: wrong ICRCs at B */
uint64_t changed(const PairConfig &config, Pair &pair, size_t bytes)
{
	const uint64_t before = wrong_icrcs(config);
	Plug plug;

	pattern_fill(pair.a.mr.data(), bytes, 1, 0);
	write(pair.b, { pair.a.mr.sge(0, bytes) }).post(pair.a.qp);
	pair.a.mr.data()[bytes - 1] ^= 1;
	plug.let_go();
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS, PATIENCE_MS);
	return wrong_icrcs(config) - before;
}

/* it is repeated as it is then */
void lent(const PairConfig &config, const Devices &devices)
{
	Pair pair(devices, config);

	if (!changed(config, pair, BYTES))
		fail("it was a copy");
	same(pair, BYTES);
}

/* what is posted is what arrives */
void copied(const PairConfig &config, const Devices &devices)
{
	const size_t bytes = 1024;
	Pair pair(devices, config);

	if (changed(config, pair, bytes))
		fail("it was not a copy");
	if (pattern_check(pair.b.mr.data(), bytes, 1, 0) != bytes)
		fail("not what was there when it was posted");
}

/* pieces that begin and end anywhere, in places more of them than a packet can have */
void pieces(PairConfig config, const Devices &devices)
{
	static const uint32_t sizes[] = { 4096, 3000, 5001, 1,	 7,    4095,
					  900,	901,  902,  903, 8192, 123 };
	std::vector<uint8_t> sent;
	std::vector<ibv_sge> sges;
	size_t at = 17;

	config.depth.send_sge = std::size(sizes);
	Pair pair(devices, config);
	pattern_fill(pair.a.mr.data(), pair.a.mr.size(), 2, 0);
	for (uint32_t bytes : sizes) {
		sges.push_back(pair.a.mr.sge(at, bytes));
		sent.insert(sent.end(), pair.a.mr.data() + at, pair.a.mr.data() + at + bytes);
		at += bytes + 1111;
	}
	write(pair.b, sges).post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS, PATIENCE_MS);
	if (std::memcmp(sent.data(), pair.b.mr.data(), sent.size()))
		fail("other bytes have arrived");
}

/* QP, region and memory go while the packets wait, which arrive all the same */
void gone(const PairConfig &config, const Devices &devices)
{
	const uint8_t *last;
	End b(devices.b, config, config.access_b);
	Plug plug;

	{
		End a(devices.a, config, config.access_a);
		Memory memory(BYTES);
		Region region(a.pd, memory.data(), BYTES);

		join(devices, config, a.qp, b.qp);
		pattern_fill(memory.data(), BYTES, 3, 0);
		write(b, { region.sge(0, BYTES) }).post(a.qp);
	}
	/* whatever was freed is somebody else's now */
	Memory other(16 * BYTES);
	std::memset(other.data(), 0xee, other.size());
	plug.let_go();
	last = b.mr.data() + BYTES - 1;
	for (int i = 0; *static_cast<const volatile uint8_t *>(last) != pattern_byte(3, BYTES - 1);
	     i++) {
		if (i == PATIENCE_MS)
			fail("it did not arrive");
		sleep_us(1000);
	}
	if (pattern_check(b.mr.data(), BYTES, 3, 0) != BYTES)
		fail("other bytes have arrived");
}

} // namespace

int main(int argc, char **argv)
{
	Tap tap(4);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);

		opt.done();
		config.link_a.mtu = config.link_b.mtu = IBV_MTU_4096;
		Devices devices(config);

		tap.run("a large payload is not copied", [&] { lent(config, devices); });
		tap.run("a small one is", [&] { copied(config, devices); });
		tap.run("many odd pieces", [&] { pieces(config, devices); });
		tap.run("QP, region and memory are gone before the packets are",
			[&] { gone(config, devices); });
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
