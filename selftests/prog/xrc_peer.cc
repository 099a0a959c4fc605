// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Another process in an XRC domain, told by its parent what to do: it opens the
 * domain by its file and a target QP by its number, makes an SRQ, and says where
 * it is. Each "n" that it reads is the number of SENDs to wait for; it answers with
 * how many came as they should.
 *
 *	xrc_peer --dev sk1 --file FILE --qpn NUMBER
 */
#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/pattern.hh"
#include "lib/xrc.hh"
#include "xrc_peer.hh"

#include <cstdio>
#include <exception>
#include <unistd.h>

using namespace st;

static uint32_t take(const Cq &cq, const Mr &mr, uint32_t count, uint32_t qpn)
{
	for (uint32_t i = 0; i < count; i++) {
		const auto wc = cq.good();

		if (wc.wr_id != i || wc.qp_num != qpn || wc.byte_len != XRC_PEER_BYTES)
			return i;
		if (pattern_check(mr.data() + i * XRC_PEER_BYTES, XRC_PEER_BYTES, i, 0) !=
		    XRC_PEER_BYTES)
			return i;
	}
	return count;
}

int main(int argc, char **argv)
{
	try {
		Options opt(argc, argv);
		const Device dev(opt.text("dev", ""));
		const std::string file = opt.text("file", "");
		const uint32_t qpn = opt.number("qpn", 0);

		opt.done();
		Xrcd xrcd(dev, file);
		Pd pd(dev);
		Cq cq(dev, 64);
		Mr mr(pd, size_t(XRC_PEER_SENDS) * XRC_PEER_BYTES);
		XrcSrq srq(pd, cq, xrcd);
		Qp target(dev, open_target(dev, xrcd, qpn));
		XrcPeerReady ready = { srq.num(), mr.rkey(), mr.addr() };
		uint32_t count;

		for (uint32_t i = 0; i < XRC_PEER_SENDS; i++)
			srq.post(i, mr.sge(i * XRC_PEER_BYTES, XRC_PEER_BYTES));
		if (write(STDOUT_FILENO, &ready, sizeof(ready)) != sizeof(ready))
			fail_errno("write");
		while (read(STDIN_FILENO, &count, sizeof(count)) == sizeof(count)) {
			count = take(cq, mr, count, qpn);
			if (write(STDOUT_FILENO, &count, sizeof(count)) != sizeof(count))
				fail_errno("write");
		}
		return 0;
	} catch (const std::exception &e) {
		fprintf(stderr, "# xrc_peer: %s\n", e.what());
		return 1;
	}
}
