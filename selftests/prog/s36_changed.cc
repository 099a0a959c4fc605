// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * S36: a packet that its sender changes after it was checked. A process can send
 * pages of its own without a copy (vmsplice, splice) and write to them while the
 * packet waits: here behind a READ whose responses cannot leave.
 */
#include <cstring>
#include <string>

#include <sys/mman.h>

#include "lib/counters.hh"
#include "lib/fail.hh"
#include "lib/forger.hh"
#include "lib/options.hh"
#include "lib/pair.hh"
#include "lib/pattern.hh"
#include "lib/plug.hh"
#include "lib/region.hh"
#include "lib/roce.hh"
#include "lib/tap.hh"

using namespace st;

namespace
{

constexpr uint32_t QPN = 0x345678, PSN = 0x111111;
constexpr unsigned int MTU = 1024;
/* more than a QP may have inside the local stack */
constexpr unsigned int READ_BYTES = 1 << 20, READ_PACKETS = READ_BYTES / MTU;
constexpr uint32_t SEND_BYTES = 256;
constexpr size_t PAGE = 4096;
/* two opcodes: of nothing, and of datagrams */
constexpr uint8_t NO_OPCODE = 0xff, UD_SEND_ONLY = 0x64;

struct Host {
	explicit Host(const PairConfig &config);
	/* wait until a packet that A's device cannot but drop was dropped: those before
	 * it have passed the door */
	void pass_door(const Forger &peer) const;
	void expect_message(uint64_t key) const;

	Device a, b;
	End end;
};

Host::Host(const PairConfig &config)
	: a(config.dev_a), b(config.dev_b), end(a, config, config.access_a)
{
	QpLink link = config.link_a;
	const QpAddress peer = { QPN, PSN, b.gid(b.gid_index(config.gid)) };

	link.gid_index = a.gid_index(config.gid);
	link.mtu = IBV_MTU_1024;
	end.qp.connect(link, peer);
	end.qp.recv(1, { end.mr.sge(0, SEND_BYTES) });
	std::memset(end.mr.data(), 0, SEND_BYTES);
}

bool comes(const std::string &device, const char *name, uint64_t value)
{
	for (int tries = 0; tries < 2000; tries++) {
		if (counter(device, name) >= value)
			return true;
		sleep_us(10000);
	}
	return false;
}

void Host::pass_door(const Forger &peer) const
{
	const auto before = counter("sk0", "rx_drop_tver");
	auto bad = peer.packet(RC_SEND_ONLY, end.qp.num(), 0, {});

	bad[1] |= 0x0f; /* a version that there is not */
	peer.send(bad);
	if (!comes("sk0", "rx_drop_tver", before + 1))
		fail("a packet did not come to A");
}

void Host::expect_message(uint64_t key) const
{
	end.recv_cq.expect(1, IBV_WC_SUCCESS);
	expect_pattern("the message", end.mr.data(), SEND_BYTES, key);
}

/* change, if it is not 0: the opcode that a SEND gets while it waits */
void waits(const PairConfig &config, uint8_t change, const char *dropped)
{
	Host host(config);
	const Forger peer;
	const auto before = dropped ? counter("sk0", dropped) : 0;
	Bytes text(SEND_BYTES);
	auto *page = static_cast<uint8_t *>(
		mmap(nullptr, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	const uint32_t psn = PSN + READ_PACKETS;

	if (page == MAP_FAILED)
		fail_errno("mmap");
	pattern_fill(text.data(), text.size(), 7, 0);
	const auto packet = peer.packet(RC_SEND_ONLY, host.end.qp.num(), psn, text);
	std::memcpy(page, packet.data(), packet.size());
	{
		Plug plug;

		peer.send(peer.packet(RC_READ_REQUEST, host.end.qp.num(), PSN,
				      reth(host.end.mr.addr(), host.end.mr.rkey(), READ_BYTES)));
		if (!peer.lend(page, packet.size()))
			fail("the packet was not sent");
		host.pass_door(peer);
		if (host.end.recv_cq.next(0))
			fail("the SEND did not wait for the READ");
		if (change)
			page[0] = change;
	}
	if (change) {
		if (!comes("sk0", dropped, before + 1))
			fail("the changed packet was not dropped");
		/* the QP has not suffered: the packet is still expected */
		peer.send(packet);
	}
	host.expect_message(7);
	munmap(page, PAGE);
}

} // namespace

int main(int argc, char **argv)
{
	Tap tap(3);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);

		config.gid = "v6";
		config.bytes = READ_BYTES;
		opt.done();
		tap.run("a packet that waits is executed as it came",
			[&] { waits(config, 0, nullptr); });
		tap.run("one that becomes no packet at all while it waits is dropped",
			[&] { waits(config, NO_OPCODE, "rx_drop_opcode"); });
		tap.run("one that becomes another QP's kind is dropped",
			[&] { waits(config, UD_SEND_ONLY, "rx_drop_type"); });
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
