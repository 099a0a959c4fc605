// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "gun.hh"

#include <cerrno>

#include <sys/socket.h>

#include "wire.hh"

namespace st
{

Gun::Gun(const std::string &interface, const std::string &netns)
{
	in_netns(netns, [&] { link = std::make_unique<RawLink>(interface, false); });
}

void Gun::fire()
{
	std::vector<iovec> pieces;
	std::vector<mmsghdr> messages(frames.size());

	for (auto &f : frames)
		pieces.push_back({ f.data(), f.size() });
	for (size_t i = 0; i < frames.size(); i++) {
		messages[i].msg_hdr.msg_iov = &pieces[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	for (size_t done = 0; done < frames.size();) {
		const int n = sendmmsg(link->fd(), &messages[done], frames.size() - done, 0);

		/* a frame that no interface would take is passed over */
		if (n > 0)
			done += n;
		else if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
			done++;
	}
	frames.clear();
}

} // namespace st
