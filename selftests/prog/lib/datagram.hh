/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Datagrams: address handles, and UD QPs with all that they need. */
#pragma once

#include "bench.hh"

namespace st
{

constexpr uint32_t GRH_BYTES = 40, DETH_BYTES = 8, MULTICAST_QPN = 0xffffff;
constexpr uint8_t UD_SEND_ONLY = 0x64, UD_SEND_ONLY_IMM = 0x65;

/* what an address handle says beyond the address */
struct AhExtra {
	uint32_t flow_label = 0;
	uint8_t traffic_class = 0, hop_limit = 64, static_rate = 0;
};

class Ah
{
public:
	Ah(const Pd &pd, int gid_index, const ibv_gid &to, const AhExtra &extra = {});
	Ah(const Ah &) = delete;
	~Ah();

	ibv_ah *get() const { return ah; }

private:
	ibv_ah *ah;
};

/* a UD QP in RTS */
struct UdEnd {
	static constexpr uint32_t QKEY = 0x11223344;

	UdEnd(const Device &dev, const std::string &kind, uint32_t create_flags = 0,
	      uint32_t qkey = QKEY);

	ibv_gid gid() const { return dev.gid(gid_index); }
	/* post a receive request over this part of the memory */
	void recv(uint64_t id, uint32_t bytes, size_t offset = 0)
	{
		qp.recv(id, { mr.sge(offset, bytes) });
	}
	/* a datagram of bytes of stream key; the memory's second half is sent from */
	Work work(uint64_t id, uint32_t bytes, uint64_t key);
	/* the same, sent and completed */
	void send(const Ah &ah, uint32_t qpn, uint32_t bytes, uint64_t key, uint32_t qkey = QKEY);
	/* request id took such a datagram, from a QP of this number */
	ibv_wc received(uint64_t id, uint32_t bytes, uint64_t key, uint32_t from,
			size_t offset = 0);

	const Device &dev;
	int gid_index;
	Pd pd;
	Cq send_cq, recv_cq;
	Mr mr;
	Qp qp;
};

} // namespace st
