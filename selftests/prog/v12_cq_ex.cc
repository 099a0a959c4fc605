// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The extended CQ (ibv_create_cq_ex(3)): each entry is consumed once, however
 * polling begins and ends; every field that can be asked for is right; several
 * threads may poll.
 */
#include <arpa/inet.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>

#include "lib/bench.hh"

using namespace st;

namespace
{

constexpr uint64_t FIELDS = uint64_t{ IBV_WC_STANDARD_FLAGS } |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

ibv_cq_ex *create(const Device &dev, uint32_t cqe, uint64_t fields, uint32_t flags = 0)
{
	ibv_cq_init_attr_ex attr = {};

	attr.cqe = cqe;
	attr.wc_flags = fields;
	if (flags) {
		attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
		attr.flags = flags;
	}
	return ibv_create_cq_ex(dev.get(), &attr);
}

/* device a sends to device b; both complete to extended CQs */
struct Line {
	explicit Line(Bench &bench, uint32_t cqe = 256, uint64_t fields = FIELDS,
		      uint32_t flags = 0)
		: ex_a(create(bench.devices.a, cqe, fields, flags)), cq_a(plain(ex_a)),
		  ex_b(create(bench.devices.b, cqe, fields, flags)), cq_b(plain(ex_b)),
		  pd_a(bench.devices.a), pd_b(bench.devices.b), mr_a(pd_a, 1 << 16),
		  mr_b(pd_b, 1 << 16), qp_a(bench.devices.a, pd_a, cq_a, cq_a),
		  qp_b(bench.devices.b, pd_b, cq_b, cq_b)
	{
		join(bench.devices, bench.config, qp_a, qp_b);
	}

	static ibv_cq *plain(ibv_cq_ex *ex) { return ex ? ibv_cq_ex_to_cq(ex) : nullptr; }

	void write(uint64_t id, uint32_t bytes = 0)
	{
		Work(id, IBV_WR_RDMA_WRITE, { mr_a.sge(0, bytes) })
			.remote(mr_b.addr(), mr_b.rkey())
			.post(qp_a);
	}
	ibv_cq_ex *ex_a;
	Cq cq_a;
	ibv_cq_ex *ex_b;
	Cq cq_b;
	Pd pd_a, pd_b;
	Mr mr_a, mr_b;
	Qp qp_a, qp_b;
};

int start(ibv_cq_ex *cq)
{
	ibv_poll_cq_attr attr = {};

	return ibv_start_poll(cq, &attr);
}

/* start_poll, until there is something to poll */
void start_soon(ibv_cq_ex *cq, int ms = 10000)
{
	const uint64_t end = now_ns() + ms * 1000000ULL;
	int ret;

	while ((ret = start(cq)) == ENOENT && now_ns() < end)
		sleep_us(20);
	if (ret)
		fail_errno("ibv_start_poll", ret);
}

void must_be_empty(ibv_cq_ex *cq)
{
	if (int ret = start(cq); ret != ENOENT)
		fail("ibv_start_poll says %d of a queue that is empty", ret);
}

/* the entry that polling stands at */
void expect(ibv_cq_ex *cq, uint64_t id, ibv_wc_status status = IBV_WC_SUCCESS)
{
	if (cq->wr_id != id || cq->status != status)
		fail("%llu: \"%s\" instead of %llu: \"%s\"",
		     static_cast<unsigned long long>(cq->wr_id), ibv_wc_status_str(cq->status),
		     static_cast<unsigned long long>(id), ibv_wc_status_str(status));
}

/* n entries, which may come late, in one batch as far as they are there */
void take(ibv_cq_ex *cq, uint64_t first, uint64_t n)
{
	while (n) {
		start_soon(cq);
		do {
			expect(cq, first++);
		} while (--n && !ibv_next_poll(cq));
		ibv_end_poll(cq);
	}
}

void once(Bench &bench)
{
	Line line(bench);

	for (int round = 0; round < 3; round++) {
		line.write(7 + round);
		start_soon(line.ex_a);
		expect(line.ex_a, 7 + round);
		if (int ret = ibv_next_poll(line.ex_a); ret != ENOENT)
			fail("ibv_next_poll says %d of a queue that is empty", ret);
		ibv_end_poll(line.ex_a);
		must_be_empty(line.ex_a);
	}
}

/* a lock that start_poll kept would stop the second call; so would a batch */
void empty(Bench &bench)
{
	Line line(bench);
	ibv_wc wc;

	for (int i = 0; i < 3; i++)
		must_be_empty(line.ex_a);
	if (line.cq_a.poll(&wc, 1))
		fail("something in an empty queue");
	line.write(1);
	take(line.ex_a, 1, 1);
	must_be_empty(line.ex_a);
}

void unknown_attribute(Bench &bench)
{
	Line line(bench);
	ibv_poll_cq_attr attr = { 1 };

	line.write(1);
	if (int ret = ibv_start_poll(line.ex_a, &attr); ret != EINVAL)
		fail("ibv_start_poll says %d of an attribute that nobody knows", ret);
	take(line.ex_a, 1, 1);
}

/* places are free again when end_poll returns, and not one more of them */
void batches(Bench &bench)
{
	constexpr uint32_t DEPTH = 8;
	Line line(bench, DEPTH);
	uint64_t posted = 0, taken = 0;

	for (uint64_t batch : { 1, 3, 8, 2, 5, 7, 8, 1, 4, 6, 8, 8 }) {
		/* fill it up, so that a place too few is an overrun */
		while (posted < taken + DEPTH)
			line.write(posted++);
		take(line.ex_a, taken, batch);
		taken += batch;
	}
	take(line.ex_a, taken, posted - taken);
	must_be_empty(line.ex_a);
	if (bench.devices.a.wait_event(IBV_EVENT_CQ_ERR, 50))
		fail("the queue overran");
}

/* an extended CQ is a CQ as well */
void both_ways(Bench &bench)
{
	Line line(bench);

	for (uint64_t id = 0; id < 20; id += 2) {
		line.write(id);
		line.write(id + 1);
		take(line.ex_a, id, 1);
		line.cq_a.expect(id + 1, IBV_WC_SUCCESS);
	}
	must_be_empty(line.ex_a);
}

/* who polls may ask for the next event before the batch ends */
void armed(Bench &bench)
{
	Line line(bench);

	for (uint64_t id = 0; id < 3; id++) {
		line.write(id);
		start_soon(line.ex_a);
		expect(line.ex_a, id);
		if (int err = ibv_req_notify_cq(line.cq_a.get(), 0))
			fail_errno("ibv_req_notify_cq", err);
		ibv_end_poll(line.ex_a);
	}
	must_be_empty(line.ex_a);
}

uint64_t clock_ns(clockid_t clock)
{
	timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

uint64_t device_ns(const Device &dev)
{
	ibv_values_ex values = {};

	values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	if (int err = ibv_query_rt_values_ex(dev.get(), &values))
		fail_errno("ibv_query_rt_values_ex", err);
	if (!(values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK) || values.raw_clock.tv_sec)
		fail("the raw clock is not in ticks");
	return values.raw_clock.tv_nsec;
}

template <typename T> void same(const char *what, T is, T wanted)
{
	if (is != wanted)
		fail("%s is %#llx instead of %#llx", what, static_cast<unsigned long long>(is),
		     static_cast<unsigned long long>(wanted));
}

/* the completion is from between these two moments */
struct Moments {
	uint64_t device, wall;

	explicit Moments(const Device &dev) : device(device_ns(dev)), wall(clock_ns(CLOCK_REALTIME))
	{
	}
};

void times(ibv_cq_ex *cq, const Moments &from, const Moments &to)
{
	/* the wall clock is slewed while the raw one is not, and is read a moment later */
	constexpr uint64_t SLACK = 20 * 1000 * 1000;
	const uint64_t ticks = ibv_wc_read_completion_ts(cq);
	const uint64_t wall = ibv_wc_read_completion_wallclock_ns(cq);

	if (ticks < from.device || ticks > to.device)
		fail("completed at tick %llu, not between %llu and %llu",
		     static_cast<unsigned long long>(ticks),
		     static_cast<unsigned long long>(from.device),
		     static_cast<unsigned long long>(to.device));
	if (wall + SLACK < from.wall || wall > to.wall + SLACK)
		fail("completed at %llu ns, not between %llu and %llu",
		     static_cast<unsigned long long>(wall),
		     static_cast<unsigned long long>(from.wall),
		     static_cast<unsigned long long>(to.wall));
}

void addresses(ibv_cq_ex *cq, const Qp &qp)
{
	same("qp_num", ibv_wc_read_qp_num(cq), qp.num());
	same("slid", ibv_wc_read_slid(cq), 0U);
	same("sl", ibv_wc_read_sl(cq), uint8_t{ 0 });
	same("dlid_path_bits", ibv_wc_read_dlid_path_bits(cq), uint8_t{ 0 });
	same("vendor_err", ibv_wc_read_vendor_err(cq), 0U);
}

void fields(Bench &bench)
{
	Line line(bench);

	line.qp_b.recv(5, { line.mr_b.sge(0, 4096) });
	const Moments from(bench.devices.b);
	Work(6, IBV_WR_SEND_WITH_IMM, { line.mr_a.sge(0, 1234) }).imm(0xa1b2c3d4).post(line.qp_a);
	start_soon(line.ex_b);
	const Moments to(bench.devices.b);
	expect(line.ex_b, 5);
	same("opcode", ibv_wc_read_opcode(line.ex_b), IBV_WC_RECV);
	same("wc_flags", ibv_wc_read_wc_flags(line.ex_b), unsigned{ IBV_WC_WITH_IMM });
	same("byte_len", ibv_wc_read_byte_len(line.ex_b), 1234U);
	same("imm_data", ntohl(ibv_wc_read_imm_data(line.ex_b)), 0xa1b2c3d4U);
	addresses(line.ex_b, line.qp_b);
	same("src_qp", ibv_wc_read_src_qp(line.ex_b), line.qp_a.num());
	times(line.ex_b, from, to);
	ibv_end_poll(line.ex_b);

	start_soon(line.ex_a);
	expect(line.ex_a, 6);
	same("opcode", ibv_wc_read_opcode(line.ex_a), IBV_WC_SEND);
	same("wc_flags", ibv_wc_read_wc_flags(line.ex_a), 0U);
	addresses(line.ex_a, line.qp_a);
	ibv_end_poll(line.ex_a);
}

/* later entries have later times, and waiting does not change them */
void times_stay(Bench &bench)
{
	Line line(bench);
	uint64_t before = 0;

	for (uint64_t id = 0; id < 10; id++)
		line.write(id);
	sleep_us(20000);
	for (uint64_t id = 0; id < 10; id++) {
		start_soon(line.ex_a);
		const uint64_t now = ibv_wc_read_completion_ts(line.ex_a);

		if (now < before)
			fail("entry %llu is older than the one before it",
			     static_cast<unsigned long long>(id));
		if (ibv_wc_read_completion_ts(line.ex_a) != now)
			fail("the time of a completion changed");
		before = now;
		ibv_end_poll(line.ex_a);
	}
}

void errors(Bench &bench)
{
	Line line(bench);

	Work(1, IBV_WR_RDMA_WRITE, { line.mr_a.sge(0, 8) })
		.remote(line.mr_b.addr(), line.mr_b.rkey() ^ 1)
		.post(line.qp_a);
	line.write(2);
	start_soon(line.ex_a);
	expect(line.ex_a, 1, IBV_WC_REM_ACCESS_ERR);
	same("qp_num", ibv_wc_read_qp_num(line.ex_a), line.qp_a.num());
	ibv_end_poll(line.ex_a);
	start_soon(line.ex_a);
	expect(line.ex_a, 2, IBV_WC_WR_FLUSH_ERR);
	ibv_end_poll(line.ex_a);
	must_be_empty(line.ex_a);
}

/* what can be had can be had alone; what cannot is refused */
void field_by_field(Bench &bench)
{
	for (int bit = 0; bit < 64; bit++) {
		const uint64_t field = 1ULL << bit;
		ibv_cq_ex *cq = create(bench.devices.a, 16, field);

		if (field & FIELDS) {
			if (!cq)
				fail_errno(format("a CQ with field %#llx",
						  static_cast<unsigned long long>(field)));
			ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
		} else if (cq || (errno != EOPNOTSUPP && errno != EINVAL)) {
			fail("field %#llx: %s", static_cast<unsigned long long>(field),
			     cq ? "granted" : "wrong errno");
		}
	}
	if (create(bench.devices.a, 16, 0, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) ||
	    errno != EOPNOTSUPP)
		fail("a CQ that overruns in silence was granted");
	if (create(bench.devices.a, 0, 0) || errno != EINVAL)
		fail("a CQ without entries was granted");
	if (create(bench.devices.a, bench.devices.a.attr().max_cqe + 1, 0) || errno != EINVAL)
		fail("a CQ of max_cqe + 1 entries was granted");
}

void single_threaded(Bench &bench)
{
	Line line(bench, 256, FIELDS, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);

	for (uint64_t id = 0; id < 300; id += 3) {
		for (uint64_t i = 0; i < 3; i++)
			line.write(id + i);
		take(line.ex_a, id, 2);
		line.cq_a.expect(id + 2, IBV_WC_SUCCESS);
	}
}

/* what the pollers share: how often each entry was taken, and of what status */
struct Taken {
	explicit Taken(uint64_t n) : times(n) {}

	std::vector<std::atomic<int>> times;
	std::atomic<uint64_t> count = 0;
	std::atomic<int> bad_status = IBV_WC_SUCCESS;

	bool all() const { return count >= times.size(); }
	void mark(const ibv_cq_ex *cq)
	{
		if (cq->status)
			bad_status = cq->status;
		if (cq->wr_id < times.size())
			times[cq->wr_id]++;
		count++;
	}
};

/* places are free when a batch ends, so batches have to end */
void poll_until(ibv_cq_ex *cq, Taken &taken)
{
	while (!taken.all() && !taken.bad_status) {
		if (start(cq)) {
			std::this_thread::yield();
			continue;
		}
		int batch = 16;

		do {
			taken.mark(cq);
		} while (--batch && !ibv_next_poll(cq));
		ibv_end_poll(cq);
	}
}

void two_threads(Bench &bench)
{
	constexpr uint64_t MANY = 2000, WINDOW = 64;
	/* a machine that has other things to do is no reason to give up */
	bench.config.link_a.timeout = 18;
	Line line(bench, 2 * WINDOW);
	Taken taken(MANY);
	std::jthread first([&] { poll_until(line.ex_a, taken); });
	std::jthread second([&] { poll_until(line.ex_a, taken); });

	for (uint64_t id = 0; id < MANY && !taken.bad_status; id++) {
		while (id >= taken.count + WINDOW && !taken.bad_status)
			std::this_thread::yield();
		line.write(id);
	}
	first.join();
	second.join();
	if (taken.bad_status)
		fail("%s", ibv_wc_status_str(ibv_wc_status(taken.bad_status.load())));
	for (uint64_t id = 0; id < MANY; id++)
		if (taken.times[id] != 1)
			fail("entry %llu was taken %d times", static_cast<unsigned long long>(id),
			     taken.times[id].load());
	must_be_empty(line.ex_a);
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "an entry is consumed once", once },
			   { "an empty queue leaves nothing to end", empty },
			   { "an unknown attribute leaves nothing to end", unknown_attribute },
			   { "batches of all sizes in a queue that is always full", batches },
			   { "polled in both ways by turns", both_ways },
			   { "armed before the batch ends", armed },
			   { "every field", fields },
			   { "times in order, and fixed", times_stay },
			   { "errors", errors },
			   { "fields one by one, and what is refused", field_by_field },
			   { "single-threaded", single_threaded },
			   { "two threads poll one queue", two_threads } });
}
