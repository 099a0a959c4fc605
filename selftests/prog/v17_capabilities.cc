// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the device says of itself is what it does: limits can be had and not
 * exceeded, flags it does not advertise are refused, and wrong calls return the
 * errno that the manual pages name, with the work request that is to blame.
 */

#include <array>
#include <cstring>
#include <functional>

#include "lib/bench.hh"

using namespace st;

namespace
{

void identity(Bench &bench)
{
	const auto &attr = bench.devices.a.attr();

	if (!attr.sys_image_guid || !attr.node_guid)
		fail("a GUID is zero");
	if (attr.phys_port_cnt != 1 || !strlen(attr.fw_ver))
		fail("%d ports, version '%s'", attr.phys_port_cnt, attr.fw_ver);
	/* what a software device on Ethernet cannot have */
	constexpr unsigned int NEVER = IBV_DEVICE_AUTO_PATH_MIG | IBV_DEVICE_CHANGE_PHY_PORT |
				       IBV_DEVICE_UD_AV_PORT_ENFORCE | IBV_DEVICE_SHUTDOWN_PORT |
				       IBV_DEVICE_INIT_TYPE | IBV_DEVICE_RAW_MULTI |
				       IBV_DEVICE_UD_IP_CSUM;
	if (attr.device_cap_flags & NEVER)
		fail("capabilities %#x", attr.device_cap_flags & NEVER);
}

ibv_qp *try_qp(const Pd &pd, const Cq &cq, const ibv_qp_cap &cap)
{
	ibv_qp_init_attr attr = {};

	attr.send_cq = attr.recv_cq = cq.get();
	attr.cap = cap;
	attr.qp_type = IBV_QPT_RC;
	return ibv_create_qp(pd.get(), &attr);
}

/* the largest value of one capability that a QP can be made with */
uint32_t largest(const Pd &pd, const Cq &cq, uint32_t ibv_qp_cap::*which)
{
	uint32_t good = 0, bad = 1 << 24;

	while (bad - good > 1) {
		const uint32_t middle = good + (bad - good) / 2;
		ibv_qp_cap cap = { 1, 1, 1, 1, 0 };

		cap.*which = middle;
		if (ibv_qp *qp = try_qp(pd, cq, cap)) {
			ibv_destroy_qp(qp);
			good = middle;
		} else if (errno == EINVAL) {
			bad = middle;
		} else {
			fail_errno(format("a QP with %u of it", middle));
		}
	}
	return good;
}

/* found by trying, as applications do */
void qp_limits(Bench &bench)
{
	const auto &dev = bench.devices.a;
	const auto &attr = dev.attr();
	Pd pd(dev);
	Cq cq(dev, 16);
	const auto same = [&](const char *what, uint32_t ibv_qp_cap::*which, int advertised) {
		const uint32_t found = largest(pd, cq, which);

		if (found != uint32_t(advertised))
			fail("%s: %u can be had, %d is advertised", what, found, advertised);
	};

	same("max_send_wr", &ibv_qp_cap::max_send_wr, attr.max_qp_wr);
	same("max_recv_wr", &ibv_qp_cap::max_recv_wr, attr.max_qp_wr);
	same("max_send_sge", &ibv_qp_cap::max_send_sge, attr.max_sge);
	same("max_recv_sge", &ibv_qp_cap::max_recv_sge, attr.max_sge);
}

/* all limits at once; and the caps that come back are what can be used */
void largest_qp(Bench &bench)
{
	const auto &dev = bench.devices.a;
	const auto &attr = dev.attr();
	Pd pd(dev);
	Cq cq(dev, 16);
	const uint32_t inline_bytes = largest(pd, cq, &ibv_qp_cap::max_inline_data);
	const uint32_t wr = attr.max_qp_wr, sge = attr.max_sge;

	if (inline_bytes < 912)
		fail("max_inline_data is %u", inline_bytes);
	Qp qp(dev, pd, cq, cq, { wr, wr, sge, sge, inline_bytes, false });
	ibv_qp_attr got = {};
	ibv_qp_init_attr init = {};

	if (int err = ibv_query_qp(qp.get(), &got, IBV_QP_CAP, &init))
		fail_errno("ibv_query_qp", err);
	if (memcmp(&init.cap, &qp.cap(), sizeof(init.cap)))
		fail("query_qp has other capabilities than create_qp");
	qp.to_init({});
	for (uint32_t i = 0; i < wr; i++)
		qp.recv(i, {});
}

void inline_sizes(Bench &bench)
{
	for (uint32_t bytes : { 0, 220, 256, 912, 1024 }) {
		bench.config.depth.inline_bytes = bytes;
		auto pair = bench.pair();
		auto data = std::vector<uint8_t>(bytes + 1, 0x5a);
		ibv_sge sge = { uintptr_t(data.data()), bytes, 0 };
		const auto work = [&](uint32_t length) {
			sge.length = length;
			return Work(1, IBV_WR_RDMA_WRITE, { sge },
				    IBV_SEND_INLINE | IBV_SEND_SIGNALED)
				.remote(pair.b.mr.addr(), pair.b.mr.rkey());
		};

		if (pair.a.qp.cap().max_inline_data < bytes)
			fail("%u bytes inline instead of %u", pair.a.qp.cap().max_inline_data,
			     bytes);
		work(bytes).post(pair.a.qp);
		pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
		if (memcmp(pair.b.mr.data(), data.data(), bytes))
			fail("%u bytes inline arrived otherwise", bytes);
		if (int ret = work(pair.a.qp.cap().max_inline_data + 1).try_post(pair.a.qp);
		    ret != EINVAL)
			fail("a byte more inline: %s", strerror(ret));
	}
	Pd pd(bench.devices.a);
	Cq cq(bench.devices.a, 16);

	if (try_qp(pd, cq, { 1, 1, 1, 1, 2048 }) || errno != EINVAL)
		fail("2048 bytes inline");
}

void cq_limits(Bench &bench)
{
	const auto &dev = bench.devices.a;
	const int max = dev.attr().max_cqe;

	for (int cqe : { 1, max })
		Cq(dev, cqe);
	for (int cqe : { 0, -1, max + 1 })
		if (ibv_create_cq(dev.get(), cqe, nullptr, nullptr, 0) || errno != EINVAL)
			fail("a CQ of %d entries: granted, or the wrong errno", cqe);
}

/* modify refuses what is beyond the limit and takes the limit itself */
void at_most(const std::function<void(uint8_t)> &modify, int most)
{
	bool refused = false;

	try {
		modify(most + 1);
	} catch (const Failure &e) {
		refused = strstr(e.what(), strerror(EINVAL));
		if (!refused)
			throw;
	}
	if (!refused)
		fail("%d READs and atomics at once", most + 1);
	modify(most);
}

void rd_atomic_limits(Bench &bench)
{
	const auto &attr = bench.devices.a.attr();
	Pair pair(bench.devices, bench.config, false);
	auto link = pair.config.link_a;
	const auto peer = pair.b.qp.address(pair.config.link_b);

	pair.a.qp.to_init(link);
	at_most(
		[&](uint8_t n) {
			link.rd_atomic = n;
			pair.a.qp.to_rtr(link, peer);
		},
		attr.max_qp_rd_atom);
	at_most(
		[&](uint8_t n) {
			link.rd_atomic = n;
			pair.a.qp.to_rts(link);
		},
		attr.max_qp_init_rd_atom);
}

/* the same memory many times over makes a message of any length */
Work long_work(Pair &pair, uint64_t extra, uint32_t rkey)
{
	const uint32_t piece = uint32_t(1) << 26;
	std::vector<ibv_sge> sges(31, pair.a.mr.sge(0, piece));

	/* the last piece is the rest */
	sges.push_back(pair.a.mr.sge(0, uint32_t(piece + extra)));
	return Work(1, IBV_WR_RDMA_WRITE, sges).remote(pair.b.mr.addr(), rkey);
}

void message_length(Bench &bench)
{
	const uint64_t longest = uint64_t(1) << 31;

	if (bench.devices.a.port().max_msg_sz != longest)
		fail("max_msg_sz is %u", bench.devices.a.port().max_msg_sz);
	bench.config.bytes = (1 << 26) + 4096;
	bench.config.depth.send_sge = 32;
	{
		/* accepted here, and refused by the peer, for it has not so much memory */
		auto pair = bench.pair();

		long_work(pair, 0, pair.b.mr.rkey()).post(pair.a.qp);
		pair.a.send_cq.expect(1, IBV_WC_REM_ACCESS_ERR);
	}
	auto pair = bench.pair();

	long_work(pair, 1, pair.b.mr.rkey()).post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_LOC_LEN_ERR);
}

/* access flags that a device need not know are for it to ignore */
void optional_access(Bench &bench)
{
	Pd pd(bench.devices.a);

	Mr relaxed(pd, 4096, ALL_ACCESS | IBV_ACCESS_RELAXED_ORDERING);
	Mr all(pd, 4096, ALL_ACCESS | IBV_ACCESS_OPTIONAL_RANGE);
}

void post(const Qp &qp, int count, int bad, int wanted,
	  const std::function<void(ibv_recv_wr &)> &spoil)
{
	std::vector<ibv_recv_wr> wrs(count);
	std::vector<ibv_sge> sges(64);
	ibv_recv_wr *bad_wr = nullptr;

	for (int i = 0; i < count; i++) {
		wrs[i].wr_id = i;
		wrs[i].next = i + 1 < count ? &wrs[i + 1] : nullptr;
		wrs[i].sg_list = sges.data();
	}
	spoil(wrs[bad]);
	if (int ret = ibv_post_recv(qp.get(), wrs.data(), &bad_wr); ret != wanted)
		fail("ibv_post_recv: %s instead of %s", strerror(ret), strerror(wanted));
	if (bad_wr != &wrs[bad])
		fail("bad_wr is not the one");
}

void wrong_receives(Bench &bench)
{
	const auto &dev = bench.devices.a;
	Pd pd(dev);
	Cq cq(dev, 64);
	Qp qp(dev, pd, cq, cq, { 8, 8, 4, 4, 0, false });

	post(qp, 3, 0, EINVAL, [](ibv_recv_wr &) {});
	qp.to_init({});
	post(qp, 3, 2, EINVAL, [](ibv_recv_wr &wr) { wr.num_sge = 5; });
	post(qp, 2, 0, EINVAL, [](ibv_recv_wr &wr) { wr.num_sge = -1; });
	/* two of those above were good, so six places are left */
	post(qp, 7, 6, ENOMEM, [](ibv_recv_wr &) {});
	if (int err = qp.try_state(IBV_QPS_ERR))
		fail_errno("modify to ERR", err);
	for (int id : { 0, 1, 0, 1, 2, 3, 4, 5 })
		cq.expect(id, IBV_WC_WR_FLUSH_ERR);
}

void wrong_sends(Bench &bench)
{
	bench.config.depth = { 8, 8, 4, 4, 0, false };
	Pair pair(bench.devices, bench.config, false);
	const auto write = [&](uint64_t id) {
		return Work(id, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 8) })
			.remote(pair.b.mr.addr(), pair.b.mr.rkey());
	};
	const auto refused = [&](Work work, const char *when) {
		ibv_send_wr *bad_wr = nullptr;
		int ret = ibv_post_send(pair.a.qp.get(), &work.get(), &bad_wr);

		if (ret != EINVAL || bad_wr != &work.get())
			fail("%s: %s", when, strerror(ret));
	};
	auto link = pair.config.link_a;

	refused(write(0), "in RESET");
	pair.a.qp.to_init(link);
	refused(write(0), "in INIT");
	pair.a.qp.to_rtr(link, pair.b.qp.address(pair.config.link_b));
	refused(write(0), "in RTR");
	pair.a.qp.to_rts(link);
	pair.b.qp.connect(pair.config.link_b, pair.a.qp.address(link));
	refused(Work(0, IBV_WR_TSO, {}), "an operation that there is not");
	refused(Work(0, IBV_WR_RDMA_WRITE, std::vector<ibv_sge>(5)), "too many SGEs");

	/* what stands before the bad one is executed, what stands after it is not */
	auto first = write(1), bad = Work(2, IBV_WR_DRIVER1, {}), last = write(3);
	ibv_send_wr *bad_wr = nullptr;

	first.get().next = &bad.get();
	bad.get().next = &last.get();
	if (int ret = ibv_post_send(pair.a.qp.get(), &first.get(), &bad_wr);
	    ret != EINVAL || bad_wr != &bad.get())
		fail("a list with a bad one in it: %s", strerror(ret));
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
	if (pair.a.send_cq.next(50))
		fail("what stood after the bad one was executed");
}

/* a verb that there is not says so, whoever calls it */
void missing_verbs(Bench &bench)
{
	auto pair = bench.pair();
	ibv_context *ctx = bench.devices.a.get();
	const auto missing = [](const char *what, bool granted) {
		if (granted || errno != EOPNOTSUPP)
			fail("%s: %s", what, granted ? "granted" : strerror(errno));
	};
	ibv_flow_attr flow = {};
	ibv_wq_init_attr wq = {};
	ibv_rwq_ind_table_init_attr table = {};
	ibv_counters_init_attr counters = {};
	ibv_flow_action_esp_attr esp = {};
	ibv_qp_init_attr raw = {};

	flow.type = IBV_FLOW_ATTR_NORMAL;
	flow.size = sizeof(flow);
	flow.port = 1;
	missing("ibv_create_flow", ibv_create_flow(pair.a.qp.get(), &flow));
	wq.wq_type = IBV_WQT_RQ;
	wq.max_wr = wq.max_sge = 1;
	wq.pd = pair.a.pd.get();
	wq.cq = pair.a.recv_cq.get();
	missing("ibv_create_wq", ibv_create_wq(ctx, &wq));
	missing("ibv_create_rwq_ind_table", ibv_create_rwq_ind_table(ctx, &table));
	missing("ibv_create_counters", ibv_create_counters(ctx, &counters));
	missing("ibv_create_flow_action_esp", ibv_create_flow_action_esp(ctx, &esp));
	raw.send_cq = raw.recv_cq = pair.a.send_cq.get();
	raw.cap = { 1, 1, 1, 1, 0 };
	raw.qp_type = IBV_QPT_RAW_PACKET;
	missing("a raw packet QP", ibv_create_qp(pair.a.pd.get(), &raw));
}

/*
 * Payload is copied by the processor in pieces of its own choice: nobody may
 * conclude from one byte of a message that the others are there.
 */
void data_in_order(Bench &bench)
{
	auto pair = bench.pair();

	for (auto opcode : { IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ })
		for (uint32_t flags :
		     { uint32_t(0), uint32_t(IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS) })
			if (ibv_query_qp_data_in_order(pair.a.qp.get(), opcode, flags))
				fail("opcode %d promises an order", opcode);
}

void clock_values(Bench &bench)
{
	ibv_values_ex values = {};
	ibv_device_attr_ex attr = {};

	values.comp_mask = 1 << 10;
	if (int ret = ibv_query_rt_values_ex(bench.devices.a.get(), &values); ret != EINVAL)
		fail("a value that nobody knows: %s", strerror(ret));
	values.comp_mask = 0;
	if (int ret = ibv_query_rt_values_ex(bench.devices.a.get(), &values))
		fail_errno("ibv_query_rt_values_ex of nothing", ret);
	if (int err = ibv_query_device_ex(bench.devices.a.get(), nullptr, &attr))
		fail_errno("ibv_query_device_ex", err);
	/* kHz, and all 64 bits of it */
	if (attr.hca_core_clock != 1000 * 1000 || attr.completion_timestamp_mask != UINT64_MAX)
		fail("%llu kHz, mask %#llx", static_cast<unsigned long long>(attr.hca_core_clock),
		     static_cast<unsigned long long>(attr.completion_timestamp_mask));
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "what it is", identity },
			   { "limits of a QP, found by trying", qp_limits },
			   { "all limits at once", largest_qp },
			   { "inline data of all sizes", inline_sizes },
			   { "limits of a CQ", cq_limits },
			   { "limits of READs and atomics", rd_atomic_limits },
			   { "the longest message, and one byte more", message_length },
			   { "optional access flags", optional_access },
			   { "wrong receive requests", wrong_receives },
			   { "wrong send requests", wrong_sends },
			   { "verbs that there are not", missing_verbs },
			   { "order of data", data_in_order },
			   { "the clock", clock_values } });
}
