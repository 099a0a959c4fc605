// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Multicast: what goes on the wire, who gets a copy and who does not, and what
 * attaching and detaching do to the netdev.
 */
#include <arpa/inet.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

#include <unistd.h>

#include "lib/datagram.hh"
#include "lib/lives.hh"

using namespace st;

namespace
{

/* a group of the kind of address under test */
struct Group {
	explicit Group(const std::string &kind)
	{
		bool v4 = kind.ends_with("v4");
		const char *text = v4 ? "::ffff:239.1.2.3" : "ff0e::1234";

		if (inet_pton(AF_INET6, text, gid.raw) != 1)
			fail("not an address: %s", text);
		if (v4)
			mac = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 };
		else
			mac = { 0x33, 0x33, 0x00, 0x00, 0x12, 0x34 };
	}

	ibv_gid gid;
	Mac mac;
};

int attach(const UdEnd &end, const Group &group)
{
	return ibv_attach_mcast(end.qp.get(), &group.gid, 0);
}

int detach(const UdEnd &end, const Group &group)
{
	return ibv_detach_mcast(end.qp.get(), &group.gid, 0);
}

/* attached until the end */
struct Member : UdEnd {
	Member(const Device &dev, const std::string &kind, const Group &group, uint32_t flags = 0,
	       uint32_t qkey = QKEY)
		: UdEnd(dev, kind, flags, qkey), group(group)
	{
		if (int err = attach(*this, group))
			fail_errno("ibv_attach_mcast", err);
	}
	~Member() { detach(*this, group); }

	Group group;
};

/* a sender on A, which is no member, and its way to the group */
struct Sender : UdEnd {
	Sender(Bench &b, const Group &group)
		: UdEnd(b.devices.a, b.config.gid), ah(pd, gid_index, group.gid, { 0, 0, 7 })
	{
	}
	void shout(uint32_t bytes, uint64_t key, uint32_t qkey = QKEY)
	{
		send(ah, MULTICAST_QPN, bytes, key, qkey);
	}

	Ah ah;
};

void on_the_wire(Bench &b)
{
	Group group(b.config.gid);
	Member m(b.devices.b, b.config.gid, group);
	Sender s(b, group);
	uint8_t *area = m.mr.data();

	std::memset(area, 0xee, 4096);
	m.recv(1, 4096);
	s.shout(100, 1);
	m.received(1, 100, 1, s.qp.num());
	if (!b.wire.wait_for([](const Packet &p) { return p.to_b && p.bth.opcode == UD_SEND_ONLY; },
			     1, 5000))
		fail("nothing on the wire");
	for (auto &p : b.wire.take()) {
		auto v = view(p.frame.data(), p.frame.size());

		if (!std::equal(group.mac.begin(), group.mac.end(), p.frame.begin()))
			fail("sent to the wrong MAC address");
		if (p.bth.qpn != MULTICAST_QPN || !v->icrc_good())
			fail("QP number %#x, ICRC %s", p.bth.qpn,
			     v->icrc_good() ? "right" : "wrong");
		if (v->ip[v->v6 ? 7 : 8] != 7)
			fail("hop limit %u", v->ip[v->v6 ? 7 : 8]);
		if (std::memcmp(area + GRH_BYTES - v->header_bytes, v->ip, v->header_bytes))
			fail("the 40 bytes are not the IP header");
	}
}

/* each has its copy; those that cannot take theirs do not hurt the others */
void copies(Bench &b)
{
	Group group(b.config.gid);
	std::vector<std::unique_ptr<Member>> members;
	Sender s(b, group);

	for (int i = 0; i < 5; i++)
		members.push_back(std::make_unique<Member>(b.devices.b, b.config.gid, group, 0,
							   UdEnd::QKEY + (i == 1)));
	for (auto &m : members)
		m->recv(1, 4096);
	if (members[2]->qp.try_state(IBV_QPS_ERR) || members[3]->qp.try_state(IBV_QPS_RESET))
		fail("modify to ERR and to RESET");
	members[2]->recv_cq.expect(1, IBV_WC_WR_FLUSH_ERR);
	s.shout(50, 9);
	members[0]->received(1, 50, 9, s.qp.num());
	members[4]->received(1, 50, 9, s.qp.num());
	for (int i : { 1, 2, 3 })
		if (members[i]->recv_cq.next(50))
			fail("member %d got a copy", i);
}

void not_a_member(Bench &b)
{
	Group group(b.config.gid), other(b.config.gid);
	Sender s(b, group);
	UdEnd stranger(b.devices.b, b.config.gid);

	other.gid.raw[15] ^= 0x40;
	Member m(b.devices.b, b.config.gid, other);
	stranger.recv(1, 4096);
	m.recv(1, 4096);
	s.shout(50, 1);
	if (stranger.recv_cq.next(100) || m.recv_cq.next(100))
		fail("received without being a member");
}

bool filtered_in(const Group &group)
{
	bool found = false;
	std::string mac;

	for (uint8_t byte : group.mac)
		mac += format("%02x", byte);
	in_netns("skB", [&] {
		std::ifstream file("/proc/thread-self/net/dev_mcast");
		for (std::string line; std::getline(file, line);)
			found |= line.find(mac) != line.npos;
	});
	return found;
}

void membership(Bench &b)
{
	Group group(b.config.gid);
	UdEnd one(b.devices.b, b.config.gid), two(b.devices.b, b.config.gid);

	if (filtered_in(group))
		fail("a member before it joined");
	for (auto *end : { &one, &two, &one })
		if (int err = attach(*end, group))
			fail_errno("attach", err);
	if (!filtered_in(group))
		fail("the netdev's filter does not know the group");
	if (int err = detach(one, group))
		fail_errno("detach", err);
	if (int err = detach(one, group); err != EINVAL)
		fail("the second detach: %d, not EINVAL", err);
	if (!filtered_in(group))
		fail("the group is gone while a member is left");
	if (int err = detach(two, group))
		fail_errno("detach", err);
	if (filtered_in(group))
		fail("the group is there without a member");
}

void refused(Bench &b)
{
	Group group(b.config.gid);
	UdEnd end(b.devices.b, b.config.gid);
	auto pair = b.pair();
	ibv_gid unicast = end.gid();

	if (int err = ibv_attach_mcast(end.qp.get(), &unicast, 0); err != EINVAL)
		fail("attach to a unicast address: %d", err);
	if (int err = ibv_attach_mcast(pair.b.qp.get(), &group.gid, 0); err != EINVAL)
		fail("attach of an RC QP: %d", err);
	if (int err = detach(end, group); err != EINVAL)
		fail("detach without attach: %d", err);
}

/* no QP goes while it is attached */
void busy(Bench &b)
{
	Group group(b.config.gid);
	UdEnd end(b.devices.b, b.config.gid);

	if (attach(end, group))
		fail("attach");
	if (int err = ibv_destroy_qp(end.qp.get()); err != EBUSY)
		fail("destroying an attached QP: %d, not EBUSY", err);
	if (detach(end, group))
		fail("detach");
}

/* LIDs mean nothing here, but for ib_core each is an attachment of its own */
void by_lid(Bench &b)
{
	Group group(b.config.gid);
	UdEnd end(b.devices.b, b.config.gid);
	auto *qp = end.qp.get();

	for (uint16_t lid : { 0, 7, 0xc001 })
		if (int err = ibv_attach_mcast(qp, &group.gid, lid))
			fail_errno(format("attach, LID %u", lid), err);
	for (uint16_t lid : { 7, 0, 0xc001 }) {
		if (!filtered_in(group))
			fail("the group is gone before LID %u is detached", lid);
		if (int err = ibv_detach_mcast(qp, &group.gid, lid))
			fail_errno(format("detach, LID %u", lid), err);
	}
	if (filtered_in(group))
		fail("the group is there without a member");
	if (int err = end.qp.destroy())
		fail_errno("destroying a QP that is detached", err);
}

/* who ends without detaching leaves nothing */
void left_attached(Bench &b)
{
	Group group(b.config.gid);
	Lives lives;

	if (!lives.run([&](Score &) {
		    Devices devices(b.config);
		    UdEnd end(devices.b, b.config.gid);

		    for (uint16_t lid : { 0, 7 })
			    if (int err = ibv_attach_mcast(end.qp.get(), &group.gid, lid))
				    fail_errno(format("attach, LID %u", lid), err);
		    _exit(0);
	    }))
		fail("a member died");
	if (filtered_in(group))
		fail("the group is there without a member");
}

void in_parallel(Bench &b)
{
	Group group(b.config.gid);
	UdEnd ends[2] = { { b.devices.b, b.config.gid }, { b.devices.b, b.config.gid } };
	int errors[2] = {};
	std::vector<std::thread> threads;

	for (int i = 0; i < 2; i++)
		threads.emplace_back([&, i] {
			for (int n = 0; n < 50; n++)
				errors[i] += !!attach(ends[i], group) + !!detach(ends[i], group);
		});
	for (auto &t : threads)
		t.join();
	if (errors[0] || errors[1])
		fail("%d and %d errors", errors[0], errors[1]);
	if (filtered_in(group))
		fail("the group is there without a member");
}

/* a sender that is a member hears itself, unless it asked not to */
void loopback(Bench &b)
{
	Group group(b.config.gid);
	Member loud(b.devices.a, b.config.gid, group);
	Member deaf(b.devices.a, b.config.gid, group, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	Member far(b.devices.b, b.config.gid, group);
	Ah from_loud(loud.pd, loud.gid_index, group.gid),
		from_deaf(deaf.pd, deaf.gid_index, group.gid);

	for (int i = 1; i <= 2; i++) {
		loud.recv(i, 4096);
		deaf.recv(i, 4096);
		far.recv(i, 4096);
	}
	loud.send(from_loud, MULTICAST_QPN, 11, 1);
	loud.received(1, 11, 1, loud.qp.num());
	deaf.received(1, 11, 1, loud.qp.num());
	far.received(1, 11, 1, loud.qp.num());
	deaf.send(from_deaf, MULTICAST_QPN, 22, 2);
	loud.received(2, 22, 2, deaf.qp.num());
	far.received(2, 22, 2, deaf.qp.num());
	if (deaf.recv_cq.next(100))
		fail("its own datagram came back to a QP that blocks it");
}

/* a packet that says multicast in one place only */
void half_multicast(Bench &b)
{
	Group group(b.config.gid);
	Member m(b.devices.b, b.config.gid, group);
	Sender s(b, group);
	Ah unicast(s.pd, s.gid_index, m.gid());

	m.recv(1, 4096);
	s.send(unicast, MULTICAST_QPN, 8, 1);
	s.send(s.ah, m.qp.num(), 8, 2);
	s.shout(9, 3);
	m.received(1, 9, 3, s.qp.num());
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "addresses on the wire, and the 40 bytes", on_the_wire },
			   { "each member gets a copy, bad ones are skipped", copies },
			   { "who is no member gets none", not_a_member },
			   { "the netdev joins with the first, leaves with the last", membership },
			   { "what cannot be attached", refused },
			   { "an attached QP is not destroyed", busy },
			   { "attached more than once, by LIDs", by_lid },
			   { "still attached in the end", left_attached },
			   { "attaching from two threads", in_parallel },
			   { "members on the sender's side", loopback },
			   { "multicast QP or multicast address alone", half_multicast } });
}
