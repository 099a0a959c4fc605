/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * One queue pair of the traffic test: sends its own plan, checks the peer's.
 */
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include "plan.hh"
#include "spread.hh"
#include "verbs.hh"

namespace st
{

/* what a peer must know of a flow; goes over the wire as it is */
struct FlowAddress {
	QpAddress qp;
	uint32_t recv_depth;
	uint32_t target_rkey, read_rkey, cells_rkey;
	uint64_t target, read, cells, shared_cell;
};

/* how far one side has checked what it got; goes over the wire as it is */
struct Credit {
	uint32_t flow;
	uint32_t recvs;
	uint64_t ring;
};

struct Tally {
	uint64_t messages = 0, bytes = 0;
	std::array<uint64_t, OPS> by_op = {};
};

/* memory and settings that all flows of a process share */
struct FlowShared {
	const Device &dev;
	const Pd &pd;
	const Cq &cq;
	PlanParams mine, theirs;
	uint32_t depth, recv_depth;
	bool ignore_recv_credits; /* run into RNR NAKs on purpose */
	Mr &read;		  /* what the peer READs */
	Mr &cells;		  /* what the peer's atomics go to */
};

class Flow
{
public:
	Flow(const FlowShared &shared, uint32_t index);

	FlowAddress address(const QpLink &link) const;
	void connect(const QpLink &link, const FlowAddress &peer);
	/* post what can be posted; true if something was */
	bool pump();
	void on_send(const ibv_wc &wc);
	void on_recv(const ibv_wc &wc);
	void on_credit(const Credit &credit);
	/* what the peer has not been told yet */
	bool credit_due() const { return told != recvs_checked; }
	Credit take_credit();
	bool sent_all() const;
	bool received_all() const;
	/* final values in memory that the peer's atomics went to */
	void check_cells() const;
	std::string state() const;

	const Tally &sent() const { return tx; }
	const Tally &received() const { return rx; }
	uint64_t peer_shared_sum() const { return check.shared_sum(); }

private:
	struct Flying {
		Msg msg;
		Spread local;
		bool signaled;
		uint64_t arena_end;
	};
	struct Posted {
		Spread buffer;
	};

	bool allocate(const Msg &msg, uint64_t &offset);
	bool may_post(const Msg &msg) const;
	void queue(const Msg &msg, uint64_t offset);
	void finish(Flying &f);
	void post_recv(uint64_t slot);
	void check_until_recv(const ibv_wc &wc);

	const FlowShared &shared;
	uint32_t index;
	FlowAddress peer = {};
	Rng rng; /* for what the peer need not know */
	Mr arena, buffers, target;
	Qp qp;

	Plan plan; /* mine */
	Msg head;
	bool have_head = false;
	std::deque<Flying> flying;
	std::vector<Work> chain;
	uint64_t arena_head = 0, arena_tail = 0, signaled_head = 0;
	uint32_t unsignaled = 0;
	uint32_t credit_recvs = 0;
	uint64_t credit_ring = 0;

	Plan check; /* the peer's */
	std::deque<Posted> posted;
	uint64_t recv_id = 0, recv_next = 0;
	uint32_t recvs_checked = 0, told = 0;
	uint64_t ring_checked = 0;

	Tally tx, rx;
};

} // namespace st
