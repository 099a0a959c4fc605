// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What packets say of congestion (annex A17): ECT(0) if the QP has congestion control,
 * behind the DSCP that was asked for, and never the two bits behind it that the
 * program had there. Whether a QP has it is the device's affair, unless the
 * program's environment says something else.
 */
#include <cstdlib>
#include <cstring>

#include "congestion.hh"
#include "rules.hh"

namespace st
{

namespace
{

constexpr const char *VARIABLE = "SKERRY_CONGESTION_CONTROL";
constexpr uint32_t QKEY = 0x1234;

/* what the QPs that are made meanwhile ask for; NULL: nothing */
struct Wish {
	explicit Wish(const char *value)
	{
		if (value)
			setenv(VARIABLE, value, 1);
		else
			unsetenv(VARIABLE);
	}
	~Wish() { unsetenv(VARIABLE); }
};

/* who wants what, and what comes of it */
struct Case {
	const char *device, *wish;
	bool on;
};

const Case CASES[] = {
	{ "dcqcn", nullptr, true }, { "none", nullptr, false }, { "dcqcn", "on", true },
	{ "none", "on", true },	    { "dcqcn", "off", false },	{ "none", "off", false },
};

std::string name_of(const Case &c)
{
	return format("device %s, program %s", c.device, c.wish ? c.wish : "silent");
}

/* of what there are packets */
struct Sort {
	const char *name;
	ibv_qp_type type;
	uint8_t opcode; /* of the packet; the QP answers, unless it is a request */
};

const Sort SORTS[] = {
	{ "RC request", IBV_QPT_RC, RC_WRITE_ONLY },
	{ "RC ACK", IBV_QPT_RC, RC_ACK },
	{ "RC READ response", IBV_QPT_RC, RC_READ_ONLY },
	{ "UC", IBV_QPT_UC, UC | RC_WRITE_ONLY },
	{ "UD", IBV_QPT_UD, UD_SEND_ONLY },
};

/* a QP that sends such packets */
class Sender : public Peer
{
public:
	Sender(Bench &bench, const Sort &sort, uint8_t tclass)
		: Peer(bench, setup(sort.type)), sort(sort)
	{
		link.tclass = tclass;
		if (sort.type == IBV_QPT_UD)
			begin_datagrams(tclass);
		else
			end.qp.connect(link, ghost_address());
	}

	/* the type of service of the next one */
	uint8_t tos()
	{
		provoke();
		auto p = Peer::next();
		if (p.bth.opcode != sort.opcode)
			fail("%s", opcode_name(p.bth.opcode));
		return Path::of(p.frame).tos;
	}

	/* with all bits as they have to be */
	void marks(bool ect)
	{
		uint8_t wanted = (link.tclass & ~ECN_MASK) | (ect && !is_v1(bench) ? ECT_0 : 0);

		if (auto is = tos(); is != wanted)
			fail("%s of traffic class %#x has %#x, not %#x", sort.name, link.tclass, is,
			     wanted);
	}

	void reconnect()
	{
		if (int err = end.qp.try_state(IBV_QPS_RESET))
			fail_errno("RESET", err);
		end.qp.connect(link, ghost_address());
		sent = 0;
	}

private:
	static Setup setup(ibv_qp_type type)
	{
		Setup setup;

		setup.type = type;
		setup.connect = false;
		return setup;
	}

	void begin_datagrams(uint8_t tclass)
	{
		auto &b = bench.devices.b;
		AhExtra extra;

		extra.traffic_class = tclass;
		ah = std::make_unique<Ah>(end.pd, link.gid_index,
					  b.gid(b.gid_index(bench.config.gid)), extra);
		end.qp.to_datagram(QKEY, numbers.real);
	}

	void provoke()
	{
		auto psn = numbers.psn + sent++;
		auto data = end.mr.sge(0, 40);

		if (sort.opcode == RC_ACK)
			put(RC_WRITE_ONLY, psn, write_body(0, 40, 1), true);
		else if (sort.opcode == RC_READ_ONLY)
			put(RC_READ_REQUEST, psn, to_memory(0, 40), true);
		else if (sort.type == IBV_QPT_UD)
			Work(1, IBV_WR_SEND, { data })
				.datagram(ah->get(), numbers.qpn, QKEY)
				.post(end.qp);
		else
			Work(1, IBV_WR_RDMA_WRITE, { data }).remote(0x1000, 1).post(end.qp);
	}

	const Sort &sort;
	std::unique_ptr<Ah> ah;
	uint32_t sent = 0;
};

void marks(Bench &bench, const Sort &sort, const Case &c, uint8_t tclass)
{
	Unpaced as_it_was(bench);
	Wish wish(c.wish);

	set_cc(bench, "cc", c.device);
	Sender(bench, sort, tclass).marks(c.on);
}

/* the device changes its mind: connections keep what they began with */
void changed(Bench &bench, const Sort &sort, const char *value, bool on_at_first)
{
	Unpaced as_it_was(bench);
	Wish wish(value);
	bool asked = value, on = asked ? !strcmp(value, "on") : on_at_first;

	set_cc(bench, "cc", on_at_first ? "dcqcn" : "none");
	Sender sender(bench, sort, 104);
	sender.marks(on);
	set_cc(bench, "cc", on_at_first ? "none" : "dcqcn");
	if (sort.type == IBV_QPT_UD) {
		/* there is no connection */
		sender.marks(asked ? on : !on);
		return;
	}
	sender.marks(on);
	sender.reconnect();
	sender.marks(asked ? on : !on);
}

/* marks that come are counted in any case, but only congestion control answers them, and
 * only it obeys what others answer */
void obeys(Bench &bench, const Case &c)
{
	Unpaced as_it_was(bench);
	Wish wish(c.wish);

	set_cc(bench, "cc", c.device);
	Peer peer(bench);
	Count ce(bench, "np_ecn_marked_roce_packets"), cnp(bench, "np_cnp_sent"),
		ignored(bench, "rp_cnp_ignored"), handled(bench, "rp_cnp_handled");
	for (uint32_t i = 0; i < 3; i++) {
		peer.put(marked(peer.out(RC_WRITE_ONLY, peer.numbers.psn + i,
					 peer.write_body(0, 40, 1), true),
				CE));
		if (cnps_before(peer, RC_ACK) != c.on)
			fail(c.on ? "no CNP" : "a CNP");
	}
	peer.put(notification(peer));
	handled.is(c.on);
	ignored.is(!c.on);
	ce.is(3);
	cnp.is(c.on ? 3 : 0);
}

} // namespace

void add_marks(Trials &trials, const Bench &bench)
{
	/* with all kinds of ECN bits that are not the program's to set */
	uint8_t tclass = 0;

	for (auto &sort : SORTS)
		for (auto &c : CASES) {
			tclass += 107;
			trials.push_back(
				{ "ECT(0) behind the DSCP if there is congestion control",
				  format("%s, traffic class %u, ", sort.name, tclass) + name_of(c),
				  [&sort, &c, tclass](Bench &b) { marks(b, sort, c, tclass); } });
		}
	if (is_v1(bench))
		return;
	for (auto &sort : SORTS)
		for (const char *wish : { static_cast<const char *>(nullptr), "on", "off" })
			for (bool on : { false, true })
				trials.push_back(
					{ "a QP has from its address on what it has",
					  format("%s, %s, from %s", sort.name,
						 wish ? wish : "silent", on ? "dcqcn" : "none"),
					  [&sort, wish, on](Bench &b) {
						  changed(b, sort, wish, on);
					  } });
	for (auto &c : CASES)
		trials.push_back({ "who has no congestion control neither sends CNPs nor obeys any",
				   name_of(c), [&c](Bench &b) { obeys(b, c); } });
}

} // namespace st
