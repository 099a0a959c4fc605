// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * XRC: all operations to two SRQs with a domain, a CQ and memory each, through one
 * target; what the packets say; a domain that processes share; SRQs that are not
 * there, not reachable, empty, or destroyed inside a message.
 */
#include "lib/bench.hh"
#include "lib/pattern.hh"
#include "lib/rng.hh"
#include "lib/xrc.hh"
#include "xrc_peer.hh"

#include <arpa/inet.h>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace st;

namespace
{

constexpr uint32_t BYTES = 1 << 16;
constexpr uint8_t XRC = 0xa0;

/* where an SRQ is: memory, completions and the queue, all of its own */
struct Site {
	Site(const Device &dev, const Xrcd &xrcd, bool channel = false)
		: pd(dev), cq(dev, 256, channel), mr(pd, BYTES), srq(pd, cq, xrcd)
	{
	}

	Pd pd;
	Cq cq;
	Mr mr;
	XrcSrq srq;
};

/* an initiator at a, a target at b */
struct Line {
	explicit Line(Bench &bench, bool channel = false)
		: bench(bench), pd(bench.devices.a), cq(bench.devices.a, 256), mr(pd, BYTES),
		  initiator(bench.devices.a, make_initiator(pd, cq, 256)), xrcd(bench.devices.b),
		  sites{ { bench.devices.b, xrcd, channel }, { bench.devices.b, xrcd, channel } },
		  target(bench.devices.b, make_target(bench.devices.b, xrcd))
	{
		join(bench.devices, bench.config, initiator, target);
	}

	Work work(uint64_t id, ibv_wr_opcode opcode, uint32_t bytes, uint32_t srqn)
	{
		return Work(id, opcode, { mr.sge(0, bytes) }).xrc(srqn);
	}
	void send(uint64_t id, uint32_t bytes, uint32_t srqn)
	{
		pattern_fill(mr.data(), bytes, id, 0);
		work(id, IBV_WR_SEND, bytes, srqn).post(initiator);
	}
	/* a message that arrives in the request with this id */
	void deliver(Site &site, uint64_t id, uint32_t bytes)
	{
		site.srq.post(id, site.mr.sge(0, BYTES));
		send(id, bytes, site.srq.num());
		cq.expect(id, IBV_WC_SUCCESS);
		arrived(site, id, bytes);
	}
	ibv_wc arrived(Site &site, uint64_t id, uint32_t bytes)
	{
		const auto wc = site.cq.expect(id, IBV_WC_SUCCESS);

		if (wc.qp_num != target.num() || wc.src_qp != initiator.num())
			fail("the completion names QPs %#x and %#x", wc.qp_num, wc.src_qp);
		if (wc.byte_len != bytes)
			fail("%u bytes instead of %u", wc.byte_len, bytes);
		check(site.mr, bytes, id);
		return wc;
	}
	static void check(const Mr &mr, uint32_t bytes, uint64_t key)
	{
		if (size_t at = pattern_check(mr.data(), bytes, key, 0); at != bytes)
			fail("byte %zu of %u is wrong", at, bytes);
	}

	Bench &bench;
	Pd pd;
	Cq cq;
	Mr mr;
	Qp initiator;
	Xrcd xrcd;
	Site sites[2];
	Qp target;
};

const uint32_t sizes[] = { 0, 1, 7, 1023, 1024, 1025, 2048, 5000, BYTES };

void with_imm(Line &line, Site &site, uint64_t id, ibv_wr_opcode opcode, uint32_t bytes)
{
	const bool write = opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	site.srq.post(id, site.mr.sge(0, BYTES));
	pattern_fill(line.mr.data(), bytes, id, 0);
	line.work(id, opcode, bytes, site.srq.num())
		.remote(site.mr.addr(), site.mr.rkey())
		.imm(uint32_t(id) * 77)
		.post(line.initiator);
	line.cq.expect(id, IBV_WC_SUCCESS);
	const auto wc = line.arrived(site, id, bytes);
	if (!(wc.wc_flags & IBV_WC_WITH_IMM) || ntohl(wc.imm_data) != uint32_t(id) * 77 ||
	    wc.opcode != (write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV))
		fail("the completion is another one's");
}

void one_sided(Line &line, Site &site, uint64_t id, uint32_t bytes)
{
	pattern_fill(line.mr.data(), bytes, id, 0);
	line.work(id, IBV_WR_RDMA_WRITE, bytes, site.srq.num())
		.remote(site.mr.addr(), site.mr.rkey())
		.post(line.initiator);
	line.cq.expect(id, IBV_WC_SUCCESS);
	line.check(site.mr, bytes, id);
	pattern_fill(site.mr.data(), bytes, id + 1, 0);
	line.work(id, IBV_WR_RDMA_READ, bytes, site.srq.num())
		.remote(site.mr.addr(), site.mr.rkey())
		.post(line.initiator);
	line.cq.expect(id, IBV_WC_SUCCESS);
	line.check(line.mr, bytes, id + 1);
}

void atomics(Line &line, Site &site, uint64_t id)
{
	auto *there = reinterpret_cast<volatile uint64_t *>(site.mr.data());
	auto *here = reinterpret_cast<volatile uint64_t *>(line.mr.data());

	*there = 40;
	line.work(id, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, site.srq.num())
		.atomic(site.mr.addr(), site.mr.rkey(), id)
		.post(line.initiator);
	line.cq.expect(id, IBV_WC_SUCCESS);
	if (*here != 40 || *there != 40 + id)
		fail("FETCH_ADD");
	line.work(id, IBV_WR_ATOMIC_CMP_AND_SWP, 8, site.srq.num())
		.atomic(site.mr.addr(), site.mr.rkey(), 40 + id, 7)
		.post(line.initiator);
	line.cq.expect(id, IBV_WC_SUCCESS);
	if (*here != 40 + id || *there != 7)
		fail("COMPARE_SWAP");
}

void everything(Line &line)
{
	uint64_t id = 1;

	for (uint32_t bytes : sizes) {
		for (Site &site : line.sites) {
			line.deliver(site, id++, bytes);
			with_imm(line, site, id++, IBV_WR_SEND_WITH_IMM, bytes);
			with_imm(line, site, id++, IBV_WR_RDMA_WRITE_WITH_IMM, bytes);
			one_sided(line, site, id++, bytes);
			atomics(line, site, id++);
		}
	}
}

void operations(Bench &bench)
{
	Line line(bench);

	everything(line);
}

/* requests name one of the SRQs right behind the BTH, responses none */
void packets(Bench &bench)
{
	Line line(bench);
	size_t requests = 0, responses = 0;

	bench.wire.forget();
	everything(line);
	for (const Packet &p : bench.wire.take()) {
		const uint8_t op = p.bth.opcode & 0x1f;

		if (p.bth.qpn != (p.to_b ? line.target : line.initiator).num())
			continue;
		if ((p.bth.opcode & 0xe0) != XRC || !p.icrc_good())
			fail("opcode %#x, or a wrong ICRC", p.bth.opcode);
		if (p.to_b) {
			const uint32_t srqn = get24(p.body() + 1);

			if (p.body_bytes < 4 || p.body()[0] ||
			    (srqn != line.sites[0].srq.num() && srqn != line.sites[1].srq.num()))
				fail("opcode %#x names SRQ %#x", p.bth.opcode, srqn);
			requests++;
		} else {
			if (op == RC_ACK && p.body_bytes != 4)
				fail("an ACK of %zu bytes", p.body_bytes);
			if (op == RC_ATOMIC_ACK && p.body_bytes != 12)
				fail("an atomic's answer of %zu bytes", p.body_bytes);
			responses++;
		}
	}
	if (requests < 100 || responses < 100)
		fail("%zu requests and %zu responses seen", requests, responses);
}

/* every tenth packet is lost, either way, not at regular intervals */
void loss(Bench &bench)
{
	Line line(bench);
	Rng rng(10);

	bench.wire.rule([&rng](const Packet &, Bytes &) {
		return rng.percent(10) ? Verdict::DROP : Verdict::PASS;
	});
	everything(line);
	bench.wire.no_rule();
}

/* ibv_wr_set_xrc_srqn(), and data inline */
void builders(Bench &bench)
{
	Line line(bench);
	ibv_qp_init_attr_ex init = {};
	char text[] = "for the second one";

	init.send_cq = line.cq.get();
	init.cap = { 4, 0, 1, 0, 64 };
	init.qp_type = IBV_QPT_XRC_SEND;
	init.pd = line.pd.get();
	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE;
	Qp qp(bench.devices.a, ibv_create_qp_ex(bench.devices.a.get(), &init));
	Qp target(bench.devices.b, make_target(bench.devices.b, line.xrcd));
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp.get());

	join(bench.devices, bench.config, qp, target);
	line.sites[1].srq.post(9, line.sites[1].mr.sge(0, 64));
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	for (int i = 0; i < 2; i++) {
		Site &site = line.sites[i];

		ex->wr_id = i;
		if (i)
			ibv_wr_send(ex);
		else
			ibv_wr_rdma_write(ex, site.mr.rkey(), site.mr.addr(100));
		ibv_wr_set_xrc_srqn(ex, site.srq.num());
		ibv_wr_set_inline_data(ex, text, sizeof(text));
	}
	if (int err = ibv_wr_complete(ex))
		fail_errno("ibv_wr_complete", err);
	line.cq.expect(0, IBV_WC_SUCCESS);
	line.cq.expect(1, IBV_WC_SUCCESS);
	line.sites[1].cq.expect(9, IBV_WC_SUCCESS);
	if (memcmp(line.sites[0].mr.data() + 100, text, sizeof(text)) ||
	    memcmp(line.sites[1].mr.data(), text, sizeof(text)))
		fail("it arrived otherwise");
}

/* a burst for both: each CQ's event is raised */
void events(Bench &bench)
{
	Line line(bench, true);

	for (int round = 0; round < 20; round++) {
		for (Site &site : line.sites) {
			site.cq.arm();
			for (int i = 0; i < 4; i++)
				site.srq.post(i, site.mr.sge(0, 64));
		}
		bench.wire.rule([](const Packet &p, Bytes &) {
			return p.to_b ? Verdict::HOLD : Verdict::PASS;
		});
		for (int i = 0; i < 8; i++)
			line.work(i, IBV_WR_SEND, 8, line.sites[i % 2].srq.num())
				.post(line.initiator);
		while (bench.wire.held() < 8)
			sleep_us(200);
		/* together: what comes in one softirq is worked off in one go */
		bench.wire.no_rule();
		bench.wire.release();
		for (Site &site : line.sites) {
			if (!site.cq.wait(5000))
				fail("round %d: no event of one of the CQs", round);
			for (int i = 0; i < 4; i++)
				site.cq.expect(i, IBV_WC_SUCCESS);
		}
		for (int i = 0; i < 8; i++)
			line.cq.expect(i, IBV_WC_SUCCESS);
	}
}

void runs_dry(Bench &bench)
{
	Line line(bench);
	Site &empty = line.sites[0];
	const auto rnr = [](const Packet &p) {
		return !p.to_b && p.bth.opcode == (XRC | RC_ACK) && (p.syndrome() & 0x60) == 0x20;
	};

	bench.wire.forget();
	line.send(3, 3000, empty.srq.num());
	if (!bench.wire.wait_for(rnr, 2, 5000))
		fail("no RNR NAK");
	if (line.cq.next(50))
		fail("a SEND completed without a receive request");
	/* the other one's requests are not for it */
	line.sites[1].srq.post(1, line.sites[1].mr.sge(0, BYTES));
	if (line.cq.next(100))
		fail("it took another SRQ's request");
	empty.srq.post(3, empty.mr.sge(0, BYTES));
	line.cq.expect(3, IBV_WC_SUCCESS);
	line.arrived(empty, 3, 3000);
}

/* the initiator is told "remote access error", the target by an event */
void refused(Line &line, Work work)
{
	line.bench.devices.drain();
	work.post(line.initiator);
	line.cq.expect(5, IBV_WC_REM_ACCESS_ERR);
	if (!line.bench.devices.b.wait_event(IBV_EVENT_QP_ACCESS_ERR, 2000))
		fail("no event at the target");
	if (line.target.state() != IBV_QPS_ERR || line.initiator.state() != IBV_QPS_ERR)
		fail("a QP is not in the error state");
}

void no_such_srq(Bench &bench)
{
	for (uint32_t off : { 1U << 20, 0U }) {
		Line line(bench);
		const uint32_t srqn = off ? line.sites[0].srq.num() ^ off : 0;

		refused(line, line.work(5, IBV_WR_SEND, 8, srqn));
	}
	Line line(bench);

	refused(line, line.work(5, IBV_WR_RDMA_WRITE, 8, 0xfffffe)
			      .remote(line.sites[0].mr.addr(), line.sites[0].mr.rkey()));
}

void other_domain(Bench &bench)
{
	Line line(bench);
	Xrcd elsewhere(bench.devices.b);
	Site site(bench.devices.b, elsewhere);

	site.srq.post(1, site.mr.sge(0, 64));
	refused(line, line.work(5, IBV_WR_SEND, 8, site.srq.num()));
	if (site.cq.next(50))
		fail("it arrived all the same");
}

/* keys are of the domain of the SRQ that is named, and no other */
void other_pd(Bench &bench)
{
	for (auto opcode : { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ }) {
		Line line(bench);
		Mr &mr = line.sites[1].mr;

		refused(line, line.work(5, opcode, 8, line.sites[0].srq.num())
				      .remote(mr.addr(), mr.rkey()));
	}
	Line line(bench);
	Mr &mr = line.sites[1].mr;

	refused(line, Work(5, IBV_WR_ATOMIC_FETCH_AND_ADD, { line.mr.sge(0, 8) })
			      .xrc(line.sites[0].srq.num())
			      .atomic(mr.addr(), mr.rkey(), 1));
}

/* the first packet has taken a request when the SRQ goes */
void destroyed_inside(Bench &bench)
{
	Line line(bench);
	Site &site = line.sites[0];
	const auto last = [](const Packet &p, Bytes &) {
		return p.to_b && p.bth.opcode == (XRC | RC_SEND_LAST) ? Verdict::HOLD
								      : Verdict::PASS;
	};

	site.srq.post(1, site.mr.sge(0, BYTES));
	bench.wire.rule(last);
	bench.devices.drain();
	line.send(5, 3000, site.srq.num());
	while (!bench.wire.held())
		sleep_us(500);
	if (int err = site.srq.destroy())
		fail_errno("ibv_destroy_srq", err);
	bench.wire.no_rule();
	bench.wire.release();
	line.cq.expect(5, IBV_WC_REM_ACCESS_ERR);
	if (!bench.devices.b.wait_event(IBV_EVENT_QP_ACCESS_ERR, 2000))
		fail("no event at the target");
	if (site.cq.next(50))
		fail("a completion of an SRQ that has gone");
}

/* a READ is being answered when the SRQ goes, whose domain its key is of */
void destroyed_inside_read(Bench &bench)
{
	Line line(bench);
	Site &site = line.sites[0];

	bench.wire.rule([](const Packet &p, Bytes &) {
		const uint8_t op = p.bth.opcode & 0x1f;

		return op >= RC_READ_FIRST && op <= RC_READ_ONLY ? Verdict::DROP : Verdict::PASS;
	});
	line.work(5, IBV_WR_RDMA_READ, BYTES, site.srq.num())
		.remote(site.mr.addr(), site.mr.rkey())
		.post(line.initiator);
	if (!bench.wire.wait_for([](const Packet &p) { return !p.to_b; }, 1, 5000))
		fail("no answer");
	if (int err = site.srq.destroy())
		fail_errno("ibv_destroy_srq", err);
	bench.wire.no_rule();
	/* it comes again, by the timer */
	line.cq.expect(5, IBV_WC_REM_ACCESS_ERR);
}

/* an error inside a message is told by the request that it has taken */
void too_long(Bench &bench)
{
	Line line(bench);
	Site &site = line.sites[1];

	site.srq.post(8, site.mr.sge(0, 2000));
	line.send(5, 3000, site.srq.num());
	line.cq.expect(5, IBV_WC_REM_INV_REQ_ERR);
	site.cq.expect(8, IBV_WC_LOC_LEN_ERR);
	if (bench.devices.b.wait_event(IBV_EVENT_QP_LAST_WQE_REACHED, 100))
		fail("LAST_WQE_REACHED of a target");
}

/* what is in the error state is as good as new after RESET */
void again(Bench &bench)
{
	Line line(bench);

	line.work(5, IBV_WR_SEND, 8, 0).post(line.initiator);
	line.cq.expect(5, IBV_WC_REM_ACCESS_ERR);
	for (const Qp *qp : { &line.initiator, &line.target })
		if (int err = qp->try_state(IBV_QPS_RESET))
			fail_errno("to RESET", err);
	join(bench.devices, bench.config, line.initiator, line.target);
	line.deliver(line.sites[0], 6, 5000);
}

/*
 * every opcode of the service, in turn or out of it, with an SRQ that is there or is
 * not, to either side: whatever they think of it, both are there afterwards
 */
void hostile(Bench &bench)
{
	Line line(bench);
	Rng rng(36);
	Path path;

	path.source_mac = Path::mac("02:00:00:77:01:01");
	path.dest_mac = Path::mac("02:00:00:77:01:02");
	path.addresses("10.77.1.1", "10.77.1.2");
	for (int i = 0; i < 400; i++) {
		const bool to_b = i % 4;
		const uint32_t srqns[] = { line.sites[0].srq.num(), line.sites[1].srq.num(), 0,
					   0xffffff };
		Bth bth;
		Bytes body;

		if (i % 20 == 0) {
			for (const Qp *qp : { &line.initiator, &line.target })
				if (int err = qp->try_state(IBV_QPS_RESET))
					fail_errno("to RESET", err);
			join(bench.devices, bench.config, line.initiator, line.target);
			line.sites[0].srq.post(i, line.sites[0].mr.sge(0, 2000));
		}
		/* what is in turn fails the QP more often than not, so most is not */
		bth.opcode = XRC | rng.below(32);
		bth.qpn = (to_b ? line.target : line.initiator).num();
		bth.psn = to_b ? line.target.query(IBV_QP_RQ_PSN).rq_psn : 0x111111;
		bth.psn += rng.percent(80) ? 0 : uint32_t(rng.below(5)) - 2;
		bth.psn &= 0xffffff;
		bth.ack_request = true;
		put32(body, srqns[rng.below(4)]);
		/* as lengths have it, or not */
		body.resize(rng.percent(50) ? 4 + 4 * rng.below(12) : 4 + 1024, uint8_t(i));
		const Bytes f = frame(to_b ? path : path.reversed(), bth, body);
		bench.wire.inject(to_b, f);
		sleep_us(1000);
	}
	for (const Qp *qp : { &line.initiator, &line.target })
		if (int err = qp->try_state(IBV_QPS_RESET))
			fail_errno("to RESET", err);
	join(bench.devices, bench.config, line.initiator, line.target);
	/* requests that nobody took are still there: the other queue has none */
	line.deliver(line.sites[1], 7, 5000);
}

void what_there_is_not(Bench &bench)
{
	Line line(bench);
	ibv_recv_wr recv = {}, *bad_recv;
	ibv_send_wr send = {}, *bad_send;
	ibv_srq_init_attr init = {};
	uint32_t number;

	if (!(bench.devices.a.attr().device_cap_flags & IBV_DEVICE_XRC))
		fail("not advertised");
	if (ibv_post_send(line.target.get(), &send, &bad_send) != EINVAL)
		fail("a target sends");
	if (ibv_post_recv(line.target.get(), &recv, &bad_recv) != EINVAL ||
	    ibv_post_recv(line.initiator.get(), &recv, &bad_recv) != EINVAL)
		fail("there is a receive queue");
	if (line.xrcd.close() != EBUSY)
		fail("a domain in use can be closed");
	if (open_target(bench.devices.b, line.xrcd, line.initiator.num()) || errno != EINVAL)
		fail("opening a QP that is no target of the domain");
	init.attr = { 1, 1, 0 };
	ibv_srq *basic = ibv_create_srq(line.pd.get(), &init);
	if (!basic)
		fail_errno("ibv_create_srq");
	const int err = ibv_get_srq_num(basic, &number);
	ibv_destroy_srq(basic);
	if (err != EOPNOTSUPP)
		fail("an ordinary SRQ has a number: %d", err);
	/* requests for a QP of the wrong side are dropped, and answered by nobody */
	const uint64_t before = counter(bench.config.dev_a, "rx_drop_type");
	auto link = bench.config.link_b;
	Qp stray(bench.devices.b, make_initiator(line.sites[0].pd, line.sites[0].cq));

	link.gid_index = bench.devices.b.gid_index(bench.config.gid);
	link.retry = 0;
	auto peer = line.initiator.address(bench.config.link_a);
	peer.gid = bench.devices.a.gid(bench.devices.a.gid_index(bench.config.gid));
	stray.connect(link, peer);
	Work(1, IBV_WR_SEND, { line.sites[0].mr.sge(0, 8) }).xrc(1).post(stray);
	line.sites[0].cq.expect(1, IBV_WC_RETRY_EXC_ERR);
	if (counter(bench.config.dev_a, "rx_drop_type") == before)
		fail("an initiator took a request");
}

/* xrc_peer, another process of the domain */
class Peer
{
public:
	Peer(const std::string &dev, const std::string &file, uint32_t qpn)
	{
		const std::string number = std::to_string(qpn);
		char exe[4096] = {};
		posix_spawn_file_actions_t files;

		if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
			fail_errno("/proc/self/exe");
		const std::string program = std::string(dirname(exe)) + "/xrc_peer";
		const char *argv[] = { program.c_str(), "--dev", dev.c_str(),	 "--file",
				       file.c_str(),	"--qpn", number.c_str(), nullptr };
		int to[2], from[2];

		if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
			fail_errno("pipe2");
		posix_spawn_file_actions_init(&files);
		posix_spawn_file_actions_adddup2(&files, to[0], STDIN_FILENO);
		posix_spawn_file_actions_adddup2(&files, from[1], STDOUT_FILENO);
		const int err = posix_spawn(&pid, argv[0], &files, nullptr,
					    const_cast<char **>(argv), environ);
		posix_spawn_file_actions_destroy(&files);
		::close(to[0]);
		::close(from[1]);
		in = to[1];
		out = from[0];
		if (err)
			fail_errno(program, err);
		get(&ready, sizeof(ready));
	}
	~Peer()
	{
		stop();
		::close(in);
		::close(out);
	}

	/* how many of so many SENDs arrived as they should */
	uint32_t took(uint32_t count)
	{
		if (write(in, &count, sizeof(count)) != sizeof(count))
			fail_errno("xrc_peer");
		get(&count, sizeof(count));
		return count;
	}
	void stop()
	{
		if (pid <= 0)
			return;
		kill(pid, SIGKILL);
		waitpid(pid, nullptr, 0);
		pid = -1;
	}

	XrcPeerReady ready;

private:
	void get(void *data, size_t bytes) const
	{
		if (read(out, data, bytes) != ssize_t(bytes))
			fail("xrc_peer does not answer");
	}

	pid_t pid = -1;
	int in = -1, out = -1;
};

/* a name for the domain */
struct File {
	File()
	{
		char text[] = "/tmp/xrc.XXXXXX";
		const int fd = mkstemp(text);

		if (fd < 0)
			fail_errno("mkstemp");
		close(fd);
		name = text;
	}
	~File() { unlink(name.c_str()); }

	std::string name;
};

/* this process makes the target and goes, the other one lives on it */
void processes(Bench &bench)
{
	File file;
	Pd pd(bench.devices.a), pd_b(bench.devices.b);
	Cq cq(bench.devices.a, 256), cq_b(bench.devices.b, 64);
	Mr mr(pd, BYTES), mr_b(pd_b, BYTES);
	Qp initiator(bench.devices.a, make_initiator(pd, cq));
	Xrcd xrcd(bench.devices.b, file.name);
	XrcSrq srq(pd_b, cq_b, xrcd);
	Qp target(bench.devices.b, make_target(bench.devices.b, xrcd));
	const auto send = [&](uint64_t id, uint32_t srqn) {
		pattern_fill(mr.data(), XRC_PEER_BYTES, id, 0);
		Work(id, IBV_WR_SEND, { mr.sge(0, XRC_PEER_BYTES) }).xrc(srqn).post(initiator);
		return cq.next(20000);
	};
	const auto good = [&](uint64_t id, uint32_t srqn) {
		const auto wc = send(id, srqn);

		if (!wc || wc->status)
			fail("SEND %d: status %d", int(id), wc ? wc->status : -1);
	};

	bench.config.link_a.retry = 1;
	join(bench.devices, bench.config, initiator, target);
	Peer peer(bench.config.dev_b, file.name, target.num());
	for (uint64_t i = 0; i < 8; i++) {
		good(i, peer.ready.srqn);
		srq.post(i, mr_b.sge(0, BYTES));
		good(i, srq.num());
		cq_b.expect(i, IBV_WC_SUCCESS);
		Line::check(mr_b, XRC_PEER_BYTES, i);
	}
	if (int err = target.destroy())
		fail_errno("leaving the target", err);
	for (uint64_t i = 8; i < XRC_PEER_SENDS; i++)
		good(i, peer.ready.srqn);
	if (uint32_t n = peer.took(XRC_PEER_SENDS); n != XRC_PEER_SENDS)
		fail("%u of %u arrived as they should", n, XRC_PEER_SENDS);
	/* with the last process the target goes */
	peer.stop();
	const auto wc = send(1, srq.num());
	if (!wc || wc->status != IBV_WC_RETRY_EXC_ERR)
		fail("after all have gone: status %d", wc ? wc->status : -1);
}

/* the process with the SRQ is killed in the middle; the target is still there */
void killed(Bench &bench)
{
	File file;
	Pd pd(bench.devices.a);
	Cq cq(bench.devices.a, 256);
	Mr mr(pd, BYTES);

	for (int round = 0; round < 5; round++) {
		Qp initiator(bench.devices.a, make_initiator(pd, cq));
		Xrcd xrcd(bench.devices.b, file.name);
		Site site(bench.devices.b, xrcd);
		Qp target(bench.devices.b, make_target(bench.devices.b, xrcd));

		join(bench.devices, bench.config, initiator, target);
		{
			Peer peer(bench.config.dev_b, file.name, target.num());

			for (uint64_t i = 0; i < XRC_PEER_SENDS; i++)
				Work(i, IBV_WR_SEND, { mr.sge(0, XRC_PEER_BYTES) })
					.xrc(peer.ready.srqn)
					.post(initiator);
			Work(99, IBV_WR_RDMA_READ, { mr.sge(0, XRC_PEER_BYTES) })
				.xrc(peer.ready.srqn)
				.remote(peer.ready.addr, peer.ready.rkey)
				.post(initiator);
			sleep_us(300U * round);
		}
		/* done, or refused when its SRQ had gone, and then flushed */
		ibv_wc_status status = IBV_WC_SUCCESS;
		for (uint64_t i = 0; i <= XRC_PEER_SENDS; i++) {
			const auto wc = cq.next(20000);

			if (!wc)
				fail("a request without a completion");
			if (wc->status != status && status != IBV_WC_SUCCESS &&
			    wc->status != IBV_WC_WR_FLUSH_ERR)
				fail("status %d after %d", wc->status, status);
			if (wc->status != IBV_WC_SUCCESS && status == IBV_WC_SUCCESS &&
			    wc->status != IBV_WC_REM_ACCESS_ERR)
				fail("status %d", wc->status);
			status = wc->status;
		}
		/* a READ that came twice, the second time too late, fails the target as well */
		if (status && target.state() != IBV_QPS_ERR)
			fail("the target is in state %d", target.state());
	}
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "all operations to two SRQs, every byte", operations },
			   { "what the packets say", packets },
			   { "every tenth packet lost", loss },
			   { "builders, and data inline", builders },
			   { "events of two CQs", events },
			   { "an empty SRQ: RNR until something is posted", runs_dry },
			   { "an SRQ that there is not", no_such_srq },
			   { "an SRQ of another XRC domain", other_domain },
			   { "a key of another SRQ's domain", other_pd },
			   { "an SRQ destroyed inside a SEND", destroyed_inside },
			   { "an SRQ destroyed inside a READ", destroyed_inside_read },
			   { "a message longer than its request", too_long },
			   { "from the error state to a new start", again },
			   { "every opcode, to either side", hostile },
			   { "what there is not", what_there_is_not },
			   { "two processes, one target", processes },
			   { "a process killed under traffic", killed } });
}
