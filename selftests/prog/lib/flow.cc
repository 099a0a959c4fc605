// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "flow.hh"

#include <arpa/inet.h>

#include <algorithm>

#include "fail.hh"
#include "ids.hh"
#include "pattern.hh"

namespace st
{

using ull = unsigned long long;

constexpr uint32_t RECV_SGES = 4;

static QpDepth depth_of(const FlowShared &s)
{
	QpDepth d;

	d.send = s.depth;
	d.recv = s.recv_depth;
	d.send_sge = s.mine.max_sge;
	d.recv_sge = std::min<uint32_t>(RECV_SGES, s.dev.attr().max_sge);
	d.inline_bytes = s.mine.max_inline;
	return d;
}

static size_t recv_room(const FlowShared &s)
{
	return Spread::room(s.theirs.max_size, RECV_SGES);
}

static std::string describe(const Msg &m)
{
	return format("message %llu (%s, %u bytes, %u pieces%s%s%s)", static_cast<ull>(m.number),
		      op_name(m.op), m.size, m.pieces, m.inlined ? ", inline" : "",
		      m.fence ? ", fenced" : "", m.signaled ? "" : ", unsignalled");
}

/* run body; a failure in it is one of this message */
template <class F> static void in_message(uint32_t flow, const Msg &m, const char *what, F body)
{
	try {
		body();
	} catch (const Failure &e) {
		fail("flow %u, %s %s: %s", flow, what, describe(m).c_str(), e.what());
	}
}

Flow::Flow(const FlowShared &shared, uint32_t index)
	: shared(shared), index(index), rng(mix(shared.mine.seed) + index),
	  arena(shared.pd, 4 * Spread::room(shared.mine.max_size, shared.mine.max_sge)),
	  buffers(shared.pd, shared.recv_depth * recv_room(shared)),
	  target(shared.pd, shared.theirs.target_bytes()),
	  qp(shared.dev, shared.pd, shared.cq, shared.cq, depth_of(shared)),
	  plan(shared.mine, index), check(shared.theirs, index)
{
	Spread::poison(arena);
	Spread::poison(buffers);
	Spread::poison(target);
}

FlowAddress Flow::address(const QpLink &link) const
{
	auto &cells = shared.cells;
	auto own = sizeof(uint64_t) * CELLS * index;

	return {
		qp.address(link),   shared.recv_depth, target.rkey(),
		shared.read.rkey(), cells.rkey(),      target.addr(),
		shared.read.addr(), cells.addr(own),   cells.addr(cells.size() - sizeof(uint64_t))
	};
}

void Flow::connect(const QpLink &link, const FlowAddress &to)
{
	peer = to;
	qp.to_init(link);
	for (uint32_t i = 0; i < shared.recv_depth; i++)
		post_recv(i);
	qp.to_rtr(link, peer.qp);
	qp.to_rts(link);
}

void Flow::post_recv(uint64_t slot)
{
	auto pieces = rng.between(1, depth_of(shared).recv_sge);
	Spread buffer(buffers, slot % shared.recv_depth * recv_room(shared), shared.theirs.max_size,
		      pieces, rng);

	qp.recv(make_id(Kind::RECV, index, recv_id++), buffer.sges());
	posted.push_back({ buffer });
}

/* room in the arena for a message's local data */
bool Flow::allocate(const Msg &msg, uint64_t &offset)
{
	auto need = Spread::room(msg.size, msg.pieces), size = arena.size();
	auto start = arena_head;

	if (start % size + need > size)
		start += size - start % size;
	if (start + need - arena_tail > size)
		return false;
	offset = start % size;
	arena_head = start + need;
	return true;
}

bool Flow::may_post(const Msg &msg) const
{
	if (flying.size() >= qp.cap().max_send_wr || flying.size() >= shared.depth)
		return false;
	if (writes_target(msg.op) && msg.ring_end - credit_ring > shared.mine.target_bytes())
		return false;
	if (consumes_recv(msg.op) && !shared.ignore_recv_credits &&
	    static_cast<uint32_t>(msg.recvs) - credit_recvs >= peer.recv_depth)
		return false;
	return true;
}

void Flow::queue(const Msg &m, uint64_t offset)
{
	static const ibv_wr_opcode opcodes[OPS] = { IBV_WR_SEND,
						    IBV_WR_SEND_WITH_IMM,
						    IBV_WR_RDMA_WRITE,
						    IBV_WR_RDMA_WRITE_WITH_IMM,
						    IBV_WR_RDMA_READ,
						    IBV_WR_ATOMIC_CMP_AND_SWP,
						    IBV_WR_ATOMIC_FETCH_AND_ADD };
	Spread local(arena, offset, m.size, m.pieces, rng);
	unsigned int flags = 0;
	/* now and then a completion must free ring and arena */
	bool signal = m.signaled || ++unsignaled >= std::max(1U, shared.depth / 4) ||
		      arena_head - signaled_head >= arena.size() / 4 ||
		      m.number + 1 == shared.mine.count;

	local.poison();
	if (m.op != Op::READ && !is_atomic(m.op))
		local.fill(m.size, m.key);
	if (signal) {
		flags |= IBV_SEND_SIGNALED;
		unsignaled = 0;
		signaled_head = arena_head;
	}
	flags |= m.inlined ? IBV_SEND_INLINE : 0;
	flags |= m.fence ? IBV_SEND_FENCE : 0;
	flags |= m.solicited && consumes_recv(m.op) ? IBV_SEND_SOLICITED : 0;
	Work work(make_id(Kind::SEND, index, m.number), opcodes[static_cast<int>(m.op)],
		  local.sges(), flags);
	if (has_imm(m.op))
		work.imm(m.imm);
	if (writes_target(m.op))
		work.remote(peer.target + m.offset, peer.target_rkey);
	else if (m.op == Op::READ)
		work.remote(peer.read + m.offset, peer.read_rkey);
	else if (is_atomic(m.op))
		work.atomic(m.shared_cell
				    ? peer.shared_cell
				    : peer.cells + 8 * (m.op == Op::CAS ? CELL_CAS : CELL_FADD),
			    peer.cells_rkey, m.compare_add, m.swap);
	chain.push_back(std::move(work));
	flying.push_back({ m, local, signal, arena_head });
}

bool Flow::pump()
{
	constexpr size_t LONGEST_CHAIN = 8;
	uint64_t offset;

	for (size_t want = rng.between(1, LONGEST_CHAIN); chain.size() < want;) {
		if (!have_head) {
			if (plan.finished())
				break;
			head = plan.next();
			have_head = true;
		}
		if (!may_post(head) || !allocate(head, offset))
			break;
		queue(head, offset);
		have_head = false;
	}
	if (chain.empty())
		return false;
	for (size_t i = 0; i < chain.size(); i++)
		chain[i].get().next = i + 1 < chain.size() ? &chain[i + 1].get() : nullptr;
	chain[0].post(qp);
	chain.clear();
	return true;
}

/* a message of mine is complete */
void Flow::finish(Flying &f)
{
	auto &m = f.msg;

	in_message(index, m, "after", [&] {
		if (m.op == Op::READ)
			f.local.check(m.size, read_key(shared.theirs.seed), m.offset);
		else if (!is_atomic(m.op))
			f.local.check(m.size, m.key);
		else if (auto got = f.local.value(); !m.shared_cell && got != m.old_value)
			fail("returned 0x%llx, not 0x%llx", static_cast<ull>(got),
			     static_cast<ull>(m.old_value));
	});
	f.local.poison();
	arena_tail = f.arena_end;
	tx.messages++;
	tx.bytes += m.size;
	tx.by_op[static_cast<int>(m.op)]++;
}

void Flow::on_send(const ibv_wc &wc)
{
	static const ibv_wc_opcode opcodes[OPS] = { IBV_WC_SEND,       IBV_WC_SEND,
						    IBV_WC_RDMA_WRITE, IBV_WC_RDMA_WRITE,
						    IBV_WC_RDMA_READ,  IBV_WC_COMP_SWAP,
						    IBV_WC_FETCH_ADD };
	auto number = id_number(wc.wr_id);

	if (flying.empty() || number < flying.front().msg.number ||
	    number > flying.back().msg.number)
		fail("flow %u: completion of message %llu, which is not under way", index,
		     static_cast<ull>(number));
	auto &f = flying[number - flying.front().msg.number];
	in_message(index, f.msg, "completion of", [&] {
		if (wc.status)
			fail("%s (vendor %u)", ibv_wc_status_str(wc.status), wc.vendor_err);
		if (!f.signaled)
			fail("nobody asked for one");
		if (wc.opcode != opcodes[static_cast<int>(f.msg.op)])
			fail("opcode %d", wc.opcode);
		if (wc.qp_num != qp.num())
			fail("says QP 0x%x, not 0x%x", wc.qp_num, qp.num());
	});
	while (!flying.empty() && flying.front().msg.number <= number) {
		auto &first = flying.front();

		if (first.signaled && first.msg.number != number)
			in_message(index, first.msg, "completion of",
				   [] { fail("left out: a later one came"); });
		finish(first);
		flying.pop_front();
	}
}

/* what the peer has sent up to and with the message that took a receive
 * request */
void Flow::check_until_recv(const ibv_wc &wc)
{
	auto &buffer = posted.front().buffer;

	for (;;) {
		if (check.finished())
			fail("flow %u: received more than the peer has to send", index);
		auto m = check.next();
		auto data = target.data() + m.offset;

		rx.messages++;
		rx.bytes += m.size;
		rx.by_op[static_cast<int>(m.op)]++;
		in_message(index, m, "received", [&] {
			if (writes_target(m.op)) {
				auto bad = pattern_check(data, m.size, m.key, 0);
				if (bad != m.size)
					fail("byte %zu is 0x%02x, not 0x%02x", bad, data[bad],
					     pattern_byte(m.key, bad));
			}
			if (!consumes_recv(m.op))
				return;
			auto opcode =
				m.op == Op::WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
			if (wc.opcode != opcode)
				fail("opcode %d", wc.opcode);
			if (wc.byte_len != m.size)
				fail("byte_len %u", wc.byte_len);
			if (!!(wc.wc_flags & IBV_WC_WITH_IMM) != has_imm(m.op))
				fail("flags 0x%x", wc.wc_flags);
			if (has_imm(m.op) && ntohl(wc.imm_data) != m.imm)
				fail("immediate 0x%x, not 0x%x", ntohl(wc.imm_data), m.imm);
			buffer.check(m.op == Op::WRITE_IMM ? 0 : m.size, m.key);
			buffer.clear(m.op == Op::WRITE_IMM ? 0 : m.size);
		});
		ring_checked = m.ring_end;
		if (consumes_recv(m.op))
			return;
	}
}

void Flow::on_recv(const ibv_wc &wc)
{
	auto number = id_number(wc.wr_id);

	if (wc.status)
		fail("flow %u: receive request %llu: %s (vendor %u)", index,
		     static_cast<ull>(number), ibv_wc_status_str(wc.status), wc.vendor_err);
	if (number != recv_next)
		fail("flow %u: completion of receive request %llu instead of %llu", index,
		     static_cast<ull>(number), static_cast<ull>(recv_next));
	check_until_recv(wc);
	posted.pop_front();
	post_recv(recv_next++);
	recvs_checked++;
}

void Flow::on_credit(const Credit &credit)
{
	credit_recvs = credit.recvs;
	credit_ring = credit.ring;
}

Credit Flow::take_credit()
{
	told = recvs_checked;
	return { index, recvs_checked, ring_checked };
}

bool Flow::sent_all() const
{
	return plan.finished() && !have_head && flying.empty();
}

bool Flow::received_all() const
{
	return check.finished();
}

void Flow::check_cells() const
{
	auto *own = reinterpret_cast<uint64_t *>(shared.cells.data()) + CELLS * index;

	for (int c = 0; c < CELLS; c++)
		if (own[c] != check.cell(static_cast<Cell>(c)))
			fail("flow %u: the peer's atomics made cell %d 0x%llx, not 0x%llx", index,
			     c, static_cast<ull>(own[c]),
			     static_cast<ull>(check.cell(static_cast<Cell>(c))));
}

std::string Flow::state() const
{
	return format("flow %u: sent %llu of %llu messages, %zu under way%s%s; received %llu of "
		      "%llu; QP state %d",
		      index, static_cast<ull>(tx.messages), static_cast<ull>(shared.mine.count),
		      flying.size(), flying.empty() ? "" : " since ",
		      flying.empty() ? "" : describe(flying.front().msg).c_str(),
		      static_cast<ull>(rx.messages), static_cast<ull>(shared.theirs.count),
		      qp.state());
}

} // namespace st
