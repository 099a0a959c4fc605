// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Padding and ICRC: every size around the borders, on requests and on READ
 * responses. Each packet's pad count, pad bytes and ICRC are checked on the
 * wire; a packet with a wrong ICRC is dropped, counted, and nothing else.
 */
#include <exception>
#include <vector>

#include "lib/counters.hh"
#include "lib/fail.hh"
#include "lib/pair.hh"
#include "lib/pattern.hh"
#include "lib/tap.hh"
#include "lib/wire.hh"

using namespace st;

namespace
{

std::vector<uint32_t> border_sizes(uint32_t mtu)
{
	std::vector<uint32_t> sizes;

	for (uint32_t n = 1; n <= 9; n++)
		sizes.push_back(n);
	for (uint32_t n = 1021; n <= 1027; n++)
		sizes.push_back(n);
	for (uint32_t n = mtu - 1; n <= mtu + 1; n++)
		sizes.push_back(n);
	sizes.push_back(3 * mtu + 3);
	return sizes;
}

/* does this opcode end a message that carries data? */
bool ends_data(uint8_t opcode)
{
	switch (opcode) {
	case RC_SEND_LAST:
	case RC_SEND_ONLY:
	case RC_WRITE_LAST:
	case RC_WRITE_ONLY:
	case RC_READ_LAST:
	case RC_READ_ONLY:
		return true;
	}
	return false;
}

bool carries_data(uint8_t opcode)
{
	return opcode <= RC_WRITE_ONLY || (opcode >= RC_READ_FIRST && opcode <= RC_READ_ONLY);
}

void check_packet(const Packet &p, uint32_t size, uint32_t mtu)
{
	auto data = p.body_bytes - *extended_bytes(p.bth.opcode);
	auto expected = ends_data(p.bth.opcode) ? (size - 1) % mtu + 1 : mtu;

	if (!p.icrc_good())
		fail("%s: wrong ICRC", opcode_name(p.bth.opcode));
	if (p.bth.version)
		fail("%s: transport version %u", opcode_name(p.bth.opcode), p.bth.version);
	if (!carries_data(p.bth.opcode)) {
		if (p.bth.pad || data)
			fail("%s: %zu bytes of data, pad count %u", opcode_name(p.bth.opcode), data,
			     p.bth.pad);
		return;
	}
	if (data != (expected + 3) / 4 * 4 || p.bth.pad != data - expected)
		fail("%s: %zu bytes, pad count %u, for %u of data", opcode_name(p.bth.opcode), data,
		     p.bth.pad, expected);
	for (uint32_t i = 0; i < p.bth.pad; i++)
		if (p.body()[p.body_bytes - 1 - i])
			fail("%s: padding is not zero", opcode_name(p.bth.opcode));
}

class Test
{
public:
	explicit Test(Options &opt) : config(opt), devices(config), mtu(opt.number("mtu", 1024))
	{
		opt.done();
	}

	void transfer(ibv_wr_opcode opcode, uint32_t size)
	{
		constexpr size_t FAR = 65536;
		bool read = opcode == IBV_WR_RDMA_READ;
		uint64_t key = size * 16ULL + opcode;
		Pair pair(devices, config);
		auto &source = read ? pair.b : pair.a, &sink = read ? pair.a : pair.b;

		wire.forget();
		pattern_fill(source.mr.data(), size, key, 0);
		if (opcode == IBV_WR_SEND)
			pair.b.qp.recv(7, { pair.b.mr.sge(FAR, 65536) });
		Work(1, opcode, { pair.a.mr.sge(read ? FAR : 0, size) })
			.remote(pair.b.mr.addr(read ? 0 : FAR), pair.b.mr.rkey())
			.post(pair.a.qp);
		auto wc = pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
		if (read && wc.byte_len != size)
			fail("READ completed with byte_len %u", wc.byte_len);
		if (opcode == IBV_WR_SEND) {
			wc = pair.b.recv_cq.expect(7, IBV_WC_SUCCESS);
			if (wc.byte_len != size)
				fail("byte_len %u", wc.byte_len);
		}
		if (pattern_check(sink.mr.data() + FAR, size, key, 0) != size)
			fail("wrong data");
		if (sink.mr.data()[FAR + size])
			fail("a byte behind the data was written");
		check_wire(size);
	}

	void wrong_icrc()
	{
		auto before = counters(config.dev_b);
		bool spoilt = false;
		Pair pair(devices, config);

		wire.forget();
		wire.rule([&](const Packet &p, Bytes &frame) {
			if (p.to_b && !spoilt) {
				spoilt = true;
				frame.back() ^= 1;
			}
			return Verdict::PASS;
		});
		Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 100) })
			.remote(pair.b.mr.addr(0), pair.b.mr.rkey())
			.post(pair.a.qp);
		pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
		wire.no_rule();
		if (pair.b.qp.state() != IBV_QPS_RTS)
			fail("the QP left RTS");
		for (auto &p : wire.take())
			if (!p.to_b && (p.bth.opcode != RC_ACK || p.syndrome() >> 5))
				fail("it was answered: %s syndrome %02x", opcode_name(p.bth.opcode),
				     p.syndrome());
		if (link_type() == "rxe")
			throw Tap::Skip{ "rxe does not count them" };
		auto after = counters(config.dev_b);
		if (after["rx_icrc_encapsulated"] != before["rx_icrc_encapsulated"] + 1)
			fail("rx_icrc_encapsulated went from %llu to %llu",
			     static_cast<unsigned long long>(before["rx_icrc_encapsulated"]),
			     static_cast<unsigned long long>(after["rx_icrc_encapsulated"]));
	}

	std::vector<uint32_t> sizes() const { return border_sizes(mtu); }

private:
	void check_wire(uint32_t size)
	{
		auto packets = wire.take();

		if (packets.empty())
			fail("nothing passed on the wire");
		for (auto &p : packets) {
			try {
				check_packet(p, size, mtu);
			} catch (const Failure &e) {
				fail("%s\n%s", e.what(), describe(packets).c_str());
			}
		}
	}

	PairConfig config;
	Devices devices;
	Wire wire;
	uint32_t mtu;
};

} // namespace

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		ibv_wr_opcode opcode;
	} verbs[] = { { "SEND", IBV_WR_SEND },
		      { "WRITE", IBV_WR_RDMA_WRITE },
		      { "READ", IBV_WR_RDMA_READ } };
	Tap tap(std::size(verbs) + 1);

	try {
		Options opt(argc, argv);
		Test test(opt);

		for (auto &verb : verbs)
			tap.run(std::string(verb.name) + " of every border size", [&] {
				for (auto size : test.sizes()) {
					try {
						test.transfer(verb.opcode, size);
					} catch (const Failure &e) {
						fail("%u bytes: %s", size, e.what());
					}
				}
			});
		tap.run("a wrong ICRC: dropped, counted, no more", [&] { test.wrong_icrc(); });
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
