// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * FLUSH and ATOMIC WRITE (IBTA annex A19): what they do, what the packets say, that a
 * duplicate is not executed again, and what is refused. With --rxe a or --rxe b only
 * what any pair of peers must do, the kernel's rxe being one of them.
 */
#include "lib/bench.hh"
#include "lib/ghost.hh"
#include "lib/pattern.hh"
#include "lib/rng.hh"
#include "lib/xrc.hh"

#include <cstring>

using namespace st;

namespace
{

constexpr uint32_t BYTES = 1 << 16;
constexpr int FLUSHABLE = ALL_ACCESS | IBV_ACCESS_FLUSH_GLOBAL;
constexpr uint8_t RC_FLUSH = 0x1c, RC_ATOMIC_WRITE = 0x1d;

ibv_qp *make_qp(const Pd &pd, const Cq &cq)
{
	ibv_qp_init_attr_ex init = {};

	init.send_cq = init.recv_cq = cq.get();
	init.cap = { 64, 16, 1, 1, 0 };
	init.qp_type = IBV_QPT_RC;
	init.pd = pd.get();
	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.send_ops_flags = IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE |
			      IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
			      IBV_QP_EX_WITH_SEND;
	return ibv_create_qp_ex(pd.get()->context, &init);
}

struct Side {
	Side(const Device &dev, int access)
		: pd(dev), cq(dev, 256), mr(pd, BYTES, access), qp(dev, make_qp(pd, cq))
	{
	}

	Pd pd;
	Cq cq;
	Mr mr;
	Qp qp;
};

/*
 * The kernel's rxe (7.3) computes the ICRC of a FLUSH over the transport headers
 * twice, as if they were its payload as well, and so talks to itself only. The cable
 * translates: rxe gets what it expects, and the other one what is right.
 */
enum Rxe { NONE, AT_A, AT_B } rxe;

Verdict translate(const Packet &p, Bytes &frame)
{
	const auto v = view(frame.data(), frame.size());

	if (!v || p.bth.opcode != RC_FLUSH)
		return Verdict::PASS;
	Bytes packet(v->ip, v->ip + v->ip_bytes - ICRC_BYTES);
	const Bytes headers(v->body - BTH_BYTES, v->body + v->body_bytes);

	if ((rxe == AT_B) == p.to_b)
		packet.insert(packet.end(), headers.begin(), headers.end());
	packet.resize(packet.size() + ICRC_BYTES);
	const uint32_t crc = icrc(packet.data(), packet.size());
	for (size_t i = 0; i < ICRC_BYTES; i++)
		frame[ETH_BYTES + v->ip_bytes - ICRC_BYTES + i] = uint8_t(crc >> 8 * i);
	return Verdict::PASS;
}

/* requests leave a for the memory of b */
struct Line {
	explicit Line(Bench &bench, int access = FLUSHABLE)
		: bench(bench), a(bench.devices.a, ALL_ACCESS), b(bench.devices.b, access),
		  ex(ibv_qp_to_qp_ex(a.qp.get()))
	{
		if (rxe)
			bench.wire.rule(translate);
		bench.config.link_b.access |= IBV_ACCESS_FLUSH_GLOBAL;
		join(bench.devices, bench.config, a.qp, b.qp);
	}

	void begin(uint64_t id)
	{
		ibv_wr_start(ex);
		ex->wr_id = id;
		ex->wr_flags = IBV_SEND_SIGNALED;
	}
	void end()
	{
		if (int err = ibv_wr_complete(ex))
			fail_errno("ibv_wr_complete", err);
	}
	void atomic_write(uint64_t id, uint64_t value, size_t offset = 0)
	{
		begin(id);
		ibv_wr_atomic_write(ex, b.mr.rkey(), b.mr.addr(offset), &value);
		end();
	}
	void flush(uint64_t id, size_t offset, size_t bytes, uint8_t type = IBV_FLUSH_GLOBAL,
		   uint8_t level = IBV_FLUSH_RANGE)
	{
		begin(id);
		ibv_wr_flush(ex, b.mr.rkey(), b.mr.addr(offset), bytes, type, level);
		end();
	}
	void write(uint64_t id, size_t offset, uint32_t bytes)
	{
		begin(id);
		ibv_wr_rdma_write(ex, b.mr.rkey(), b.mr.addr(offset));
		ibv_wr_set_sge(ex, a.mr.lkey(), a.mr.addr(offset), bytes);
		end();
	}
	void done(uint64_t id, ibv_wc_opcode opcode) const
	{
		if (a.cq.expect(id, IBV_WC_SUCCESS).opcode != opcode)
			fail("the completion has another opcode");
	}
	uint64_t value(size_t offset = 0) const
	{
		return __atomic_load_n(reinterpret_cast<uint64_t *>(b.mr.data() + offset),
				       __ATOMIC_ACQUIRE);
	}

	Bench &bench;
	Side a, b;
	ibv_qp_ex *ex;
};

void atomic_writes(Bench &bench)
{
	Line line(bench);

	for (uint64_t i = 1; i <= 200; i++) {
		const size_t offset = i * 8 % 4096;

		line.atomic_write(i, mix(i), offset);
		line.done(i, IBV_WC_ATOMIC_WRITE);
		/* eight bytes as they lie here, and nothing beside them */
		if (line.value(offset) != mix(i))
			fail("value %d is wrong", int(i));
		if (line.value(offset + 8))
			fail("it wrote further");
	}
}

void flushes(Bench &bench)
{
	Line line(bench);

	for (uint64_t i = 1; i <= 50; i++) {
		const uint32_t bytes = uint32_t(mix(i) % 5000);

		pattern_fill(line.a.mr.data(), bytes, i, 0);
		line.write(i, 0, bytes);
		line.flush(i + 1000, 0, bytes);
		line.flush(i + 2000, 0, 0, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR);
		line.done(i, IBV_WC_RDMA_WRITE);
		line.done(i + 1000, IBV_WC_FLUSH);
		line.done(i + 2000, IBV_WC_FLUSH);
		if (pattern_check(line.b.mr.data(), bytes, i, 0) != bytes)
			fail("what was flushed is not there");
	}
	/* all of it, and a length that there is not, which a region does not look at */
	line.flush(1, 0, BYTES);
	line.done(1, IBV_WC_FLUSH);
	line.flush(2, 0, 123456789, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR);
	line.done(2, IBV_WC_FLUSH);
}

/* READs, FLUSHes and ATOMIC WRITEs share what the peer keeps for them */
void mixed(Bench &bench)
{
	for (uint8_t depth : { 1, 4 }) {
		bench.config.link_a.rd_atomic = bench.config.link_b.rd_atomic = depth;
		Line line(bench);

		for (int round = 0; round < 10; round++) {
			line.begin(0);
			for (uint64_t i = 0; i < 48; i++) {
				const uint64_t value = round * 1000 + i;

				line.ex->wr_id = i;
				if (i % 3 == 0) {
					ibv_wr_atomic_write(line.ex, line.b.mr.rkey(),
							    line.b.mr.addr(i * 8), &value);
				} else if (i % 3 == 1) {
					ibv_wr_flush(line.ex, line.b.mr.rkey(), line.b.mr.addr(),
						     4096, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
				} else {
					ibv_wr_rdma_read(line.ex, line.b.mr.rkey(),
							 line.b.mr.addr((i - 2) * 8));
					ibv_wr_set_sge(line.ex, line.a.mr.lkey(),
						       line.a.mr.addr(i * 8), 8);
				}
			}
			line.end();
			for (uint64_t i = 0; i < 48; i++)
				line.a.cq.expect(i, IBV_WC_SUCCESS);
			/* each READ came after the ATOMIC WRITE before it */
			for (uint64_t i = 2; i < 48; i += 3) {
				uint64_t got;

				memcpy(&got, line.a.mr.data() + i * 8, 8);
				if (got != round * 1000 + i - 2)
					fail("READ %d overtook a write", int(i));
			}
		}
	}
}

void refused(Bench &bench, int access, ibv_wc_status status,
	     const std::function<void(Line &)> &request)
{
	Line line(bench, access);

	request(line);
	line.a.cq.expect(1, status);
	if (line.value())
		fail("it was done all the same");
}

void wrong(Bench &bench)
{
	constexpr auto INV = IBV_WC_REM_INV_REQ_ERR, ACCESS = IBV_WC_REM_ACCESS_ERR;

	refused(bench, FLUSHABLE, INV, [](Line &l) { l.atomic_write(1, 5, 4); });
	refused(bench, FLUSHABLE, ACCESS, [](Line &l) { l.atomic_write(1, 5, BYTES); });
	refused(bench, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC, ACCESS,
		[](Line &l) { l.atomic_write(1, 5); });
	refused(bench, ALL_ACCESS, ACCESS, [](Line &l) { l.flush(1, 0, 64); });
	refused(bench, ALL_ACCESS, ACCESS,
		[](Line &l) { l.flush(1, 0, 64, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR); });
	refused(bench, FLUSHABLE, ACCESS, [](Line &l) { l.flush(1, 8, BYTES); });
}

/* from here on it is about our device at b */

void packets(Bench &bench)
{
	Line line(bench);
	size_t seen = 0;

	bench.wire.forget();
	line.atomic_write(1, 0x0102030405060708, 64);
	line.flush(2, 128, 777, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR);
	line.done(1, IBV_WC_ATOMIC_WRITE);
	line.done(2, IBV_WC_FLUSH);
	for (const Packet &p : bench.wire.take()) {
		const uint8_t *body = p.body();
		const uint64_t value = 0x0102030405060708;

		if (!p.icrc_good())
			fail("a wrong ICRC");
		if (p.bth.opcode == RC_ATOMIC_WRITE) {
			if (p.body_bytes != 24 || get64(body) != line.b.mr.addr(64) ||
			    get32(body + 8) != line.b.mr.rkey() || get32(body + 12) != 8 ||
			    memcmp(body + 16, &value, 8))
				fail("an ATOMIC WRITE of %zu bytes", p.body_bytes);
			seen |= 1;
		} else if (p.bth.opcode == RC_FLUSH) {
			if (p.body_bytes != 20 || get32(body) != 0x11 ||
			    get64(body + 4) != line.b.mr.addr(128) ||
			    get32(body + 12) != line.b.mr.rkey() || get32(body + 16) != 777)
				fail("a FLUSH of %zu bytes, FETH %#x", p.body_bytes, get32(body));
			seen |= 2;
		} else if (!p.to_b) {
			if (p.bth.opcode != RC_READ_ONLY || p.body_bytes != 4 ||
			    (p.syndrome() & 0x60))
				fail("answered with opcode %#x, %zu bytes", p.bth.opcode,
				     p.body_bytes);
			seen |= 4;
		}
	}
	if (seen != 7)
		fail("not all packets were seen: %zu", seen);
}

/* the answer is lost; meanwhile the owner changes what was written */
void once(Bench &bench)
{
	Line line(bench);

	bench.wire.rule(
		[](const Packet &p, Bytes &) { return p.to_b ? Verdict::PASS : Verdict::DROP; });
	line.atomic_write(1, 5);
	line.flush(2, 0, 64);
	if (!bench.wire.wait_for([](const Packet &p) { return !p.to_b; }, 2, 5000))
		fail("no answers");
	if (line.value() != 5)
		fail("not written");
	memset(line.b.mr.data(), 0x77, 8);
	bench.wire.no_rule();
	line.done(1, IBV_WC_ATOMIC_WRITE);
	line.done(2, IBV_WC_FLUSH);
	if (line.value() != 0x7777777777777777)
		fail("a duplicate was executed again");
	if (!counter(bench.config.dev_b, "duplicate_request"))
		fail("there was no duplicate");
}

void loss(Bench &bench)
{
	Line line(bench);
	Rng rng(20);

	bench.wire.rule([&rng](const Packet &, Bytes &) {
		return rng.percent(10) ? Verdict::DROP : Verdict::PASS;
	});
	for (uint64_t i = 1; i <= 100; i++) {
		line.atomic_write(i, i);
		line.flush(i + 1000, 0, 64);
		line.done(i, IBV_WC_ATOMIC_WRITE);
		line.done(i + 1000, IBV_WC_FLUSH);
		if (line.value() != i)
			fail("value %d is wrong", int(i));
	}
	bench.wire.no_rule();
}

Bytes feth(uint32_t value)
{
	Bytes body;

	put32(body, value);
	return body;
}

/* requests made by hand that break a rule, each to a QP of its own */
void hostile(Bench &bench)
{
	QpLink link;
	const auto nak = [&](uint8_t opcode, const std::function<Bytes(const Mr &)> &body) {
		Ghost ghost(bench, link);

		ghost.send(opcode, Ghost::PSN, body(ghost.end.mr), true);
		ghost.expect_ack(0x61, Ghost::PSN);
		if (ghost.end.qp.state() != IBV_QPS_ERR)
			fail("the QP goes on");
	};

	link.access |= IBV_ACCESS_FLUSH_GLOBAL;
	bench.config.access_a = FLUSHABLE;
	/* an ATOMIC WRITE carries eight bytes, and says so */
	for (uint32_t bytes : { 0, 4, 12, 16, 1024 })
		nak(RC_ATOMIC_WRITE, [=](const Mr &mr) {
			return join(reth(mr.addr(), mr.rkey(), 8), data(bytes, 1));
		});
	for (uint32_t length : { 0U, 4U, 16U, 0x80000001U })
		nak(RC_ATOMIC_WRITE, [=](const Mr &mr) {
			return join(reth(mr.addr(), mr.rkey(), length), data(8, 1));
		});
	/* a FLUSH has a placement and a selectivity that there are */
	for (uint32_t bits : { 0x00U, 0x04U, 0x09U, 0x21U, 0x31U, 0x02U, 0x03U })
		nak(RC_FLUSH,
		    [=](const Mr &mr) { return join(feth(bits), reth(mr.addr(), mr.rkey(), 64)); });
	nak(RC_FLUSH,
	    [](const Mr &mr) { return join(feth(0x01), reth(mr.addr(), mr.rkey(), 0x80000001U)); });
}

/* what the QP does not allow, whatever the region does */
void not_allowed(Bench &bench)
{
	for (int access : { 0, int(IBV_ACCESS_REMOTE_READ) }) {
		for (bool flush : { true, false }) {
			Line line(bench);

			for (const Qp *qp : { &line.a.qp, &line.b.qp })
				if (int err = qp->try_state(IBV_QPS_RESET))
					fail_errno("to RESET", err);
			bench.config.link_b.access = access;
			join(bench.devices, bench.config, line.a.qp, line.b.qp);
			if (flush)
				line.flush(1, 0, 64);
			else
				line.atomic_write(1, 5);
			line.a.cq.expect(1, IBV_WC_REM_INV_REQ_ERR);
		}
	}
}

/* nobody promises what only persistent memory could keep */
void what_there_is_not(Bench &bench)
{
	Line line(bench);
	ibv_device_attr_ex attr = {};
	std::vector<uint8_t> memory(4096);
	ibv_send_wr wr = {}, *bad;

	if (int err = ibv_query_device_ex(bench.devices.a.get(), nullptr, &attr))
		fail_errno("ibv_query_device_ex", err);
	constexpr uint64_t GLOBAL = 1ULL << 38, PERSISTENT = 1ULL << 39, ATOMIC = 1ULL << 40;
	if ((attr.device_cap_flags_ex & (GLOBAL | PERSISTENT | ATOMIC)) != (GLOBAL | ATOMIC))
		fail("capabilities %#llx",
		     static_cast<unsigned long long>(attr.device_cap_flags_ex));
	ibv_mr *mr = ibv_reg_mr(line.b.pd.get(), memory.data(), memory.size(),
				ALL_ACCESS | IBV_ACCESS_FLUSH_PERSISTENT);
	if (mr) {
		ibv_dereg_mr(mr);
		fail("a region that can be made persistent");
	}
	if (errno != EOPNOTSUPP)
		fail_errno("a region that can be made persistent");
	for (auto opcode : { IBV_WR_FLUSH, IBV_WR_ATOMIC_WRITE }) {
		wr.opcode = opcode;
		if (ibv_post_send(line.a.qp.get(), &wr, &bad) != EINVAL)
			fail("ibv_post_send has no way to say what");
	}
	/* refused where it is posted, as the peer would */
	for (int which = 0; which < 3; which++) {
		Line other(bench);

		if (which == 0)
			other.flush(1, 0, 64, 0);
		else if (which == 1)
			other.flush(1, 0, 64, IBV_FLUSH_GLOBAL, 2);
		else
			other.flush(1, 0, 0x80000001U);
		other.a.cq.expect(1, which == 2 ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_QP_OP_ERR);
	}
}

/* on XRC the region is of the domain of the SRQ that is named */
void over_xrc(Bench &bench)
{
	Pd pd(bench.devices.a), pd_b(bench.devices.b);
	Cq cq(bench.devices.a, 16), cq_b(bench.devices.b, 16);
	Mr mr(pd_b, 4096, FLUSHABLE);
	Xrcd xrcd(bench.devices.b);
	XrcSrq srq(pd_b, cq_b, xrcd);
	Qp target(bench.devices.b, make_target(bench.devices.b, xrcd));
	ibv_qp_init_attr_ex init = {};
	const uint64_t value = 0x1234567890;

	init.send_cq = cq.get();
	init.cap = { 4, 0, 1, 0, 0 };
	init.qp_type = IBV_QPT_XRC_SEND;
	init.pd = pd.get();
	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.send_ops_flags = IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE;
	Qp qp(bench.devices.a, ibv_create_qp_ex(bench.devices.a.get(), &init));
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp.get());

	bench.config.link_b.access |= IBV_ACCESS_FLUSH_GLOBAL;
	join(bench.devices, bench.config, qp, target);
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ex->wr_id = 1;
	ibv_wr_atomic_write(ex, mr.rkey(), mr.addr(), &value);
	ibv_wr_set_xrc_srqn(ex, srq.num());
	ex->wr_id = 2;
	ibv_wr_flush(ex, mr.rkey(), mr.addr(), 8, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
	ibv_wr_set_xrc_srqn(ex, srq.num());
	if (int err = ibv_wr_complete(ex))
		fail_errno("ibv_wr_complete", err);
	cq.expect(1, IBV_WC_SUCCESS);
	cq.expect(2, IBV_WC_SUCCESS);
	if (memcmp(mr.data(), &value, 8))
		fail("not written");
}

} // namespace

int main(int argc, char **argv)
{
	std::vector<Case> cases = { { "ATOMIC WRITE", atomic_writes },
				    { "FLUSH of ranges and regions", flushes },
				    { "mixed with READs", mixed },
				    { "what a peer refuses", wrong } };

	if (argc > 2 && !strcmp(argv[argc - 2], "--rxe")) {
		rxe = *argv[argc - 1] == 'a' ? AT_A : AT_B;
		return run_cases(argc - 2, argv, cases);
	}
	for (const Case &own :
	     { Case{ "what the packets say", packets },
	       Case{ "a duplicate is not executed again", once },
	       Case{ "every tenth packet lost", loss },
	       Case{ "requests that break a rule", hostile },
	       Case{ "what the QP does not allow", not_allowed },
	       Case{ "what there is not", what_there_is_not }, Case{ "over XRC", over_xrc } })
		cases.push_back(own);
	return run_cases(argc, argv, cases);
}
