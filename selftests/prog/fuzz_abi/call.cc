// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "call.hh"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../lib/fail.hh"

namespace st
{

static std::vector<Call> *recording;

const Attribute *Call::find(uint16_t id) const
{
	for (const auto &a : attributes)
		if (a.id == id)
			return &a;
	return nullptr;
}

bool Call::is_write() const
{
	return object == UVERBS_OBJECT_DEVICE && method == UVERBS_METHOD_INVOKE_WRITE;
}

bool Call::makes_by_write() const
{
	static const uint32_t commands[] = {
		IB_USER_VERBS_CMD_ALLOC_PD,
		IB_USER_VERBS_CMD_REG_MR,
		IB_USER_VERBS_CMD_ALLOC_MW,
		IB_USER_VERBS_CMD_CREATE_CQ,
		IB_USER_VERBS_CMD_CREATE_QP,
		IB_USER_VERBS_CMD_CREATE_AH,
		IB_USER_VERBS_CMD_CREATE_SRQ,
		IB_USER_VERBS_CMD_CREATE_XSRQ,
		IB_USER_VERBS_CMD_OPEN_XRCD,
		IB_USER_VERBS_CMD_OPEN_QP,
		IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
	};
	const auto *command = is_write() ? find(UVERBS_ATTR_WRITE_CMD) : nullptr;

	return command && std::find(std::begin(commands), std::end(commands), command->value) !=
				  std::end(commands);
}

std::pair<uint32_t, uint32_t> Call::kind() const
{
	if (is_write())
		if (const auto *command = find(UVERBS_ATTR_WRITE_CMD))
			return { ~0U, command->value };
	return { object, method };
}

std::string Call::name() const
{
	const auto [first, second] = kind();

	return first == ~0U ? format("write command 0x%x", second)
			    : format("object 0x%x, method 0x%x", first, second);
}

/* copy from memory that may not be there; false then */
static bool peek(uint64_t from, void *to, size_t bytes)
{
	iovec mine = { to, bytes }, other = { reinterpret_cast<void *>(from), bytes };

	return process_vm_readv(getpid(), &mine, 1, &other, 1, 0) == static_cast<ssize_t>(bytes);
}

static bool mapped(uint64_t address)
{
	uint8_t byte;

	return address >= 0x10000 && peek(address, &byte, 1);
}

/* numbers up to eight bytes stand in the attribute itself, unless the kernel is to write
 * there; what is an address in this process is one */
static Attribute take(const ib_uverbs_attr &from)
{
	Attribute a;

	a.id = from.attr_id;
	a.len = from.len;
	a.flags = from.flags;
	a.elem = from.attr_data.enum_data.elem_id;
	a.reserved = from.attr_data.enum_data.reserved;
	a.value = from.data;
	a.payload.resize(from.len);
	a.pointer = from.len && mapped(from.data) && peek(from.data, a.payload.data(), from.len);
	if (!a.pointer) {
		a.payload.clear();
		return a;
	}
	for (size_t at = 0; at + 8 <= a.payload.size(); at += 8) {
		uint64_t word;

		std::memcpy(&word, &a.payload[at], 8);
		if (mapped(word))
			a.pointers.push_back(at);
	}
	return a;
}

static Call take(const ib_uverbs_ioctl_hdr &head)
{
	Call call;

	call.object = head.object_id;
	call.method = head.method_id;
	call.driver = head.driver_id;
	for (unsigned int i = 0; i < head.num_attrs; i++)
		call.attributes.push_back(take(head.attrs[i]));
	return call;
}

/* the kernel puts a new object's handle where there was none, or into its answer */
static int64_t made_by(const Call &call, const ib_uverbs_ioctl_hdr &after)
{
	for (unsigned int i = 0; i < call.attributes.size(); i++) {
		const auto &before = call.attributes[i];

		if (!before.len && before.value != after.attrs[i].data)
			return after.attrs[i].data;
		if (before.id == UVERBS_ATTR_CORE_OUT && before.pointer && before.len >= 4 &&
		    call.makes_by_write()) {
			uint32_t handle;

			std::memcpy(&handle, reinterpret_cast<void *>(after.attrs[i].data), 4);
			return handle;
		}
	}
	return -1;
}

std::vector<Call> record(const std::function<void()> &body)
{
	std::vector<Call> calls;

	recording = &calls;
	body();
	recording = nullptr;
	return calls;
}

} // namespace st

/* libibverbs comes here: a program's own definition goes before the C library's */
extern "C" int ioctl(int fd, unsigned long request, ...) noexcept
{
	va_list ap;

	va_start(ap, request);
	void *argument = va_arg(ap, void *);
	va_end(ap);
	if (!st::recording || request != RDMA_VERBS_IOCTL)
		return syscall(SYS_ioctl, fd, request, argument);

	const auto &head = *static_cast<ib_uverbs_ioctl_hdr *>(argument);
	auto call = st::take(head);
	const int result = syscall(SYS_ioctl, fd, request, argument);
	const int err = errno;
	call.good = !result;
	if (call.good)
		call.made = st::made_by(call, head);
	st::recording->push_back(std::move(call));
	errno = err;
	return result;
}
