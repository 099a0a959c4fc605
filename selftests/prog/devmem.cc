// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Device memory: copied to and from, registered, written and read by the peer;
 * how much there is, and that it comes clean.
 */
#include "lib/bench.hh"

#include <cstring>
#include <memory>
#include <vector>

#include <unistd.h>

#include "lib/pattern.hh"
#include "lib/region.hh"

using namespace st;

namespace
{

constexpr int ZERO_BASED = ALL_ACCESS | IBV_ACCESS_ZERO_BASED;
constexpr size_t BYTES = 5 * 4096 + 100;

ibv_dm *try_alloc(const Device &dev, size_t length, uint32_t align = 0, uint32_t comp_mask = 0)
{
	ibv_alloc_dm_attr attr = { length, align, comp_mask };

	errno = 0;
	return ibv_alloc_dm(dev.get(), &attr);
}

class Dm
{
public:
	Dm(const Device &dev, size_t length, uint32_t align = 0) : dm(try_alloc(dev, length, align))
	{
		if (!dm)
			fail_errno("ibv_alloc_dm");
	}
	Dm(const Dm &) = delete;
	~Dm()
	{
		if (dm)
			ibv_free_dm(dm);
	}
	ibv_dm *get() const { return dm; }
	int free()
	{
		const int ret = ibv_free_dm(dm);

		if (!ret)
			dm = nullptr;
		return ret;
	}
	std::vector<uint8_t> bytes(size_t length) const
	{
		std::vector<uint8_t> to(length);

		if (int err = ibv_memcpy_from_dm(to.data(), dm, 0, length))
			fail_errno("ibv_memcpy_from_dm", err);
		return to;
	}
	void fill(uint64_t key, size_t length) const
	{
		std::vector<uint8_t> from(length);

		pattern_fill(from.data(), length, key, 0);
		if (int err = ibv_memcpy_to_dm(dm, 0, from.data(), length))
			fail_errno("ibv_memcpy_to_dm", err);
	}
	ibv_mr *reg(const Pd &pd, size_t offset, size_t length, int access = ZERO_BASED) const
	{
		errno = 0;
		return ibv_reg_dm_mr(pd.get(), dm, offset, length, access);
	}

private:
	ibv_dm *dm;
};

size_t most(const Bench &bench)
{
	ibv_device_attr_ex attr = {};

	if (ibv_query_device_ex(bench.devices.b.get(), nullptr, &attr))
		fail_errno("ibv_query_device_ex");
	return attr.max_dm_size;
}

void is(int have, int want, const char *what)
{
	if (have != want)
		fail("%s: errno %d instead of %d", what, have, want);
}

void good(const Pair &pair, Work work)
{
	work.post(pair.a.qp);
	pair.a.send_cq.good();
}

void remote(Bench &bench)
{
	auto pair = bench.pair();
	Dm dm(bench.devices.b, BYTES);
	Region region(dm.reg(pair.b.pd, 0, BYTES), 0);

	expect_bytes("new memory", dm.bytes(BYTES).data(), BYTES, 0);
	pattern_fill(pair.a.mr.data(), BYTES, 1, 0);
	good(pair,
	     Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, BYTES) }).remote(0, region.rkey()));
	expect_pattern("after WRITE", dm.bytes(BYTES).data(), BYTES, 1);
	dm.fill(2, BYTES);
	good(pair, Work(2, IBV_WR_RDMA_READ, { pair.a.mr.sge(0, BYTES) }).remote(0, region.rkey()));
	expect_pattern("after READ", pair.a.mr.data(), BYTES, 2);
	good(pair, Work(3, IBV_WR_ATOMIC_FETCH_AND_ADD, { pair.a.mr.sge(0, 8) })
			   .atomic(4096, region.rkey(), 1));
	expect_pattern("result of FETCH_ADD", pair.a.mr.data(), 8, 2, 4096);
	uint64_t was, is;
	memcpy(&was, pair.a.mr.data(), 8);
	memcpy(&is, dm.bytes(BYTES).data() + 4096, 8);
	if (is != was + 1)
		fail("FETCH_ADD did not add");
}

void local(Bench &bench)
{
	auto pair = bench.pair();
	Dm from(bench.devices.a, BYTES), to(bench.devices.b, BYTES);
	Region source(from.reg(pair.a.pd, 0, BYTES), 0), target(to.reg(pair.b.pd, 0, BYTES), 0);

	from.fill(3, BYTES);
	pair.b.qp.recv(1, { target.sge(0, BYTES) });
	good(pair, Work(1, IBV_WR_SEND, { source.sge(0, BYTES) }));
	pair.b.recv_cq.expect(1, IBV_WC_SUCCESS);
	expect_pattern("after SEND", to.bytes(BYTES).data(), BYTES, 3);
}

/* a region over a part: addresses count from its beginning, and end with it */
void part(Bench &bench)
{
	auto pair = bench.pair();
	Dm dm(bench.devices.b, BYTES);
	const size_t offset = 4096 + 12, bytes = 8192;
	Region region(dm.reg(pair.b.pd, offset, bytes), 0);

	pattern_fill(pair.a.mr.data(), bytes, 4, 0);
	good(pair,
	     Work(1, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, bytes) }).remote(0, region.rkey()));
	const auto all = dm.bytes(BYTES);
	expect_bytes("before the part", all.data(), offset, 0);
	expect_pattern("the part", all.data() + offset, bytes, 4);
	expect_bytes("behind the part", all.data() + offset + bytes, BYTES - offset - bytes, 0);
	Work(2, IBV_WR_RDMA_WRITE, { pair.a.mr.sge(0, 2) })
		.remote(bytes - 1, region.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(2, IBV_WC_REM_ACCESS_ERR);
}

void refused(Bench &bench)
{
	const Device &dev = bench.devices.b;
	const size_t max = most(bench);
	Pd pd(dev);
	Dm dm(dev, 100);
	uint8_t byte[104] = {};

	for (const auto &[offset, length] :
	     { std::pair{ 1, 4 }, { 4, 1 }, { 104, 4 }, { 0, 104 }, { 100, 4 } }) {
		is(ibv_memcpy_to_dm(dm.get(), offset, byte, length), EINVAL, "copy to");
		is(ibv_memcpy_from_dm(byte, dm.get(), offset, length), EINVAL, "copy from");
	}
	is(ibv_memcpy_to_dm(dm.get(), -4, byte, 8), EINVAL, "copy around 2^64");
	for (const auto &[offset, length] : { std::pair{ 0, 101 }, { 100, 1 }, { 101, 0 } }) {
		if (dm.reg(pd, offset, length))
			fail("region of %d bytes at %d", length, offset);
		is(errno, EINVAL, "region beyond the memory");
	}
	if (dm.reg(pd, 0, 100, ALL_ACCESS))
		fail("a region with addresses of its own");
	is(errno, EINVAL, "not zero-based");
	if (dm.reg(pd, 0, 100, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED))
		fail("remote without local write");
	is(errno, EINVAL, "remote without local write");
	for (const size_t length : { size_t{ 0 }, max + 1, ~size_t{ 0 } }) {
		if (try_alloc(dev, length))
			fail("%zu bytes were allocated", length);
		is(errno, EINVAL, "size");
	}
	if (try_alloc(dev, 100, 13))
		fail("aligned to 8192");
	is(errno, EINVAL, "alignment");
	if (try_alloc(dev, 100, 0, 1))
		fail("comp_mask 1");
	is(errno, EINVAL, "comp_mask");
}

/* what a device says is what it has, and all of it comes back, clean */
void all_of_it(Bench &bench)
{
	const Device &dev = bench.devices.b;
	const size_t max = most(bench), piece = max / 16;

	for (int round = 0; round < 3; round++) {
		std::vector<std::unique_ptr<Dm>> pieces;

		for (int i = 0; i < 16; i++) {
			pieces.push_back(std::make_unique<Dm>(dev, piece));
			expect_bytes("new memory", pieces.back()->bytes(piece).data(), piece, 0);
			pieces.back()->fill(round, piece);
		}
		if (try_alloc(dev, 1))
			fail("there was more");
		is(errno, ENOMEM, "more than there is");
	}
	Dm again(dev, max);
	expect_bytes("new memory", again.bytes(max).data(), max, 0);
}

void in_use(Bench &bench)
{
	Pd pd(bench.devices.b);
	Dm dm(bench.devices.b, BYTES);
	{
		Region region(dm.reg(pd, 0, BYTES), 0);

		is(dm.free(), EBUSY, "with a region");
		dm.fill(5, BYTES);
		expect_pattern("after EBUSY", dm.bytes(BYTES).data(), BYTES, 5);
		errno = 0;
		if (!region.rereg(IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0))
			fail("device memory was registered anew");
	}
	is(dm.free(), 0, "without one");
}

/* another name for it: the same bytes, and the owner's to free */
void imported(Bench &bench)
{
	Dm dm(bench.devices.b, BYTES);
	ibv_context *ctx = ibv_import_device(dup(bench.devices.b.get()->cmd_fd));
	if (!ctx)
		fail_errno("ibv_import_device");
	ibv_dm *again = ibv_import_dm(ctx, dm.get()->handle);
	if (!again) {
		const int err = errno;

		ibv_close_device(ctx);
		fail_errno("ibv_import_dm", err);
	}
	std::vector<uint8_t> bytes(BYTES);

	dm.fill(6, BYTES);
	const int read = ibv_memcpy_from_dm(bytes.data(), again, 0, BYTES);
	const int beyond = ibv_memcpy_from_dm(bytes.data(), again, 4, BYTES);
	const std::vector<uint8_t> ones(BYTES, 1);
	const int wrote = ibv_memcpy_to_dm(again, 0, ones.data(), BYTES);
	errno = 0;
	const bool none = !ibv_import_dm(ctx, dm.get()->handle + 1000);
	const int err = errno;
	ibv_unimport_dm(again);
	ibv_close_device(ctx);

	is(read, 0, "copy from");
	is(beyond, EINVAL, "copy from beyond");
	is(wrote, 0, "copy to");
	expect_pattern("what was copied from", bytes.data(), BYTES, 6);
	expect_bytes("what was copied to", dm.bytes(BYTES).data(), BYTES, 1);
	if (!none)
		fail("a handle of nothing was imported");
	is(err, ENOENT, "a handle of nothing");
	is(dm.free(), 0, "freed by its owner");
}

} // namespace

int main(int argc, char **argv)
{
	return run_cases(argc, argv,
			 { { "WRITE, READ, atomic", remote },
			   { "SEND from and to", local },
			   { "a part", part },
			   { "refused", refused },
			   { "all of it, and clean", all_of_it },
			   { "EBUSY with a region", in_use },
			   { "imported", imported } });
}
