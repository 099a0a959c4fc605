// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The unreliable connection: what it carries, and what a receiver makes of
 * packets that are lost, doubled or out of order, of messages that it has no
 * room for, and of keys that are wrong. Nothing is ever answered, and a message
 * that fails takes no receive request with it.
 */
#include <arpa/inet.h>

#include <functional>
#include <memory>

#include "lib/bench.hh"
#include "lib/pattern.hh"

using namespace st;

namespace
{

constexpr uint32_t MTU = 1024;
constexpr size_t RECV_AT = 64 << 10; /* where B receives; WRITEs go to 0 */

struct Uc {
	explicit Uc(Bench &b) : bench(b), pair(b.devices, config(b)) {}

	static PairConfig config(const Bench &b)
	{
		PairConfig c = b.config;

		c.depth.type = IBV_QPT_UC;
		return c;
	}
	/* an operation with bytes of stream key, completed at the sender */
	void run(ibv_wr_opcode op, uint32_t bytes, uint64_t key, uint32_t rkey_xor = 0)
	{
		pattern_fill(pair.a.mr.data(), bytes, key, 0);
		Work(key, op, { pair.a.mr.sge(0, bytes) })
			.remote(pair.b.mr.addr(), pair.b.mr.rkey() ^ rkey_xor)
			.imm(0xfeed0000 | key)
			.post(pair.a.qp);
		pair.a.send_cq.expect(key, IBV_WC_SUCCESS);
	}
	void send(uint32_t bytes, uint64_t key) { run(IBV_WR_SEND, bytes, key); }
	void recv(uint64_t id, uint32_t bytes = 16384)
	{
		pair.b.qp.recv(id, { pair.b.mr.sge(RECV_AT, bytes) });
	}
	/* what this completion says that B received is this message, whole */
	void whole(const ibv_wc &wc, uint32_t bytes, uint64_t key)
	{
		if (wc.byte_len != bytes)
			fail("byte_len %u, not %u", wc.byte_len, bytes);
		if (pattern_check(pair.b.mr.data() + RECV_AT, bytes, key, 0) != bytes)
			fail("wrong data received");
	}
	ibv_wc received(uint64_t id, uint32_t bytes, uint64_t key)
	{
		auto wc = pair.b.recv_cq.expect(id, IBV_WC_SUCCESS);

		whole(wc, bytes, key);
		return wc;
	}
	void written(uint32_t bytes, uint64_t key)
	{
		uint64_t end = now_ns() + 5000000000ULL;

		while (pattern_check(pair.b.mr.data(), bytes, key, 0) != bytes) {
			if (now_ns() > end)
				fail("wrong data written");
			sleep_us(100);
		}
	}
	/* drop the packet that comes nth from now on; 0 is the next */
	void lose(unsigned int nth) { treat(nth, Verdict::DROP); }
	void treat(unsigned int nth, Verdict verdict)
	{
		auto seen = std::make_shared<unsigned int>(0);

		bench.wire.rule([=](const Packet &p, Bytes &) {
			return p.to_b && (*seen)++ == nth ? verdict : Verdict::PASS;
		});
	}
	/* both ends are as they were; nothing went back */
	void silent()
	{
		if (pair.a.qp.state() != IBV_QPS_RTS || pair.b.qp.state() != IBV_QPS_RTS)
			fail("states %d and %d", pair.a.qp.state(), pair.b.qp.state());
		for (auto &p : bench.wire.take())
			if (!p.to_b)
				fail("answered with %s", opcode_name(p.bth.opcode));
			else if (p.bth.ack_request)
				fail("an acknowledgment was asked for");
			else if (p.bth.opcode >> 5 != 1)
				fail("opcode %02x", p.bth.opcode);
	}

	Bench &bench;
	Pair pair;
};

void operations(Bench &b)
{
	Uc u(b);

	for (uint32_t bytes : { 0U, 1U, MTU, MTU + 1, 5 * MTU }) {
		u.recv(bytes);
		u.send(bytes, 1);
		u.received(bytes, bytes, 1);

		u.recv(bytes);
		u.run(IBV_WR_SEND_WITH_IMM, bytes, 2);
		auto wc = u.received(bytes, bytes, 2);
		if (!(wc.wc_flags & IBV_WC_WITH_IMM) || ntohl(wc.imm_data) != 0xfeed0002)
			fail("immediate data %#x", ntohl(wc.imm_data));

		u.run(IBV_WR_RDMA_WRITE, bytes, 3);
		u.written(bytes, 3);

		u.recv(bytes);
		u.run(IBV_WR_RDMA_WRITE_WITH_IMM, bytes, 4);
		wc = u.pair.b.recv_cq.expect(bytes, IBV_WC_SUCCESS);
		if (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM || ntohl(wc.imm_data) != 0xfeed0004 ||
		    wc.byte_len != bytes)
			fail("opcode %d, immediate data %#x, %u bytes", wc.opcode,
			     ntohl(wc.imm_data), wc.byte_len);
		u.written(bytes, 4);
	}
	u.silent();
}

void refused(Bench &b)
{
	Uc u(b);

	for (auto op : { IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD })
		if (int err = Work(1, op, { u.pair.a.mr.sge(0, 8) }).try_post(u.pair.a.qp);
		    err != EINVAL)
			fail("opcode %d: %d, not EINVAL", op, err);
}

/* of a message of four packets one is lost: the next message takes its place */
void loss(Bench &b, unsigned int nth)
{
	Uc u(b);

	u.recv(1);
	u.recv(2);
	u.lose(nth);
	u.send(4 * MTU, 10);
	u.send(3 * MTU, 11);
	u.received(1, 3 * MTU, 11);
	u.send(5, 12);
	u.received(2, 5, 12);
	u.silent();
}

/* more is lost than what is late is waited for */
void long_loss(Bench &b)
{
	constexpr uint32_t PACKETS = 600;
	Uc u(b);

	u.recv(1);
	b.wire.rule([](const Packet &p, Bytes &) {
		return p.bth.opcode >= 0x26 && p.bth.opcode <= 0x2b ? Verdict::DROP : Verdict::PASS;
	});
	for (int i = 0; i < 2; i++)
		u.run(IBV_WR_RDMA_WRITE, PACKETS * MTU, 10 + i);
	u.send(5, 12);
	u.received(1, 5, 12);
	u.silent();
}

void loss_of_write(Bench &b)
{
	Uc u(b);

	u.recv(1);
	u.lose(1);
	u.run(IBV_WR_RDMA_WRITE_WITH_IMM, 3 * MTU, 10);
	u.run(IBV_WR_RDMA_WRITE_WITH_IMM, 2 * MTU, 11);
	auto wc = u.pair.b.recv_cq.expect(1, IBV_WC_SUCCESS);
	if (ntohl(wc.imm_data) != 0xfeed000b)
		fail("immediate data %#x", ntohl(wc.imm_data));
	u.written(2 * MTU, 11);
	u.silent();
}

/* the end of one message and the beginning of the next are lost */
void loss_across(Bench &b)
{
	Uc u(b);
	auto seen = std::make_shared<unsigned int>(0);

	u.recv(1);
	b.wire.rule([=](const Packet &p, Bytes &) {
		auto n = p.to_b ? (*seen)++ : 99;

		return n == 2 || n == 3 ? Verdict::DROP : Verdict::PASS;
	});
	u.send(3 * MTU, 10);
	u.send(3 * MTU, 11);
	u.send(3 * MTU, 12);
	u.received(1, 3 * MTU, 12);
	u.silent();
}

/* each third packet is lost: no message survives, and then one does */
void heavy_loss(Bench &b)
{
	Uc u(b);
	auto seen = std::make_shared<unsigned int>(0);

	u.recv(1);
	b.wire.rule([=](const Packet &p, Bytes &) {
		return p.to_b && (*seen)++ % 3 == 1 ? Verdict::DROP : Verdict::PASS;
	});
	for (int i = 0; i < 20; i++)
		u.send(6 * MTU, 100 + i);
	b.wire.wait_for([](const Packet &p) { return p.to_b; }, 120, 5000);
	b.wire.no_rule();
	u.send(6 * MTU, 200);
	u.received(1, 6 * MTU, 200);
	u.silent();
}

void doubled(Bench &b)
{
	Uc u(b);

	u.recv(1);
	u.recv(2);
	u.treat(0, Verdict::TWICE);
	u.send(9, 1);
	u.received(1, 9, 1);
	u.send(10, 2);
	u.received(2, 10, 2);
	u.silent();
}

/*
 * A packet that comes too early waits for the one that it overtook, as long as more is
 * coming in. Return: false if the two were too far apart; then it counts as lost.
 */
bool overtaken_once(Bench &b)
{
	Uc u(b);
	auto seen = std::make_shared<unsigned int>(0);

	u.recv(1);
	b.wire.rule([=](const Packet &p, Bytes &) {
		return p.to_b && (*seen)++ < 2 ? Verdict::HOLD : Verdict::PASS;
	});
	pattern_fill(u.pair.a.mr.data(), 2 * MTU, 1, 0);
	Work(1, IBV_WR_SEND, { u.pair.a.mr.sge(0, 2 * MTU) }).post(u.pair.a.qp);
	while (b.wire.held() < 2)
		sleep_us(100);
	b.wire.release(true);
	auto wc = u.pair.b.recv_cq.next(200);
	u.silent();
	if (!wc)
		return false;
	if (wc->wr_id != 1 || wc->status)
		fail("completion of %llu, status %d", static_cast<unsigned long long>(wc->wr_id),
		     wc->status);
	u.whole(*wc, 2 * MTU, 1);
	return true;
}

void overtaken(Bench &b)
{
	for (int tries = 0; tries < 20; tries++)
		if (overtaken_once(b))
			return;
	fail("twenty packets that came too early were lost");
}

void no_request(Bench &b)
{
	Uc u(b);

	u.send(3 * MTU, 1);
	for (uint64_t before = 0; !before; sleep_us(1000))
		before = counters(b.config.dev_b)["out_of_buffer"];
	u.recv(1);
	u.send(3 * MTU, 2);
	u.received(1, 3 * MTU, 2);
	u.silent();
}

void too_long(Bench &b)
{
	Uc u(b);

	u.recv(1, 2 * MTU);
	u.send(2 * MTU + 1, 1);
	u.send(2 * MTU, 2);
	u.received(1, 2 * MTU, 2);
	u.silent();
}

void wrong_key(Bench &b)
{
	Uc u(b);

	u.recv(1);
	u.run(IBV_WR_RDMA_WRITE_WITH_IMM, 3 * MTU, 1, 0x100);
	u.send(7, 2);
	u.received(1, 7, 2);
	u.silent();
}

/* our own memory is at fault: that is an error of ours, and only ours */
void own_fault(Bench &b)
{
	Uc u(b);
	ibv_sge wrong = u.pair.b.mr.sge(RECV_AT, 4096);

	wrong.lkey ^= 0x100;
	u.pair.b.qp.recv(1, { wrong });
	u.recv(2);
	u.send(7, 1);
	u.pair.b.recv_cq.expect(1, IBV_WC_LOC_PROT_ERR);
	u.pair.b.recv_cq.expect(2, IBV_WC_WR_FLUSH_ERR);
	if (u.pair.a.qp.state() != IBV_QPS_RTS)
		fail("the sender left RTS");
}

/* a send request that fails stops the sender; what came before has left */
void sender_fault(Bench &b)
{
	Uc u(b);
	ibv_sge wrong = u.pair.a.mr.sge(0, 64);
	ibv_qp_attr attr = {};

	wrong.lkey ^= 0x100;
	u.recv(1);
	u.recv(2);
	u.send(7, 1);
	Work(8, IBV_WR_SEND, { wrong }).post(u.pair.a.qp);
	u.pair.a.send_cq.expect(8, IBV_WC_LOC_PROT_ERR);
	Work(9, IBV_WR_SEND, {}).post(u.pair.a.qp);
	u.pair.a.send_cq.expect(9, IBV_WC_WR_FLUSH_ERR);
	u.received(1, 7, 1);
	attr.qp_state = IBV_QPS_RTS;
	attr.cur_qp_state = IBV_QPS_SQE;
	if (int err = ibv_modify_qp(u.pair.a.qp.get(), &attr, IBV_QP_STATE | IBV_QP_CUR_STATE))
		fail_errno("modify SQE to RTS", err);
	u.send(70, 3);
	u.received(2, 70, 3);
	u.silent();
}

} // namespace

int main(int argc, char **argv)
{
	std::vector<Case> cases = { { "SEND and WRITE of all lengths", operations },
				    { "READ and atomics are refused", refused } };

	for (unsigned int i = 0; i < 4; i++)
		cases.push_back(
			{ format("packet %u of 4 is lost", i + 1), [i](Bench &b) { loss(b, i); } });
	for (Case c :
	     std::vector<Case>{ { "a packet of a WRITE is lost", loss_of_write },
				{ "the end of one message and the beginning of the next are lost",
				  loss_across },
				{ "a third of the packets is lost", heavy_loss },
				{ "a thousand packets in a row are lost", long_loss },
				{ "a packet comes twice", doubled },
				{ "a packet comes too early", overtaken },
				{ "no receive request", no_request },
				{ "longer than the receive request", too_long },
				{ "a wrong key", wrong_key },
				{ "a receive request with wrong memory", own_fault },
				{ "a send request with wrong memory", sender_fault } })
		cases.push_back(c);
	return run_cases(argc, argv, cases);
}
