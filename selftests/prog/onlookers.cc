// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Who looks at a QP must not make it forget its work: requests are posted one at a
 * time, or more at once than a QP works off in one go, with nothing else that would
 * wake it, while others query it.
 */
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "lib/datagram.hh"
#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/pair.hh"
#include "lib/tap.hh"
#include "lib/verbs.hh"

using namespace st;

namespace
{

/* ibv_query_qp on both ends, as often as it goes, while there is an Onlooker */
class Onlooker
{
public:
	explicit Onlooker(const Pair &pair)
		: thread([this, &pair] {
			  while (!enough) {
				  pair.a.qp.query(IBV_QP_STATE);
				  pair.b.qp.query(IBV_QP_STATE);
			  }
		  })
	{
	}
	Onlooker(const Onlooker &) = delete;
	~Onlooker()
	{
		enough = true;
		thread.join();
	}

private:
	std::atomic<bool> enough = false;
	std::thread thread;
};

void one_by_one(const Devices &devices, PairConfig config, ibv_wr_opcode opcode)
{
	/* no answer is late: what is lost stays lost */
	config.link_a.timeout = 0;
	Pair pair(devices, config);
	Onlooker first(pair), second(pair), third(pair);
	uint64_t n = 0;

	for (uint64_t end = now_ns() + 5'000'000'000; now_ns() < end; n++) {
		if (opcode == IBV_WR_SEND)
			pair.b.qp.recv(n, { pair.b.mr.sge(0, 64) });
		Work work(n, opcode, { pair.a.mr.sge(0, 64) });
		work.remote(pair.b.mr.addr(), pair.b.mr.rkey());
		work.post(pair.a.qp);
		pair.a.send_cq.expect(n, IBV_WC_SUCCESS);
		if (opcode == IBV_WR_SEND)
			pair.b.recv_cq.expect(n, IBV_WC_SUCCESS);
	}
	Tap::note("%llu messages", static_cast<unsigned long long>(n));
}

/* requests in one list: one doorbell, and several steps of a QP, each of which is left */
constexpr uint32_t MANY = 300;

PairConfig deep(PairConfig config, ibv_qp_type type)
{
	config.depth.type = type;
	config.depth.send = config.depth.recv = config.cq_depth = MANY;
	config.link_a.timeout = 0;
	return config;
}

using Request = std::function<Work(uint64_t id)>;

void post_list(const Qp &qp, const Request &request)
{
	std::vector<Work> works;

	for (uint32_t i = 0; i < MANY; i++)
		works.push_back(request(i));
	for (uint32_t i = 1; i < MANY; i++)
		works[i - 1].get().next = &works[i].get();
	qp.post(works[0].get());
}

void recv_list(const Qp &qp, ibv_sge sge)
{
	std::vector<ibv_recv_wr> list(MANY);
	ibv_recv_wr *bad;

	for (uint32_t i = 0; i < MANY; i++)
		list[i] = { i, i + 1 < MANY ? &list[i + 1] : nullptr, &sge, 1 };
	if (int err = ibv_post_recv(qp.get(), list.data(), &bad))
		fail_errno("ibv_post_recv", err);
}

void expect_all(const Cq &cq, ibv_wc_status status)
{
	for (uint32_t i = 0; i < MANY; i++)
		cq.expect(i, status);
}

/* the same again and again, with onlookers */
void rounds(const Pair &pair, const std::function<void()> &round)
{
	Onlooker first(pair), second(pair), third(pair);
	unsigned int n = 0;

	for (uint64_t end = now_ns() + 4'000'000'000; now_ns() < end; n++)
		round();
	Tap::note("%u times %u requests", n, MANY);
}

void many_datagrams(const Devices &devices, const PairConfig &config)
{
	Pair pair(devices, deep(config, IBV_QPT_UD), false);
	const auto &to = pair.config.link_b;
	Ah ah(pair.a.pd, pair.config.link_a.gid_index, devices.b.gid(to.gid_index));

	pair.a.qp.to_datagram(UdEnd::QKEY, 0);
	pair.b.qp.to_datagram(UdEnd::QKEY, 0);
	/* nobody waits for them */
	rounds(pair, [&] {
		post_list(pair.a.qp, [&](uint64_t id) {
			return Work(id, IBV_WR_SEND, { pair.a.mr.sge(0, 64) })
				.datagram(ah.get(), pair.b.qp.num(), UdEnd::QKEY);
		});
		expect_all(pair.a.send_cq, IBV_WC_SUCCESS);
	});
}

void many_writes(const Devices &devices, const PairConfig &config)
{
	Pair pair(devices, deep(config, IBV_QPT_UC));

	rounds(pair, [&] {
		post_list(pair.a.qp, [&](uint64_t id) {
			return Work(id, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 64) })
				.remote(pair.b.mr.addr(), pair.b.mr.rkey());
		});
		expect_all(pair.a.send_cq, IBV_WC_SUCCESS);
	});
}

void many_sends(const Devices &devices, const PairConfig &config)
{
	Pair pair(devices, deep(config, IBV_QPT_RC));

	rounds(pair, [&] {
		recv_list(pair.b.qp, pair.b.mr.sge(0, 64));
		post_list(pair.a.qp, [&](uint64_t id) {
			return Work(id, IBV_WR_SEND, { pair.a.mr.sge(0, 64) });
		});
		expect_all(pair.a.send_cq, IBV_WC_SUCCESS);
		expect_all(pair.b.recv_cq, IBV_WC_SUCCESS);
	});
}

void many_flushed(const Devices &devices, const PairConfig &config)
{
	Pair pair(devices, deep(config, IBV_QPT_RC));

	if (int err = pair.a.qp.try_state(IBV_QPS_ERR))
		fail_errno("modify to ERR", err);
	rounds(pair, [&] {
		post_list(pair.a.qp, [&](uint64_t id) {
			return Work(id, IBV_WR_SEND, { pair.a.mr.sge(0, 64) });
		});
		expect_all(pair.a.send_cq, IBV_WC_WR_FLUSH_ERR);
		recv_list(pair.a.qp, pair.a.mr.sge(0, 64));
		expect_all(pair.a.recv_cq, IBV_WC_WR_FLUSH_ERR);
	});
}

} // namespace

int main(int argc, char **argv)
{
	Options opt(argc, argv);
	PairConfig config(opt);
	opt.done();

	Devices devices(config);
	Tap tap(7);
	tap.run("SEND", [&] { one_by_one(devices, config, IBV_WR_SEND); });
	tap.run("WRITE", [&] { one_by_one(devices, config, IBV_WR_RDMA_WRITE); });
	tap.run("READ", [&] { one_by_one(devices, config, IBV_WR_RDMA_READ); });
	tap.run("many datagrams at once", [&] { many_datagrams(devices, config); });
	tap.run("many UC WRITEs at once", [&] { many_writes(devices, config); });
	tap.run("many RC SENDs at once", [&] { many_sends(devices, config); });
	tap.run("many requests flushed at once", [&] { many_flushed(devices, config); });
	return tap.status();
}
