/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Memory and regions over it, each by itself, for tests of memory registration. */
#pragma once

#include "verbs.hh"

#include <sys/mman.h>

namespace st
{

/* pages of our own, zero at first */
class Memory
{
public:
	explicit Memory(size_t bytes, int prot = PROT_READ | PROT_WRITE,
			int flags = MAP_PRIVATE | MAP_ANONYMOUS);
	Memory(const Memory &) = delete;
	~Memory();

	uint8_t *data(size_t offset = 0) const { return base + offset; }
	uint64_t addr(size_t offset = 0) const { return reinterpret_cast<uint64_t>(base) + offset; }
	size_t size() const { return bytes; }
	/* gone from now on; the pages are other ones when it is mapped again */
	void unmap();
	void map_again(int prot = PROT_READ | PROT_WRITE);

private:
	uint8_t *base;
	size_t bytes;
};

/* a region over memory of somebody else's */
class Region
{
public:
	Region(const Pd &pd, const void *addr, size_t length, int access = ALL_ACCESS);
	Region(const Pd &pd, const void *addr, size_t length, uint64_t iova, int access);
	/* one that was made otherwise; NULL is the failure of errno */
	Region(ibv_mr *made, uint64_t iova);
	Region(const Region &) = delete;
	~Region();

	ibv_mr *get() const { return mr; }
	uint32_t lkey() const { return mr->lkey; }
	uint32_t rkey() const { return mr->rkey; }
	uint64_t addr(size_t offset = 0) const { return iova + offset; }
	ibv_sge sge(size_t offset, uint32_t length) const
	{
		return { addr(offset), length, mr->lkey };
	}
	/* 0 or an errno */
	int rereg(int flags, const Pd *pd, void *addr, size_t length, int access);

private:
	uint64_t iova;
	ibv_mr *mr;
};

/* it is a failure if a byte is not of this stream */
void expect_pattern(const std::string &what, const void *data, size_t length, uint64_t key,
		    uint64_t offset = 0);
/* ... or not this one */
void expect_bytes(const std::string &what, const void *data, size_t length, uint8_t byte);

} // namespace st
