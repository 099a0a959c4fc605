// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * XRC: one burst for two SRQs of a target, whose CQs are both armed. Between hosts
 * with nothing in between it comes as one super-packet, and is worked off in one go:
 * each CQ must get its event all the same.
 */
#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/pair.hh"
#include "lib/xrc.hh"

#include <cstdio>
#include <exception>
#include <vector>

using namespace st;

namespace
{

constexpr int BURST = 8, ROUNDS = 50;

struct Site {
	Site(const Device &dev, const Xrcd &xrcd)
		: pd(dev), cq(dev, 64, true), mr(pd, 4096), srq(pd, cq, xrcd)
	{
	}

	Pd pd;
	Cq cq;
	Mr mr;
	XrcSrq srq;
};

void round(const Qp &initiator, const Cq &cq, const Mr &mr, Site (&sites)[2])
{
	std::vector<Work> works;
	ibv_send_wr *bad = nullptr;

	for (Site &site : sites) {
		site.cq.arm();
		for (int i = 0; i < BURST / 2; i++)
			site.srq.post(i, site.mr.sge(0, 64));
	}
	for (int i = 0; i < BURST; i++)
		works.push_back(Work(i, IBV_WR_SEND, { mr.sge(0, 8) }).xrc(sites[i % 2].srq.num()));
	for (int i = 0; i < BURST; i++)
		works[i].get().next = i + 1 < BURST ? &works[i + 1].get() : nullptr;
	if (int err = ibv_post_send(initiator.get(), &works[0].get(), &bad))
		fail_errno("ibv_post_send", err);
	for (Site &site : sites) {
		if (!site.cq.wait(5000))
			fail("no event of one of the CQs");
		for (int i = 0; i < BURST / 2; i++)
			site.cq.expect(i, IBV_WC_SUCCESS);
	}
	for (int i = 0; i < BURST; i++)
		cq.expect(i, IBV_WC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
	try {
		Options opt(argc, argv);
		PairConfig config(opt);

		opt.done();
		Devices devices(config);
		Pd pd(devices.a);
		Cq cq(devices.a, 64);
		Mr mr(pd, 4096);
		Xrcd xrcd(devices.b);
		Site sites[] = { { devices.b, xrcd }, { devices.b, xrcd } };
		Qp initiator(devices.a, make_initiator(pd, cq));
		Qp target(devices.b, make_target(devices.b, xrcd));

		join(devices, config, initiator, target);
		for (int i = 0; i < ROUNDS; i++)
			round(initiator, cq, mr, sites);
		return 0;
	} catch (const std::exception &e) {
		printf("%s\n", e.what());
		return 1;
	}
}
