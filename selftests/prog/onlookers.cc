// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Who looks at a QP must not make it forget its work: one message at a time goes
 * between two QPs, with nothing else that would wake them, while others query them.
 */
#include <atomic>
#include <thread>

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

} // namespace

int main(int argc, char **argv)
{
	Options opt(argc, argv);
	PairConfig config(opt);
	opt.done();

	Devices devices(config);
	Tap tap(3);
	tap.run("SEND", [&] { one_by_one(devices, config, IBV_WR_SEND); });
	tap.run("WRITE", [&] { one_by_one(devices, config, IBV_WR_RDMA_WRITE); });
	tap.run("READ", [&] { one_by_one(devices, config, IBV_WR_RDMA_READ); });
	return tap.status();
}
