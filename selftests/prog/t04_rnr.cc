// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Receiver not ready: the requester waits for at least the advertised time,
 * whatever else goes on; counts its tries, or tries for ever if told so, idle
 * meanwhile; and can be stopped at any time.
 */
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "lib/bench.hh"

using namespace st;

namespace
{

/* a code of the RNR timer and what it means */
struct RnrTimer {
	uint8_t code;
	double ms;
};

constexpr RnrTimer SHORT = { 22, 20.48 }, LONG = { 31, 491.52 };
/* an ACK timer of 4 s: it does not come between, however slow the machine */
constexpr uint8_t NO_HURRY = 20;

bool first_psn(const Packet &p)
{
	return p.to_b && p.bth.psn == 0x111111;
}

bool is_rnr_nak(const Packet &p)
{
	return !p.to_b && p.bth.opcode == RC_ACK && p.syndrome() >> 5 == 1;
}

Work request(Pair &pair, ibv_wr_opcode opcode, uint64_t id = 1)
{
	return Work(id, opcode, { pair.a.mr.sge(0, 64) })
		.remote(pair.b.mr.addr(4096), pair.b.mr.rkey());
}

void settings(Bench &bench, uint8_t rnr_retry, uint8_t timeout = NO_HURRY,
	      const RnrTimer &timer = SHORT)
{
	bench.config.link_b.min_rnr = timer.code;
	bench.config.link_a.rnr_retry = rnr_retry;
	bench.config.link_a.timeout = timeout;
}

/* What A sends after a NAK, it sends at least the advertised time after the NAK
 * left for A. Both times are the kernel's or earlier, so that a slow machine
 * makes gaps longer, never shorter. */
void check_gaps(const std::vector<Packet> &packets)
{
	constexpr double TOLERANCE_MS = 0.1;
	uint64_t nak = 0;

	for (auto &p : packets) {
		if (is_rnr_nak(p)) {
			if ((p.syndrome() & 31) != SHORT.code)
				fail("RNR NAK with timer %u", p.syndrome() & 31);
			nak = p.forward_ns;
		} else if (p.to_b && nak) {
			auto ms = (static_cast<double>(p.ns) - nak) / 1e6;

			if (ms < SHORT.ms - TOLERANCE_MS)
				fail("sent again %.2f ms after the NAK\n%s", ms,
				     describe(packets).c_str());
		}
	}
}

/* the receive request comes late */
void late_recv(Bench &bench, ibv_wr_opcode opcode)
{
	settings(bench, 6);
	auto pair = bench.pair();

	request(pair, opcode).post(pair.a.qp);
	sleep_us(60000);
	pair.b.qp.recv(9, { pair.b.mr.sge(0, 4096) });
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
	auto wc = pair.b.recv_cq.expect(9, IBV_WC_SUCCESS);
	if (wc.byte_len != 64)
		fail("byte_len %u", wc.byte_len);
	auto packets = bench.wire.take();
	if (!std::count_if(packets.begin(), packets.end(), is_rnr_nak))
		fail("there was no RNR NAK");
	check_gaps(packets);
}

/* neither a new post nor the transport timer shortens the wait, which begins when
 * A's counter says that it has the NAK */
void posts_meanwhile(Bench &bench)
{
	constexpr uint8_t TIMEOUT = 14; /* 67 ms, and 1.8 s until it gives up */
	constexpr uint64_t WAIT_NS = LONG.ms * 1e6;
	settings(bench, 7, TIMEOUT, LONG);
	auto pair = bench.pair();
	auto naks = [&] { return counter(bench.config.dev_a, "rnr_nak_received"); };
	auto before = naks();
	bool held = false;

	bench.wire.rule([&](const Packet &p, Bytes &) {
		if (!is_rnr_nak(p))
			return Verdict::PASS;
		return std::exchange(held, true) ? Verdict::DROP : Verdict::HOLD;
	});
	request(pair, IBV_WR_SEND).post(pair.a.qp);
	while (!bench.wire.held())
		sleep_us(500);
	auto left = real_ns();
	bench.wire.no_rule();
	bench.wire.release();
	while (naks() == before) {
		if (real_ns() - left > 10 * WAIT_NS)
			fail("A did not take the NAK");
		sleep_us(500);
	}
	auto taken = real_ns();
	int posted = 1;
	while (posted < 30 && real_ns() - left < WAIT_NS * 0.8) {
		request(pair, IBV_WR_RDMA_WRITE, ++posted).post(pair.a.qp);
		sleep_us(2000);
	}
	if (posted == 1)
		fail("%.0f ms were not enough to post anything", LONG.ms);
	pair.b.qp.recv(9, { pair.b.mr.sge(0, 4096) });
	for (int i = 1; i <= posted; i++)
		pair.a.send_cq.expect(i, IBV_WC_SUCCESS);
	auto packets = bench.wire.take();
	for (auto &p : packets)
		if (p.to_b && p.ns > taken && p.ns < left + WAIT_NS)
			fail("sent %.2f ms after the NAK\n%s", (p.ns - left) / 1e6,
			     describe(packets).c_str());
}

void counted(Bench &bench, uint8_t retries, ibv_wr_opcode opcode)
{
	settings(bench, retries);
	auto pair = bench.pair();

	request(pair, opcode).post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_RNR_RETRY_EXC_ERR);
	if (pair.a.qp.state() != IBV_QPS_ERR)
		fail("the QP is not in the error state");
	if (pair.b.qp.state() != IBV_QPS_RTS)
		fail("the responder's QP left RTS");
	auto packets = bench.wire.take();
	auto sent = std::count_if(packets.begin(), packets.end(), first_psn);
	if (sent != retries + 1)
		fail("rnr_retry %u: sent %td times\n%s", retries, sent, describe(packets).c_str());
}

/* ticks of 10 ms that all CPUs together were not idle */
unsigned long busy_ticks()
{
	unsigned long user, nice, system, idle, iowait, irq, softirq;
	auto *f = std::fopen("/proc/stat", "r");

	if (!f || std::fscanf(f, "cpu %lu %lu %lu %lu %lu %lu %lu", &user, &nice, &system, &idle,
			      &iowait, &irq, &softirq) != 7)
		fail("cannot read /proc/stat");
	std::fclose(f);
	return user + nice + system + irq + softirq;
}

void for_ever(Bench &bench, ibv_wr_opcode opcode)
{
	constexpr unsigned int SECONDS = 5;
	const unsigned long ticks = SECONDS * sysconf(_SC_CLK_TCK);

	settings(bench, 7);
	auto pair = bench.pair();
	request(pair, opcode).post(pair.a.qp);
	auto before = busy_ticks();
	sleep_us(SECONDS * 1000000);
	auto busy = busy_ticks() - before;
	if (auto wc = pair.a.send_cq.next(0))
		fail("completed: %s", ibv_wc_status_str(wc->status));
	auto packets = bench.wire.take();
	auto sent = std::count_if(packets.begin(), packets.end(), first_psn);
	Tap::note("sent %td times in %u s, CPUs busy for %lu ticks of %lu", sent, SECONDS, busy,
		  ticks);
	if (sent < 8 || sent > SECONDS * 1000 / SHORT.ms + 1)
		fail("sent %td times in %u s", sent, SECONDS);
	check_gaps(packets);
	if (busy > ticks / 2)
		fail("the CPU is not idle meanwhile");
	auto start = now_ns();
	if (int err = pair.a.qp.destroy())
		fail_errno("destroy_qp", err);
	if (now_ns() - start > 3000000000)
		fail("destroy_qp took %.1f s", (now_ns() - start) / 1e9);
	/* what was on its way may still arrive */
	sleep_us(20000);
	bench.wire.forget();
	sleep_us(100000);
	for (auto &p : bench.wire.take())
		if (p.to_b)
			fail("sent after the QP was destroyed");
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(
		argc, argv,
		{ { "SEND: receive request 60 ms late",
		    [](Bench &b) { late_recv(b, IBV_WR_SEND); } },
		  { "WRITE with immediate: receive request 60 ms late",
		    [](Bench &b) { late_recv(b, IBV_WR_RDMA_WRITE_WITH_IMM); } },
		  { "new posts and the transport timer do not shorten the wait", posts_meanwhile },
		  { "rnr_retry 0", [](Bench &b) { counted(b, 0, IBV_WR_SEND); } },
		  { "rnr_retry 1", [](Bench &b) { counted(b, 1, IBV_WR_SEND); } },
		  { "rnr_retry 6", [](Bench &b) { counted(b, 6, IBV_WR_SEND); } },
		  { "rnr_retry 2, WRITE with immediate",
		    [](Bench &b) { counted(b, 2, IBV_WR_RDMA_WRITE_WITH_IMM); } },
		  { "rnr_retry 7: for ever, idle, and stopped at once",
		    [](Bench &b) { for_ever(b, IBV_WR_SEND); } },
		  { "the same for WRITE with immediate",
		    [](Bench &b) { for_ever(b, IBV_WR_RDMA_WRITE_WITH_IMM); } } });
}
