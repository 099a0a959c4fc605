// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Every verb once, in an order in which it works: the valid calls that the fuzzer
 * starts from. A lesson that this device or kernel cannot do teaches a call that fails.
 */
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/datagram.hh"
#include "../lib/fail.hh"
#include "../lib/region.hh"
#include "../lib/verbs.hh"
#include "../lib/xrc.hh"
#include "call.hh"

namespace st
{

namespace
{

constexpr size_t BYTES = 65536;

struct School {
	School(const std::string &name, const std::string &kind)
		: dev(name), index(dev.gid_index(kind)), gid(dev.gid(index)), pd(dev),
		  cq(dev, 64, true), memory(BYTES)
	{
		link.gid_index = index;
	}

	Device dev;
	int index;
	ibv_gid gid;
	Pd pd;
	Cq cq;
	Memory memory;
	QpLink link;
};

void device(School &s)
{
	ibv_device_attr_ex attr = {};
	ibv_gid_entry entries[16];
	ibv_gid_entry one;
	__be16 pkey;
	ibv_values_ex clock = {};

	ibv_query_device_ex(s.dev.get(), nullptr, &attr);
	s.dev.port();
	ibv_query_gid_table(s.dev.get(), entries, 16, 0);
	ibv_query_gid_ex(s.dev.get(), 1, s.index, &one, 0);
	ibv_query_pkey(s.dev.get(), 1, 0, &pkey);
	clock.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	ibv_query_rt_values_ex(s.dev.get(), &clock);
}

void regions(School &s)
{
	Region mr(s.pd, s.memory.data(), BYTES),
		odp(s.pd, s.memory.data(), BYTES, IBV_ACCESS_ON_DEMAND | ALL_ACCESS);
	ibv_sge sge = odp.sge(0, 8192);

	mr.rereg(IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE);
	mr.rereg(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, s.memory.data(4096), 8192, ALL_ACCESS);
	ibv_advise_mr(s.pd.get(), IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH,
		      &sge, 1);
	ibv_mr *(*iova)(ibv_pd *, void *, size_t, uint64_t, int) = ibv_reg_mr_iova;
	Region moved(iova(s.pd.get(), s.memory.data(), BYTES, 0x1000, ALL_ACCESS), 0x1000);
	ibv_mr *null = ibv_alloc_null_mr(s.pd.get());
	if (null)
		ibv_dereg_mr(null);
}

void windows(School &s)
{
	for (auto type : { IBV_MW_TYPE_1, IBV_MW_TYPE_2 })
		if (auto *mw = ibv_alloc_mw(s.pd.get(), type))
			ibv_dealloc_mw(mw);
}

void device_memory(School &s)
{
	ibv_alloc_dm_attr attr = {};
	char text[64] = "dm";

	attr.length = 8192;
	auto *dm = ibv_alloc_dm(s.dev.get(), &attr);
	if (!dm)
		return;
	ibv_memcpy_to_dm(dm, 0, text, sizeof(text));
	if (auto *mr = ibv_reg_dm_mr(s.pd.get(), dm, 0, 4096, IBV_ACCESS_ZERO_BASED | ALL_ACCESS))
		ibv_dereg_mr(mr);
	if (auto *other = ibv_import_dm(s.dev.get(), dm->handle))
		ibv_unimport_dm(other);
	ibv_free_dm(dm);
}

void dma_buf(School &s)
{
	const int mem = memfd_create("fuzz", MFD_ALLOW_SEALING);
	const int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	udmabuf_create create = {};
	int buf = -1;

	create.memfd = mem;
	create.size = BYTES;
	if (mem >= 0 && dev >= 0 && !ftruncate(mem, BYTES) &&
	    !fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK))
		buf = ioctl(dev, UDMABUF_CREATE, &create);
	/* without one: the call, with a descriptor that is none */
	if (auto *mr = ibv_reg_dmabuf_mr(s.pd.get(), 0, BYTES, 0x1000, buf, ALL_ACCESS))
		ibv_dereg_mr(mr);
	for (int fd : { mem, dev, buf })
		if (fd >= 0)
			close(fd);
}

void queues(School &s)
{
	ibv_cq_init_attr_ex init = {};
	ibv_modify_cq_attr moderation = {};

	Cq plain(s.dev, 32);
	ibv_resize_cq(plain.get(), 100);
	moderation.attr_mask = IBV_CQ_ATTR_MODERATE;
	moderation.moderate = { 4, 100 };
	ibv_modify_cq(plain.get(), &moderation);
	init.cqe = 32;
	init.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	init.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	init.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	if (auto *cq = ibv_create_cq_ex(s.dev.get(), &init))
		ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
	s.cq.arm();
}

void shared_queues(School &s)
{
	ibv_srq_init_attr init = {};
	ibv_srq_attr attr = { 64, 0, 3 };

	init.attr = { 16, 2, 0 };
	auto *srq = ibv_create_srq(s.pd.get(), &init);
	if (!srq)
		return;
	ibv_query_srq(srq, &attr);
	attr.srq_limit = 3;
	ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
	attr.max_wr = 64;
	ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
	QpDepth depth;
	depth.srq = srq;
	{
		Qp qp(s.dev, s.pd, s.cq, s.cq, depth);
		qp.to_init(s.link);
	}
	ibv_destroy_srq(srq);
}

/* connected with itself: all attributes have been named */
void pairs(School &s)
{
	for (auto type : { IBV_QPT_RC, IBV_QPT_UC }) {
		Region mr(s.pd, s.memory.data(), BYTES);
		QpDepth depth;

		depth.type = type;
		depth.send = depth.recv = 16;
		Qp qp(s.dev, s.pd, s.cq, s.cq, depth);
		qp.connect(s.link, qp.address(s.link));
		for (int i = 0; i < 4; i++) {
			qp.recv(i, { mr.sge(0, 4096) });
			Work(i, IBV_WR_SEND, { mr.sge(8192, 100) }).try_post(qp);
		}
		qp.query(IBV_QP_STATE | IBV_QP_CAP | IBV_QP_AV);
		if (type == IBV_QPT_RC)
			qp.try_state(IBV_QPS_SQD);
		qp.try_state(IBV_QPS_ERR);
		qp.recv(9, { mr.sge(0, 4096) });
		Work(9, IBV_WR_SEND, { mr.sge(8192, 100) }).try_post(qp);
		qp.try_state(IBV_QPS_RESET);
	}
}

void datagrams(School &s)
{
	ibv_gid group = {};

	group.raw[0] = 0xff;
	group.raw[1] = 0x0e;
	group.raw[15] = 7;
	QpDepth depth;
	depth.type = IBV_QPT_UD;
	Qp qp(s.dev, s.pd, s.cq, s.cq, depth);
	Ah ah(s.pd, s.index, s.gid);
	qp.to_datagram(UdEnd::QKEY, 1);
	ibv_attach_mcast(qp.get(), &group, 0);
	ibv_detach_mcast(qp.get(), &group, 0);
}

void xrc(School &s)
{
	Xrcd xrcd(s.dev);
	XrcSrq srq(s.pd, s.cq, xrcd);
	Qp to(s.dev, make_target(s.dev, xrcd)), from(s.dev, make_initiator(s.pd, s.cq));

	srq.num();
	to.to_init(s.link);
	from.to_init(s.link);
	Qp again(s.dev, open_target(s.dev, xrcd, to.num()));
}

void events(School &s)
{
	ibv_counters_init_attr init = {};

	if (auto *counters = ibv_create_counters(s.dev.get(), &init))
		ibv_destroy_counters(counters);
	if (auto *td_pd = ibv_import_pd(s.dev.get(), s.pd.get()->handle))
		ibv_unimport_pd(td_pd);
	if (auto *channel = ibv_create_comp_channel(s.dev.get()))
		ibv_destroy_comp_channel(channel);
}

} // namespace

std::vector<Call> learn(const std::string &device_name, const std::string &gid)
{
	/* descriptors that calls make are no small numbers: those are handles */
	constexpr int FIRST_FD = 200;
	std::unique_ptr<School> school;
	std::vector<int> low;

	for (int fd = 0; fd >= 0 && fd < FIRST_FD; low.push_back(fd))
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	auto calls = record([&] {
		school = std::make_unique<School>(device_name, gid);
		for (auto lesson : { device, regions, windows, device_memory, dma_buf, queues,
				     shared_queues, pairs, datagrams, xrc, events })
			lesson(*school);
	});

	school.reset();
	for (int fd : low)
		close(fd);
	return calls;
}

} // namespace st
