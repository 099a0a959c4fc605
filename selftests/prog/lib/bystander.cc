// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "bystander.hh"

#include <exception>

#include "fail.hh"
#include "pattern.hh"
#include "region.hh"

namespace st
{

/* the memory of either end: what goes out, what comes in, and what must stay */
static constexpr size_t OUT = 0, IN = 16384, REST = 32768, END = 65536;
static constexpr uint32_t BYTES = 4000;
static constexpr uint64_t REST_KEY = 0x5e57;
/* as long as whatever may hold up an honest message on a machine under fire */
static constexpr int PATIENCE_MS = 60000;

static PairConfig modest(PairConfig config)
{
	config.bytes = END;
	config.depth = {};
	/* packets may get lost where others flood; an attack may not end the connection */
	config.link_a.timeout = config.link_b.timeout = 14;
	config.link_a.psn = 0x654321;
	config.link_b.psn = 0x765432;
	return config;
}

Bystander::Bystander(const Devices &devices, const PairConfig &config)
	: devices(devices), pair(devices, modest(config))
{
	for (auto *end : { &pair.a, &pair.b })
		pattern_fill(end->mr.data() + REST, END - REST, REST_KEY, 0);
}

Bystander::~Bystander()
{
	stop = true;
	if (thread.joinable())
		thread.join();
}

/* a SEND, a WRITE or a READ from A to B or back */
void Bystander::one()
{
	static const ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ };
	const uint64_t n = count;
	auto &from = n / 3 % 2 ? pair.b : pair.a, &to = n / 3 % 2 ? pair.a : pair.b;
	const auto opcode = opcodes[n % 3];
	const bool read = opcode == IBV_WR_RDMA_READ;
	auto &source = read ? to : from, &target = read ? from : to;

	pattern_fill(source.mr.data() + OUT, BYTES, n, 0);
	if (opcode == IBV_WR_SEND)
		to.qp.recv(n, { to.mr.sge(IN, BYTES) });
	Work(n, opcode, { from.mr.sge(read ? IN : OUT, BYTES) })
		.remote(to.mr.addr(read ? OUT : IN), to.mr.rkey())
		.post(from.qp);
	from.send_cq.expect(n, IBV_WC_SUCCESS, PATIENCE_MS);
	if (opcode == IBV_WR_SEND) {
		const auto wc = to.recv_cq.expect(n, IBV_WC_SUCCESS, PATIENCE_MS);

		if (wc.byte_len != BYTES || wc.qp_num != to.qp.num())
			fail("bystander: %u bytes for QP 0x%x", wc.byte_len, wc.qp_num);
	}
	expect_pattern("bystander", target.mr.data() + IN, BYTES, n);
	count++;
	moved += BYTES;
	if (mirror)
		*mirror = count.load();
}

void Bystander::untouched() const
{
	for (const auto *end : { &pair.a, &pair.b }) {
		expect_pattern("memory of the bystander that is nobody's target",
			       end->mr.data() + REST, END - REST, REST_KEY);
		if (auto wc = end->send_cq.next(0))
			fail("bystander: a completion of nothing, id %llu",
			     static_cast<unsigned long long>(wc->wr_id));
		if (auto wc = end->recv_cq.next(0))
			fail("bystander: a message of nobody's, id %llu",
			     static_cast<unsigned long long>(wc->wr_id));
	}
	for (const auto *dev : { &devices.a, &devices.b })
		if (auto event = dev->event(0);
		    event && (event->event_type == IBV_EVENT_QP_FATAL ||
			      event->event_type == IBV_EVENT_CQ_ERR ||
			      event->event_type == IBV_EVENT_DEVICE_FATAL ||
			      event->event_type == IBV_EVENT_QP_REQ_ERR ||
			      event->event_type == IBV_EVENT_QP_ACCESS_ERR))
			fail("bystander: %s", ibv_event_type_str(event->event_type));
}

void Bystander::work(unsigned int n)
{
	while (n--)
		one();
	untouched();
}

void Bystander::start(unsigned int pause_us)
{
	stop = false;
	thread = std::thread([this, pause_us] {
		try {
			while (!stop) {
				one();
				if (count % 64 == 0)
					untouched();
				if (pause_us)
					sleep_us(pause_us);
			}
			untouched();
		} catch (const std::exception &e) {
			what = e.what();
			bad = true;
		}
	});
}

void Bystander::rest()
{
	stop = true;
	if (thread.joinable())
		thread.join();
	if (bad)
		fail("%s", what.c_str());
}

void Bystander::verdict(Tap &tap, const PairConfig &config)
{
	tap.run("the bystander has worked all the time and still does", [&] {
		rest();
		work(100);
		Tap::note("bystander: %llu messages", static_cast<unsigned long long>(messages()));
	});
	tap.run("a new process can work", [&] {
		Bystander fresh(devices, config);

		fresh.work(100);
	});
}

} // namespace st
