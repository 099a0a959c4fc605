// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Congestion control of a QP: what the command that makes it may ask for, what the
 * provider makes of SKERRY_CONGESTION_CONTROL, and what debugfs then shows. What packets
 * look like is the prober's affair (suite marks).
 */
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/skerry-abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/datagram.hh"
#include "lib/pattern.hh"

using namespace st;

namespace
{

constexpr const char *VARIABLE = "SKERRY_CONGESTION_CONTROL";

/* what goes to the kernel instead of the provider's part of the command; NULL: that */
const std::vector<uint8_t> *request;

void replace_request(ib_uverbs_ioctl_hdr &head)
{
	for (unsigned int i = 0; i < head.num_attrs; i++) {
		auto &a = head.attrs[i];

		if (a.attr_id != UVERBS_ATTR_UHW_IN)
			continue;
		a.len = request->size();
		a.data = 0;
		/* what is short stands in the attribute itself */
		if (a.len <= sizeof(a.data))
			std::memcpy(&a.data, request->data(), a.len);
		else
			a.data = reinterpret_cast<uintptr_t>(request->data());
		return;
	}
}

struct Lab {
	explicit Lab(Options &opt) : config(opt), devices(config) {}

	Pair pair(ibv_qp_type type = IBV_QPT_RC) const
	{
		auto c = config;

		c.depth.type = type;
		return Pair(devices, c);
	}

	/* both devices' congestion control */
	void set(const std::string &value) const
	{
		for (auto &dev : { config.dev_a, config.dev_b }) {
			std::ofstream out("/sys/kernel/debug/skerry/" + dev + "/cc");

			out << value << std::flush;
			if (!out)
				fail("cannot set %s to %s", dev.c_str(), value.c_str());
		}
	}

	PairConfig config;
	Devices devices;
};

struct Restored {
	~Restored()
	{
		unsetenv(VARIABLE);
		lab.set("dcqcn");
	}

	const Lab &lab;
};

struct Shown {
	std::string cc, wish;
};

Shown shown(const Device &dev, const Qp &qp)
{
	auto name = std::string(ibv_get_device_name(dev.get()->device));
	std::ifstream in("/sys/kernel/debug/skerry/" + name + "/cc_flows");
	auto wanted = format("%#x", qp.num());

	for (std::string line; std::getline(in, line);) {
		std::string qpn, rate, target, alpha, stage;
		std::istringstream words(line);
		Shown is;

		if (words >> qpn >> rate >> target >> alpha >> stage >> is.cc >> is.wish &&
		    qpn == wanted)
			return is;
	}
	fail("debugfs does not have QP %s", wanted.c_str());
}

void shows(const Device &dev, const Qp &qp, const char *cc, const char *wish)
{
	if (auto is = shown(dev, qp); is.cc != cc || is.wish != wish)
		fail("cc %s, wish %s instead of %s, %s", is.cc.c_str(), is.wish.c_str(), cc, wish);
}

/* a message from a to b, or from b's memory */
void works(Pair &pair, ibv_wr_opcode opcode)
{
	constexpr uint32_t bytes = 20000;
	auto &from = opcode == IBV_WR_RDMA_READ ? pair.b : pair.a;
	auto &to = opcode == IBV_WR_RDMA_READ ? pair.a : pair.b;

	pattern_fill(from.mr.data(), bytes, 1, 0);
	pattern_fill(to.mr.data(), bytes, 2, 0);
	if (opcode == IBV_WR_SEND)
		pair.b.qp.recv(1, { pair.b.mr.sge(0, bytes) });
	Work(1, opcode, { pair.a.mr.sge(0, bytes) })
		.remote(pair.b.mr.addr(), pair.b.mr.rkey())
		.post(pair.a.qp);
	pair.a.send_cq.expect(1, IBV_WC_SUCCESS, 60000);
	if (opcode == IBV_WR_SEND)
		pair.b.recv_cq.expect(1, IBV_WC_SUCCESS, 60000);
	if (pattern_check(to.mr.data(), bytes, 1, 0) != bytes)
		fail("wrong data");
}

struct Case {
	const char *device, *value, *cc, *wish;
};

const Case CASES[] = {
	{ "dcqcn", nullptr, "dcqcn", "device" }, { "none", nullptr, "none", "device" },
	{ "dcqcn", "on", "dcqcn", "on" },	 { "none", "on", "dcqcn", "on" },
	{ "dcqcn", "off", "none", "off" },	 { "none", "off", "none", "off" },
	{ "dcqcn", "ON", "dcqcn", "device" },	 { "none", "", "none", "device" },
};

void wished(Lab &lab, ibv_qp_type type)
{
	for (auto &c : CASES) {
		Restored restored{ lab };

		lab.set(c.device);
		if (c.value)
			setenv(VARIABLE, c.value, 1);
		auto pair = lab.pair(type);
		/* from now on nobody asks */
		unsetenv(VARIABLE);
		for (auto *end : { &pair.a, &pair.b })
			shows(end->dev, end->qp, c.cc, c.wish);
		if (type == IBV_QPT_UC)
			continue; /* UC may lose what RC repeats */
		works(pair, IBV_WR_SEND);
		works(pair, IBV_WR_RDMA_WRITE);
		works(pair, IBV_WR_RDMA_READ);
	}
}

/* there is nothing to control: no rate, but a wish */
void datagrams(Lab &lab)
{
	for (auto &c : CASES) {
		Restored restored{ lab };

		lab.set(c.device);
		if (c.value)
			setenv(VARIABLE, c.value, 1);
		UdEnd end(lab.devices.a, lab.config.gid);
		shows(lab.devices.a, end.qp, "none", c.wish);
	}
}

void reset(Lab &lab)
{
	Restored restored{ lab };

	setenv(VARIABLE, "off", 1);
	auto pair = lab.pair();
	unsetenv(VARIABLE);
	for (auto *end : { &pair.a, &pair.b })
		if (int err = end->qp.try_state(IBV_QPS_RESET))
			fail_errno("RESET", err);
	join(lab.devices, pair.config, pair.a.qp, pair.b.qp);
	shows(lab.devices.a, pair.a.qp, "none", "off");
	works(pair, IBV_WR_RDMA_WRITE);
}

/* the command itself: the errno, and what a QP has that it made */
void asked(Lab &lab, const std::vector<uint8_t> &with, int err, const char *wish)
{
	Belongings has(lab.devices.a, lab.config, ALL_ACCESS);
	ibv_qp_init_attr attr = {};
	int got;

	attr.qp_type = IBV_QPT_RC;
	attr.send_cq = attr.recv_cq = has.send_cq.get();
	attr.cap = { 4, 4, 1, 1, 0 };
	request = &with;
	errno = 0;
	auto *made = ibv_create_qp(has.pd.get(), &attr);
	got = made ? 0 : errno;
	request = nullptr;
	if (made) {
		Qp qp(lab.devices.a, made);
		auto link = lab.config.link_a;

		link.gid_index = lab.devices.a.gid_index(lab.config.gid);
		qp.connect(link, qp.address(link));
		if (!err)
			shows(lab.devices.a, qp, strcmp(wish, "off") ? "dcqcn" : "none", wish);
	}
	if (got != err)
		fail("%s instead of %s", got ? strerror(got) : "success",
		     err ? strerror(err) : "success");
}

std::vector<uint8_t> bytes_of(uint32_t flags, size_t length, uint8_t last = 0)
{
	skerry_create_qp_req req = {};
	std::vector<uint8_t> bytes(std::max(length, sizeof(req)));

	req.flags = flags;
	std::memcpy(bytes.data(), &req, sizeof(req));
	bytes.resize(length);
	if (last)
		bytes.back() = last;
	return bytes;
}

void requests(Lab &lab)
{
	constexpr uint32_t on = SKERRY_CREATE_QP_CC_ON, off = SKERRY_CREATE_QP_CC_OFF;
	constexpr size_t size = sizeof(skerry_create_qp_req);

	asked(lab, bytes_of(0, size), 0, "device");
	asked(lab, bytes_of(on, size), 0, "on");
	asked(lab, bytes_of(off, size), 0, "off");
	asked(lab, bytes_of(on | off, size), EINVAL, "");
	for (uint32_t bit = 4; bit; bit <<= 1)
		for (uint32_t with : { 0U, on, off })
			asked(lab, bytes_of(bit | with, size), EOPNOTSUPP, "");
}

/* older providers' and newer ones' */
void lengths(Lab &lab)
{
	constexpr size_t size = sizeof(skerry_create_qp_req);

	asked(lab, bytes_of(0, 0), 0, "device");
	asked(lab, bytes_of(SKERRY_CREATE_QP_CC_OFF, 4), 0, "off");
	asked(lab, bytes_of(SKERRY_CREATE_QP_CC_OFF, 3 * size), 0, "off");
	asked(lab, bytes_of(SKERRY_CREATE_QP_CC_OFF, 3 * size, 1), EOPNOTSUPP, "");
	asked(lab, bytes_of(0, size + 1, 1), EOPNOTSUPP, "");
}

struct Trial {
	const char *name;
	std::function<void(Lab &)> body;
};

const std::vector<Trial> TRIALS = {
	{ "RC: the environment goes before the device", [](Lab &l) { wished(l, IBV_QPT_RC); } },
	{ "UC: so it does", [](Lab &l) { wished(l, IBV_QPT_UC); } },
	{ "UD has a wish and no rate", datagrams },
	{ "RESET does not change it", reset },
	{ "flags: on, off; not both, and no others", requests },
	{ "requests of other lengths", lengths },
};

} // namespace

/* libibverbs comes here: a program's own definition goes before the C library's */
extern "C" int ioctl(int fd, unsigned long number, ...) noexcept
{
	va_list ap;

	va_start(ap, number);
	void *argument = va_arg(ap, void *);
	va_end(ap);
	if (request && number == RDMA_VERBS_IOCTL) {
		auto &head = *static_cast<ib_uverbs_ioctl_hdr *>(argument);

		if (head.object_id == UVERBS_OBJECT_QP && head.method_id == UVERBS_METHOD_QP_CREATE)
			replace_request(head);
	}
	return syscall(SYS_ioctl, fd, number, argument);
}

int main(int argc, char **argv)
{
	Tap tap(TRIALS.size());

	try {
		Options opt(argc, argv);
		Lab lab(opt);

		opt.done();
		for (auto &trial : TRIALS)
			tap.run(trial.name, [&] { trial.body(lab); });
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
