// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Messages of no bytes: no key, no address is looked at; they complete, also
 * when their packets were lost.
 */
#include <memory>
#include <set>
#include <utility>

#include "lib/bench.hh"

using namespace st;

namespace
{

/* lose every packet the first time it is sent, either way */
void lose_once(Bench &bench)
{
	auto seen = std::make_shared<std::set<std::pair<bool, std::pair<int, uint32_t>>>>();

	bench.wire.rule([seen](const Packet &p, Bytes &) {
		bool fresh = seen->insert({ p.to_b, { p.bth.opcode, p.bth.psn } }).second;

		return fresh ? Verdict::DROP : Verdict::PASS;
	});
}

void zero(Bench &bench, ibv_wr_opcode opcode, bool with_sge, bool lossy)
{
	bool recv = opcode == IBV_WR_SEND || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	auto pair = bench.pair();
	std::vector<ibv_sge> sges(with_sge ? 1 : 0, pair.a.mr.sge(0, 0));

	if (lossy)
		lose_once(bench);
	if (recv)
		pair.b.qp.recv(9, {});
	Work(1, opcode, std::move(sges)).remote(0, 0xdead).imm(0x12345678).post(pair.a.qp);
	auto wc = pair.a.send_cq.expect(1, IBV_WC_SUCCESS);
	if (opcode == IBV_WR_RDMA_READ && wc.byte_len)
		fail("READ with byte_len %u", wc.byte_len);
	if (recv) {
		wc = pair.b.recv_cq.expect(9, IBV_WC_SUCCESS);
		if (wc.byte_len)
			fail("byte_len %u", wc.byte_len);
	}
	size_t answers = 0;
	for (auto &p : bench.wire.take()) {
		if (opcode == IBV_WR_RDMA_READ && !p.to_b) {
			if (p.bth.opcode != RC_READ_ONLY || p.body_bytes != 4)
				fail("answered with %s of %zu bytes", opcode_name(p.bth.opcode),
				     p.body_bytes);
			answers++;
		}
	}
	if (opcode == IBV_WR_RDMA_READ && !lossy && answers != 1)
		fail("%zu responses", answers);
	if (pair.b.qp.state() != IBV_QPS_RTS)
		fail("the responder's QP left RTS");
}

void into_full_buffer(Bench &bench)
{
	auto pair = bench.pair();

	pair.b.qp.recv(9, { pair.b.mr.sge(0, 100) });
	Work(1, IBV_WR_SEND, {}).post(pair.a.qp);
	if (pair.b.recv_cq.expect(9, IBV_WC_SUCCESS).byte_len)
		fail("byte_len is not zero");
}

/* an empty receive request cannot take a byte */
void byte_into_nothing(Bench &bench)
{
	auto pair = bench.pair();

	pair.b.qp.recv(9, {});
	Work(1, IBV_WR_SEND, { pair.a.mr.sge(0, 1) }).post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_REM_INV_REQ_ERR);
	pair.b.recv_cq.expect(9, IBV_WC_LOC_LEN_ERR);
}

} // namespace

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		ibv_wr_opcode opcode;
	} verbs[] = { { "SEND", IBV_WR_SEND },
		      { "WRITE", IBV_WR_RDMA_WRITE },
		      { "READ", IBV_WR_RDMA_READ },
		      { "WRITE with immediate", IBV_WR_RDMA_WRITE_WITH_IMM } };
	std::vector<Case> cases;

	for (auto &verb : verbs)
		for (int sge = 0; sge <= 1; sge++)
			for (int lossy = 0; lossy <= 1; lossy++)
				cases.push_back(
					{ std::string(verb.name) +
						  (sge ? ", one empty sge" : ", no sge") +
						  (lossy ? ", with loss" : ""),
					  [=](Bench &b) { zero(b, verb.opcode, sge, lossy); } });
	cases.push_back({ "SEND of nothing into a buffer", into_full_buffer });
	cases.push_back({ "SEND of one byte into nothing", byte_into_nothing });
	return run_cases(argc, argv, cases);
}
