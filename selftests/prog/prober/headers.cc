// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Fields around a request that a receiver has to check, or has to overlook: the
 * BTH's, the addresses, and what says which kind of RoCE it is.
 */
#include <algorithm>

#include "rules.hh"

namespace st
{

namespace
{

using Change = std::function<void(Out &)>;

/* well-formed, ICRC and all, but with this changed: taken as it is */
void taken(Bench &bench, const Change &change)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	auto out = peer.out(RC_WRITE_ONLY, psn, peer.write_body(0, 40, 1), true);

	change(out);
	peer.put(out);
	peer.expect_ack(psn, 1);
	peer.in_memory(0, 40, 1);
	peer.goes_on(psn + 1, 1);
}

/* left out without a word */
void dropped(Bench &bench, const Change &change)
{
	Peer peer(bench);
	auto out = peer.out(RC_WRITE_ONLY, peer.numbers.psn, peer.write_body(0, 40, 1), true);

	change(out);
	peer.raw(out.frame());
	peer.nothing_came_of_it();
	if (peer.end.mr.data()[0] || peer.end.mr.data()[39])
		fail("it was executed");
}

/* a response of the peer with this changed does not count; as it should be, it does */
void no_response(Bench &bench, const Change &change)
{
	Peer peer(bench);
	auto psn = peer.numbers.real;

	Work(1, IBV_WR_RDMA_WRITE, { peer.end.mr.sge(0, 8) }).remote(0x1000, 1).post(peer.end.qp);
	peer.next();
	auto good = peer.out(RC_ACK, psn, aeth(0x62, 0)), bad = good;
	change(bad);
	peer.raw(bad.frame());
	peer.put(RC_ACK, psn, aeth(0x1f, 1));
	peer.end.send_cq.expect(1, IBV_WC_SUCCESS, Peer::style.patience);
}

void add_overlooked(Trials &trials)
{
	auto add = [&](const std::string &rule, const std::string &name, Change change) {
		trials.push_back({ rule, name, [=](Bench &b) { taken(b, change); } });
	};

	for (bool m : { false, true })
		add("MigReq is not looked at", m ? "1" : "0", [=](Out &o) { o.bth.migrated = m; });
	add("SE is not looked at", "1", [](Out &o) { o.bth.solicited = true; });
	for (uint8_t bits : { 0x80, 0x40, 0xc0, 0x3f, 0xff })
		add("FECN, BECN and reserved bits are not looked at", hex(bits),
		    [=](Out &o) { o.bth.congestion = bits; });
	for (uint8_t bits : { 0x01, 0x40, 0x7f })
		add("reserved bits beside AckReq are not looked at", hex(bits),
		    [=](Out &o) { o.bth.reserved = bits; });
	for (int tos = 0; tos < 256; tos += 4)
		add("the DSCP is not looked at", hex(tos >> 2), [=](Out &o) { o.path.tos = tos; });
	for (int ecn : { 1, 2, 3 })
		add("ECN does not change what is done", hex(ecn),
		    [=](Out &o) { o.path.tos = ecn; });
	for (int ttl : { 1, 2, 63, 128, 255 })
		add("the TTL is not looked at", hex(ttl), [=](Out &o) { o.path.ttl = ttl; });
}

void add_checked(Trials &trials)
{
	auto add = [&](const std::string &rule, const std::string &name, bool good,
		       const Change &change) {
		trials.push_back({ rule, name, [=](Bench &b) {
					  if (good)
						  taken(b, change);
					  else
						  dropped(b, change);
				  } });
	};

	for (uint8_t version = 1; version < 16; version++)
		add("another transport version is dropped (9.6.1.1)", hex(version), false,
		    [=](Out &o) { o.bth.version = version; });
	for (uint16_t pkey : { 0xffff, 0x7fff })
		add("the partition's full and limited members talk (10.9.1)", hex(pkey), true,
		    [=](Out &o) { o.bth.pkey = pkey; });
	for (uint16_t pkey : { 0x0000, 0x8000, 0x8001, 0x0001, 0xfffe, 0x7ffe, 0xbfff, 0x3fff })
		add("another partition is dropped (9.6.1.4)", hex(pkey), false,
		    [=](Out &o) { o.bth.pkey = pkey; });
	for (uint32_t bit : { 1U, 2U, 0x100U, 0x800000U })
		add("another QP number is not this QP", hex(bit), false,
		    [=](Out &o) { o.bth.qpn ^= bit; });
	for (uint32_t qpn : { 0U, 1U, 0xffffffU })
		add("QPs 0, 1 and 0xffffff are not for RC", hex(qpn), false,
		    [=](Out &o) { o.bth.qpn = qpn; });
}

size_t address_bytes(const Bench &bench)
{
	return is_v1(bench) || is_v6(bench) ? 16 : 4;
}

void add_addresses(Trials &trials, const Bench &bench)
{
	for (size_t i = 0; i < address_bytes(bench); i++) {
		/* IPv4's stack has an opinion of its own on others */
		auto change = [=](Out &o) { o.path.source[i] ^= 0x04; };

		trials.push_back({ "another source address is dropped (9.6.1.3)",
				   format("byte %zu", i), [=](Bench &b) { dropped(b, change); } });
		trials.push_back({ "another source's answer is dropped (9.6.1.3)",
				   format("byte %zu", i),
				   [=](Bench &b) { no_response(b, change); } });
	}
	for (size_t i = 0; i < address_bytes(bench); i++)
		trials.push_back(
			{ "another destination is dropped (9.6.1.3)", format("byte %zu", i),
			  [=](Bench &b) { dropped(b, [=](Out &o) { o.path.dest[i] ^= 0x04; }); } });
}

/* an address that the device has, but not the one that the QP was given */
Path other_of_ours(Path path)
{
	if (path.v6 && path.dest[0] == 0xfd)
		path.addresses("fd77:1::2", "fe80::ff:fe77:101");
	else if (path.v6)
		path.addresses("fd77:1::2", "fd77:1::1");
	return path;
}

/* the addresses in their places, but in the other framing */
Path in_framing(const Path &path, const char *framing)
{
	bool v4 = !path.v6 || !path.source[0];
	Path other;

	other.source_mac = path.source_mac;
	other.dest_mac = path.dest_mac;
	if (std::string(framing) == "v6" || (std::string(framing) == "v1" && !v4))
		other.addresses("fd77:1::2", "fd77:1::1");
	else
		other.addresses("10.77.1.2", "10.77.1.1");
	return std::string(framing) == "v1" ? other.as_v1() : other;
}

/*
 * Addresses that an IPv4 receiver would find in the right places if it took the
 * other framing's header for its own: bytes 12 to 19 of it.
 */
Path disguised(Path path)
{
	auto own = path;

	path.v6 = true;
	path.source = {};
	std::copy_n(own.source.begin(), 4, path.source.begin() + 4);
	std::copy_n(own.dest.begin(), 4, path.source.begin() + 8);
	path.dest = {};
	return path;
}

void add_types(Trials &trials, const Bench &bench)
{
	const char *rule = "another GID type is dropped (CA17-41)";
	auto add = [&](const std::string &name, std::function<Path(const Path &)> make) {
		trials.push_back({ rule, name, [=](Bench &b) {
					  dropped(b, [=](Out &o) { o.path = make(o.path); });
				  } });
		trials.push_back({ rule, name + ", an answer", [=](Bench &b) {
					  no_response(b, [=](Out &o) { o.path = make(o.path); });
				  } });
	};

	for (auto *framing : { "v1", "v4", "v6" }) {
		if ((is_v1(bench) ? "v1" : bench.config.gid) == framing)
			continue;
		add(std::string("as ") + framing,
		    [=](const Path &p) { return in_framing(p, framing); });
	}
	if (address_bytes(bench) == 16) {
		add("another of our own addresses", other_of_ours);
		return;
	}
	add("as v1, IPv4's addresses in their places", [](const Path &p) {
		auto path = disguised(p);
		auto ours = p.as_v1();

		path.v1 = true;
		path.dest = ours.dest;
		return path;
	});
	add("as v6, IPv4's addresses in their places", [](const Path &p) {
		auto path = disguised(p);
		auto ours = in_framing(p, "v6");

		path.dest = ours.dest;
		return path;
	});
}

} // namespace

void add_headers(Trials &trials, const Bench &bench)
{
	add_overlooked(trials);
	add_checked(trials);
	add_addresses(trials, bench);
	add_types(trials, bench);
	if (is_v1(bench))
		return;
	for (uint16_t port : { 0, 1, 1023, 4791, 49152, 65535 })
		trials.push_back({ "the UDP source port is not looked at (I9)", format("%u", port),
				   [=](Bench &b) {
					   taken(b, [=](Out &o) { o.path.source_port = port; });
				   } });
}

} // namespace st
