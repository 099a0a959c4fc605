// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "attacker.hh"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/fail.hh"

namespace st
{

/* slots for what calls carry, room for answers and for registered memory, a page that
 * can only be read, a page that is not there */
static constexpr size_t SLOTS = 256 << 10, ANSWERS = 256 << 10, PAGE = 4096;

Arena::Arena() : slow(300)
{
	auto *p = mmap(nullptr, SLOTS + ANSWERS + 3 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail_errno("mmap");
	base = static_cast<uint8_t *>(p);
	mprotect(base + SLOTS + ANSWERS, PAGE, PROT_NONE);
	mprotect(base + SLOTS + ANSWERS + PAGE, PAGE, PROT_READ);
	munmap(base + SLOTS + ANSWERS + 2 * PAGE, PAGE);
}

Arena::~Arena()
{
	munmap(base, SLOTS + ANSWERS + 2 * PAGE);
}

void Arena::clear()
{
	used = 0;
	slow.again();
}

uint64_t Arena::put(const Bytes &data, bool at_end)
{
	const size_t bytes = (data.size() + 7) & ~7UL;
	uint8_t *to = base + used;

	if (at_end)
		to = base + SLOTS + ANSWERS - data.size();
	else if (used + bytes > SLOTS)
		fail("a call of %zu bytes", used + bytes);
	else
		used += bytes;
	std::copy(data.begin(), data.end(), to);
	return reinterpret_cast<uint64_t>(to);
}

uint64_t Arena::answers() const
{
	return reinterpret_cast<uint64_t>(base + SLOTS);
}

uint64_t Arena::hostile(Rng &rng) const
{
	const auto end = answers() + ANSWERS;
	const uint64_t places[] = {
		0,
		1,
		8,
		end,	 /* no access */
		end - 1, /* one byte of it is there */
		end - 4,
		end - 12,
		end + PAGE,	  /* read only */
		end + 2 * PAGE,	  /* nothing */
		answers() + 1,	  /* not aligned */
		0x7fffffffffffUL, /* the last of user space */
		0x800000000000UL, /* not an address */
		0xffff888000000000UL,
		~0UL,
		~0UL - 7,
		rng.next(),
		slow.address(), /* there, but not yet */
		slow.address() + PAGE - 8,
	};

	return places[rng.below(std::size(places))];
}

/* numbers that matter: handles, edges, anything */
uint64_t Attacker::number()
{
	static const uint64_t edges[] = {
		0,	    1,		2,	     3,		7,	    8,
		0x7f,	    0x80,	0xff,	     0x100,	0x7fff,	    0x8000,
		0xffff,	    0x10000,	0xffffff,    0x1000000, 0x7fffffff, 0x80000000,
		0xfffffffe, 0xffffffff, 0x100000000, 1UL << 63, ~0UL,	    ~0UL - 4095,
	};

	switch (rng.below(4)) {
	case 0:
		return rng.below(40);
	case 1:
		return edges[rng.below(std::size(edges))];
	case 2:
		return 1UL << rng.below(64);
	default:
		return rng.next() >> rng.below(64);
	}
}

const Call &Attacker::any()
{
	return lessons[rng.below(lessons.size())];
}

void Attacker::mutate_payload(Attribute &a)
{
	const size_t width = 1UL << rng.below(4);
	const size_t at = rng.below(a.payload.size()) & ~(width - 1);
	const uint64_t value = rng.percent(10) ? arena.hostile(rng) : number();

	if (at + width > a.payload.size())
		return;
	if (rng.percent(20))
		a.payload[at] ^= 1U << rng.below(8);
	else
		std::memcpy(&a.payload[at], &value, width);
}

void Attacker::mutate_attribute(Attribute &a)
{
	switch (rng.below(a.pointer ? 9 : 6)) {
	case 0:
		a.id = rng.percent(70) ? rng.below(16) + (rng.percent(30) ? 0x1000 : 0)
				       : rng.next();
		break;
	case 1:
		a.flags = rng.percent(70) ? rng.below(4) : rng.next();
		break;
	case 2:
		a.elem = number();
		a.reserved = rng.percent(30) ? number() : 0;
		break;
	case 3:
		a.len = rng.percent(50) ? a.len + rng.below(17) - 8 : number();
		break;
	case 4:
		/* a pointer becomes a number, and the other way round */
		a.pointer = rng.percent(50);
		a.value = rng.percent(50) ? arena.hostile(rng) : number();
		break;
	case 5:
		a.value = number();
		break;
	default:
		if (!a.payload.empty())
			mutate_payload(a);
	}
}

Call Attacker::mutate(const Call &call)
{
	Call m = call;
	auto &attributes = m.attributes;

	renumber(m);
	for (uint64_t n = rng.between(1, 4); n; n--) {
		const unsigned int what = rng.below(100);

		if (what < 70 && !attributes.empty()) {
			mutate_attribute(attributes[rng.below(attributes.size())]);
		} else if (what < 76 && !attributes.empty()) {
			attributes.erase(attributes.begin() + rng.below(attributes.size()));
		} else if (what < 88) {
			/* one of another call's */
			const auto &other = any();

			if (!other.attributes.empty() && attributes.size() < 40)
				attributes.push_back(
					other.attributes[rng.below(other.attributes.size())]);
		} else if (what < 94) {
			m.method = rng.percent(80) ? rng.below(14) : rng.next();
		} else if (what < 98) {
			m.object = rng.percent(80) ? rng.below(22) : rng.next();
		} else {
			m.driver = number();
		}
	}
	return m;
}

/* handles as they are now instead of those of the lesson */
void Attacker::renumber(Call &call) const
{
	for (auto &a : call.attributes) {
		if (!a.len && !a.pointer) {
			if (auto h = handles.find(a.value); h != handles.end())
				a.value = h->second;
		} else if (a.id == UVERBS_ATTR_CORE_IN && call.is_write()) {
			for (size_t at = 0; at + 4 <= a.payload.size(); at += 4) {
				uint32_t word;

				std::memcpy(&word, &a.payload[at], 4);
				if (auto h = handles.find(word); word && h != handles.end()) {
					word = h->second;
					std::memcpy(&a.payload[at], &word, 4);
				}
			}
		}
	}
}

/* what an attribute says instead of its value: the address of its payload */
uint64_t Attacker::place(const Attribute &a, bool spoil)
{
	if (!a.pointer)
		return a.value;
	if (spoil && rng.percent(5))
		return arena.hostile(rng);
	auto payload = a.payload;
	for (auto at : a.pointers) {
		const uint64_t address =
			spoil && rng.percent(10) ? arena.hostile(rng) : arena.answers();

		if (at + 8 <= payload.size())
			std::memcpy(&payload[at], &address, 8);
	}
	/* no less than it claims, or up to memory that is not there */
	if (payload.size() < a.len && !rng.percent(20))
		payload.resize(a.len);
	return arena.put(payload, spoil && rng.percent(30));
}

long Attacker::issue_ioctl(const Call &call, bool spoil, int64_t *made)
{
	const size_t n = call.attributes.size();
	const size_t bytes = sizeof(ib_uverbs_ioctl_hdr) + n * sizeof(ib_uverbs_attr);
	alignas(8) uint8_t buffer[8192];
	auto &head = *reinterpret_cast<ib_uverbs_ioctl_hdr *>(buffer);

	if (bytes > sizeof(buffer))
		fail("%zu attributes", n);
	std::memset(buffer, 0, bytes);
	head.length = bytes;
	head.object_id = call.object;
	head.method_id = call.method;
	head.num_attrs = n;
	head.driver_id = call.driver;
	for (size_t i = 0; i < n; i++) {
		const auto &a = call.attributes[i];
		auto &to = head.attrs[i];

		to.attr_id = a.id;
		to.len = a.len;
		to.flags = a.flags;
		to.attr_data.enum_data.elem_id = a.elem;
		to.attr_data.enum_data.reserved = a.reserved;
		to.data = place(a, spoil);
	}
	if (spoil && rng.percent(5)) {
		head.length = rng.percent(50) ? rng.below(sizeof(buffer)) : rng.next();
		head.num_attrs = rng.percent(50) ? rng.below(200) : rng.next();
		head.reserved1 = rng.percent(20);
	}
	const long result = ::ioctl(fd, RDMA_VERBS_IOCTL, buffer);
	if (result == 0 && made)
		for (size_t i = 0; i < n; i++)
			if (!call.attributes[i].len &&
			    head.attrs[i].data != call.attributes[i].value)
				*made = head.attrs[i].data;
	if (result == 0 && made && call.makes_by_write())
		for (size_t i = 0; i < n; i++)
			if (call.attributes[i].id == UVERBS_ATTR_CORE_OUT) {
				uint32_t handle;

				std::memcpy(&handle, reinterpret_cast<void *>(head.attrs[i].data),
					    4);
				*made = handle;
			}
	return result;
}

/* a write command as it was before there was an ioctl */
long Attacker::issue_write(const Call &call, bool spoil)
{
	const auto *command = call.find(UVERBS_ATTR_WRITE_CMD);
	const auto *in = call.find(UVERBS_ATTR_CORE_IN), *out = call.find(UVERBS_ATTR_CORE_OUT);
	const auto *driver_in = call.find(UVERBS_ATTR_UHW_IN);
	ib_uverbs_cmd_hdr head = {};
	Bytes body, all(sizeof(head));

	head.command = command ? command->value : number();
	if (in)
		body = in->payload;
	const uint64_t answer = spoil && rng.percent(10) ? arena.hostile(rng) : arena.answers();
	if (in)
		for (auto at : in->pointers)
			if (at + 8 <= body.size())
				std::memcpy(&body[at], &answer, 8);
	if (driver_in)
		body.insert(body.end(), driver_in->payload.begin(), driver_in->payload.end());
	body.resize((body.size() + 7) & ~7UL);
	if (spoil && rng.percent(10))
		body.resize(rng.below(40) * 4);
	const size_t unit = head.command & IB_USER_VERBS_CMD_FLAG_EXTENDED ? 8 : 4;
	if (unit == 8) {
		ib_uverbs_ex_cmd_hdr extended = {};

		extended.response = answer;
		extended.provider_in_words = driver_in ? driver_in->payload.size() / 8 : 0;
		extended.cmd_hdr_reserved = spoil && rng.percent(5);
		all.resize(sizeof(head) + sizeof(extended));
		std::memcpy(&all[sizeof(head)], &extended, sizeof(extended));
		head.in_words = body.size() / 8;
	} else {
		head.in_words = (sizeof(head) + body.size()) / 4;
	}
	head.out_words = out ? out->len / unit : 0;
	if (spoil && rng.percent(10))
		head.in_words = number();
	if (spoil && rng.percent(20))
		head.out_words = number();
	std::memcpy(all.data(), &head, sizeof(head));
	all.insert(all.end(), body.begin(), body.end());
	size_t bytes = all.size();
	if (spoil && rng.percent(5))
		bytes = rng.below(bytes + 1);
	return ::write(fd, reinterpret_cast<void *>(arena.put(all, spoil && rng.percent(50))),
		       bytes);
}

/*
 * ib_core forgets to let go of the task when an ioctl() that asks for a context is refused,
 * the second one of a descriptor for one (UVERBS_METHOD_GET_CONTEXT; by write() it is let go
 * of). Where kmemleak looks that would be all it finds, and nobody asks.
 */
static bool loses_task(const Call &call)
{
	static const bool seen = access("/sys/kernel/debug/kmemleak", F_OK) == 0;

	return seen && call.object == UVERBS_OBJECT_DEVICE &&
	       call.method == UVERBS_METHOD_GET_CONTEXT;
}

long Attacker::issue(const Call &call, bool spoil, int64_t *made)
{
	if (spoil && loses_task(call))
		return -1;
	arena.clear();
	std::snprintf(score.doing.data(), score.doing.size(), "call %llu: %s",
		      static_cast<unsigned long long>(score.of[CALLS]), call.name().c_str());
	const bool by_write = spoil && (call.is_write() ? rng.percent(50) : rng.percent(3));
	const long result = by_write ? issue_write(call, spoil) : issue_ioctl(call, spoil, made);

	score.of[CALLS]++;
	score.pulse++;
	return result;
}

/* as it was; false if it is refused */
bool Attacker::valid(const Call &call)
{
	int64_t made = -1;
	Call now = call;

	renumber(now);
	score.of[VALID]++;
	if (issue(now, false, &made) < 0)
		return false;
	score.of[VALID_TAKEN]++;
	if (call.made >= 0 && made >= 0)
		handles[call.made] = made;
	return true;
}

std::string Attacker::rehearse()
{
	std::string failed;

	for (const auto &lesson : lessons)
		if (!valid(lesson) && lesson.good)
			failed += format(" %s: %s;", lesson.name().c_str(), std::strerror(errno));
	return failed;
}

void Attacker::invalid(const Call &call)
{
	score.of[MUTATED]++;
	if (issue(mutate(call), true) >= 0)
		score.of[MUTATED_TAKEN]++;
}

/* a mapping of whatever is at some offset */
void Attacker::map()
{
	const size_t bytes = rng.percent(80) ? rng.between(1, 4) * PAGE : number() & 0x3fffffff;
	const uint64_t offset = (rng.percent(80) ? rng.below(40) : number()) * PAGE;
	std::snprintf(score.doing.data(), score.doing.size(), "call %llu: mmap, %zu bytes at %llx",
		      static_cast<unsigned long long>(score.of[CALLS]), bytes,
		      static_cast<unsigned long long>(offset));
	const int protection = rng.below(8), flags = rng.percent(80) ? MAP_SHARED : MAP_PRIVATE;
	auto *p = ::mmap(nullptr, bytes, protection, flags, fd, offset);

	score.of[CALLS]++;
	score.pulse++;
	if (p == MAP_FAILED)
		return;
	score.of[MAPPED]++;
	if (protection & PROT_WRITE)
		*static_cast<volatile uint8_t *>(p) = rng.next();
	munmap(p, bytes);
}

void Attacker::lecture()
{
	for (const auto &lesson : lessons) {
		while (rng.percent(50))
			invalid(rng.percent(70) ? lesson : any());
		if (rng.percent(8))
			map();
		/* a step that is left out leaves something, or makes the next ones fail */
		if (rng.percent(90))
			valid(lesson);
	}
}

void Attacker::riot(unsigned int calls)
{
	while (calls--) {
		if (rng.percent(8))
			map();
		else
			invalid(any());
	}
}

} // namespace st
