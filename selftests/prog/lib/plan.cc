// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "plan.hh"

#include <algorithm>

#include "fail.hh"

namespace st
{

static const char *const names[OPS] = { "send", "send_imm", "write", "write_imm",
					"read", "cas",	    "fadd" };

const char *op_name(Op op)
{
	return names[static_cast<int>(op)];
}

uint32_t parse_ops(const std::string &list)
{
	uint32_t mask = 0;

	if (list == "all")
		return OP_BITS | INLINE_BIT | FENCE_BIT;
	for (size_t at = 0; at <= list.size();) {
		auto end = std::min(list.find(',', at), list.size());
		auto word = list.substr(at, end - at);
		auto known = std::find(std::begin(names), std::end(names), word);

		if (word == "inline")
			mask |= INLINE_BIT;
		else if (word == "fence")
			mask |= FENCE_BIT;
		else if (known != std::end(names))
			mask |= 1U << (known - std::begin(names));
		else
			fail("unknown operation: %s", word.c_str());
		at = end + 1;
	}
	if (!(mask & OP_BITS))
		fail("no operation to do");
	return mask;
}

Plan::Plan(const PlanParams &params, uint32_t qp)
	: params(params), rng(mix(params.seed) ^ mix(qp + 1))
{
}

uint32_t Plan::pick_size()
{
	auto kind = rng.below(100);
	uint64_t size;

	if (kind < params.large_percent)
		size = rng.between(0, params.max_size);
	else if (kind < 30)
		size = rng.between(0, 64);
	else if (kind < 55) /* where packets begin and end */
		size = params.mtu * rng.between(1, 8) + rng.between(0, 4) - 2;
	else
		size = rng.magnitude(params.max_size);
	return std::clamp<uint64_t>(size, params.min_size, params.max_size);
}

Op Plan::pick_op()
{
	bool last = number + 1 == params.count;
	bool check = ring - ring_at_recv >= params.max_size || number - number_at_recv >= 16;
	uint32_t mask = params.ops & OP_BITS;

	if (last || check) {
		mask &= 1U << int(Op::SEND) | 1U << int(Op::SEND_IMM) | 1U << int(Op::WRITE_IMM);
		if (!mask)
			return Op::SEND;
	}
	for (;;) {
		auto op = rng.below(OPS);

		if (mask & (1U << op))
			return static_cast<Op>(op);
	}
}

/* where in the peer's memory */
void Plan::place(Msg &m)
{
	auto bytes = params.target_bytes();

	if (writes_target(m.op)) {
		if (ring % bytes + m.size > bytes)
			ring += bytes - ring % bytes;
		m.offset = ring % bytes;
		ring += m.size;
	} else if (m.op == Op::READ) {
		m.offset = rng.between(0, params.read_bytes() - m.size);
	}
	m.ring_end = ring;
}

void Plan::operands(Msg &m)
{
	m.size = 8;
	m.pieces = 1;
	if (m.op == Op::FADD) {
		m.shared_cell = rng.percent(30);
		m.compare_add = rng.next();
		m.old_value = cells[CELL_FADD];
		(m.shared_cell ? shared : cells[CELL_FADD]) += m.compare_add;
		return;
	}
	m.old_value = cells[CELL_CAS];
	m.compare_add = m.old_value;
	m.swap = rng.next();
	if (rng.percent(30))
		m.compare_add ^= 1ULL << rng.below(64);
	else
		cells[CELL_CAS] = m.swap;
}

Msg Plan::next()
{
	Msg m;

	m.number = number;
	m.op = pick_op();
	m.size = pick_size();
	m.key = mix(rng.next());
	m.imm = m.key >> 32;
	m.signaled = rng.percent(40);
	m.fence = rng.percent(5) && (params.ops & FENCE_BIT);
	m.solicited = rng.percent(50);
	m.pieces = rng.percent(40) ? 1 : rng.between(1, params.max_sge);
	m.pieces = std::min(m.pieces, m.size);
	m.recvs = recvs;
	if (is_atomic(m.op))
		operands(m);
	else if (m.op != Op::READ && (params.ops & INLINE_BIT) && m.size <= params.max_inline)
		m.inlined = rng.percent(50);
	place(m);
	if (consumes_recv(m.op)) {
		recvs++;
		ring_at_recv = ring;
		number_at_recv = number;
	}
	number++;
	return m;
}

} // namespace st
