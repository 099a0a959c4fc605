// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What is below the transport: UDP's checksum, IP options and extension headers,
 * fragments, frames that were padded or tagged, and skbs in pieces.
 */
#include "rules.hh"

namespace st
{

namespace
{

constexpr size_t IP = ETH_BYTES;
constexpr uint8_t UDP = 17, DESTINATION_OPTIONS = 60, HOP_BY_HOP = 0, FRAGMENT = 44;

bool is_ip6(const Bytes &frame)
{
	return get16(&frame[12]) == 0x86dd;
}

size_t ip_bytes(const Bytes &frame)
{
	return is_ip6(frame) ? 40 : (frame[IP] & 15) * 4;
}

void set16(Bytes &frame, size_t at, uint16_t v)
{
	frame[at] = v >> 8;
	frame[at + 1] = v;
}

uint16_t ones_sum(const Bytes &bytes, uint32_t sum = 0)
{
	for (size_t i = 0; i < bytes.size(); i++)
		sum += i & 1 ? bytes[i] : bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* UDP's checksum as it should be */
uint16_t udp_checksum(const Bytes &frame)
{
	bool v6 = is_ip6(frame);
	size_t udp = IP + ip_bytes(frame);
	auto from = frame.begin() + IP + (v6 ? 8 : 12);
	Bytes pseudo(from, from + (v6 ? 32 : 8)), datagram(frame.begin() + udp, frame.end());

	datagram[6] = datagram[7] = 0;
	put16(pseudo, 0);
	put16(pseudo, UDP);
	put32(pseudo, datagram.size());
	uint16_t sum = ~ones_sum(join(pseudo, datagram));
	return sum ? sum : 0xffff;
}

Out write(const Peer &peer, uint32_t bytes = 40)
{
	return peer.out(RC_WRITE_ONLY, peer.numbers.psn, peer.write_body(0, bytes, 1), true);
}

using Make = std::function<std::vector<Bytes>(const Bytes &frame)>;

/* a WRITE that has become these frames */
void taken(Bench &bench, const Make &make)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;

	for (auto &f : make(write(peer).frame()))
		peer.raw(f);
	peer.expect_ack(psn, 1);
	peer.in_memory(0, 40, 1);
	peer.goes_on(psn + 1, 1);
}

void dropped(Bench &bench, const Make &make)
{
	Peer peer(bench);

	for (auto &f : make(write(peer).frame()))
		peer.raw(f);
	peer.nothing_came_of_it();
	if (peer.end.mr.data()[0] || peer.end.mr.data()[39])
		fail("it was executed");
}

std::vector<Bytes> with_checksum(Bytes frame, uint16_t error)
{
	auto sum = udp_checksum(frame);

	set16(frame, IP + ip_bytes(frame) + 6, sum ^ error ? sum ^ error : 0x1234);
	return { frame };
}

/*
 * More of an IP header: bytes after the plain ones, which tell of them and of the length
 * in their own places. What the ICRC is to be over then nobody says: the plain header as it
 * would be without them, or as it is, or one of both; not one is to be taken.
 */
struct MoreHeader {
	size_t plain, kind_at, length_at;
	uint8_t kind;
	uint16_t length;
	Bytes more;
};

std::vector<Bytes> with_more(const Bytes &frame, const MoreHeader &h)
{
	std::vector<Bytes> all;

	for (bool own_kind : { false, true }) {
		for (bool own_length : { false, true }) {
			auto f = frame;

			if (own_kind)
				f[h.kind_at] = h.kind;
			if (own_length)
				set16(f, h.length_at, h.length);
			fix_icrc(f);
			f[h.kind_at] = h.kind;
			set16(f, h.length_at, h.length);
			f.insert(f.begin() + IP + h.plain, h.more.begin(), h.more.end());
			fix_ip_checksum(f);
			all.push_back(f);
		}
	}
	return all;
}

/* IPv4 options: that many words of "no operation" */
std::vector<Bytes> with_options(const Bytes &frame, uint8_t words)
{
	uint8_t kind = 0x45 + words;
	uint16_t length = frame.size() - IP + words * 4;

	return with_more(frame, { 20, IP, IP + 2, kind, length, Bytes(words * 4, 1) });
}

/* an IPv6 header of eight bytes in front of UDP */
std::vector<Bytes> with_extension(const Bytes &frame, uint8_t kind)
{
	const Bytes pad = { UDP, 0, 1, 4, 0, 0, 0, 0 };	    /* PadN */
	const Bytes atomic = { UDP, 0, 0, 0, 0, 0, 0, 99 }; /* fragment that is the whole */
	auto &header = kind == FRAGMENT ? atomic : pad;
	uint16_t length = frame.size() - IP - 40 + header.size();

	return with_more(frame, { 40, IP + 6, IP + 4, kind, length, header });
}

/* in two fragments; the ICRC is that of what comes out when they are put together */
std::vector<Bytes> fragments4(Bytes frame, size_t at, bool may)
{
	size_t body = IP + 20;

	if (may) {
		/* DF clear, and an ICRC over that */
		set16(frame, IP + 6, 0);
		fix_icrc(frame);
	}
	Bytes one(frame.begin(), frame.begin() + body + at);
	Bytes two(frame.begin(), frame.begin() + body);
	two.insert(two.end(), frame.begin() + body + at, frame.end());
	uint16_t df = may ? 0 : 0x4000;

	for (auto *f : { &one, &two }) {
		set16(*f, IP + 2, f->size() - IP);
		set16(*f, IP + 6, f == &one ? df | 0x2000 : df | at / 8);
		fix_ip_checksum(*f);
	}
	return { one, two };
}

std::vector<Bytes> fragments6(const Bytes &frame, size_t at)
{
	static uint32_t id = 1000;
	size_t body = IP + 40;
	std::vector<Bytes> both;

	id++;
	for (bool last : { false, true }) {
		Bytes f(frame.begin(), frame.begin() + body), header = { UDP, 0 };

		put16(header, last ? at : 1);
		put32(header, id);
		f = join(f, header);
		f = join(f, last ? Bytes(frame.begin() + body + at, frame.end())
				 : Bytes(frame.begin() + body, frame.begin() + body + at));
		f[IP + 6] = FRAGMENT;
		set16(f, IP + 4, f.size() - body);
		both.push_back(f);
	}
	return both;
}

std::vector<Bytes> with_tag(Bytes frame, uint16_t tag)
{
	Bytes four;

	put16(four, 0x8100);
	put16(four, tag);
	frame.insert(frame.begin() + 12, four.begin(), four.end());
	return { frame };
}

/* zero-length SEND: shorter than Ethernet allows, so padded by somebody */
void small(Bench &bench, size_t padding)
{
	Peer peer(bench);
	auto psn = peer.numbers.psn;
	auto frame = peer.out(RC_SEND_ONLY, psn, {}, true).frame();

	peer.recv(0);
	frame.resize(frame.size() + padding, 0xee);
	peer.raw(frame);
	peer.expect_ack(psn, 1);
	peer.received(0, 0, 1);
	peer.goes_on(psn + 1, 1);
}

/* a packet larger than a page comes in as an skb whose first piece ends here */
void in_pieces(Bench &bench, size_t linear)
{
	constexpr uint32_t BYTES = 4096;
	Setup setup;

	setup.mtu = BYTES;
	Peer peer(bench, setup);
	auto psn = peer.numbers.psn;
	auto write = peer.out(RC_WRITE_ONLY, psn, peer.write_body(0, BYTES, 1), true).frame();
	auto send = peer.out(RC_SEND_ONLY, psn + 1, data(BYTES, 2), true).frame();
	auto bad = peer.out(RC_SEND_ONLY, psn + 2, data(BYTES, 2), true).frame();

	peer.recv(0);
	peer.recv(1);
	peer.raw(write, linear);
	peer.expect_ack(psn, 1);
	peer.in_memory(0, BYTES, 1);
	peer.raw(send, linear);
	peer.expect_ack(psn + 1, 2);
	peer.received(0, BYTES, 2);
	bad[bad.size() - 100] ^= 1;
	peer.raw(bad, linear);
	peer.goes_on(psn + 2, 2);
}

void add_udp(Trials &trials)
{
	trials.push_back({ "a UDP checksum that is right is fine", "right", [](Bench &b) {
				  taken(b, [](const Bytes &f) { return with_checksum(f, 0); });
			  } });
	for (uint16_t error : { 0x0001, 0x8000, 0xffff, 0x5a5a })
		trials.push_back({ "a wrong UDP checksum is dropped", hex(error), [=](Bench &b) {
					  dropped(b, [=](const Bytes &f) {
						  return with_checksum(f, error);
					  });
				  } });
}

void add_ip4(Trials &trials)
{
	for (uint8_t words = 1; words <= 10; words++)
		trials.push_back({ "IP options are dropped (CA17-3)", format("%u words", words),
				   [=](Bench &b) {
					   dropped(b, [=](const Bytes &f) {
						   return with_options(f, words);
					   });
				   } });
	for (size_t at : { 8, 16, 24, 32, 64 })
		for (bool may : { false, true })
			trials.push_back({ "fragments are dropped (CA17-8)",
					   format("at %zu, DF %u", at, !may), [=](Bench &b) {
						   dropped(b, [=](const Bytes &f) {
							   return fragments4(f, at, may);
						   });
					   } });
}

void add_ip6(Trials &trials)
{
	for (uint8_t kind : { HOP_BY_HOP, DESTINATION_OPTIONS, FRAGMENT })
		trials.push_back(
			{ "IPv6 extension headers are dropped", format("%u", kind), [=](Bench &b) {
				 dropped(b,
					 [=](const Bytes &f) { return with_extension(f, kind); });
			 } });
	for (size_t at : { 8, 16, 24, 32, 64 })
		trials.push_back(
			{ "fragments are dropped", format("at %zu", at), [=](Bench &b) {
				 dropped(b, [=](const Bytes &f) { return fragments6(f, at); });
			 } });
}

} // namespace

void add_layers(Trials &trials, const Bench &bench)
{
	if (!is_v1(bench))
		add_udp(trials);
	if (is_v6(bench))
		add_ip6(trials);
	else if (!is_v1(bench))
		add_ip4(trials);
	for (uint16_t pcp = 0; pcp < 8; pcp++)
		trials.push_back(
			{ "the PCP is not looked at", format("%u", pcp), [=](Bench &b) {
				 taken(b, [=](const Bytes &f) { return with_tag(f, pcp << 13); });
			 } });
	trials.push_back({ "another VLAN is not ours", "VLAN 77", [](Bench &b) {
				  dropped(b, [](const Bytes &f) { return with_tag(f, 77); });
			  } });
	for (size_t more : { 1, 2, 3, 4, 18, 46 }) {
		trials.push_back({ "Ethernet's padding is no part of a packet",
				   format("%zu bytes behind a WRITE", more), [=](Bench &b) {
					   taken(b, [=](Bytes f) {
						   f.resize(f.size() + more, 0xee);
						   return std::vector<Bytes>{ f };
					   });
				   } });
		trials.push_back({ "Ethernet's padding is no part of a packet",
				   format("%zu bytes behind an empty SEND", more),
				   [=](Bench &b) { small(b, more); } });
	}
	for (size_t linear : { 14, 34, 38, 42, 46, 54, 58, 62, 74, 78, 100, 1000, 4000 })
		trials.push_back({ "an skb in pieces is read whole",
				   format("%zu bytes in the first", linear),
				   [=](Bench &b) { in_pieces(b, linear); } });
}

} // namespace st
