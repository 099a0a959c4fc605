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

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/bench.hh"
#include "lib/fail.hh"
#include "lib/faults.hh"
#include "lib/link.hh"
#include "lib/region.hh"
#include "lib/verbs.hh"
#include "lib/xrc.hh"

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

/* sweep a call that changes something, an errno its result, and what comes after it */
void sweep_change(const char *what, const std::function<int()> &change,
		  const std::function<void()> &after)
{
	const int failed = sweep_faults(change, after);

	Tap::note("%s: %d faults", what, failed);
	if (!failed)
		fail("not one fault made it fail");
}

/* sweep a call that makes an object and the one that destroys it */
template <typename T>
void sweep(const char *what, const std::function<T *()> &make,
	   const std::function<int(T *)> &destroy)
{
	T *made = nullptr;

	sweep_change(
		what,
		[&] {
			made = make();
			return made ? 0 : errno;
		},
		[&] {
			if (int err = destroy(made))
				fail("destroying it: %s", std::strerror(err));
		});
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

/* pages that come when they are needed; those of a fetch that fails do not */
void paging(Bench &bench)
{
	Ground g(bench);
	Memory memory(1 << 18);
	ibv_mr *(*reg)(ibv_pd *, void *, size_t, int) = ibv_reg_mr;

	sweep<ibv_mr>(
		"ibv_reg_mr, on demand",
		[&] {
			return reg(g.pd.get(), memory.data(), memory.size(),
				   ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
		},
		ibv_dereg_mr);
	Region region(g.pd, memory.data(), memory.size(), ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	sweep_change(
		"ibv_advise_mr",
		[&] {
			ibv_sge sge = region.sge(0, memory.size());

			return ibv_advise_mr(g.pd.get(), IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
					     IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
		},
		/* and are not there the next time */
		[&] { madvise(memory.data(), memory.size(), MADV_DONTNEED); });
}

void device_memory(Bench &bench)
{
	Ground g(bench);
	ibv_alloc_dm_attr attr = {};

	attr.length = 3 * 4096;
	sweep<ibv_dm>(
		"ibv_alloc_dm", [&] { return ibv_alloc_dm(g.dev.get(), &attr); }, ibv_free_dm);
	auto *dm = ibv_alloc_dm(g.dev.get(), &attr);
	if (!dm)
		fail_errno("ibv_alloc_dm");
	sweep<ibv_mr>(
		"ibv_reg_dm_mr",
		[&] {
			return ibv_reg_dm_mr(g.pd.get(), dm, 0, attr.length,
					     IBV_ACCESS_ZERO_BASED | ALL_ACCESS);
		},
		ibv_dereg_mr);
	if (int err = ibv_free_dm(dm))
		fail_errno("ibv_free_dm", err);
}

void xrc(Bench &bench)
{
	Ground g(bench);
	ibv_xrcd_init_attr init = {};
	ibv_srq_init_attr_ex shared = {};

	init.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	init.fd = -1;
	init.oflags = O_CREAT;
	sweep<ibv_xrcd>(
		"ibv_open_xrcd", [&] { return ibv_open_xrcd(g.dev.get(), &init); }, ibv_close_xrcd);

	Xrcd xrcd(g.dev);
	shared.attr = { 32, 1, 0 };
	shared.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
			   IBV_SRQ_INIT_ATTR_CQ;
	shared.srq_type = IBV_SRQT_XRC;
	shared.pd = g.pd.get();
	shared.xrcd = xrcd.get();
	shared.cq = g.cq.get();
	sweep<ibv_srq>(
		"ibv_create_srq_ex, XRC",
		[&] {
			auto copy = shared;
			return ibv_create_srq_ex(g.dev.get(), &copy);
		},
		ibv_destroy_srq);
	sweep<ibv_qp>(
		"ibv_create_qp_ex, XRC initiator", [&] { return make_initiator(g.pd, g.cq); },
		ibv_destroy_qp);
	/* not making the target itself: where create_xrc_qp_user(), which comes after the
	 * driver, fails, it leaves the domain's user count raised. Nobody can close the domain
	 * after that, and uverbs_destroy_ufile_hw() warns of it when the device is closed. */
	{
		Qp target(g.dev, make_target(g.dev, xrcd));
		sweep<ibv_qp>(
			"ibv_open_qp", [&] { return open_target(g.dev, xrcd, target.num()); },
			ibv_destroy_qp);
	}
	if (int err = xrcd.close())
		fail_errno("ibv_close_xrcd", err);
}

/* a group that the QP joins and leaves */
void groups(Bench &bench)
{
	Ground g(bench);
	QpDepth depth;
	ibv_gid group = {};

	depth.type = IBV_QPT_UD;
	group.raw[0] = 0xff;
	group.raw[1] = 0x0e;
	group.raw[15] = 35;
	Qp qp(g.dev, g.pd, g.cq, g.cq, depth);
	qp.to_datagram(0x11111111, 0);
	sweep_change(
		"ibv_attach_mcast", [&] { return ibv_attach_mcast(qp.get(), &group, 0); },
		[&] {
			if (int err = ibv_detach_mcast(qp.get(), &group, 0))
				fail_errno("ibv_detach_mcast", err);
		});
}

/* a region that changes, or stays what it was */
void changes(Bench &bench)
{
	Ground g(bench);
	Memory memory(1 << 16);
	Region region(g.pd, memory.data(), memory.size());
	size_t length = memory.size();

	sweep_change(
		"ibv_rereg_mr",
		[&] {
			return region.rereg(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, memory.data(),
					    length, 0);
		},
		[&] { length = length == memory.size() ? 4096 : memory.size(); });

	ibv_srq_init_attr init = {};
	init.attr = { 16, 2, 0 };
	auto *srq = ibv_create_srq(g.pd.get(), &init);
	if (!srq)
		fail_errno("ibv_create_srq");
	uint32_t depth = 64;
	sweep_change(
		"ibv_modify_srq",
		[&] {
			ibv_srq_attr attr = { depth, 0, 0 };

			return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
		},
		[&] { depth = depth == 64 ? 16 : 64; });
	if (int err = ibv_destroy_srq(srq))
		fail_errno("ibv_destroy_srq", err);
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
		{ "regions on demand", paging },
		/* not over dma-bufs: dma_buf_vmap() warns of each exporter without memory */
		{ "device memory", device_memory },
		{ "regions and shared receive queues that change", changes },
		{ "XRC", xrc },
		{ "multicast groups", groups },
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
