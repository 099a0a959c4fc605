// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What bounds an ordinary user: the rdma control group its objects and contexts, the
 * memory control group what they are made of; and who may open the device at all.
 */
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/tap.hh"
#include "lib/verbs.hh"

using namespace st;

namespace
{

constexpr uid_t NOBODY = 65534;
const std::string ROOT = "/sys/fs/cgroup/", GROUP = ROOT + "skerry-bounds/";

void put(const std::string &path, const std::string &text)
{
	std::ofstream file(path);

	if (!(file << text << std::flush))
		fail_errno("writing to " + path);
}

std::string get(const std::string &path)
{
	std::ifstream file(path);
	std::ostringstream text;

	if (!(text << file.rdbuf()))
		fail_errno("reading " + path);
	return text.str();
}

/* a control group with both controllers, and the children that run in it */
class Group
{
public:
	Group();
	Group(const Group &) = delete;
	~Group();

	/* run it as an ordinary user in the group; what it throws is a failure here */
	void run(const std::function<void()> &body) const;
};

Group::Group()
{
	std::istringstream have(get(ROOT + "cgroup.controllers"));
	int found = 0;

	for (std::string word; have >> word;)
		found += word == "rdma" || word == "memory";
	if (found != 2)
		throw Tap::Skip{ "this kernel has no rdma and memory controllers" };
	put(ROOT + "cgroup.subtree_control", "+rdma +memory");
	if (mkdir(GROUP.c_str(), 0755))
		fail_errno(GROUP);
}

Group::~Group()
{
	rmdir(GROUP.c_str());
	put(ROOT + "cgroup.subtree_control", "-rdma -memory");
}

void Group::run(const std::function<void()> &body) const
{
	std::string error;
	int fds[2], status;
	char c;

	if (pipe2(fds, O_CLOEXEC))
		fail_errno("pipe");
	const auto pid = fork();
	if (!pid) {
		try {
			put(GROUP + "cgroup.procs", std::to_string(getpid()));
			if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
				fail_errno("becoming nobody");
			body();
		} catch (const std::exception &e) {
			if (write(fds[1], e.what(), std::strlen(e.what())) < 0)
				_exit(2);
			_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	while (read(fds[0], &c, 1) == 1)
		error += c;
	close(fds[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail_errno("a child");
	if (!error.empty())
		fail("%s", error.c_str());
	if (status)
		fail("the child ended with status %#x", status);
}

/* what the group has of the device: "hca_handle=N hca_object=N" */
std::string held(const std::string &device)
{
	std::istringstream lines(get(GROUP + "rdma.current"));

	for (std::string line; std::getline(lines, line);)
		if (line.rfind(device + " ", 0) == 0)
			return line.substr(device.size() + 1,
					   line.find_last_not_of(' ') - device.size());
	return "";
}

void expect_held(const std::string &device, int handles, int objects)
{
	const auto want = format("hca_handle=%d hca_object=%d", handles, objects);

	if (held(device) != want)
		fail("%s, not %s", held(device).c_str(), want.c_str());
}

void counted(const Group &group, const std::string &device)
{
	group.run([&] {
		const Device dev(device);
		expect_held(device, 1, 0);
		const Pd pd(dev);
		const Cq cq(dev, 16);
		const Mr mr(pd, 4096);
		const Qp qp(dev, pd, cq, cq);
		expect_held(device, 1, 4);
	});
	/* nothing is left with the process */
	if (held(device).find("hca_handle=0 hca_object=0") == std::string::npos &&
	    !held(device).empty())
		fail("left: %s", held(device).c_str());
}

void objects_bounded(const Group &group, const std::string &device)
{
	put(GROUP + "rdma.max", device + " hca_handle=1 hca_object=10");
	group.run([&] {
		const Device dev(device);
		std::vector<std::unique_ptr<Pd>> pds;

		for (int i = 0; i < 10; i++)
			pds.push_back(std::make_unique<Pd>(dev));
		if (ibv_alloc_pd(dev.get()))
			fail("an eleventh object");
		if (errno != EAGAIN)
			fail_errno("the eleventh object");
		if (ibv_create_cq(dev.get(), 16, nullptr, nullptr, 0))
			fail("an eleventh object, of another kind");
		pds.pop_back();
		pds.push_back(std::make_unique<Pd>(dev));
	});
	put(GROUP + "rdma.max", device + " hca_handle=max hca_object=max");
}

void contexts_bounded(const Group &group, const std::string &device)
{
	put(GROUP + "rdma.max", device + " hca_handle=2 hca_object=max");
	group.run([&] {
		const Device one(device), two(device);
		bool third = true;

		try {
			const Device three(device);
		} catch (const Failure &) {
			third = false;
		}
		if (third)
			fail("a third context");
	});
	put(GROUP + "rdma.max", device + " hca_handle=max hca_object=max");
}

unsigned long charged()
{
	return std::stoul(get(GROUP + "memory.current"));
}

/* rings are the kernel's memory, but it is the user who pays */
void memory_charged(const Group &group, const std::string &device)
{
	group.run([&] {
		/* entries of 64 bytes: 8 MiB, and some of a QP's */
		constexpr unsigned long ENTRIES = 1 << 17, BYTES = ENTRIES * 64;
		const Device dev(device);
		const Pd pd(dev);
		const auto before = charged();
		unsigned long with;

		{
			const Cq cq(dev, ENTRIES);
			with = charged();
			if (with < before + BYTES * 9 / 10)
				fail("a CQ of %lu bytes: %lu were charged, then %lu", BYTES, before,
				     with);
		}
		if (charged() > with - BYTES / 2)
			fail("%lu are charged after the CQ has gone, %lu before", charged(), with);
	});
}

/* the node is open to all, and what it gives is bounded above */
void open_to_all(const std::string &device)
{
	const Device dev(device);
	struct stat st;

	if (fstat(dev.get()->cmd_fd, &st))
		fail_errno("fstat");
	Tap::note("mode of the node: %o", st.st_mode & 07777);
	if ((st.st_mode & 0666) != 0666)
		fail("its mode is %o", st.st_mode & 07777);
}

} // namespace

int main(int argc, char **argv)
{
	Tap tap(5);

	try {
		Options opt(argc, argv);
		const auto device = opt.text("a", "sk0");

		opt.text("b", "");
		opt.done();
		const auto in_group = [&](const char *name, auto body) {
			tap.run(name, [&] { body(Group(), device); });
		};
		tap.run("an ordinary user may open the device", [&] { open_to_all(device); });
		in_group("the rdma control group counts contexts and objects", counted);
		in_group("it bounds objects", objects_bounded);
		in_group("it bounds contexts", contexts_bounded);
		in_group("the memory control group pays for rings", memory_charged);
	} catch (const std::exception &e) {
		Tap::note("%s", e.what());
		return 1;
	}
	return tap.status();
}
