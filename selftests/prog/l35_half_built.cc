// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * L35: making an object fails at every point where it can fail: a clean errno,
 * nothing left behind, and those who have nothing to do with it go on.
 */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "lib/bench.hh"
#include "lib/fail.hh"
#include "lib/faults.hh"
#include "lib/link.hh"
#include "lib/verbs.hh"

using namespace st;

namespace
{

/* what the calls need that must be there already */
struct Ground {
	explicit Ground(Bench &bench)
		: dev(bench.devices.a), pd(dev), cq(dev, 16), mr(pd, 1 << 16),
		  link(bench.config.link_a)
	{
		link.gid_index = dev.gid_index(bench.config.gid);
	}

	const Device &dev;
	Pd pd;
	Cq cq;
	Mr mr;
	QpLink link;
};

/* sweep a call that makes an object and the one that destroys it */
template <typename T>
void sweep(const char *what, const std::function<T *()> &make,
	   const std::function<int(T *)> &destroy)
{
	T *made = nullptr;
	int failed = sweep_faults(
		[&] {
			made = make();
			return made ? 0 : errno;
		},
		[&] {
			if (int err = destroy(made))
				fail("destroying it: %s", std::strerror(err));
		});

	Tap::note("%s: %d faults", what, failed);
	if (!failed)
		fail("not one fault made it fail");
}

void domains(Bench &bench)
{
	Ground g(bench);
	ibv_mw *(*alloc_mw)(ibv_pd *, ibv_mw_type) = ibv_alloc_mw;

	sweep<ibv_pd>("ibv_alloc_pd", [&] { return ibv_alloc_pd(g.dev.get()); }, ibv_dealloc_pd);
	sweep<ibv_mw>(
		"ibv_alloc_mw", [&] { return alloc_mw(g.pd.get(), IBV_MW_TYPE_2); },
		ibv_dealloc_mw);
}

void cqs(Bench &bench)
{
	Ground g(bench);

	sweep<ibv_cq>(
		"ibv_create_cq",
		[&] { return ibv_create_cq(g.dev.get(), 100, nullptr, nullptr, 0); },
		ibv_destroy_cq);
}

void srqs(Bench &bench)
{
	Ground g(bench);
	ibv_srq_init_attr init = {};

	init.attr = { 32, 4, 0 };
	sweep<ibv_srq>(
		"ibv_create_srq", [&] { return ibv_create_srq(g.pd.get(), &init); },
		ibv_destroy_srq);
}

void qps(Bench &bench)
{
	Ground g(bench);

	for (auto type : { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD }) {
		ibv_qp_init_attr init = {};

		init.send_cq = init.recv_cq = g.cq.get();
		init.cap = { 32, 32, 4, 4, 64 };
		init.qp_type = type;
		sweep<ibv_qp>(
			format("ibv_create_qp, type %d", type).c_str(),
			[&] {
				/* the call writes what it gives */
				auto copy = init;
				return ibv_create_qp(g.pd.get(), &copy);
			},
			ibv_destroy_qp);
	}
}

void regions(Bench &bench)
{
	Ground g(bench);

	sweep<ibv_mr>(
		"ibv_reg_mr",
		[&] { return ibv_reg_mr(g.pd.get(), g.mr.data(), g.mr.size(), ALL_ACCESS); },
		ibv_dereg_mr);
}

void handles(Bench &bench)
{
	Ground g(bench);
	ibv_ah_attr attr = {};

	attr.is_global = 1;
	attr.port_num = 1;
	attr.grh.sgid_index = g.link.gid_index;
	attr.grh.dgid = bench.devices.b.gid(bench.devices.b.gid_index(bench.config.gid));
	attr.grh.hop_limit = 64;
	/* the kernel asks the peer for its MAC address. A question that a fault takes away
	 * is asked again after a second, which is too late: ETIMEDOUT. So once without. */
	ibv_ah *known = nullptr;
	for (int tries = 0; !known && tries < 10; tries++)
		known = ibv_create_ah(g.pd.get(), &attr);
	if (!known || ibv_destroy_ah(known))
		fail_errno("an address handle without a fault");
	sweep<ibv_ah>(
		"ibv_create_ah", [&] { return ibv_create_ah(g.pd.get(), &attr); }, ibv_destroy_ah);
}

void resize(Bench &bench)
{
	Ground g(bench);
	int size = 16;
	int failed = sweep_faults([&] { return ibv_resize_cq(g.cq.get(), size); },
				  [&] { size = size == 16 ? 200 : 16; });

	Tap::note("ibv_resize_cq: %d faults", failed);
}

/* all the way up, however often one step fails */
void transitions(Bench &bench)
{
	auto peer = bench.pair();
	Ground g(bench);
	Qp qp(g.dev, g.pd, g.cq, g.cq);
	const auto address = peer.b.qp.address(g.link);
	int failed = sweep_faults(
		[&] {
			try {
				qp.connect(g.link, address);
			} catch (const Failure &) {
				return SOME_FAILURE;
			}
			return 0;
		},
		[] {}, [&] { qp.try_state(IBV_QPS_RESET); });

	Tap::note("ibv_modify_qp: %d faults", failed);
}

bool link_there()
{
	return access("/sys/class/infiniband/l35", F_OK) == 0;
}

/* a link on a netdev that the test's script has made; the answer may get lost */
void links(Bench &)
{
	NewLink link("l35", "skerry", "l35");
	const auto remove = [] {
		if (link_there() && std::system("rdma link del l35"))
			fail("it cannot be deleted");
	};
	int failed = sweep_faults([&] { return link.send(); }, remove, remove);

	Tap::note("rdma link add: %d faults", failed);
	if (!failed)
		fail("not one fault made it fail");
}

/* what has nothing to do with it has gone on all the time */
void bystander(Bench &bench)
{
	auto pair = bench.pair();

	for (uint64_t n = 0; n < 20; n++) {
		pair.b.qp.recv(n, { pair.b.mr.sge(0, 64) });
		Work(n, IBV_WR_SEND, { pair.a.mr.sge(0, 64) }).post(pair.a.qp);
		pair.a.send_cq.expect(n, IBV_WC_SUCCESS);
		pair.b.recv_cq.expect(n, IBV_WC_SUCCESS);
	}
}

} // namespace

int main(int argc, char **argv)
{
	std::vector<Case> cases = {
		{ "protection domains and windows", domains },
		{ "CQs", cqs },
		{ "shared receive queues", srqs },
		{ "QPs", qps },
		{ "regions", regions },
		{ "address handles", handles },
		{ "resizing a CQ", resize },
		{ "connecting a QP", transitions },
		{ "links", links },
		{ "others go on", bystander },
	};

	for (auto &c : cases)
		c.body = [body = c.body](Bench &bench) {
			if (!can_inject())
				throw Tap::Skip{ "this kernel injects no faults" };
			body(bench);
		};
	return run_cases(argc, argv, cases);
}
