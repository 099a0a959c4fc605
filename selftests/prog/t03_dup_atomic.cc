// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Duplicate atomics: an operation whose answer was lost is not done again. The
 * repeated request is answered with the value saved the first time; requests
 * older than what is saved are dropped silently.
 */
#include <cstring>
#include <set>

#include "lib/bench.hh"

using namespace st;

namespace
{

bool is_request(const Packet &p)
{
	return p.to_b && (p.bth.opcode == RC_FETCH_ADD || p.bth.opcode == RC_CMP_SWAP);
}

bool is_answer(const Packet &p)
{
	return !p.to_b && p.bth.opcode == RC_ATOMIC_ACK;
}

uint64_t word(const Mr &mr, size_t index = 0)
{
	uint64_t w;

	std::memcpy(&w, mr.data() + 8 * index, 8);
	return w;
}

void post(Pair &pair, ibv_wr_opcode opcode, uint64_t id, uint64_t compare_add, uint64_t swap = 0)
{
	Work(id, opcode, { pair.a.mr.sge(4096 + 8 * id, 8) })
		.atomic(pair.b.mr.addr(0), pair.b.mr.rkey(), compare_add, swap)
		.post(pair.a.qp);
}

uint64_t result(const Pair &pair, uint64_t id)
{
	return word(pair.a.mr, 512 + id);
}

/* drop the answers for the first `times` times that each is sent */
void lose_answers(Bench &bench, unsigned int times)
{
	auto seen = std::make_shared<std::multiset<uint32_t>>();

	bench.wire.rule([seen, times](const Packet &p, Bytes &) {
		if (!is_answer(p))
			return Verdict::PASS;
		seen->insert(p.bth.psn);
		return seen->count(p.bth.psn) <= times ? Verdict::DROP : Verdict::PASS;
	});
}

void lost_fetch_add(Bench &bench, unsigned int times)
{
	constexpr uint64_t N = 4;

	lose_answers(bench, times);
	auto pair = bench.pair();
	for (uint64_t id = 0; id < N; id++) {
		post(pair, IBV_WR_ATOMIC_FETCH_AND_ADD, id, 1);
		pair.a.send_cq.expect(id, IBV_WC_SUCCESS);
		if (result(pair, id) != id)
			fail("addition %llu returned %llu", static_cast<unsigned long long>(id),
			     static_cast<unsigned long long>(result(pair, id)));
	}
	if (word(pair.b.mr) != N)
		fail("%llu additions made %llu", static_cast<unsigned long long>(N),
		     static_cast<unsigned long long>(word(pair.b.mr)));
}

/* a second compare-and-swap would find the new value and return it */
void lost_compare_swap(Bench &bench)
{
	lose_answers(bench, 1);
	auto pair = bench.pair();
	post(pair, IBV_WR_ATOMIC_CMP_AND_SWP, 0, 0, 77);
	pair.a.send_cq.expect(0, IBV_WC_SUCCESS);
	if (result(pair, 0) != 0)
		fail("the swap returned %llu, not the value of before",
		     static_cast<unsigned long long>(result(pair, 0)));
	if (word(pair.b.mr) != 77)
		fail("the swap made %llu", static_cast<unsigned long long>(word(pair.b.mr)));
}

/* many under way, the answers of all lost at first */
void lost_many(Bench &bench)
{
	constexpr uint64_t N = 64;
	std::set<uint64_t> values;

	lose_answers(bench, 1);
	auto pair = bench.pair();
	for (uint64_t id = 0; id < N; id++)
		post(pair, IBV_WR_ATOMIC_FETCH_AND_ADD, id, 1);
	for (uint64_t id = 0; id < N; id++)
		pair.a.send_cq.expect(id, IBV_WC_SUCCESS, 30000);
	for (uint64_t id = 0; id < N; id++)
		values.insert(result(pair, id));
	if (values.size() != N || *values.rbegin() != N - 1)
		fail("%zu different values among %llu, the highest is %llu", values.size(),
		     static_cast<unsigned long long>(N),
		     static_cast<unsigned long long>(*values.rbegin()));
	if (word(pair.b.mr) != N)
		fail("%llu additions made %llu", static_cast<unsigned long long>(N),
		     static_cast<unsigned long long>(word(pair.b.mr)));
}

/* play requests again by hand: within the saved ones and beyond them */
void replay(Bench &bench)
{
	bench.config.link_a.rd_atomic = bench.config.link_b.rd_atomic = 4;
	auto pair = bench.pair();
	constexpr uint64_t N = 12;

	for (uint64_t id = 0; id < N; id++) {
		post(pair, IBV_WR_ATOMIC_FETCH_AND_ADD, id, 1);
		pair.a.send_cq.expect(id, IBV_WC_SUCCESS);
	}
	auto packets = bench.wire.take();
	std::vector<Packet> requests, answers;
	for (auto &p : packets) {
		if (is_request(p))
			requests.push_back(p);
		if (is_answer(p))
			answers.push_back(p);
	}
	if (requests.size() != N || answers.size() != N)
		fail("%zu requests and %zu answers for %llu operations", requests.size(),
		     answers.size(), static_cast<unsigned long long>(N));

	/* the last one is certainly among the saved four */
	bench.wire.inject(true, requests[N - 1].frame);
	if (!bench.wire.wait_for(is_answer, 1, 2000))
		fail("the last request, repeated, was not answered");
	auto again = bench.wire.take();
	for (auto &p : again) {
		if (p.bth.psn != answers[N - 1].bth.psn)
			fail("answered with PSN %06x, not %06x", p.bth.psn, answers[N - 1].bth.psn);
		if (get64(p.body() + 4) != N - 1)
			fail("answered with value %llu, not the saved %llu",
			     static_cast<unsigned long long>(get64(p.body() + 4)),
			     static_cast<unsigned long long>(N - 1));
	}

	/* the first is long forgotten */
	bench.wire.inject(true, requests[0].frame);
	if (bench.wire.wait_for([](const Packet &p) { return !p.to_b; }, 1, 300))
		fail("a request beyond the saved ones was answered");
	if (word(pair.b.mr) != N)
		fail("the repeated requests were executed: %llu",
		     static_cast<unsigned long long>(word(pair.b.mr)));
	post(pair, IBV_WR_ATOMIC_FETCH_AND_ADD, N, 1);
	pair.a.send_cq.expect(N, IBV_WC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(
		argc, argv,
		{ { "FETCH_ADD whose answer was lost", [](Bench &b) { lost_fetch_add(b, 1); } },
		  { "FETCH_ADD whose answer was lost twice",
		    [](Bench &b) { lost_fetch_add(b, 2); } },
		  { "CMP_SWAP whose answer was lost", lost_compare_swap },
		  { "64 FETCH_ADD under way, all answers lost once", lost_many },
		  { "requests played again", replay } });
}
