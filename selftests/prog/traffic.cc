// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Traffic between two processes over RC queue pairs: random operations, sizes
 * and scatter/gather lists, many under way, every byte checked.
 *
 *	traffic --dev sk0 --gid v4 --listen --port 7471
 *	traffic --dev sk1 --gid v4 --connect 10.0.0.1 --port 7471 --count 1000
 *
 * The connecting side's settings hold for both (--dev, --gid, --events and
 * --depth are each side's own). Prints one line, with the longest time in which
 * nothing moved on any QP; exit status 0 if all was right.
 */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "lib/exchange.hh"
#include "lib/fail.hh"
#include "lib/flow.hh"
#include "lib/ids.hh"
#include "lib/options.hh"
#include "lib/pattern.hh"
#include "lib/verbs.hh"

using namespace st;

namespace
{

/* what the connecting side decides; goes over the wire as it is */
struct Settings {
	uint64_t seed, count, reverse_count;
	uint32_t qps, ops, max_size, min_size, large_percent, mtu, psn, timeout, retry, rnr,
		rnr_timer;
	uint32_t rd_atomic, ignore_recv_credits, sl, tclass;
};

/* what each side can do */
struct Caps {
	uint32_t max_sge, max_inline, rd_atomic, recv_depth, depth;
};

/* the QP over which both sides tell how far they have checked */
class CreditLine
{
public:
	static constexpr uint32_t DEPTH = 64;

	CreditLine(const Device &dev, const Pd &pd, const Cq &cq)
		: mr(pd, 3 * DEPTH * sizeof(Credit)),
		  qp(dev, pd, cq, cq, { DEPTH, 2 * DEPTH, 1, 1, 0, 0 })
	{
	}

	void connect(const QpLink &link, const QpAddress &peer)
	{
		qp.to_init(link);
		for (uint32_t i = 0; i < 2 * DEPTH; i++)
			post_recv(i);
		qp.to_rtr(link, peer);
		qp.to_rts(link);
	}

	QpAddress address(const QpLink &link) const { return qp.address(link); }

	bool idle() const { return under_way == 0; }

	bool room() const { return under_way < DEPTH; }

	void send(const Credit &credit)
	{
		auto slot = 2 * DEPTH + count++ % DEPTH;

		std::memcpy(mr.data() + slot * sizeof(Credit), &credit, sizeof(Credit));
		Work(make_id(Kind::CREDIT_SEND, 0, 0), IBV_WR_SEND,
		     { mr.sge(slot * sizeof(Credit), sizeof(Credit)) })
			.post(qp);
		under_way++;
	}

	void on_send(const ibv_wc &wc)
	{
		if (wc.status)
			fail("sending a credit: %s", ibv_wc_status_str(wc.status));
		under_way--;
	}

	Credit on_recv(const ibv_wc &wc)
	{
		auto slot = id_number(wc.wr_id);
		Credit credit;

		if (wc.status)
			fail("receiving a credit: %s", ibv_wc_status_str(wc.status));
		if (wc.byte_len != sizeof(credit))
			fail("a credit of %u bytes", wc.byte_len);
		std::memcpy(&credit, mr.data() + slot * sizeof(Credit), sizeof(credit));
		post_recv(slot);
		return credit;
	}

private:
	void post_recv(uint64_t slot)
	{
		qp.recv(make_id(Kind::CREDIT_RECV, 0, slot),
			{ mr.sge(slot * sizeof(Credit), sizeof(Credit)) });
	}

	Mr mr;
	Qp qp;
	uint32_t under_way = 0;
	uint64_t count = 0;
};

class Traffic
{
public:
	Traffic(Options &opt);
	void run();

private:
	Settings agree(Options &opt);
	void build();
	void handle(const ibv_wc &wc);
	bool step();
	bool finished() const;
	void rest();
	void check_shared_cell() const;
	void report(double seconds, uint64_t longest_rest) const;
	[[noreturn]] void stalled() const;

	Device dev;
	bool active;
	bool events;
	uint32_t stall_seconds;
	Exchange peer;
	Settings set;
	QpLink link;
	Pd pd;
	Caps caps;
	std::unique_ptr<Cq> cq;
	std::unique_ptr<Mr> read, cells;
	std::unique_ptr<FlowShared> shared;
	std::unique_ptr<CreditLine> credits;
	std::vector<std::unique_ptr<Flow>> flows;
};

Exchange meet(Options &opt)
{
	auto port = opt.number("port", 7471);
	auto host = opt.text("connect", "");

	return opt.flag("listen") ? Exchange::listen(port) : Exchange::connect(host, port);
}

Traffic::Traffic(Options &opt)
	: dev(opt.text("dev", "sk0")), active(!opt.flag("listen")), events(opt.flag("events")),
	  stall_seconds(opt.number("stall", 30)), peer(meet(opt)), set(agree(opt)), pd(dev)
{
	auto limit = [](uint64_t want, uint64_t have) { return want < have ? want : have; };
	auto &attr = dev.attr();

	link.gid_index = dev.gid_index(opt.text("gid", "v4"));
	caps.max_sge = limit(opt.number("sges", 32), attr.max_sge);
	caps.max_inline = opt.number("inline", 256);
	caps.depth = opt.number("depth", 32);
	caps.recv_depth = opt.number("recv-depth", 16);
	caps.rd_atomic = limit(set.rd_atomic, limit(attr.max_qp_rd_atom, attr.max_qp_init_rd_atom));
	opt.done();
	link.mtu = mtu_enum(set.mtu);
	if (link.mtu > dev.port().active_mtu)
		fail("path MTU %u is more than the port's", set.mtu);
	link.timeout = set.timeout;
	link.retry = set.retry;
	link.rnr_retry = set.rnr;
	link.min_rnr = set.rnr_timer;
	link.psn = set.psn;
	link.sl = set.sl;
	link.tclass = set.tclass;
	build();
}

Settings Traffic::agree(Options &opt)
{
	Settings s = {};

	s.seed = opt.number("seed", 1);
	s.count = opt.number("count", 1000);
	s.reverse_count = opt.number("reverse-count", s.count);
	s.qps = opt.number("qps", 1);
	s.ops = parse_ops(opt.text("ops", "all"));
	s.max_size = opt.number("max", 1 << 20);
	s.min_size = opt.number("min", 0);
	s.large_percent = opt.number("large", 5);
	s.mtu = opt.number("mtu", 1024);
	s.psn = opt.number("psn", 0x123456);
	s.timeout = opt.number("timeout", 14);
	s.retry = opt.number("retry", 7);
	s.rnr = opt.number("rnr", 7);
	s.rnr_timer = opt.number("rnr-timer", 12);
	s.rd_atomic = opt.number("rd-atomic", 8);
	s.ignore_recv_credits = opt.flag("no-recv-credits");
	s.sl = opt.number("sl", 0);
	s.tclass = opt.number("tclass", 0);
	auto theirs = peer.swap(s);
	return active ? s : theirs;
}

void Traffic::build()
{
	auto other = peer.swap(caps);
	auto sges = std::min(caps.max_sge, other.max_sge);
	PlanParams plan = { set.seed,	  set.count,
			    set.ops,	  set.max_size,
			    set.min_size, set.large_percent,
			    set.mtu,	  std::min(caps.max_inline, other.max_inline),
			    sges };
	PlanParams back = plan;

	link.rd_atomic = std::min(caps.rd_atomic, other.rd_atomic);
	back.seed ^= 0xb;
	back.count = set.reverse_count;
	if (!active)
		std::swap(plan, back);
	cq = std::make_unique<Cq>(dev, set.qps * (caps.depth + caps.recv_depth) + 256, events);
	read = std::make_unique<Mr>(pd, plan.read_bytes());
	pattern_fill(read->data(), read->size(), read_key(plan.seed), 0);
	cells = std::make_unique<Mr>(pd, sizeof(uint64_t) * (CELLS * set.qps + 1));
	shared.reset(new FlowShared{ dev, pd, *cq, plan, back, caps.depth, caps.recv_depth,
				     !!set.ignore_recv_credits, *read, *cells });
	credits = std::make_unique<CreditLine>(dev, pd, *cq);
	/* not in the data's class, which may be stopped */
	auto plain = link;
	plain.sl = plain.tclass = 0;
	credits->connect(plain, peer.swap(credits->address(plain)));
	for (uint32_t i = 0; i < set.qps; i++) {
		flows.push_back(std::make_unique<Flow>(*shared, i));
		flows[i]->connect(link, peer.swap(flows[i]->address(link)));
	}
	peer.barrier(1);
}

void Traffic::handle(const ibv_wc &wc)
{
	auto &flow = *flows.at(id_flow(wc.wr_id));

	switch (id_kind(wc.wr_id)) {
	case Kind::SEND:
		return flow.on_send(wc);
	case Kind::RECV:
		return flow.on_recv(wc);
	case Kind::CREDIT_SEND:
		return credits->on_send(wc);
	case Kind::CREDIT_RECV:
		auto credit = credits->on_recv(wc);
		flows.at(credit.flow)->on_credit(credit);
	}
}

/* true if anything moved */
bool Traffic::step()
{
	ibv_wc wc[16];
	int n = cq->poll(wc, std::size(wc));
	bool moved = n > 0;

	for (int i = 0; i < n; i++)
		handle(wc[i]);
	for (auto &flow : flows) {
		moved |= flow->pump();
		if (flow->credit_due() && credits->room())
			credits->send(flow->take_credit());
	}
	return moved;
}

bool Traffic::finished() const
{
	for (auto &flow : flows)
		if (!flow->sent_all() || !flow->received_all() || flow->credit_due())
			return false;
	return credits->idle();
}

void Traffic::stalled() const
{
	std::string text;

	for (auto &flow : flows)
		text += "\n  " + flow->state();
	fail("nothing moved for %u s%s", stall_seconds, text.c_str());
}

/* nothing to do: let others run, or sleep until there is an event */
void Traffic::rest()
{
	if (!events) {
		sleep_us(10);
		return;
	}
	cq->arm();
	if (!step())
		cq->wait(1000);
}

void Traffic::check_shared_cell() const
{
	uint64_t sum = 0, have;

	for (auto &flow : flows)
		sum += flow->peer_shared_sum();
	std::memcpy(&have, cells->data() + cells->size() - sizeof(have), sizeof(have));
	if (have != sum)
		fail("the peer's atomics on the shared cell made 0x%llx, not 0x%llx",
		     static_cast<unsigned long long>(have), static_cast<unsigned long long>(sum));
}

void Traffic::report(double seconds, uint64_t longest_rest) const
{
	Tally tx, rx;
	std::string ops;

	for (auto &flow : flows) {
		tx.messages += flow->sent().messages;
		tx.bytes += flow->sent().bytes;
		rx.messages += flow->received().messages;
		rx.bytes += flow->received().bytes;
		for (int i = 0; i < OPS; i++)
			tx.by_op[i] += flow->sent().by_op[i];
	}
	for (int i = 0; i < OPS; i++)
		if (tx.by_op[i])
			ops += format(" %s %llu", op_name(static_cast<Op>(i)),
				      static_cast<unsigned long long>(tx.by_op[i]));
	std::printf("traffic: %u QPs, %.1f s, pause %llu ms, sent %llu messages %.1f MB, checked "
		    "%llu messages %.1f MB, MTU %u:%s\n",
		    set.qps, seconds, static_cast<unsigned long long>(longest_rest / 1000000),
		    static_cast<unsigned long long>(tx.messages), tx.bytes / 1e6,
		    static_cast<unsigned long long>(rx.messages), rx.bytes / 1e6, set.mtu,
		    ops.c_str());
}

void Traffic::run()
{
	auto begin = now_ns(), last = begin, looked = begin;
	uint64_t longest_rest = 0;
	unsigned int idle = 0;

	while (!finished()) {
		if (step()) {
			auto now = now_ns();
			longest_rest = std::max(longest_rest, now - last);
			last = now;
			idle = 0;
			continue;
		}
		if (++idle < 20)
			continue;
		rest();
		auto now = now_ns();
		if (now - last > stall_seconds * 1000000000ULL)
			stalled();
		if (now - looked > 1000000000ULL && now - last > 1000000000ULL) {
			looked = now;
			if (peer.gone())
				fail("the peer has gone");
		}
	}
	auto end = now_ns();
	peer.barrier(2);
	for (auto &flow : flows)
		flow->check_cells();
	check_shared_cell();
	peer.barrier(3);
	report((end - begin) / 1e9, longest_rest);
}

} // namespace

int main(int argc, char **argv)
{
	try {
		Options opt(argc, argv);

		Traffic(opt).run();
	} catch (const std::exception &e) {
		std::fprintf(stderr, "traffic: %s\n", e.what());
		return 1;
	}
	return 0;
}
