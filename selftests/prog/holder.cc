// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Hold everything open on a device while it goes away under it: context, PD,
 * MR, CQ with channel, QPs under traffic, mapped rings. Says "ready" when it
 * holds them. Then it waits for the fatal event and tries what a program would
 * try afterwards.
 *
 *	holder --a sk0 --b sk1 [--idle] [--wait SECONDS]
 *
 * sk0 is the one that goes. Exit status 0 if the event came and verbs failed
 * as they should.
 */
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>

#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/pair.hh"

using namespace st;

namespace
{

constexpr uint32_t BYTES = 32768;

/* WRITEs from one end to the other without a pause; errors only end it */
class Pump
{
public:
	Pump(End &from, End &to, bool idle)
		: from(from), to(to), stop(idle), thread([this] { run(); })
	{
	}

	~Pump()
	{
		stop = true;
		thread.join();
	}

	std::atomic<unsigned long> done = 0;

private:
	void run()
	{
		unsigned int under_way = 0;
		ibv_wc wc[8];

		while (!stop) {
			while (under_way < 8 && post() == 0)
				under_way++;
			int n = ibv_poll_cq(from.send_cq.get(), 8, wc);
			for (int i = 0; i < n; i++) {
				if (wc[i].status)
					return;
				under_way--;
				done++;
			}
			if (n <= 0)
				sleep_us(100);
		}
	}

	int post()
	{
		return Work(1, IBV_WR_RDMA_WRITE, { from.mr.sge(0, BYTES) })
			.remote(to.mr.addr(), to.mr.rkey())
			.try_post(from.qp);
	}

	End &from, &to;
	std::atomic<bool> stop;
	std::thread thread;
};

void expect_errno(const char *what, int err, int expected)
{
	std::printf("%s: %s\n", what, std::strerror(err));
	if (err != expected)
		fail("%s: %s (%d), expected %s", what, std::strerror(err), err,
		     std::strerror(expected));
}

/* what comes back from a device that is no more */
void try_verbs(End &end)
{
	ibv_qp_attr attr = {};
	ibv_qp_init_attr init;
	ibv_wc wc[8];

	ibv_pd *pd = ibv_alloc_pd(end.dev.get());
	expect_errno("alloc_pd", pd ? 0 : errno, EIO);
	ibv_cq *cq = ibv_create_cq(end.dev.get(), 16, nullptr, nullptr, 0);
	expect_errno("create_cq", cq ? 0 : errno, EIO);
	ibv_mr *mr = ibv_reg_mr(end.pd.get(), end.mr.data(), 4096, 0);
	expect_errno("reg_mr", mr ? 0 : errno, EIO);
	attr.qp_state = IBV_QPS_ERR;
	expect_errno("modify_qp", ibv_modify_qp(end.qp.get(), &attr, IBV_QP_STATE), EIO);
	expect_errno("query_qp", ibv_query_qp(end.qp.get(), &attr, IBV_QP_STATE, &init), EIO);

	/* these touch the mapped rings only, or may: they must not crash */
	for (int i = 0; i < 200; i++) {
		Work(2, IBV_WR_SEND, { end.mr.sge(0, 64) }).try_post(end.qp);
		ibv_poll_cq(end.send_cq.get(), 8, wc);
		ibv_req_notify_cq(end.send_cq.get(), 0);
	}
	std::printf("rings still mapped\n");
}

void hold(Options &opt)
{
	PairConfig config(opt);
	bool idle = opt.flag("idle");
	int seconds = opt.number("wait", 30);

	opt.done();
	config.channel = true;
	config.depth.send = 256;
	config.link_a.timeout = config.link_b.timeout = 16;
	Devices devices(config);
	Pair pair(devices, config);

	for (int i = 0; i < 16; i++) {
		pair.a.qp.recv(i, { pair.a.mr.sge(0, 4096) });
		pair.b.qp.recv(i, { pair.b.mr.sge(0, 4096) });
	}
	pair.a.send_cq.arm();
	{
		Pump there(pair.a, pair.b, idle), back(pair.b, pair.a, idle);

		while (!idle && (there.done < 4 || back.done < 4))
			sleep_us(1000);
		std::printf("ready\n");
		std::fflush(stdout);
		if (!devices.a.wait_event(IBV_EVENT_DEVICE_FATAL, seconds * 1000))
			fail("no fatal event within %d s", seconds);
		std::printf("fatal event after %lu and %lu writes\n", there.done.load(),
			    back.done.load());
	}
	try_verbs(pair.a);
}

} // namespace

int main(int argc, char **argv)
{
	try {
		Options opt(argc, argv);

		hold(opt);
	} catch (const std::exception &e) {
		std::printf("holder: %s\n", e.what());
		return 1;
	}
	return 0;
}
