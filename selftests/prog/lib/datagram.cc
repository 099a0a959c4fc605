// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "datagram.hh"

#include "pattern.hh"

namespace st
{

Ah::Ah(const Pd &pd, int gid_index, const ibv_gid &to, const AhExtra &extra)
{
	ibv_ah_attr attr = {};

	attr.is_global = 1;
	attr.port_num = 1;
	attr.static_rate = extra.static_rate;
	attr.grh.dgid = to;
	attr.grh.sgid_index = gid_index;
	attr.grh.hop_limit = extra.hop_limit;
	attr.grh.traffic_class = extra.traffic_class;
	attr.grh.flow_label = extra.flow_label;
	ah = ibv_create_ah(pd.get(), &attr);
	if (!ah)
		fail_errno("ibv_create_ah");
}

Ah::~Ah()
{
	ibv_destroy_ah(ah);
}

static QpDepth ud_depth(uint32_t create_flags)
{
	QpDepth depth;

	depth.type = IBV_QPT_UD;
	depth.create_flags = create_flags;
	return depth;
}

UdEnd::UdEnd(const Device &dev, const std::string &kind, uint32_t create_flags, uint32_t qkey)
	: dev(dev), gid_index(dev.gid_index(kind)), pd(dev), send_cq(dev, 256), recv_cq(dev, 256),
	  mr(pd, 64 << 10), qp(dev, pd, send_cq, recv_cq, ud_depth(create_flags))
{
	qp.to_datagram(qkey, 0x333333);
}

Work UdEnd::work(uint64_t id, uint32_t bytes, uint64_t key)
{
	size_t at = mr.size() / 2;

	pattern_fill(mr.data() + at, bytes, key, 0);
	return Work(id, IBV_WR_SEND, { mr.sge(at, bytes) });
}

void UdEnd::send(const Ah &ah, uint32_t qpn, uint32_t bytes, uint64_t key, uint32_t qkey)
{
	work(key, bytes, key).datagram(ah.get(), qpn, qkey).post(qp);
	send_cq.expect(key, IBV_WC_SUCCESS);
}

ibv_wc UdEnd::received(uint64_t id, uint32_t bytes, uint64_t key, uint32_t from, size_t offset)
{
	auto wc = recv_cq.expect(id, IBV_WC_SUCCESS);

	if (wc.byte_len != GRH_BYTES + bytes)
		fail("byte_len %u, not %u", wc.byte_len, GRH_BYTES + bytes);
	if (!(wc.wc_flags & IBV_WC_GRH))
		fail("IBV_WC_GRH is not set");
	if (wc.src_qp != from)
		fail("src_qp %#x, not %#x", wc.src_qp, from);
	if (pattern_check(mr.data() + offset + GRH_BYTES, bytes, key, 0) != bytes)
		fail("wrong data received");
	return wc;
}

} // namespace st
