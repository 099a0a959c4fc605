// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Buffers of other devices: dma-bufs, made by udmabuf of our own memory, so that
 * every byte can be looked at from the other side.
 */
#include "lib/bench.hh"

#include <cstring>

#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/pattern.hh"
#include "lib/region.hh"

using namespace st;

namespace
{

constexpr size_t PAGES = 12, BYTES = PAGES * 4096;
constexpr int READ_ONLY = IBV_ACCESS_REMOTE_READ;

/* a memfd, mapped here, and a dma-buf over it */
class Buffer
{
public:
	Buffer();
	Buffer(const Buffer &) = delete;
	~Buffer()
	{
		close_fd();
		munmap(base, BYTES);
		close(mem);
	}
	int fd() const { return buf; }
	uint8_t *data(size_t offset = 0) const { return base + offset; }
	void close_fd()
	{
		if (buf >= 0)
			close(buf);
		buf = -1;
	}

private:
	int mem, buf = -1;
	uint8_t *base;
};

Buffer::Buffer() : mem(memfd_create("dmabuf", MFD_ALLOW_SEALING))
{
	const int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	udmabuf_create create = {};

	if (mem < 0 || ftruncate(mem, BYTES) || fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK))
		fail_errno("memfd");
	if (device < 0)
		throw Tap::Skip{ "no /dev/udmabuf" };
	create.memfd = mem;
	create.size = BYTES;
	buf = ioctl(device, UDMABUF_CREATE, &create);
	const int err = errno;
	close(device);
	if (buf < 0)
		fail_errno("UDMABUF_CREATE", err);
	base = static_cast<uint8_t *>(
		mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0));
	if (base == MAP_FAILED)
		fail_errno("mmap");
}

ibv_mr *reg(const Pd &pd, int fd, uint64_t offset, size_t length, uint64_t iova,
	    int access = ALL_ACCESS)
{
	errno = 0;
	return ibv_reg_dmabuf_mr(pd.get(), offset, length, iova, fd, access);
}

void good(const Pair &pair, Work work)
{
	work.post(pair.a.qp);
	pair.a.send_cq.good();
}

void remote(Bench &bench)
{
	auto pair = bench.pair();
	Buffer buffer;
	constexpr uint64_t IOVA = 0x7000000000;
	Region region(reg(pair.b.pd, buffer.fd(), 0, BYTES, IOVA), IOVA);

	/* the region holds the buffer */
	buffer.close_fd();
	pattern_fill(pair.a.mr.data(), BYTES, 1, 0);
	good(pair,
	     Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, BYTES) }).remote(IOVA, region.rkey()));
	expect_pattern("after WRITE", buffer.data(), BYTES, 1);
	pattern_fill(buffer.data(), BYTES, 2, 0);
	good(pair,
	     Work(2, IBV_WR_RDMA_READ, { pair.a.mr.sge(0, BYTES) }).remote(IOVA, region.rkey()));
	expect_pattern("after READ", pair.a.mr.data(), BYTES, 2);
	memset(buffer.data(4096), 0, 8);
	good(pair, Work(3, IBV_WR_ATOMIC_FETCH_AND_ADD, { pair.a.mr.sge(0, 8) })
			   .atomic(IOVA + 4096, region.rkey(), 77));
	uint64_t value;
	memcpy(&value, buffer.data(4096), 8);
	if (value != 77)
		fail("FETCH_ADD made %zu", size_t(value));
	expect_pattern("behind the atomic", buffer.data(4104), BYTES - 4104, 2, 4104);
}

void local(Bench &bench)
{
	auto pair = bench.pair();
	Buffer from, to;
	Region source(reg(pair.a.pd, from.fd(), 0, BYTES, 0), 0);
	Region target(reg(pair.b.pd, to.fd(), 0, BYTES, 0), 0);

	pattern_fill(from.data(), BYTES, 3, 0);
	pair.b.qp.recv(1, { target.sge(0, 100), target.sge(100, BYTES - 100) });
	good(pair, Work(1, IBV_WR_SEND, { source.sge(0, 5000), source.sge(5000, BYTES - 5000) }));
	pair.b.recv_cq.expect(1, IBV_WC_SUCCESS);
	expect_pattern("after SEND", to.data(), BYTES, 3);
}

void part(Bench &bench)
{
	auto pair = bench.pair();
	Buffer buffer;
	constexpr size_t OFFSET = 2 * 4096 + 52, LENGTH = 3 * 4096;
	constexpr uint64_t IOVA = 0x1000 + 52;
	Region region(reg(pair.b.pd, buffer.fd(), OFFSET, LENGTH, IOVA), IOVA);

	pattern_fill(pair.a.mr.data(), LENGTH, 4, 0);
	good(pair,
	     Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, LENGTH) }).remote(IOVA, region.rkey()));
	expect_bytes("before the part", buffer.data(), OFFSET, 0);
	expect_pattern("the part", buffer.data(OFFSET), LENGTH, 4);
	expect_bytes("behind the part", buffer.data(OFFSET + LENGTH), BYTES - OFFSET - LENGTH, 0);
	Work(2, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 2) })
		.remote(IOVA + LENGTH - 1, region.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(2, IBV_WC_REM_ACCESS_ERR);
}

void is(int want, const char *what)
{
	if (errno != want)
		fail("%s: errno %d instead of %d", what, errno, want);
}

void refused(Bench &bench)
{
	Pd pd(bench.devices.b);
	Buffer buffer;
	const int null = open("/dev/null", O_RDWR);

	if (reg(pd, buffer.fd(), 0, BYTES + 1, 0) || reg(pd, buffer.fd(), BYTES, 1, 0) ||
	    reg(pd, buffer.fd(), 4096, -uint64_t{ 1 }, 0) ||
	    reg(pd, buffer.fd(), -uint64_t{ 4096 }, 8192, 0))
		fail("beyond the buffer");
	is(EINVAL, "beyond the buffer");
	if (reg(pd, buffer.fd(), 0, 0, 0))
		fail("nothing of it");
	is(EINVAL, "nothing of it");
	if (reg(pd, buffer.fd(), 4, 100, 8))
		fail("another place in the page");
	is(EINVAL, "another place in the page");
	if (reg(pd, buffer.fd(), 0, BYTES, -uint64_t{ 4096 }))
		fail("around 2^64");
	is(EINVAL, "around 2^64");
	if (reg(pd, null, 0, 100, 0))
		fail("what is no buffer");
	is(EINVAL, "what is no buffer");
	close(null);
	if (reg(pd, null, 0, 100, 0))
		fail("no file");
	is(EBADF, "no file");
	if (reg(pd, buffer.fd(), 0, BYTES, 0, IBV_ACCESS_REMOTE_WRITE))
		fail("remote without local write");
	is(EINVAL, "remote without local write");
}

void read_only(Bench &bench)
{
	auto pair = bench.pair();
	Buffer buffer;
	Region region(reg(pair.b.pd, buffer.fd(), 0, BYTES, 0, READ_ONLY), 0);

	pattern_fill(buffer.data(), BYTES, 5, 0);
	good(pair, Work(1, IBV_WR_RDMA_READ, { pair.a.mr.sge(0, BYTES) }).remote(0, region.rkey()));
	expect_pattern("after READ", pair.a.mr.data(), BYTES, 5);
	memset(pair.a.mr.data(), 0, BYTES);
	Work(2, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, BYTES) })
		.remote(0, region.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(2, IBV_WC_REM_ACCESS_ERR);
	expect_pattern("after a WRITE that was refused", buffer.data(), BYTES, 5);
	/* libibverbs has no such thing */
	if (region.rereg(IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, ALL_ACCESS) != EINVAL)
		fail("it was registered anew");
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "WRITE, READ, atomic", remote },
			   { "SEND from and to", local },
			   { "a part", part },
			   { "refused", refused },
			   { "read-only", read_only } });
}
