// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "region.hh"

#include <cerrno>

#include "fail.hh"
#include "pattern.hh"

namespace st
{

Memory::Memory(size_t bytes, int prot, int flags) : bytes(bytes)
{
	void *p = mmap(nullptr, bytes, prot, flags, -1, 0);

	if (p == MAP_FAILED)
		fail_errno("mmap");
	base = static_cast<uint8_t *>(p);
}

Memory::~Memory()
{
	munmap(base, bytes);
}

void Memory::unmap()
{
	if (munmap(base, bytes))
		fail_errno("munmap");
}

void Memory::map_again(int prot)
{
	if (mmap(base, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != base)
		fail_errno("mmap at the same place");
}

Region::Region(const Pd &pd, const void *addr, size_t length, int access)
	: Region(ibv_reg_mr(pd.get(), const_cast<void *>(addr), length, access),
		 reinterpret_cast<uint64_t>(addr))
{
}

Region::Region(const Pd &pd, const void *addr, size_t length, uint64_t iova, int access)
	: Region(ibv_reg_mr_iova2(pd.get(), const_cast<void *>(addr), length, iova, access), iova)
{
}

Region::Region(ibv_mr *made, uint64_t iova) : iova(iova), mr(made)
{
	if (!mr)
		fail_errno("register");
}

Region::~Region()
{
	ibv_dereg_mr(mr);
}

int Region::rereg(int flags, const Pd *pd, void *addr, size_t length, int access)
{
	errno = 0;
	if (ibv_rereg_mr(mr, flags, pd ? pd->get() : nullptr, addr, length, access))
		return errno ? errno : EIO;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION)
		iova = reinterpret_cast<uint64_t>(addr);
	return 0;
}

void expect_pattern(const std::string &what, const void *data, size_t length, uint64_t key,
		    uint64_t offset)
{
	const size_t at = pattern_check(data, length, key, offset);

	if (at != length)
		fail("%s: byte %zu of %zu is 0x%02x", what.c_str(), at, length,
		     static_cast<const uint8_t *>(data)[at]);
}

void expect_bytes(const std::string &what, const void *data, size_t length, uint8_t byte)
{
	const auto *p = static_cast<const uint8_t *>(data);

	for (size_t i = 0; i < length; i++)
		if (p[i] != byte)
			fail("%s: byte %zu of %zu is 0x%02x", what.c_str(), i, length, p[i]);
}

} // namespace st
