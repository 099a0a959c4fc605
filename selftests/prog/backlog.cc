// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What waits for a QP that does not come to it: packets that a process of the same machine
 * sends it, without any privilege, while the QP answers a READ at a rate that its owner
 * has made small. However many come, what the kernel keeps is bounded in bytes.
 *
 *	backlog --a sk0 --b sk1 [--packets N]
 */
#include <exception>

#include "lib/bystander.hh"
#include "lib/counters.hh"
#include "lib/fail.hh"
#include "lib/forger.hh"
#include "lib/options.hh"
#include "lib/roce.hh"
#include "lib/tap.hh"

using namespace st;

namespace
{

constexpr size_t BYTES = 3800;
/* kb/s: the READ would take eight seconds */
constexpr uint32_t SLOW = 1000;

void limit(const Qp &qp, uint32_t kbps)
{
	ibv_qp_rate_limit_attr attr = {};

	attr.rate_limit = kbps;
	if (int err = ibv_modify_qp_rate_limit(qp.get(), &attr))
		fail_errno("ibv_modify_qp_rate_limit", err);
}

/* a WRITE that has been: it may come again, and changes nothing */
Bytes duplicate(const Pair &pair, const Forger &forger)
{
	Bytes body = reth(pair.b.mr.addr(), pair.b.mr.rkey(), BYTES);

	body.resize(body.size() + BYTES, 0x77);
	return forger.packet(RC_WRITE_ONLY, pair.b.qp.num(),
			     pair.b.qp.query(IBV_QP_RQ_PSN).rq_psn - 1, body);
}

void flood(const PairConfig &config, const Devices &devices, uint64_t packets)
{
	const auto busy = [&] { return counter(config.dev_b, "rx_drop_busy"); };
	Pair pair(devices, config);
	Forger forger('A');
	Work read(1, IBV_WR_RDMA_READ, { pair.a.mr.sge(0, pair.a.mr.size()) });

	limit(pair.b.qp, SLOW);
	read.remote(pair.b.mr.addr(), pair.b.mr.rkey()).post(pair.a.qp);
	/* of the READ, not the one before it */
	sleep_us(200000);
	const auto packet = duplicate(pair, forger);
	const auto before = busy();
	for (uint64_t i = 0; i < packets; i++)
		forger.send(packet);
	const auto refused = busy() - before;
	Tap::note("%llu of %llu packets of %zu bytes were refused",
		  static_cast<unsigned long long>(refused),
		  static_cast<unsigned long long>(packets), packet.size());
	if (!refused)
		fail("all of them wait");
	limit(pair.b.qp, 0);
	pair.a.send_cq.good(60000);
	if (pair.b.qp.state() != IBV_QPS_RTS || pair.a.qp.state() != IBV_QPS_RTS)
		fail("a QP has failed");
}

} // namespace

int main(int argc, char **argv)
{
	Tap tap(2);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);
		/* fewer than may wait if they are small */
		const uint64_t packets = opt.number("packets", 2000);

		opt.done();
		config.gid = "v6";
		config.link_a.timeout = 18;
		Devices devices(config);

		tap.run("what waits for a QP is bounded in bytes",
			[&] { flood(config, devices, packets); });
		tap.run("new QPs work", [&] {
			Bystander fresh(devices, config);

			fresh.work(50);
		});
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
