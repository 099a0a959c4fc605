/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The messages that one side of a queue pair sends, as a function of a seed.
 * Sender and receiver run the same plan, so the receiver knows what has to
 * come, and notices what is lost, doubled, reordered or wrong.
 *
 * WRITEs go to a ring of target memory. They can be checked when a later
 * message of the same QP has consumed a receive request, so the plan sees to
 * it that such a message follows before the ring is full.
 */
#pragma once

#include <cstdint>
#include <string>

#include "rng.hh"

namespace st
{

enum class Op { SEND, SEND_IMM, WRITE, WRITE_IMM, READ, CAS, FADD };
constexpr int OPS = 7;

const char *op_name(Op op);
/* "send,write,read", with "inline" and "fence" as extras, or "all", to a mask */
uint32_t parse_ops(const std::string &list);
constexpr uint32_t INLINE_BIT = 1U << OPS;
constexpr uint32_t FENCE_BIT = 2U << OPS;
constexpr uint32_t OP_BITS = INLINE_BIT - 1;

constexpr bool consumes_recv(Op op)
{
	return op == Op::SEND || op == Op::SEND_IMM || op == Op::WRITE_IMM;
}

constexpr bool writes_target(Op op)
{
	return op == Op::WRITE || op == Op::WRITE_IMM;
}

constexpr bool has_imm(Op op)
{
	return op == Op::SEND_IMM || op == Op::WRITE_IMM;
}

constexpr bool is_atomic(Op op)
{
	return op == Op::CAS || op == Op::FADD;
}

/* what both sides must agree on; goes over the wire as it is */
struct PlanParams {
	uint64_t seed;
	uint64_t count;
	uint32_t ops;
	uint32_t max_size;
	uint32_t min_size;	/* of all but atomics */
	uint32_t large_percent; /* messages of any size up to max_size */
	uint32_t mtu;
	uint32_t max_inline;
	uint32_t max_sge;

	uint64_t target_bytes() const { return 4ULL * max_size + 4096; }
	uint64_t read_bytes() const { return max_size + 65536ULL; }
};

/* the memory that atomics of one QP go to, as 64-bit words; one word more is
 * shared by all QPs */
enum Cell { CELL_FADD, CELL_CAS, CELLS };

struct Msg {
	uint64_t number = 0;
	Op op = Op::SEND;
	uint32_t size = 0;
	uint32_t pieces = 0; /* local scatter/gather entries */
	uint32_t imm = 0;
	bool inlined = false, fence = false, signaled = false, solicited = false;
	bool shared_cell = false;
	uint64_t key = 0;      /* of its pattern */
	uint64_t offset = 0;   /* in the target or the read memory */
	uint64_t ring_end = 0; /* ring bytes used by all messages so far */
	uint64_t recvs = 0;    /* receive requests consumed before this one */
	uint64_t compare_add = 0, swap = 0;
	uint64_t old_value = 0; /* that an atomic must return */
};

class Plan
{
public:
	Plan(const PlanParams &params, uint32_t qp);

	bool finished() const { return number == params.count; }
	Msg next();

	uint64_t cell(Cell c) const { return cells[c]; }
	uint64_t shared_sum() const { return shared; }

private:
	uint32_t pick_size();
	Op pick_op();
	void place(Msg &m);
	void operands(Msg &m);

	PlanParams params;
	Rng rng;
	uint64_t number = 0, recvs = 0;
	uint64_t ring = 0, ring_at_recv = 0, number_at_recv = 0;
	uint64_t cells[CELLS] = {};
	uint64_t shared = 0;
};

/* key of the memory that READs of one side find at the other */
constexpr uint64_t read_key(uint64_t seed)
{
	return mix(seed ^ 0x72656164);
}

} // namespace st
