// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Rates that the user sets: the rate limit of a QP (packet pacing) and the static rate
 * of an address. What is sent takes at least as long as they say; how much longer
 * is the machine's affair. The rate that is in force is in debugfs.
 */
#include <cerrno>
#include <exception>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "lib/datagram.hh"
#include "lib/pattern.hh"

using namespace st;

namespace
{

constexpr uint32_t KBPS = 16000;
constexpr uint64_t BYTES_PER_SECOND = KBPS * 125;
constexpr uint32_t MESSAGE = 32 << 10, MESSAGES = 16;
/* what may go at once: a burst, and what a late timer cost */
constexpr uint32_t SLACK = 20 << 10;

struct Lab {
	explicit Lab(Options &opt) : config(opt), devices(config) {}

	Pair pair(ibv_qp_type type = IBV_QPT_RC) const
	{
		auto c = config;

		c.depth.type = type;
		return Pair(devices, c);
	}

	PairConfig config;
	Devices devices;
};

int limit(const Qp &qp, uint32_t kbps)
{
	ibv_qp_rate_limit_attr attr = {};

	attr.rate_limit = kbps;
	return ibv_modify_qp_rate_limit(qp.get(), &attr);
}

void must_limit(const Qp &qp, uint32_t kbps)
{
	if (int err = limit(qp, kbps))
		fail_errno(format("a limit of %u kb/s", kbps), err);
}

/* bytes per second that a QP may send now */
uint64_t rate_of(const Device &dev, const Qp &qp)
{
	auto name = std::string(ibv_get_device_name(dev.get()->device));
	std::ifstream in("/sys/kernel/debug/skerry/" + name + "/cc_flows");
	auto wanted = format("%#x", qp.num());
	std::string line, qpn;
	uint64_t rate;

	while (std::getline(in, line))
		if (std::istringstream words(line); words >> qpn >> rate && qpn == wanted)
			return rate;
	fail("debugfs does not have QP %s", wanted.c_str());
}

void rate_is(const Device &dev, const Qp &qp, uint64_t rate)
{
	if (auto now = rate_of(dev, qp); now != rate)
		fail("the rate is %llu bytes/s, not %llu", static_cast<unsigned long long>(now),
		     static_cast<unsigned long long>(rate));
}

/* messages from a to b, or READ from b, which take so long */
void takes_its_time(Pair &pair, ibv_wr_opcode opcode)
{
	auto &from = opcode == IBV_WR_RDMA_READ ? pair.b : pair.a;
	auto &to = opcode == IBV_WR_RDMA_READ ? pair.a : pair.b;
	auto start = now_ns();

	pattern_fill(from.mr.data(), MESSAGE, 1, 0);
	pattern_fill(to.mr.data(), 2 * MESSAGE, 2, 0);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		if (opcode == IBV_WR_SEND)
			pair.b.qp.recv(i, { pair.b.mr.sge(MESSAGE, MESSAGE) });
		Work(i, opcode, { pair.a.mr.sge(0, MESSAGE) })
			.remote(pair.b.mr.addr(), pair.b.mr.rkey())
			.post(pair.a.qp);
	}
	for (uint32_t i = 0; i < MESSAGES; i++)
		pair.a.send_cq.expect(i, IBV_WC_SUCCESS, 60000);
	auto least = uint64_t{ MESSAGE * MESSAGES - SLACK } * 1000000000 / BYTES_PER_SECOND;
	if (auto took = now_ns() - start; took < least)
		fail("%llu us for what takes %llu", static_cast<unsigned long long>(took / 1000),
		     static_cast<unsigned long long>(least / 1000));
	auto *got = to.mr.data() + (opcode == IBV_WR_SEND ? MESSAGE : 0);
	if (pattern_check(got, MESSAGE, 1, 0) != MESSAGE)
		fail("wrong data");
}

void capabilities(Lab &lab)
{
	ibv_device_attr_ex attr = {};

	if (int err = ibv_query_device_ex(lab.devices.a.get(), nullptr, &attr))
		fail_errno("ibv_query_device_ex", err);
	auto &caps = attr.packet_pacing_caps;
	auto pair = lab.pair();
	if (limit(pair.a.qp, caps.qp_rate_limit_min) ||
	    limit(pair.a.qp, caps.qp_rate_limit_min - 1) != EINVAL)
		fail("%u kb/s is not the least limit", caps.qp_rate_limit_min);
	must_limit(pair.a.qp, caps.qp_rate_limit_max);
	rate_is(lab.devices.a, pair.a.qp, caps.qp_rate_limit_max * 125ULL);
	must_limit(pair.a.qp, 0);
	rate_is(lab.devices.a, pair.a.qp, caps.qp_rate_limit_max * 125ULL);
	uint32_t types = 1 << IBV_QPT_RC | 1 << IBV_QPT_UC | 1 << IBV_QPT_UD |
			 1 << IBV_QPT_XRC_SEND | 1 << IBV_QPT_XRC_RECV;
	if (caps.supported_qpts != types)
		fail("types %#x, not %#x", caps.supported_qpts, types);
}

void refused(Lab &lab)
{
	auto pair = lab.pair();
	ibv_qp_rate_limit_attr attr = {};

	attr.rate_limit = KBPS;
	attr.max_burst_sz = 8192;
	if (ibv_modify_qp_rate_limit(pair.a.qp.get(), &attr) != EINVAL)
		fail("a size of bursts was taken");
	attr.max_burst_sz = 0;
	attr.comp_mask = 1;
	if (ibv_modify_qp_rate_limit(pair.a.qp.get(), &attr) != EINVAL)
		fail("an unknown field was taken");
	auto c = lab.config;
	c.link_a.static_rate = 200;
	try {
		Pair(lab.devices, c);
	} catch (const Failure &) {
		try {
			AhExtra extra;
			UdEnd end(lab.devices.a, c.gid);

			extra.static_rate = 200;
			Ah(end.pd, end.gid_index, end.gid(), extra);
		} catch (const Failure &) {
			return;
		}
		fail("an address handle of a static rate that there is not");
	}
	fail("a QP with a static rate that there is not");
}

void limited(Lab &lab, ibv_qp_type type, ibv_wr_opcode opcode)
{
	auto pair = lab.pair(type);
	auto &sender = opcode == IBV_WR_RDMA_READ ? pair.b : pair.a;

	must_limit(sender.qp, KBPS);
	rate_is(sender.dev, sender.qp, BYTES_PER_SECOND);
	takes_its_time(pair, opcode);
}

/* set by modify on the way to RTS, as applications may */
void by_modify(Lab &lab)
{
	auto pair = lab.pair();
	ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_RTS;
	attr.rate_limit = KBPS;
	if (int err = ibv_modify_qp(pair.a.qp.get(), &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT))
		fail_errno("modify with IBV_QP_RATE_LIMIT", err);
	rate_is(lab.devices.a, pair.a.qp, BYTES_PER_SECOND);
	takes_its_time(pair, IBV_WR_RDMA_WRITE);
}

/* what waits goes on when the limit is lifted; RESET forgets it */
void lifted(Lab &lab)
{
	auto pair = lab.pair();
	constexpr uint32_t much = 1 << 20; /* 8 s */
	auto port = rate_of(lab.devices.a, pair.a.qp);

	must_limit(pair.a.qp, 1000);
	Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, much) })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey())
		.post(pair.a.qp);
	if (pair.a.send_cq.next(200))
		fail("a limit of 1 Mb/s that is none");
	must_limit(pair.a.qp, 0);
	rate_is(lab.devices.a, pair.a.qp, port);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS, 60000);

	must_limit(pair.a.qp, KBPS);
	for (auto *qp : { &pair.a.qp, &pair.b.qp })
		if (int err = qp->try_state(IBV_QPS_RESET))
			fail_errno("RESET", err);
	join(lab.devices, pair.config, pair.a.qp, pair.b.qp);
	rate_is(lab.devices.a, pair.a.qp, port);
}

/* a packet takes 33 ms then, and the ACK timeout is 17: none may be late for that */
void least(Lab &lab)
{
	auto c = lab.config;
	constexpr uint32_t bytes = 48 << 10; /* 0.4 s */

	c.link_a.mtu = c.link_b.mtu = IBV_MTU_4096;
	c.link_a.timeout = 12;
	Pair pair(lab.devices, c);

	must_limit(pair.a.qp, 1000);
	pattern_fill(pair.a.mr.data(), bytes, 1, 0);
	Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, bytes) })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS, 60000);
	if (pattern_check(pair.b.mr.data(), bytes, 1, 0) != bytes)
		fail("wrong data");
}

void datagrams(Lab &lab)
{
	UdEnd a(lab.devices.a, lab.config.gid), b(lab.devices.b, lab.config.gid);
	Ah ah(a.pd, a.gid_index, b.gid());
	constexpr uint32_t count = 200, bytes = 1024;

	must_limit(a.qp, KBPS);
	rate_is(lab.devices.a, a.qp, BYTES_PER_SECOND);
	auto start = now_ns();
	for (uint32_t i = 0; i < count; i++)
		a.send(ah, b.qp.num(), bytes, i);
	auto least = uint64_t{ count * bytes - SLACK } * 1000000000 / BYTES_PER_SECOND;
	if (auto took = now_ns() - start; took < least)
		fail("%llu us for what takes %llu", static_cast<unsigned long long>(took / 1000),
		     static_cast<unsigned long long>(least / 1000));
}

void static_rate(Lab &lab, uint8_t rate, uint64_t wanted)
{
	auto c = lab.config;

	c.link_a.static_rate = rate;
	Pair pair(lab.devices, c);
	auto port = rate_of(lab.devices.b, pair.b.qp);
	rate_is(lab.devices.a, pair.a.qp, std::min(port, wanted));
	if (pair.a.qp.query(IBV_QP_AV).ah_attr.static_rate != rate)
		fail("the query says something else");
	/* the lower of both counts */
	must_limit(pair.a.qp, KBPS);
	rate_is(lab.devices.a, pair.a.qp, BYTES_PER_SECOND);
	takes_its_time(pair, IBV_WR_RDMA_WRITE);
}

struct Trial {
	const char *name;
	std::function<void(Lab &)> body;
};

const std::vector<Trial> TRIALS = {
	{ "what the device says of its limits is so", capabilities },
	{ "what cannot be had is refused", refused },
	{ "RC WRITE", [](Lab &l) { limited(l, IBV_QPT_RC, IBV_WR_RDMA_WRITE); } },
	{ "RC SEND", [](Lab &l) { limited(l, IBV_QPT_RC, IBV_WR_SEND); } },
	{ "RC READ: the responder's limit",
	  [](Lab &l) { limited(l, IBV_QPT_RC, IBV_WR_RDMA_READ); } },
	{ "UC WRITE", [](Lab &l) { limited(l, IBV_QPT_UC, IBV_WR_RDMA_WRITE); } },
	{ "UD", datagrams },
	{ "IBV_QP_RATE_LIMIT with a transition", by_modify },
	{ "a limit is lifted", lifted },
	{ "the least limit, a short ACK timeout", least },
	{ "static rate 2.5 Gb/s", [](Lab &l) { static_rate(l, IBV_RATE_2_5_GBPS, 312500000); } },
	{ "static rate 300 Gb/s", [](Lab &l) { static_rate(l, IBV_RATE_300_GBPS, 37500000000); } },
};

} // namespace

int main(int argc, char **argv)
{
	Tap tap(TRIALS.size());

	try {
		Options opt(argc, argv);
		Lab lab(opt);

		opt.done();
		for (auto &trial : TRIALS)
			tap.run(trial.name, [&] { trial.body(lab); });
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
