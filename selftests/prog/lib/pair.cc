// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "pair.hh"

#include <utility>

namespace st
{

PairConfig::PairConfig(Options &opt)
{
	dev_a = opt.text("a", dev_a);
	dev_b = opt.text("b", dev_b);
	gid = opt.text("gid", gid);
	link_a.mtu = link_b.mtu = mtu_enum(opt.number("mtu", 1024));
	link_a.psn = 0x111111;
	link_b.psn = 0x222222;
}

void Devices::drain() const
{
	while (a.event(0) || b.event(0))
		;
}

Belongings::Belongings(const Device &dev, const PairConfig &config, int access)
	: pd(dev), send_cq(dev, config.cq_depth, config.channel),
	  recv_cq(dev, config.cq_depth, config.channel), mr(pd, config.bytes, access)
{
}

End::End(const Device &dev, const PairConfig &config, int access)
	: End(dev, config, std::make_shared<Belongings>(dev, config, access))
{
}

End::End(const Device &dev, const PairConfig &config, std::shared_ptr<Belongings> h)
	: dev(dev), has(std::move(h)), pd(has->pd), send_cq(has->send_cq), recv_cq(has->recv_cq),
	  mr(has->mr), qp(dev, pd, send_cq, recv_cq, config.depth)
{
}

void join(const Devices &devices, const PairConfig &config, const Qp &a, const Qp &b)
{
	auto link_a = config.link_a, link_b = config.link_b;

	link_a.gid_index = devices.a.gid_index(config.gid);
	link_b.gid_index = devices.b.gid_index(config.gid);
	a.connect(link_a, b.address(link_b));
	b.connect(link_b, a.address(link_a));
}

Pair::Pair(const Devices &devices, const PairConfig &cfg, bool connect)
	: config(cfg), a(devices.a, cfg, cfg.access_a), b(devices.b, cfg, cfg.access_b)
{
	config.link_a.gid_index = devices.a.gid_index(cfg.gid);
	config.link_b.gid_index = devices.b.gid_index(cfg.gid);
	if (connect)
		join(devices, cfg, a.qp, b.qp);
}

} // namespace st
