// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* device, protection domain, memory, completion queue */
#include "verbs.hh"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <time.h>

#include <cstring>

#include "fail.hh"

namespace st
{

uint64_t now_ns()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

void sleep_us(unsigned int us)
{
	timespec t = { us / 1000000, us % 1000000 * 1000L };

	nanosleep(&t, nullptr);
}

ibv_mtu mtu_enum(unsigned int bytes)
{
	for (int m = IBV_MTU_256; m <= IBV_MTU_4096; m++)
		if (128U << m == bytes)
			return static_cast<ibv_mtu>(m);
	fail("no such path MTU: %u", bytes);
}

Device::Device(const std::string &name)
{
	int n;
	ibv_device **list = ibv_get_device_list(&n);

	if (!list)
		fail_errno("ibv_get_device_list");
	for (int i = 0; i < n && !ctx; i++)
		if (name == ibv_get_device_name(list[i])) {
			ctx = ibv_open_device(list[i]);
			if (!ctx) {
				int err = errno;
				ibv_free_device_list(list);
				fail_errno("open " + name, err);
			}
		}
	ibv_free_device_list(list);
	if (!ctx)
		fail("no device %s among %d", name.c_str(), n);
	if (int err = ibv_query_device(ctx, &caps)) {
		ibv_close_device(ctx);
		fail_errno("ibv_query_device", err);
	}
	fcntl(ctx->async_fd, F_SETFL, fcntl(ctx->async_fd, F_GETFL) | O_NONBLOCK);
}

Device::~Device()
{
	if (ctx)
		ibv_close_device(ctx);
}

ibv_port_attr Device::port() const
{
	ibv_port_attr attr;

	if (int err = ibv_query_port(ctx, 1, &attr))
		fail_errno("ibv_query_port", err);
	return attr;
}

static bool gid_is(const ibv_gid &gid, const std::string &kind)
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	bool v4 = !std::memcmp(gid.raw, mapped, sizeof(mapped));
	bool ll = gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;

	if (kind == "v4")
		return v4;
	if (kind == "ll")
		return ll;
	return kind == "v6" && !v4 && !ll;
}

int Device::gid_index(const std::string &kind) const
{
	ibv_gid_entry table[128];

	bool v1 = kind.rfind("v1-", 0) == 0;
	auto type = v1 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
	auto address = v1 ? kind.substr(3) : kind;

	if (!kind.empty() && kind.find_first_not_of("0123456789") == kind.npos)
		return std::stoi(kind);
	auto n = ibv_query_gid_table(ctx, table, std::size(table), 0);
	if (n < 0)
		fail_errno("ibv_query_gid_table", -n);
	for (int i = 0; i < n; i++)
		if (table[i].gid_type == type && gid_is(table[i].gid, address))
			return table[i].gid_index;
	fail("%s has no GID of kind %s among %zd", ibv_get_device_name(ctx->device), kind.c_str(),
	     n);
}

ibv_gid Device::gid(int index) const
{
	ibv_gid gid;

	if (ibv_query_gid(ctx, 1, index, &gid))
		fail_errno(format("ibv_query_gid %d", index));
	return gid;
}

std::optional<ibv_async_event> Device::event(int ms) const
{
	pollfd p = { ctx->async_fd, POLLIN, 0 };
	ibv_async_event e;

	if (::poll(&p, 1, ms) <= 0 || ibv_get_async_event(ctx, &e))
		return {};
	ibv_ack_async_event(&e);
	return e;
}

bool Device::wait_event(ibv_event_type type, int ms) const
{
	uint64_t end = now_ns() + ms * 1000000ULL;

	for (uint64_t now = now_ns(); now < end; now = now_ns())
		if (auto e = event((end - now) / 1000000 + 1); e && e->event_type == type)
			return true;
	return false;
}

Pd::Pd(const Device &dev) : pd(ibv_alloc_pd(dev.get()))
{
	if (!pd)
		fail_errno("ibv_alloc_pd");
}

Pd::~Pd()
{
	ibv_dealloc_pd(pd);
}

void Mr::allocate()
{
	void *p = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail_errno(format("mmap of %zu bytes", length));
	base = static_cast<uint8_t *>(p);
}

Mr::Mr(const Pd &pd, size_t length, int access) : length(length)
{
	allocate();
	iova = reinterpret_cast<uint64_t>(base);
	mr = ibv_reg_mr(pd.get(), base, length, access);
	if (!mr) {
		int err = errno;
		munmap(base, length);
		fail_errno(format("ibv_reg_mr of %zu bytes", length), err);
	}
}

Mr::Mr(const Pd &pd, size_t length, int access, uint64_t iova) : length(length), iova(iova)
{
	allocate();
	mr = ibv_reg_mr_iova(pd.get(), base, length, iova, access);
	if (!mr) {
		int err = errno;
		munmap(base, length);
		fail_errno(format("ibv_reg_mr_iova of %zu bytes", length), err);
	}
}

int Mr::deregister()
{
	int err = mr ? ibv_dereg_mr(mr) : 0;

	if (!err)
		mr = nullptr;
	return err;
}

Mr::~Mr()
{
	deregister();
	munmap(base, length);
}

Cq::Cq(const Device &dev, int depth, bool with_channel)
{
	if (with_channel) {
		channel = ibv_create_comp_channel(dev.get());
		if (!channel)
			fail_errno("ibv_create_comp_channel");
		fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
	}
	cq = ibv_create_cq(dev.get(), depth, nullptr, channel, 0);
	if (!cq) {
		int err = errno;
		if (channel)
			ibv_destroy_comp_channel(channel);
		fail_errno(format("ibv_create_cq of %d", depth), err);
	}
}

Cq::Cq(ibv_cq *made) : cq(made)
{
	if (!cq)
		fail_errno("creating a CQ");
}

Cq::~Cq()
{
	ibv_destroy_cq(cq);
	if (channel)
		ibv_destroy_comp_channel(channel);
}

int Cq::poll(ibv_wc *wc, int n) const
{
	int got = ibv_poll_cq(cq, n, wc);

	if (got < 0)
		fail("ibv_poll_cq: %d", got);
	return got;
}

std::optional<ibv_wc> Cq::next(int ms) const
{
	uint64_t end = now_ns() + ms * 1000000ULL;
	ibv_wc wc;

	for (;;) {
		if (poll(&wc, 1))
			return wc;
		if (now_ns() > end)
			return {};
		sleep_us(20);
	}
}

ibv_wc Cq::good(int ms) const
{
	auto wc = next(ms);

	if (!wc)
		fail("no completion within %d ms", ms);
	if (wc->status)
		fail("completion of %llu: %s", static_cast<unsigned long long>(wc->wr_id),
		     ibv_wc_status_str(wc->status));
	return *wc;
}

ibv_wc Cq::expect(uint64_t wr_id, ibv_wc_status status, int ms) const
{
	auto wc = next(ms);

	if (!wc)
		fail("no completion of %llu within %d ms", static_cast<unsigned long long>(wr_id),
		     ms);
	if (wc->wr_id != wr_id)
		fail("completion of %llu (%s) instead of %llu",
		     static_cast<unsigned long long>(wc->wr_id), ibv_wc_status_str(wc->status),
		     static_cast<unsigned long long>(wr_id));
	if (wc->status != status)
		fail("completion of %llu: \"%s\", expected \"%s\"",
		     static_cast<unsigned long long>(wr_id), ibv_wc_status_str(wc->status),
		     ibv_wc_status_str(status));
	return *wc;
}

void Cq::arm(bool solicited) const
{
	if (int err = ibv_req_notify_cq(cq, solicited))
		fail_errno("ibv_req_notify_cq", err);
}

bool Cq::wait(int ms) const
{
	pollfd p = { channel->fd, POLLIN, 0 };
	ibv_cq *which;
	void *context;

	if (::poll(&p, 1, ms) <= 0 || ibv_get_cq_event(channel, &which, &context))
		return false;
	ibv_ack_cq_events(which, 1);
	return true;
}

} // namespace st
