// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Packets that change on their way: a process of the same machine, without any
 * privilege, splices pages of its own into a UDP socket and goes on writing to them. The
 * receiver sees the very pages: what it has checked need not be what it uses.
 *
 *	shifting --a sk0 --b sk1 [--seconds N] [--seed S]
 *
 * The sender is in A's namespace, and its packets are right, ICRC and all, when they
 * leave; by IPv6, whose headers say nothing that it could not know.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "lib/bystander.hh"
#include "lib/counters.hh"
#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/rng.hh"
#include "lib/roce.hh"
#include "lib/tap.hh"
#include "lib/wire.hh"

using namespace st;

namespace
{

constexpr size_t PAGES = 2 * 4096;

/* a UDP socket of A's, connected with B's port 4791 */
class Socket
{
public:
	explicit Socket(const std::string &netns)
	{
		in_netns(netns, [&] {
			sock = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
			if (sock < 0)
				fail_errno("socket");
			port = bound("fd77:1::1", 0, bind);
			bound("fd77:1::2", ROCE_PORT, connect);
		});
		if (pipe2(ends, O_CLOEXEC))
			fail_errno("pipe");
	}
	Socket(const Socket &) = delete;
	~Socket()
	{
		for (int fd : { sock, ends[0], ends[1] })
			close(fd);
	}

	/* the pages themselves, not a copy */
	bool send(void *pages, size_t bytes)
	{
		iovec iov = { pages, bytes };
		ssize_t n = vmsplice(ends[1], &iov, 1, 0);

		if (n < 0)
			fail_errno("vmsplice");
		n = splice(ends[0], nullptr, sock, nullptr, bytes, 0);
		if (n < 0 && errno != ENOBUFS && errno != EAGAIN && errno != ECONNREFUSED)
			fail_errno("splice");
		return n == static_cast<ssize_t>(bytes);
	}

	uint16_t port = 0;

private:
	uint16_t bound(const char *address, uint16_t number,
		       int (*call)(int, const sockaddr *, socklen_t))
	{
		sockaddr_in6 to = {};
		socklen_t bytes = sizeof(to);

		to.sin6_family = AF_INET6;
		to.sin6_port = htons(number);
		inet_pton(AF_INET6, address, &to.sin6_addr);
		if (call(sock, reinterpret_cast<sockaddr *>(&to), bytes))
			fail_errno(address);
		getsockname(sock, reinterpret_cast<sockaddr *>(&to), &bytes);
		return ntohs(to.sin6_port);
	}

	int sock = -1, ends[2] = { -1, -1 };
};

/* PSN of B's next request */
uint32_t expected(const Pair &pair)
{
	return pair.b.qp.query(IBV_QP_RQ_PSN).rq_psn;
}

uint64_t drops(const std::string &device)
{
	uint64_t sum = 0;

	for (const auto &[name, value] : counters(device))
		if (name.rfind("rx_drop", 0) == 0)
			sum += value;
	return sum;
}

/* pages that can be given away and kept */
uint8_t *shared_pages()
{
	auto *p = mmap(nullptr, PAGES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail_errno("mmap");
	return static_cast<uint8_t *>(p);
}

/* from the BTH to the ICRC, as the kernel is going to send it */
Bytes packet(const Pair &pair, uint16_t port, uint32_t psn, size_t bytes)
{
	Path path;
	Bth bth;

	path.addresses("fd77:1::1", "fd77:1::2");
	path.source_port = port;
	bth.opcode = RC_WRITE_ONLY;
	bth.qpn = pair.b.qp.num();
	bth.psn = psn & 0xffffff;
	Bytes body = reth(pair.b.mr.addr(), pair.b.mr.rkey(), bytes);
	body.resize(body.size() + bytes, 0x77);
	const auto whole = frame(path, bth, body);
	return Bytes(whole.begin() + ETH_BYTES + 40 + UDP_BYTES, whole.end());
}

void spin(unsigned int times)
{
	while (times--)
		asm volatile("");
}

/* between what is right and what is not, for as long as either is seen by somebody */
void shift(volatile uint8_t *bth, const Bytes &right, Rng &rng)
{
	static const uint8_t opcodes[] = { RC_ACK, RC_READ_ONLY, RC_ATOMIC_ACK, RC_READ_REQUEST,
					   0x2a,   0x64,	 0x81,		0xa4,
					   0x1e,   0xff };
	/* never the PSN: it is to stay one that has been */
	const size_t at = rng.percent(70)   ? 0
			  : rng.percent(50) ? rng.below(9)
					    : rng.between(12, 27);

	bth[at] = at ? rng.next() : opcodes[rng.below(std::size(opcodes))];
	if (rng.percent(10))
		bth[1] = 0x4f; /* header version */
	spin(rng.below(300));
	std::copy(right.begin(), right.begin() + 28, bth);
	spin(rng.below(600));
}

/* while a long READ is being answered, requests wait, and their pages with them */
void ask(Pair &pair)
{
	Work(1, IBV_WR_RDMA_READ, { pair.a.mr.sge(0, pair.a.mr.size()) })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey())
		.post(pair.a.qp);
}

void answered(Pair &pair)
{
	pair.a.send_cq.good(60000);
}

/* a packet that came too early waits for the one before it, and is another one by then */
void alter(const PairConfig &config, Pair &pair, Socket &socket, size_t at, uint8_t value)
{
	auto *page = shared_pages();
	const auto right = packet(pair, socket.port, expected(pair) + 1, 64);
	const uint64_t before = drops(config.dev_b);

	std::copy(right.begin(), right.end(), page);
	if (!socket.send(page, right.size()))
		fail("the packet was not sent");
	sleep_us(20000);
	page[at] = value;
	Work(7, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 64) })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(7, IBV_WC_SUCCESS, 60000);
	for (int i = 0; drops(config.dev_b) == before; i++) {
		if (i == 1000)
			fail("byte %zu, now 0x%02x: the packet was not dropped", at, value);
		sleep_us(5000);
	}
	if (pair.b.qp.state() != IBV_QPS_RTS || pair.a.qp.state() != IBV_QPS_RTS)
		fail("byte %zu, now 0x%02x: a QP has failed", at, value);
	munmap(page, PAGES);
}

void alter_all(const PairConfig &config, const Devices &devices)
{
	Pair pair(devices, config);
	Socket socket("skA");

	/* opcodes that there are not, of other transports, of responses; CNP */
	for (uint8_t opcode : { 0xff, 0x1e, 0x2a, 0x64, 0xaa, 0x0f, 0x11, 0x81 })
		alter(config, pair, socket, 0, opcode);
	alter(config, pair, socket, 1, 0x4f); /* header version */
	alter(config, pair, socket, 2, 0x12); /* P_Key */
}

struct Sums {
	uint64_t sent = 0, taken = 0, dropped = 0;
};

Sums attack(const PairConfig &config, const Devices &devices, unsigned int seconds, uint64_t seed)
{
	Pair pair(devices, config);
	Socket socket("skA");
	std::atomic<bool> stop = false;
	auto *page = shared_pages();
	Sums sums;

	ask(pair);
	answered(pair);
	/* one that has been: it may be seen again as often as it likes */
	const auto right = packet(pair, socket.port, expected(pair) - 1, 400);
	std::copy(right.begin(), right.end(), page);
	std::thread hand([&] {
		Rng rng(seed);

		while (!stop)
			shift(page, right, rng);
	});
	const uint64_t before = drops(config.dev_b);
	const uint64_t packets = counter(config.dev_b, "rx_packets");
	for (uint64_t end = now_ns() + seconds * 1'000'000'000ULL; now_ns() < end;) {
		ask(pair);
		for (int i = 0; i < 32; i++)
			sums.sent += socket.send(page, right.size());
		answered(pair);
		if (pair.b.qp.state() != IBV_QPS_RTS || pair.a.qp.state() != IBV_QPS_RTS)
			fail("a QP has failed");
	}
	stop = true;
	hand.join();
	munmap(page, PAGES);
	sums.dropped = drops(config.dev_b) - before;
	sums.taken = counter(config.dev_b, "rx_packets") - packets;
	return sums;
}

} // namespace

int main(int argc, char **argv)
{
	Tap tap(4);

	try {
		Options opt(argc, argv);
		PairConfig config(opt);
		const unsigned int seconds = opt.number("seconds", 5);
		const uint64_t seed = opt.number("seed", 1);

		opt.done();
		config.gid = "v6";
		Devices devices(config);
		Bystander bystander(devices, config);

		bystander.start(1000);
		tap.run("packets that change while they wait", [&] { alter_all(config, devices); });
		tap.run("packets that change while they are looked at", [&] {
			const auto sums = attack(config, devices, seconds, seed);

			Tap::note("%llu sent; %llu taken, those of the victim's own traffic "
				  "included, %llu dropped",
				  static_cast<unsigned long long>(sums.sent),
				  static_cast<unsigned long long>(sums.taken),
				  static_cast<unsigned long long>(sums.dropped));
			/* or there was nothing to look at */
			if (!sums.dropped || sums.taken < sums.sent / 100)
				fail("they did not arrive");
		});
		tap.run("the bystander has worked all the time", [&] { bystander.rest(); });
		tap.run("new QPs work", [&] {
			Bystander fresh(devices, config);

			fresh.work(50);
		});
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
