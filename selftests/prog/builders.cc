// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The work request builders of struct ibv_qp_ex (ibv_wr_post(3)), as far as they
 * are not ibv_post_send() in other words: lists, batches, errors, what has to be
 * asked for. And the domains that QPs and CQs live in: parent domains with
 * allocators, thread domains, and what is imported from another context.
 */
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

#include "lib/bench.hh"

using namespace st;

namespace
{

constexpr uint64_t RC_OPS =
	uint64_t{ IBV_QP_EX_WITH_RDMA_WRITE } | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
	IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
	IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
	IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV;

constexpr uint32_t INLINE_BYTES = 200, SEND_WR = 16;

ibv_qp *create_ex(const Device &dev, ibv_pd *pd, const Cq &cq, uint64_t ops,
		  ibv_qp_type type = IBV_QPT_RC)
{
	ibv_qp_init_attr_ex attr = {};

	attr.send_cq = attr.recv_cq = cq.get();
	attr.cap = { SEND_WR, SEND_WR, 4, 4, INLINE_BYTES };
	attr.qp_type = type;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.pd = pd;
	attr.send_ops_flags = ops;
	return ibv_create_qp_ex(dev.get(), &attr);
}

/* a plain pair, and beside its a an extended QP that is connected to b's place */
struct Line {
	explicit Line(Bench &bench, uint64_t ops = RC_OPS)
		: pair(bench.devices, bench.config, false), cq(bench.devices.a, 256),
		  qp(bench.devices.a, create_ex(bench.devices.a, pair.a.pd.get(), cq, ops)),
		  ex(ibv_qp_to_qp_ex(qp.get()))
	{
		if (!ex)
			fail("the QP has no builders");
		join(bench.devices, bench.config, qp, pair.b.qp);
		for (size_t i = 0; i < 4096; i++)
			pair.a.mr.data()[i] = uint8_t(i * 7 + 1);
	}

	void next(uint64_t id, unsigned int flags = IBV_SEND_SIGNALED)
	{
		ex->wr_id = id;
		ex->wr_flags = flags;
	}
	void write(uint64_t id, size_t offset, uint32_t bytes)
	{
		next(id);
		ibv_wr_rdma_write(ex, pair.b.mr.rkey(), pair.b.mr.addr(offset));
		ibv_wr_set_sge(ex, pair.a.mr.lkey(), pair.a.mr.addr(offset), bytes);
	}
	void complete(int wanted = 0)
	{
		if (int ret = ibv_wr_complete(ex); ret != wanted)
			fail("ibv_wr_complete: %s instead of %s", strerror(ret), strerror(wanted));
	}
	void nothing()
	{
		if (auto wc = cq.next(50))
			fail("a completion too many: %llu",
			     static_cast<unsigned long long>(wc->wr_id));
	}

	Pair pair;
	Cq cq;
	Qp qp;
	ibv_qp_ex *ex;
};

void same_bytes(const uint8_t *a, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			fail("byte %zu is %02x instead of %02x", i, a[i], b[i]);
}

/* many kinds in one critical region, executed in order */
void batch(Bench &bench)
{
	Line line(bench);
	auto &a = line.pair.a.mr;
	auto &b = line.pair.b.mr;
	auto &recv_cq = line.pair.b.recv_cq;
	auto *ex = line.ex;
	uint64_t word = 40;

	memcpy(b.data() + 8192, &word, 8);
	for (uint64_t id = 100; id < 103; id++)
		line.pair.b.qp.recv(id, { b.sge(16384, 4096) });
	ibv_wr_start(ex);
	line.write(1, 0, 1000);
	line.next(2);
	ibv_wr_send_imm(ex, htobe32(0x11223344));
	ibv_wr_set_sge(ex, a.lkey(), a.addr(), 100);
	line.next(3);
	ibv_wr_rdma_write_imm(ex, b.rkey(), b.addr(2048), htobe32(0x55667788));
	ibv_wr_set_sge(ex, a.lkey(), a.addr(2048), 50);
	line.next(4);
	ibv_wr_atomic_fetch_add(ex, b.rkey(), b.addr(8192), 2);
	ibv_wr_set_sge(ex, a.lkey(), a.addr(8192), 8);
	line.next(5);
	ibv_wr_atomic_cmp_swp(ex, b.rkey(), b.addr(8192), 42, 99);
	ibv_wr_set_sge(ex, a.lkey(), a.addr(8200), 8);
	line.next(6);
	ibv_wr_rdma_read(ex, b.rkey(), b.addr(8192));
	ibv_wr_set_sge(ex, a.lkey(), a.addr(8208), 8);
	line.next(7);
	ibv_wr_send(ex);
	line.complete();
	for (uint64_t id = 1; id <= 7; id++)
		line.cq.expect(id, IBV_WC_SUCCESS);
	same_bytes(b.data(), a.data(), 1000);
	same_bytes(b.data() + 2048, a.data() + 2048, 50);
	const uint64_t wanted[] = { 40, 42, 99 };

	if (memcmp(a.data() + 8192, wanted, sizeof(wanted)))
		fail("the atomics brought other values");
	if (auto wc = recv_cq.expect(100, IBV_WC_SUCCESS);
	    wc.byte_len != 100 || be32toh(wc.imm_data) != 0x11223344)
		fail("SEND with immediate: %u bytes, %#x", wc.byte_len, be32toh(wc.imm_data));
	if (auto wc = recv_cq.expect(101, IBV_WC_SUCCESS);
	    wc.byte_len != 50 || be32toh(wc.imm_data) != 0x55667788)
		fail("WRITE with immediate: %u bytes, %#x", wc.byte_len, be32toh(wc.imm_data));
	if (auto wc = recv_cq.expect(102, IBV_WC_SUCCESS); wc.byte_len)
		fail("a SEND without data has %u bytes", wc.byte_len);
}

void sge_lists(Bench &bench)
{
	Line line(bench);
	auto &a = line.pair.a.mr;
	const std::vector<ibv_sge> list = { a.sge(10, 100), a.sge(500, 0), a.sge(900, 1),
					    a.sge(1000, 2000) };

	ibv_wr_start(line.ex);
	line.next(1);
	ibv_wr_rdma_write(line.ex, line.pair.b.mr.rkey(), line.pair.b.mr.addr());
	ibv_wr_set_sge_list(line.ex, list.size(), list.data());
	line.complete();
	line.cq.expect(1, IBV_WC_SUCCESS);
	const uint8_t *got = line.pair.b.mr.data();

	for (const auto &sge : list) {
		same_bytes(got, a.data() + (sge.addr - a.addr()), sge.length);
		got += sge.length;
	}
	if (*got)
		fail("more was written than the list has");
}

/* the bytes are taken when the setter returns; the pieces may be many */
void inline_lists(Bench &bench)
{
	Line line(bench);
	std::vector<uint8_t> bytes(INLINE_BYTES), kept;
	std::vector<ibv_data_buf> list;

	for (size_t i = 0; i < bytes.size(); i++) {
		bytes[i] = uint8_t(3 * i + 5);
		list.push_back({ &bytes[i], 1 });
	}
	kept = bytes;
	line.pair.b.qp.recv(9, { line.pair.b.mr.sge(4096, 4096) });
	ibv_wr_start(line.ex);
	line.next(1);
	ibv_wr_rdma_write(line.ex, line.pair.b.mr.rkey(), line.pair.b.mr.addr());
	ibv_wr_set_inline_data_list(line.ex, list.size(), list.data());
	line.next(2);
	ibv_wr_send(line.ex);
	ibv_wr_set_inline_data(line.ex, bytes.data(), 77);
	std::fill(bytes.begin(), bytes.end(), 0);
	line.complete();
	line.cq.expect(1, IBV_WC_SUCCESS);
	line.cq.expect(2, IBV_WC_SUCCESS);
	same_bytes(line.pair.b.mr.data(), kept.data(), kept.size());
	if (auto wc = line.pair.b.recv_cq.expect(9, IBV_WC_SUCCESS); wc.byte_len != 77)
		fail("%u bytes instead of 77", wc.byte_len);
	same_bytes(line.pair.b.mr.data() + 4096, kept.data(), 77);
}

void invalidation(Bench &bench)
{
	bench.config.access_a = bench.config.access_b = ALL_ACCESS | IBV_ACCESS_MW_BIND;
	Line line(bench);
	const auto &mr = line.pair.a.mr;
	ibv_mw *mw = ibv_alloc_mw(line.pair.a.pd.get(), IBV_MW_TYPE_2);

	if (!mw)
		fail_errno("ibv_alloc_mw");
	const ibv_mw_bind_info info = { mr.get(), mr.addr(), 4096, IBV_ACCESS_REMOTE_WRITE };
	const uint32_t rkey = ibv_inc_rkey(mw->rkey);

	ibv_wr_start(line.ex);
	line.next(1);
	ibv_wr_bind_mw(line.ex, mw, rkey, &info);
	line.next(2);
	ibv_wr_local_inv(line.ex, rkey);
	line.complete();
	const auto bound = line.cq.expect(1, IBV_WC_SUCCESS);
	const auto gone = line.cq.expect(2, IBV_WC_SUCCESS);

	if (bound.opcode != IBV_WC_BIND_MW || gone.opcode != IBV_WC_LOCAL_INV)
		fail("opcodes %d, %d", bound.opcode, gone.opcode);

	/* what is no window of type 2, or another one's key, does not get so far */
	ibv_wr_start(line.ex);
	line.next(3);
	ibv_wr_bind_mw(line.ex, mw, rkey + 256, &info);
	line.complete(EINVAL);
	line.nothing();
	ibv_dealloc_mw(mw);
}

void send_with_invalidate(Bench &bench)
{
	bench.config.access_b = ALL_ACCESS | IBV_ACCESS_MW_BIND;
	Line line(bench);
	const auto &b = line.pair.b;
	ibv_mw *mw = ibv_alloc_mw(b.pd.get(), IBV_MW_TYPE_2);

	if (!mw)
		fail_errno("ibv_alloc_mw");
	ibv_send_wr bind = {};

	bind.opcode = IBV_WR_BIND_MW;
	bind.send_flags = IBV_SEND_SIGNALED;
	bind.bind_mw = { mw, ibv_inc_rkey(mw->rkey), { b.mr.get(), b.mr.addr(), 4096, 0 } };
	b.qp.post(bind);
	b.send_cq.expect(0, IBV_WC_SUCCESS);
	b.qp.recv(5, { b.mr.sge(0, 64) });
	ibv_wr_start(line.ex);
	line.next(1);
	ibv_wr_send_inv(line.ex, bind.bind_mw.rkey);
	ibv_wr_set_sge(line.ex, line.pair.a.mr.lkey(), line.pair.a.mr.addr(), 64);
	line.complete();
	line.cq.expect(1, IBV_WC_SUCCESS);
	if (auto wc = b.recv_cq.expect(5, IBV_WC_SUCCESS);
	    !(wc.wc_flags & IBV_WC_WITH_INV) || wc.invalidated_rkey != bind.bind_mw.rkey)
		fail("flags %#x, key %#x", wc.wc_flags, wc.invalidated_rkey);
	ibv_dealloc_mw(mw);
}

void aborted(Bench &bench)
{
	Line line(bench);

	for (int round = 0; round < 3; round++) {
		ibv_wr_start(line.ex);
		line.write(1, 0, 64);
		line.write(2, 64, 64);
		ibv_wr_abort(line.ex);
		line.nothing();
		if (line.pair.b.mr.data()[0])
			fail("what was aborted was executed");
	}
	ibv_wr_start(line.ex);
	line.write(3, 0, 64);
	line.complete();
	line.cq.expect(3, IBV_WC_SUCCESS);
	line.nothing();
}

/* one mistake, and none of the batch is executed */
void all_or_nothing(Bench &bench)
{
	Line line(bench);
	auto *ex = line.ex;
	auto &a = line.pair.a.mr;
	uint8_t bytes[INLINE_BYTES + 1] = {};
	const ibv_sge five[5] = {};
	const std::vector<std::function<void()>> mistakes = {
		[&] { ibv_wr_set_inline_data(ex, bytes, sizeof(bytes)); },
		[&] { ibv_wr_set_sge_list(ex, 5, five); },
		[&] { ibv_wr_set_sge_list(ex, SIZE_MAX, five); },
		[&] {
			line.next(3);
			ibv_wr_rdma_read(ex, 0, 0);
			ibv_wr_set_inline_data(ex, bytes, 1);
		},
	};

	for (const auto &mistake : mistakes) {
		ibv_wr_start(ex);
		line.write(1, 0, 64);
		line.next(2);
		ibv_wr_send(ex);
		mistake();
		line.write(4, 64, 64);
		line.complete(EINVAL);
		line.nothing();
	}
	ibv_wr_start(ex);
	ibv_wr_set_sge(ex, a.lkey(), a.addr(), 1);
	line.complete(EINVAL);
	if (line.pair.b.mr.data()[0])
		fail("part of a batch that failed was executed");
	ibv_wr_start(ex);
	line.write(9, 0, 64);
	line.complete();
	line.cq.expect(9, IBV_WC_SUCCESS);
}

void full(Bench &bench)
{
	Line line(bench);

	for (int round = 0; round < 3; round++) {
		ibv_wr_start(line.ex);
		for (uint32_t i = 0; i <= SEND_WR; i++)
			line.write(i, 0, 8);
		line.complete(ENOMEM);
		line.nothing();
		ibv_wr_start(line.ex);
		for (uint32_t i = 0; i < SEND_WR; i++)
			line.write(i, 0, 8);
		line.complete();
		for (uint32_t i = 0; i < SEND_WR; i++)
			line.cq.expect(i, IBV_WC_SUCCESS);
	}
}

void before_rts(Bench &bench)
{
	Pair pair(bench.devices, bench.config, false);
	Cq cq(bench.devices.a, 16);
	Qp qp(bench.devices.a, create_ex(bench.devices.a, pair.a.pd.get(), cq, RC_OPS));
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp.get());
	const auto post = [&] {
		ibv_wr_start(ex);
		ibv_wr_send(ex);
		return ibv_wr_complete(ex);
	};

	if (int ret = post(); ret != EINVAL)
		fail("in RESET: %s", strerror(ret));
	qp.to_init(bench.config.link_a);
	if (int ret = post(); ret != EINVAL)
		fail("in INIT: %s", strerror(ret));
	/* and in ERR what is built is flushed */
	if (int err = qp.try_state(IBV_QPS_ERR))
		fail_errno("modify to ERR", err);
	ex->wr_id = 5;
	if (int ret = post())
		fail("in ERR: %s", strerror(ret));
	cq.expect(5, IBV_WC_WR_FLUSH_ERR);
}

void asked_for(Bench &bench)
{
	const auto &dev = bench.devices.a;
	Pd pd(dev);
	Cq cq(dev, 16);
	const auto refused = [&](uint64_t ops) {
		if (ibv_qp *qp = create_ex(dev, pd.get(), cq, ops)) {
			ibv_destroy_qp(qp);
			fail("a QP with operations %#llx", static_cast<unsigned long long>(ops));
		}
		if (errno != EOPNOTSUPP)
			fail_errno("creating a QP with operations that there are not");
	};

	refused(IBV_QP_EX_WITH_TSO);
	refused(RC_OPS | IBV_QP_EX_WITH_TSO);
	refused(1ULL << 63);
	for (int bit = 0; bit < 10; bit++)
		Qp(dev, create_ex(dev, pd.get(), cq, 1ULL << bit));

	/* without any there are no builders at all, and plain posting works with them */
	Pair pair(bench.devices, bench.config);

	if (ibv_qp_to_qp_ex(pair.a.qp.get()))
		fail("a plain QP has builders");
	Line line(bench);

	line.pair.b.qp.recv(1, { line.pair.b.mr.sge(0, 64) });
	Work(2, IBV_WR_SEND, { line.pair.a.mr.sge(0, 64) }).post(line.qp);
	line.cq.expect(2, IBV_WC_SUCCESS);
}

/* what the allocators of a parent domain were asked for */
struct Heap {
	std::map<void *, uint64_t> live;
	ibv_pd *domain = nullptr;
	int asked = 0, wrong = 0;
	bool use_default = false, refuse = false;

	static void *alloc(ibv_pd *pd, void *context, size_t size, size_t alignment, uint64_t type)
	{
		auto *heap = static_cast<Heap *>(context);
		void *ptr = nullptr;

		heap->asked++;
		if (pd != heap->domain)
			heap->wrong++;
		if (heap->use_default)
			return IBV_ALLOCATOR_USE_DEFAULT;
		if (heap->refuse || posix_memalign(&ptr, std::max(alignment, sizeof(ptr)), size))
			return nullptr;
		memset(ptr, 0xa5, size);
		heap->live[ptr] = type;
		return ptr;
	}
	static void free(ibv_pd *pd, void *context, void *ptr, uint64_t type)
	{
		auto *heap = static_cast<Heap *>(context);
		auto it = heap->live.find(ptr);

		if (pd != heap->domain || it == heap->live.end() || it->second != type) {
			heap->wrong++;
			return;
		}
		heap->live.erase(it);
		::free(ptr);
	}
};

struct Domain {
	Domain(const Device &dev, const Pd &pd, ibv_td *td = nullptr, Heap *heap = nullptr)
	{
		ibv_parent_domain_init_attr attr = {};

		attr.pd = pd.get();
		attr.td = td;
		if (heap) {
			attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
					 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
			attr.alloc = Heap::alloc;
			attr.free = Heap::free;
			attr.pd_context = heap;
		}
		domain = ibv_alloc_parent_domain(dev.get(), &attr);
		if (!domain)
			fail_errno("ibv_alloc_parent_domain");
		if (heap)
			heap->domain = domain;
	}
	Domain(const Domain &) = delete;
	~Domain() { ibv_dealloc_pd(domain); }

	ibv_pd *domain;
};

ibv_cq *create_cq_in(const Device &dev, ibv_pd *domain)
{
	ibv_cq_init_attr_ex attr = {};

	attr.cqe = 64;
	attr.wc_flags = IBV_WC_STANDARD_FLAGS;
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	attr.parent_domain = domain;
	ibv_cq_ex *cq = ibv_create_cq_ex(dev.get(), &attr);

	return cq ? ibv_cq_ex_to_cq(cq) : nullptr;
}

/* QP, CQ and region in the domain, traffic to a plain peer */
void traffic_in(Bench &bench, const Domain &domain)
{
	const auto &dev = bench.devices.a;
	Pair peer(bench.devices, bench.config, false);
	Cq cq(create_cq_in(dev, domain.domain));
	Qp qp(dev, create_ex(dev, domain.domain, cq, RC_OPS));
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp.get());
	std::vector<uint8_t> bytes(4096, 0x77);
	ibv_mr *mr = ibv_reg_mr(domain.domain, bytes.data(), bytes.size(), ALL_ACCESS);

	if (!mr)
		fail_errno("ibv_reg_mr in a parent domain");
	join(bench.devices, bench.config, qp, peer.b.qp);
	for (uint64_t id = 0; id < 40; id++) {
		ibv_wr_start(ex);
		ex->wr_id = id;
		ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_rdma_write(ex, peer.b.mr.rkey(), peer.b.mr.addr());
		ibv_wr_set_sge(ex, mr->lkey, uintptr_t(bytes.data()), bytes.size());
		if (int ret = ibv_wr_complete(ex))
			fail_errno("ibv_wr_complete", ret);
		cq.expect(id, IBV_WC_SUCCESS);
	}
	same_bytes(peer.b.mr.data(), bytes.data(), bytes.size());
	if (int ret = ibv_dealloc_pd(domain.domain); ret != EBUSY)
		fail("a parent domain with objects in it was let go: %s", strerror(ret));
	ibv_dereg_mr(mr);
}

void allocators(Bench &bench)
{
	for (bool use_default : { false, true }) {
		Pd pd(bench.devices.a);
		Heap heap;
		Domain domain(bench.devices.a, pd, nullptr, &heap);

		heap.use_default = use_default;
		traffic_in(bench, domain);
		if (!heap.asked || heap.wrong || !heap.live.empty())
			fail("%d allocations, %d mistakes, %zu not freed", heap.asked, heap.wrong,
			     heap.live.size());
	}
}

void no_memory(Bench &bench)
{
	const auto &dev = bench.devices.a;
	Pd pd(dev);
	Heap heap;
	Domain domain(dev, pd, nullptr, &heap);
	Cq cq(dev, 16);

	heap.refuse = true;
	if (create_ex(dev, domain.domain, cq, RC_OPS) || errno != ENOMEM)
		fail("a QP without memory");
	if (create_cq_in(dev, domain.domain) || errno != ENOMEM)
		fail("a CQ without memory");
	/* memory is given back when the kernel refuses the object */
	heap.refuse = false;
	if (create_ex(dev, domain.domain, cq, RC_OPS, IBV_QPT_RAW_PACKET))
		fail("a raw packet QP");
	if (heap.wrong || !heap.live.empty())
		fail("%d mistakes, %zu not freed", heap.wrong, heap.live.size());
}

void thread_domain(Bench &bench)
{
	const auto &dev = bench.devices.a;
	ibv_td_init_attr attr = {};
	ibv_td *td = ibv_alloc_td(dev.get(), &attr);

	if (!td)
		fail_errno("ibv_alloc_td");
	{
		Pd pd(dev);
		Domain domain(dev, pd, td);

		if (int ret = ibv_dealloc_td(td); ret != EBUSY)
			fail("a thread domain in use was let go: %s", strerror(ret));
		if (int ret = ibv_dealloc_pd(pd.get()); ret != EBUSY)
			fail("a protection domain in use was let go: %s", strerror(ret));
		traffic_in(bench, domain);
	}
	if (int ret = ibv_dealloc_td(td))
		fail_errno("ibv_dealloc_td", ret);
	attr.comp_mask = 1;
	if (ibv_alloc_td(dev.get(), &attr) || errno != EINVAL)
		fail("a thread domain with an attribute that nobody knows");
}

void domain_rules(Bench &bench)
{
	const auto &dev = bench.devices.a;
	Pd pd(dev);
	Domain domain(dev, pd);
	ibv_parent_domain_init_attr attr = {};
	const auto refused = [&](const char *what) {
		if (ibv_alloc_parent_domain(dev.get(), &attr) || errno != EINVAL)
			fail("%s: granted, or the wrong errno", what);
	};

	refused("a parent domain of nothing");
	attr.pd = domain.domain;
	refused("a parent domain of a parent domain");
	attr.pd = pd.get();
	attr.comp_mask = 1 << 5;
	refused("a parent domain with an attribute that nobody knows");
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	refused("allocators that are not there");
	if (create_cq_in(dev, pd.get()) || errno != EINVAL)
		fail("a CQ in a protection domain");
}

/* another context of the same device: its own objects, the first one's memory */
void imported(Bench &bench)
{
	Pair pair(bench.devices, bench.config);
	ibv_context *ctx = ibv_import_device(dup(bench.devices.a.get()->cmd_fd));

	if (!ctx)
		fail_errno("ibv_import_device");
	ibv_pd *pd = ibv_import_pd(ctx, pair.a.pd.get()->handle);
	ibv_mr *mr = pd ? ibv_import_mr(pd, pair.a.mr.get()->handle) : nullptr;

	if (!mr)
		fail_errno("importing a PD and a region of it");
	if (mr->lkey != pair.a.mr.lkey() || mr->rkey != pair.a.mr.rkey() ||
	    mr->length != pair.a.mr.size())
		fail("the region was imported as another one");
	if (ibv_import_mr(pd, 0xffffff))
		fail("a region that there is not was imported");
	ibv_cq *cq = ibv_create_cq(ctx, 16, nullptr, nullptr, 0);
	ibv_qp_init_attr attr = {};

	attr.send_cq = attr.recv_cq = cq;
	attr.cap = { 16, 16, 1, 1, 0 };
	attr.qp_type = IBV_QPT_RC;
	{
		Cq own(cq);
		Qp qp(bench.devices.a, ibv_create_qp(pd, &attr));
		Qp peer(bench.devices.b, pair.b.pd, pair.b.send_cq, pair.b.recv_cq);

		join(bench.devices, bench.config, qp, peer);
		memset(pair.a.mr.data(), 0x3c, 64);
		Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 64) })
			.remote(pair.b.mr.addr(), pair.b.mr.rkey())
			.post(qp);
		own.expect(1, IBV_WC_SUCCESS);
		same_bytes(pair.b.mr.data(), pair.a.mr.data(), 64);
	}
	ibv_unimport_mr(mr);
	ibv_unimport_pd(pd);
	ibv_close_device(ctx);

	/* nothing of it was the importer's to take away */
	Work(2, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 64) })
		.remote(pair.b.mr.addr(4096), pair.b.mr.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(2, IBV_WC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "all operations in one batch", batch },
			   { "SGE lists", sge_lists },
			   { "inline data and inline lists", inline_lists },
			   { "bind and local invalidate", invalidation },
			   { "SEND with invalidate", send_with_invalidate },
			   { "aborted", aborted },
			   { "all or nothing", all_or_nothing },
			   { "a full queue", full },
			   { "before RTS, and in ERR", before_rts },
			   { "operations have to be asked for", asked_for },
			   { "a parent domain's allocators", allocators },
			   { "allocators without memory", no_memory },
			   { "thread domains", thread_domain },
			   { "what is no domain", domain_rules },
			   { "imported device, PD and region", imported } });
}
