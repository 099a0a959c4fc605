// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * One flow of many that meet at a bottleneck: a QP that carries data from a source to
 * a sink for a time, as fast as it may, every byte checked.
 *
 *	incast --dev sd --listen --port 7471				the sink
 *	incast --dev s1 --connect 10.78.0.2 --port 7471 --ms 5000	the source
 *
 * The source's settings hold for both. --op read: the sink READs from the source; else
 * the source SENDs. Connected, both say "ready"; with --start FILE they begin at the time
 * that they find there, in ms of the monotonic clock. The sink prints "bin MS BYTES"
 * for each --bin ms of the time since then, and both a line in the end. Exit status 0 if all that came was right and, but for UC, all came.
 */
#include <arpa/inet.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include "lib/exchange.hh"
#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/pattern.hh"
#include "lib/verbs.hh"

using namespace st;

namespace
{

constexpr uint64_t MS = 1000000;
constexpr int PATIENCE = 30000;	 /* ms that nothing may move */
constexpr int LAST_WORD = 10000; /* ms that what was sent may take to come */

/* what the source decides; goes over the wire as it is */
struct Settings {
	uint64_t key, ms, bin;
	uint32_t size, depth, mtu, timeout, tclass, read, uc;
};

/* where the source's data is */
struct Region {
	uint64_t addr;
	uint32_t rkey;
};

class Incast
{
public:
	explicit Incast(Options &opt);
	void run();

private:
	Settings agree(Options &opt);
	void connect();
	void wait_for_start();
	bool over() const { return now_ns() >= begin + set.ms * MS; }
	/* the next completion within ms; asleep until then, for there are many of us */
	std::optional<ibv_wc> next(int ms) const;
	ibv_wc good() const;
	/* a message's place in the stream */
	uint64_t place(uint64_t number) const;
	void send(uint64_t number);
	void read(uint64_t number);
	void recv(uint64_t number);
	void check(uint64_t number);
	void source();
	void sink_sends();
	void sink_reads();
	void report() const;

	Device dev;
	bool sink;
	Exchange peer;
	Settings set;
	std::string start;
	uint64_t begin = 0;
	QpLink link;
	Pd pd;
	Cq cq;
	Mr mr;
	Qp qp;
	Region remote = {};
	uint64_t messages = 0, lost = 0;
	std::vector<uint64_t> bins;
};

Exchange meet(Options &opt)
{
	auto port = opt.number("port", 7471);
	auto host = opt.text("connect", "");

	return opt.flag("listen") ? Exchange::listen(port) : Exchange::connect(host, port);
}

QpDepth depth(const Settings &set)
{
	QpDepth depth;

	depth.send = depth.recv = set.depth;
	depth.type = set.uc ? IBV_QPT_UC : IBV_QPT_RC;
	return depth;
}

Incast::Incast(Options &opt)
	: dev(opt.text("dev", "sk0")), sink(opt.flag("listen")), peer(meet(opt)), set(agree(opt)),
	  start(opt.text("start", "")), pd(dev), cq(dev, 2 * set.depth, true),
	  mr(pd, size_t{ set.size } * set.depth), qp(dev, pd, cq, cq, depth(set))
{
	link.gid_index = dev.gid_index(opt.text("gid", "v4"));
	opt.done();
	link.mtu = mtu_enum(set.mtu);
	link.timeout = set.timeout;
	link.tclass = set.tclass;
	connect();
}

Settings Incast::agree(Options &opt)
{
	Settings s = {};

	s.key = opt.number("key", 1);
	s.ms = opt.number("ms", 2000);
	s.bin = opt.number("bin", 100);
	s.size = opt.number("size", 16384);
	s.depth = opt.number("depth", 32);
	s.mtu = opt.number("mtu", 1024);
	s.timeout = opt.number("timeout", 18); /* 1 s */
	s.tclass = opt.number("tclass", 104);
	s.read = opt.text("op", "send") == "read";
	s.uc = opt.text("type", "rc") == "uc";
	auto theirs = peer.swap(s);
	s = sink ? theirs : s;
	if (!s.size || !s.depth || !s.bin || (s.read && s.uc))
		fail("settings that cannot be");
	return s;
}

void Incast::connect()
{
	qp.to_init(link);
	if (set.read && !sink)
		pattern_fill(mr.data(), mr.size(), set.key, 0);
	for (uint32_t i = 0; !set.read && sink && i < set.depth; i++)
		recv(i);
	auto other = peer.swap(qp.address(link));
	qp.to_rtr(link, other);
	qp.to_rts(link);
	remote = peer.swap(Region{ mr.addr(), mr.rkey() });
	peer.barrier(1);
	wait_for_start();
}

void Incast::wait_for_start()
{
	std::printf("ready\n");
	std::fflush(stdout);
	begin = now_ns();
	if (start.empty())
		return;
	for (uint64_t at = 0;; sleep_us(2000))
		if (std::ifstream(start) >> at) {
			begin = at * MS;
			break;
		}
	while (now_ns() < begin)
		sleep_us(1000);
}

std::optional<ibv_wc> Incast::next(int ms) const
{
	auto end = now_ns() + ms * MS;
	ibv_wc wc;

	for (auto now = now_ns(); now < end; now = now_ns()) {
		if (cq.poll(&wc, 1))
			return wc;
		cq.arm();
		if (cq.poll(&wc, 1))
			return wc;
		cq.wait(static_cast<int>((end - now + MS - 1) / MS));
	}
	return {};
}

ibv_wc Incast::good() const
{
	auto wc = next(PATIENCE);

	if (!wc)
		fail("no completion within %d ms", PATIENCE);
	if (wc->status)
		fail("a completion: %s", ibv_wc_status_str(wc->status));
	return *wc;
}

/* what is READ is there beforehand; what is sent is new each time */
uint64_t Incast::place(uint64_t number) const
{
	return (set.read ? number % set.depth : number) * set.size;
}

void Incast::send(uint64_t number)
{
	auto offset = number % set.depth * set.size;

	pattern_fill(mr.data() + offset, set.size, set.key, place(number));
	Work(number, IBV_WR_SEND_WITH_IMM, { mr.sge(offset, set.size) })
		.imm(static_cast<uint32_t>(number))
		.post(qp);
}

void Incast::read(uint64_t number)
{
	auto offset = number % set.depth * set.size;

	/* nothing of the last round may be taken for this one's */
	pattern_fill(mr.data() + offset, set.size, ~set.key, number);
	Work(number, IBV_WR_RDMA_READ, { mr.sge(offset, set.size) })
		.remote(remote.addr + place(number), remote.rkey)
		.post(qp);
}

void Incast::recv(uint64_t number)
{
	qp.recv(number, { mr.sge(number % set.depth * set.size, set.size) });
}

/* at the sink: the message is all there, in the buffer of its work request */
void Incast::check(uint64_t slot)
{
	auto *data = mr.data() + slot % set.depth * set.size;
	auto now = now_ns();
	auto bin = now < begin ? 0 : (now - begin) / (set.bin * MS);

	if (pattern_check(data, set.size, set.key, place(messages + lost)) != set.size)
		fail("message %llu is wrong", static_cast<unsigned long long>(messages + lost));
	messages++;
	if (bin >= bins.size())
		bins.resize(bin + 1);
	bins[bin] += set.size;
}

void Incast::source()
{
	uint64_t posted = 0;

	while (!set.read && (!over() || messages < posted)) {
		while (!over() && posted < messages + set.depth)
			send(posted++);
		good();
		messages++;
	}
	peer.put(&posted, sizeof(posted));
	peer.barrier(2);
}

/* until the source has said how many there were, and they are here, or it is over */
void Incast::sink_sends()
{
	std::optional<uint64_t> count;
	uint64_t posted = set.depth;

	while (!count || messages + lost < *count) {
		bool waited = count.has_value();
		auto wc = next(waited ? LAST_WORD : 50);

		if (!waited && peer.spoken())
			peer.get(&count.emplace(), sizeof(uint64_t));
		if (wc) {
			if (wc->status)
				fail("a receive failed: %s", ibv_wc_status_str(wc->status));
			if (set.uc)
				lost += ntohl(wc->imm_data) - messages - lost;
			check(wc->wr_id);
			recv(posted++);
		} else if (waited && set.uc) {
			lost = *count - messages;
		} else if (waited) {
			fail("message %llu of %llu did not come",
			     static_cast<unsigned long long>(messages),
			     static_cast<unsigned long long>(*count));
		}
	}
	peer.barrier(2);
}

void Incast::sink_reads()
{
	uint64_t posted = 0, none;

	while (!over() || messages < posted) {
		while (!over() && posted < messages + set.depth)
			read(posted++);
		check(good().wr_id);
	}
	peer.get(&none, sizeof(none));
	peer.barrier(2);
}

void Incast::report() const
{
	for (size_t i = 0; sink && i < bins.size(); i++)
		std::printf("bin %llu %llu\n", static_cast<unsigned long long>(i * set.bin),
			    static_cast<unsigned long long>(bins[i]));
	std::printf("incast: qpn %#x messages %llu lost %llu\n", qp.num(),
		    static_cast<unsigned long long>(messages),
		    static_cast<unsigned long long>(lost));
}

void Incast::run()
{
	if (!sink)
		source();
	else if (set.read)
		sink_reads();
	else
		sink_sends();
	/* CNPs may still be on their way to the QP */
	sleep_us(200000);
	report();
}

} // namespace

int main(int argc, char **argv)
{
	try {
		Options opt(argc, argv);

		Incast(opt).run();
	} catch (const std::exception &e) {
		std::fprintf(stderr, "incast: %s\n", e.what());
		return 1;
	}
	return 0;
}
